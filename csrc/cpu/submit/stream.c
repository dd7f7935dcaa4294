/* SPDX-License-Identifier: MIT */
#include "cpu/submit/stream.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/exec/exec.h"
#include "cpu/graph/capture.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/event.h"
#include "cpu/queue/order.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/door.h"
#include "cpu/work/value.h"

/* Lock held on entry; given back. */
static hipError_t
run(const struct ha_door *door, struct ha_op *op, enum ha_run how)
{
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    return ha_stream_run(door->stream, op, how);
}

hipError_t
ha_submit_values(hipStream_t stream, struct ha_device *device,
                 const struct ha_value *values, unsigned count)
{
    struct ha_door door = {.handle = stream, .device = device};
    hipError_t code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_door_captures(&door)) {
        return ha_capture_values(ha_door_front(&door), values, count);
    }
    struct ha_op *op = ha_value_op(values, count);
    if (op != NULL && ha_order_on()) {
        struct ha_past *past = ha_order_past(&door.stream->queue);
        ha_values_tell(op, past);
        ha_values_order(&past, values, count);
        ha_order_learn(&door.stream->queue, past);
        ha_past_release(past);
    }
    return run(&door, op, HA_RUN_CHEAP);
}

/* ---- host functions ---- */

struct host_call {
    struct ha_door door;
    hipHostFn_t fn;
    hipStreamCallback_t callback; /* used if fn is NULL */
    void *data;
    struct ha_ticket *ticket; /* owned, or NULL */
};

_Static_assert(offsetof(struct host_call, door) == 0, "cast in prepare_host");

static void
prepare_host(struct ha_door *door)
{
    struct host_call *call = (struct host_call *)(void *)door;
    uintptr_t function =
        call->fn != NULL ? (uintptr_t)call->fn : (uintptr_t)call->callback;
    call->ticket =
        ha_stream_call_ticket(function, door->handle, door->stream->queue.device->id);
}

static hipError_t
submit_host(struct host_call *call)
{
    struct ha_door *door = &call->door;
    door->prepare = ha_activity_wants(HA_WANT_HOST) ? prepare_host : NULL;
    hipError_t code = ha_door_open(door);
    if (code == hipSuccess && ha_door_captures(door)) {
        code = ha_capture_host(ha_door_front(door), call->fn, call->data);
    } else if (code == hipSuccess) {
        struct ha_op *op =
            ha_stream_call_op(call->fn, call->callback, call->data, door->handle);
        if (op != NULL) {
            op->ticket = call->ticket;
            call->ticket = NULL;
        }
        code = run(door, op, HA_RUN_ASYNC);
    }
    ha_ticket_drop(call->ticket);
    return code;
}

hipError_t
ha_submit_function(hipStream_t stream, struct ha_device *device, hipHostFn_t fn,
                   void *data)
{
    struct host_call call = {
        .door = {.handle = stream, .device = device}, .fn = fn, .data = data};
    return submit_host(&call);
}

hipError_t
ha_submit_callback(hipStream_t stream, struct ha_device *device,
                   hipStreamCallback_t callback, void *data)
{
    struct host_call call = {.door = {.handle = stream,
                                      .device = device,
                                      .refusal = "callbacks can't be added to"},
                             .callback = callback,
                             .data = data};
    return submit_host(&call);
}

/* ---- waits ---- */

/* A wait for work of the device is over. */
static hipError_t
waited(struct ha_device *device)
{
    ha_memory_pools_settle(device, false);
    ha_exec_flush_print();
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

hipError_t
ha_wait_stream(hipStream_t stream, struct ha_device *device)
{
    struct ha_door door = {
        .handle = stream, .device = device, .refusal = "nothing can wait for"};
    hipError_t code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_device *owner = door.stream->queue.device;
    code = ha_stream_wait(door.stream);
    return code == hipSuccess ? waited(owner) : code;
}

hipError_t
ha_wait_event(hipEvent_t event)
{
    struct ha_device *device;
    hipError_t code = ha_event_wait(event, &device);
    return code == hipSuccess ? waited(device) : code;
}

hipError_t
ha_query_stream(hipStream_t handle, struct ha_device *device)
{
    struct ha_door door = {
        .handle = handle, .device = device, .refusal = "nothing can be asked of"};
    hipError_t code = ha_door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    /* The legacy stream stands for all blocking streams. */
    const struct ha_stream *stream = door.stream;
    bool idle = &stream->queue == stream->queue.device->legacy
                    ? ha_stream_is_idle(stream)
                    : stream->queue.head == NULL;
    if (idle) {
        ha_order_answered(ha_order_past(&door.stream->queue));
    }
    ha_pool_unlock();
    return idle ? hipSuccess
                : ha_cpu_fail(hipErrorNotReady, "the stream has work to do");
}
