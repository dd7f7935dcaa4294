/* SPDX-License-Identifier: MIT */
#include "cpu/submit/copy.h"

#include <stdlib.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/graph/capture.h"
#include "cpu/memory/check_memory.h"
#include "cpu/queue/order.h"
#include "cpu/memory/shadow.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/door.h"

/* Whether this call may come behind a free in its stream.  Its stack is noted then, or
 * where races are checked. */
static bool
note_order(void)
{
    bool may = ha_checked() && ha_checked_any_pending();
    if (may || ha_shadow_any()) {
        ha_checked_call();
    } else {
        ha_order_call();
    }
    return may;
}

/* ---- copies ---- */

struct call {
    struct ha_door door;
    const struct ha_copy *given;
    enum ha_run how;           /* as it is run: it may wait for pageable memory */
    struct ha_ticket *ticket;  /* owned, or NULL */
    void *aside;               /* owned: where the source was put; or NULL */
    struct ha_copy from_aside; /* where something was: the copy that reads it there */
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
        call->from_aside = *call->given;
        call->aside = ha_copy_aside(&call->from_aside, &wait);
    }
    if (wait) {
        call->how = HA_RUN_SYNC;
    }
}

/* Lock held on entry; given back. */
static hipError_t
run(struct call *call)
{
    struct ha_op *op =
        ha_copy_op(call->aside != NULL ? &call->from_aside : call->given, call->aside);
    call->aside = NULL;
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    op->ticket = call->ticket;
    call->ticket = NULL;
    return ha_copy_run(call->door.stream, op, call->how);
}

hipError_t
ha_submit_copy(hipStream_t stream, struct ha_device *device, const struct ha_copy *copy,
               enum ha_run how)
{
    struct call call;
    bool work;
    hipError_t code = ha_copy_check(copy, &work);
    if (code != hipSuccess || !work) {
        return code;
    }
    call.door = (struct ha_door){.handle = stream, .device = device, .how = how};
    call.given = copy;
    call.how = how;
    call.ticket = NULL;
    call.aside = NULL;
    call.door.silent = !ha_activity_wants(HA_WANT_COPY);
    if (may_put_aside(&call) || !call.door.silent) {
        call.door.prepare = prepare;
    }
    bool late = note_order();
    code = ha_door_open(&call.door);
    if (code == hipSuccess && ha_door_captures(&call.door)) {
        code = ha_capture_copy(ha_door_front(&call.door), copy);
    } else if (code == hipSuccess) {
        if (late) {
            ha_copy_check_order(copy, call.door.stream);
        }
        code = run(&call);
    }
    if (call.ticket != NULL || call.aside != NULL) {
        ha_ticket_drop(call.ticket);
        free(call.aside);
    }
    return code;
}

/* ---- fills ---- */

struct fill_call {
    struct ha_door door;
    const struct ha_fill *given;
    struct ha_ticket *ticket; /* owned, or NULL */
};

_Static_assert(offsetof(struct fill_call, door) == 0, "cast in prepare_fill");

static void
prepare_fill(struct ha_door *door)
{
    struct fill_call *call = (struct fill_call *)(void *)door;
    call->ticket =
        ha_fill_ticket(call->given, door->handle, door->stream->queue.device->id);
}

/* Lock held on entry; given back. */
static hipError_t
run_fill(struct fill_call *call)
{
    struct ha_op *op = ha_fill_op(call->given);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    op->ticket = call->ticket;
    call->ticket = NULL;
    return ha_copy_run(call->door.stream, op, call->door.how);
}

hipError_t
ha_submit_fill(hipStream_t stream, struct ha_device *device, const struct ha_fill *fill,
               enum ha_run how)
{
    struct fill_call call = {.door = {.handle = stream, .device = device, .how = how},
                             .given = fill};
    bool work;
    hipError_t code = ha_fill_check(fill, &work);
    if (code != hipSuccess || !work) {
        return code;
    }
    call.door.prepare = ha_activity_wants(HA_WANT_DISPATCH) ? prepare_fill : NULL;
    bool late = note_order();
    code = ha_door_open(&call.door);
    if (code == hipSuccess && ha_door_captures(&call.door)) {
        code = ha_capture_fill(ha_door_front(&call.door), fill);
    } else if (code == hipSuccess) {
        if (late) {
            ha_fill_check_order(fill, call.door.stream);
        }
        code = run_fill(&call);
    }
    ha_ticket_drop(call.ticket);
    return code;
}
