/* SPDX-License-Identifier: MIT */
#include "cpu/submit/copy.h"

#include <stdlib.h>

#include "cpu/base/error.h"
#include "cpu/graph/capture.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/door.h"

struct call {
    struct ha_door door;
    const struct ha_copy *given;
    struct ha_copy copy;      /* as it is run: its source may be put aside */
    void *aside;              /* owned, or NULL */
    struct ha_ticket *ticket; /* owned, or NULL */
};

_Static_assert(offsetof(struct call, door) == 0, "cast in prepare");

static bool
may_put_aside(const struct call *call)
{
    return call->door.how == HA_RUN_ASYNC && !call->given->in_order;
}

static void
prepare(struct ha_door *door)
{
    struct call *call = (struct call *)(void *)door;
    bool wait = false;
    if (!door->silent) {
        call->ticket = ha_copy_ticket(call->given, door->handle);
    }
    if (may_put_aside(call)) {
        call->aside = ha_copy_aside(&call->copy, &wait);
    }
    if (wait) {
        door->how = HA_RUN_SYNC;
    }
}

/* Lock held on entry; given back. */
static hipError_t
run(struct call *call)
{
    struct ha_op *op = ha_copy_op(&call->copy, call->aside);
    call->aside = NULL;
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    op->ticket = call->ticket;
    call->ticket = NULL;
    return ha_copy_run(call->door.stream, op, call->door.how);
}

hipError_t
ha_submit_copy(hipStream_t stream, struct ha_device *device, const struct ha_copy *copy,
               enum ha_run how)
{
    struct call call = {.door = {.handle = stream, .device = device, .how = how},
                        .given = copy,
                        .copy = *copy};
    bool work;
    hipError_t code = ha_copy_check(copy, &work);
    if (code != hipSuccess || !work) {
        return code;
    }
    call.door.silent = !ha_activity_wants(HA_WANT_COPY);
    if (may_put_aside(&call) || !call.door.silent) {
        call.door.prepare = prepare;
    }
    code = ha_door_open(&call.door);
    if (code == hipSuccess) {
        code = ha_door_captures(&call.door)
                   ? ha_capture_copy(ha_door_front(&call.door), copy)
                   : run(&call);
    }
    ha_ticket_drop(call.ticket);
    free(call.aside);
    return code;
}

hipError_t
ha_submit_fill(hipStream_t stream, struct ha_device *device, const struct ha_fill *fill,
               enum ha_run how)
{
    struct ha_door door = {.handle = stream, .device = device, .how = how};
    bool work;
    hipError_t code = ha_fill_check(fill, &work);
    if (code != hipSuccess || !work) {
        return code;
    }
    code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_door_captures(&door)) {
        return ha_capture_fill(ha_door_front(&door), fill);
    }
    struct ha_op *op = ha_fill_op(fill);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    return ha_copy_run(door.stream, op, how);
}
