/* SPDX-License-Identifier: MIT */
#include "cpu/submit/launch.h"

#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/thread.h"
#include "cpu/graph/capture.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/door.h"
#include "cpu/work/launch_missing.h"

struct call {
    struct ha_door door;
    struct ha_function *function; /* borrowed */
    const struct ha_launch_request *request;
    struct ha_ticket *ticket; /* owned, or NULL */
};

_Static_assert(offsetof(struct call, door) == 0, "cast in prepare");

static bool
is_at_home(const struct call *call)
{
    return call->door.stream->queue.device == call->function->device;
}

static void
prepare(struct ha_door *door)
{
    struct call *call = (struct call *)(void *)door;
    if (is_at_home(call)) {
        call->ticket = ha_launch_ticket(call->function, call->request);
    }
}

/* Lock held on entry; given back. */
static hipError_t
run(struct call *call)
{
    const struct ha_function *function = call->function;
    struct ha_stream *stream = call->door.stream;
    if (!is_at_home(call)) {
        int stream_device = stream->queue.device->id;
        ha_pool_unlock();
        return ha_cpu_fail(
            hipErrorInvalidDevice,
            "kernel '%s' was loaded on device %d, the stream is of device %d",
            function->kernel->name, function->device->id, stream_device);
    }
    struct ha_op *op = ha_launch_op(call->function, call->request);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another launch");
    }
    op->ticket = call->ticket;
    call->ticket = NULL;
    return ha_stream_run(stream, op, HA_RUN_ASYNC);
}

hipError_t
ha_submit_launch(struct ha_device *device, struct ha_function *function,
                 const struct ha_launch_request *request)
{
    struct call call = {.door = {.handle = request->stream, .device = device},
                        .function = function,
                        .request = request};
    hipError_t code = ha_launch_check(function, request);
    if (code != hipSuccess) {
        return code;
    }
    call.door.prepare = ha_activity_wants(HA_WANT_DISPATCH) ? prepare : NULL;
    code = ha_door_open(&call.door);
    if (code == hipSuccess) {
        code = ha_door_captures(&call.door)
                   ? ha_capture_launch(ha_door_front(&call.door), function, request)
                   : run(&call);
    }
    ha_ticket_drop(call.ticket);
    return code;
}

hipError_t
ha_submit_launch_address(struct ha_device *device, const void *address,
                         hipError_t unknown, const struct ha_launch_request *request)
{
    struct ha_function *function;
    struct ha_launch_request named = *request;
    struct ha_device *owner = device; /* of the stream */
    hipError_t code = hipSuccess;
    named.address = address;
    if (ha_config()->device_count > 1) {
        code = ha_stream_device(request->stream, &owner);
    }
    if (code != hipSuccess) {
        return code;
    }
    code = ha_function_resolve(address, owner, unknown, &function);
    if (code != hipSuccess) {
        return ha_submit_missing(device, request->stream, address, code);
    }
    code = ha_submit_launch(device, function, &named);
    ha_function_leave(function);
    return code;
}

hipError_t
ha_submit_missing(struct ha_device *device, hipStream_t stream, const void *address,
                  hipError_t code)
{
    struct ha_door door = {.handle = stream, .device = device};
    if (code == hipErrorDeinitialized || !ha_register_cannot_run(address)) {
        return code;
    }
    struct ha_thread *thread = ha_thread_self();
    const struct ha_thread failure = *thread; /* what follows may fail too */
    if (ha_door_open(&door) == hipSuccess) {
        if (ha_door_captures(&door)) {
            ha_capture_invalidate(door.stream->front);
        }
        ha_launch_missing(door.stream, code, failure.text);
    }
    memcpy(thread->text, failure.text, sizeof thread->text);
    thread->last_error = failure.last_error;
    thread->last_call = failure.last_call;
    return code;
}
