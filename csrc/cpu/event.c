/* SPDX-License-Identifier: MIT */
#include "cpu/event.h"

#include <stdlib.h>

#include "core/clock.h"
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/exec.h"
#include "cpu/handle.h"
#include "cpu/stream.h"

struct ha_event {
    unsigned flags;
    uint32_t references;
    struct ha_device *device; /* borrowed */
    bool recorded;
    struct ha_queue *queue; /* owned while pending, else NULL */
    uint64_t number;        /* in that queue */
    uint64_t time_ns;       /* ha_clock_ns when it completed */
};

struct mark {
    struct ha_event *event; /* owned reference */
};

_Static_assert(sizeof(struct mark) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

/* Lock held. */
static void
event_release(struct ha_event *event)
{
    if (--event->references == 0) {
        if (event->queue != NULL) {
            ha_queue_release(event->queue);
        }
        free(event);
    }
}

static struct mark *
mark_of(struct ha_op *op)
{
    return (struct mark *)(void *)op->payload;
}

static void
mark_finish(struct ha_op *op)
{
    struct ha_event *event = mark_of(op)->event;
    /* Unless it was recorded again since. */
    if (event->queue == op->queue && event->number == op->number) {
        event->time_ns = op->end_ns;
        event->queue = NULL;
        ha_queue_release(op->queue);
    }
    event_release(event);
}

static const struct ha_op_class mark_class = {
    .name = "event", .flags = HA_OP_ALWAYS, .finish = mark_finish};
static const struct ha_op_class wait_class = {.name = "wait", .flags = HA_OP_ALWAYS};

hipError_t
ha_event_create(struct ha_device *device, unsigned flags, hipEvent_t *handle)
{
    struct ha_event *event = calloc(1, sizeof *event);
    uint64_t number = 0;
    if (event != NULL) {
        event->flags = flags;
        event->references = 1;
        event->device = device;
        number = ha_handle_create(HA_HANDLE_EVENT, event);
    }
    if (number == 0) {
        free(event);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another event");
    }
    *handle = (hipEvent_t)(uintptr_t)number;
    return hipSuccess;
}

/* Takes the pool lock and finds the event; on failure the lock is not held. */
static hipError_t
event_lock(const char *argument, hipEvent_t handle, struct ha_event **event)
{
    ha_pool_lock();
    *event = ha_handle_peek(HA_HANDLE_EVENT, (uint64_t)(uintptr_t)handle);
    if (*event != NULL) {
        return hipSuccess;
    }
    ha_pool_unlock();
    return ha_cpu_fail(hipErrorInvalidHandle,
                       "argument '%s' (%p) is not a living event", argument,
                       (void *)handle);
}

/* Lock held; false if the handle was not in use. */
static bool
event_retire(uint64_t handle)
{
    struct ha_event *event = ha_handle_retire(HA_HANDLE_EVENT, handle);
    if (event == NULL) {
        return false;
    }
    ha_handle_release(handle);
    event_release(event);
    return true;
}

hipError_t
ha_event_destroy(hipEvent_t handle)
{
    ha_pool_lock();
    bool retired = event_retire((uint64_t)(uintptr_t)handle);
    ha_pool_unlock();
    if (!retired) {
        return ha_cpu_fail(hipErrorInvalidHandle,
                           "argument 'event' (%p) is not a living event",
                           (void *)handle);
    }
    return hipSuccess;
}

/* Lock held on entry; given back. */
static hipError_t
record_mark(struct ha_event *event, struct ha_stream *stream)
{
    struct ha_queue *queue = &stream->queue;
    struct ha_op *op = ha_op_new(&mark_class);
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    op->caller = true;
    mark_of(op)->event = event;
    /* Before submitting, which may already run it. */
    struct ha_queue *before = event->queue;
    uint64_t number_before = event->number;
    event->references++;
    event->queue = queue;
    event->number = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    ha_queue_retain(queue);
    bool submitted = ha_stream_submit(stream, op, HA_SUBMIT_WAKE) != 0;
    if (submitted) {
        event->recorded = true;
        if (before != NULL) {
            ha_queue_release(before);
        }
        ha_queue_throttle(queue);
    } else {
        event->queue = before;
        event->number = number_before;
        ha_queue_release(queue);
    }
    ha_pool_unlock();
    if (!submitted) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    return hipSuccess;
}

hipError_t
ha_event_record(hipEvent_t handle, hipStream_t stream_handle, struct ha_device *device)
{
    struct ha_stream *stream;
    hipError_t code = ha_stream_lock(stream_handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_event *event =
        ha_handle_peek(HA_HANDLE_EVENT, (uint64_t)(uintptr_t)handle);
    if (event == NULL || event->device != stream->queue.device) {
        int event_device = event != NULL ? event->device->id : -1;
        int stream_device = stream->queue.device->id;
        ha_pool_unlock();
        if (event_device < 0) {
            return ha_cpu_fail(hipErrorInvalidHandle,
                               "argument 'event' (%p) is not a living event",
                               (void *)handle);
        }
        return ha_cpu_fail(
            hipErrorInvalidHandle,
            "argument 'event' belongs to device %d, the stream to device %d",
            event_device, stream_device);
    }
    if (!ha_stream_is_idle(stream)) {
        return record_mark(event, stream);
    }
    event->recorded = true;
    event->time_ns = ha_clock_ns();
    if (event->queue != NULL) {
        ha_queue_release(event->queue);
    }
    event->queue = NULL;
    ha_pool_unlock();
    return hipSuccess;
}

hipError_t
ha_event_query(hipEvent_t handle)
{
    struct ha_event *event;
    hipError_t code = event_lock("event", handle, &event);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_device *device = event->device;
    bool complete = event->queue == NULL;
    ha_pool_unlock();
    if (!complete) {
        return ha_cpu_fail(hipErrorNotReady, "the stream has not passed the event");
    }
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

hipError_t
ha_event_synchronize(hipEvent_t handle)
{
    struct ha_event *event;
    hipError_t code = event_lock("event", handle, &event);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_device *device = event->device;
    if (event->queue != NULL) {
        struct ha_queue *queue = event->queue;
        ha_queue_retain(queue);
        code = ha_queue_wait(queue, event->number, 0);
        ha_queue_release(queue);
    }
    ha_pool_unlock();
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; work of the stream goes on");
    }
    ha_exec_flush_print();
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

hipError_t
ha_event_elapsed(hipEvent_t start, hipEvent_t stop, float *milliseconds)
{
    struct ha_event *first;
    hipError_t code = event_lock("start", start, &first);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_event *last = ha_handle_peek(HA_HANDLE_EVENT, (uint64_t)(uintptr_t)stop);
    const char *reason = NULL;
    if (last == NULL) {
        code = hipErrorInvalidHandle;
        reason = "argument 'stop' is not a living event";
    } else if (((first->flags | last->flags) & hipEventDisableTiming) != 0) {
        code = hipErrorInvalidHandle;
        reason = "an event was created with hipEventDisableTiming";
    } else if (!first->recorded || !last->recorded) {
        code = hipErrorInvalidHandle;
        reason = "an event was never recorded";
    } else if (first->device != last->device) {
        code = hipErrorInvalidHandle;
        reason = "the events belong to different devices";
    } else if (first->queue != NULL || last->queue != NULL) {
        code = hipErrorNotReady;
        reason = "an event is not complete";
    } else {
        int64_t elapsed_ns = (int64_t)(last->time_ns - first->time_ns);
        *milliseconds = (float)((double)elapsed_ns * 1e-6);
    }
    ha_pool_unlock();
    return code == hipSuccess ? hipSuccess : ha_cpu_fail(code, "%s", reason);
}

hipError_t
ha_event_stream_wait(hipStream_t stream_handle, hipEvent_t handle,
                     struct ha_device *device)
{
    struct ha_stream *stream;
    hipError_t code = ha_stream_lock(stream_handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_event *event =
        ha_handle_peek(HA_HANDLE_EVENT, (uint64_t)(uintptr_t)handle);
    if (event == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorInvalidHandle,
                           "argument 'event' (%p) is not a living event",
                           (void *)handle);
    }
    if (event->queue == NULL || event->queue == &stream->queue) {
        ha_pool_unlock();
        return hipSuccess;
    }
    struct ha_op *op = ha_op_new(&wait_class);
    if (op != NULL && !ha_op_depend(op, event->queue, event->number)) {
        ha_op_discard(op);
        op = NULL;
    }
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    op->caller = true;
    return ha_stream_run(stream, op, HA_RUN_ASYNC);
}

static void
reset_visit(uint64_t handle, void *context)
{
    struct ha_event *event = ha_handle_peek(HA_HANDLE_EVENT, handle);
    if (event != NULL && event->device == context) {
        event_retire(handle);
    }
}

void
ha_events_reset(struct ha_device *device)
{
    ha_pool_lock();
    ha_handle_each(HA_HANDLE_EVENT, reset_visit, device);
    ha_pool_unlock();
}
