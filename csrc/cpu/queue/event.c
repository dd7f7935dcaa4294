/* SPDX-License-Identifier: MIT */
#include "cpu/queue/event.h"

#include <stdlib.h>

#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/ipc_event.h"
#include "cpu/queue/order.h"
#include "cpu/queue/stream.h"

struct ha_event {
    unsigned flags;
    uint32_t references;
    hipEvent_t handle;
    struct ha_device *device; /* borrowed */
    bool recorded;
    struct ha_queue *queue;         /* owned while pending, else NULL */
    uint64_t number;                /* in that queue */
    uint64_t time_ns;               /* ha_clock_ns when it completed */
    struct ha_capture_point *point; /* owned: its record in a capture, or NULL */
    void (*point_free)(struct ha_capture_point *point);
    struct ha_ipc_event *ipc; /* owned: what other processes share, or NULL */
    uint64_t ipc_number;      /* of the newest record in this process */
    struct ha_past *past;     /* owned: what came before its record, under check */
};

struct mark {
    struct ha_event *event; /* owned reference */
    uint64_t ipc_number;    /* 0 = none */
};

_Static_assert(sizeof(struct mark) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

/* Lock held. */
static void
point_drop(struct ha_event *event)
{
    if (event->point != NULL) {
        event->point_free(event->point);
        event->point = NULL;
    }
}

/* Lock held. */
static void
event_release(struct ha_event *event)
{
    if (--event->references == 0) {
        if (event->queue != NULL) {
            ha_queue_release(event->queue);
        }
        point_drop(event);
        if (event->ipc != NULL) {
            ha_ipc_event_release(event->ipc);
        }
        ha_past_release(event->past);
        free(event);
    }
}

/* It was recorded behind these; steals the reference. */
static void
set_past(struct ha_event *event, struct ha_past *past)
{
    ha_past_release(event->past);
    event->past = past;
}

static struct mark *
mark_of(struct ha_op *op)
{
    return (struct mark *)(void *)op->payload;
}

/* A record begins whose operation is `op`. Lock held. */
static void
mark_set(struct ha_op *op, struct ha_event *event)
{
    mark_of(op)->event = event;
    mark_of(op)->ipc_number = 0;
    event->references++;
}

/* It is about to be submitted: other processes may wait for it from now on. */
static void
mark_announce(struct ha_op *op)
{
    struct ha_event *event = mark_of(op)->event;
    if (event->ipc != NULL) {
        event->ipc_number = ha_ipc_event_record(event->ipc);
        mark_of(op)->ipc_number = event->ipc_number;
    }
}

static void
mark_finish(struct ha_op *op)
{
    struct ha_event *event = mark_of(op)->event;
    if (mark_of(op)->ipc_number != 0) {
        ha_ipc_event_pass(event->ipc, mark_of(op)->ipc_number);
    }
    /* Unless it was recorded again since. */
    if (event->queue != NULL && event->queue == op->queue &&
        event->number == op->number) {
        event->time_ns = op->end_ns;
        event->queue = NULL;
        ha_queue_release(op->queue);
    }
    event_release(event);
}

static const struct ha_op_class mark_class = {
    .name = "event", .flags = HA_OP_ALWAYS, .finish = mark_finish};
static const struct ha_op_class wait_class = {.name = "wait", .flags = HA_OP_ALWAYS};

/* Steals `ipc`, which may be NULL. */
static hipError_t
event_new(struct ha_device *device, unsigned flags, struct ha_ipc_event *ipc,
          hipEvent_t *handle)
{
    struct ha_event *event = calloc(1, sizeof *event);
    uint64_t number = 0;
    if (event != NULL) {
        event->flags = flags;
        event->references = 1;
        event->device = device;
        event->ipc = ipc;
        number = ha_handle_create(HA_HANDLE_EVENT, event);
    }
    if (number == 0) {
        if (ipc != NULL) {
            ha_ipc_event_release(ipc);
        }
        free(event);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another event");
    }
    event->handle = (hipEvent_t)(uintptr_t)number;
    *handle = event->handle;
    return hipSuccess;
}

hipError_t
ha_event_create(struct ha_device *device, unsigned flags, hipEvent_t *handle)
{
    struct ha_ipc_event *ipc = NULL;
    if ((flags & hipEventInterprocess) != 0) {
        if ((flags & hipEventDisableTiming) == 0) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'flags': hipEventInterprocess needs "
                               "hipEventDisableTiming");
        }
        ipc = ha_ipc_event_new();
        if (ipc == NULL) {
            return hipErrorOutOfMemory;
        }
    }
    return event_new(device, flags, ipc, handle);
}

hipError_t
ha_event_open(struct ha_device *device, const hipIpcEventHandle_t *handle,
              hipEvent_t *event)
{
    struct ha_ipc_event *ipc;
    hipError_t code = ha_ipc_event_open(handle, &ipc);
    return code != hipSuccess
               ? code
               : event_new(device, hipEventDisableTiming | hipEventInterprocess, ipc,
                           event);
}

struct ha_event *
ha_event_peek(hipEvent_t handle)
{
    return ha_handle_peek(HA_HANDLE_EVENT, (uint64_t)(uintptr_t)handle);
}

hipError_t
ha_event_fail_gone(const char *argument, hipEvent_t handle)
{
    return ha_cpu_fail(hipErrorInvalidHandle,
                       "argument '%s' (%p) is not a living event", argument,
                       (void *)handle);
}

hipError_t
ha_event_find(hipEvent_t handle, const struct ha_stream *stream,
              struct ha_event **event)
{
    struct ha_event *found = ha_event_peek(handle);
    int stream_device = stream->queue.device->id;
    if (found == NULL) {
        ha_pool_unlock();
        return ha_event_fail_gone("event", handle);
    }
    int event_device = found->device->id;
    if (event_device != stream_device) {
        ha_pool_unlock();
        return ha_cpu_fail(
            hipErrorInvalidHandle,
            "argument 'event' belongs to device %d, the stream to device %d",
            event_device, stream_device);
    }
    *event = found;
    return hipSuccess;
}

/* Takes the pool lock and finds the event; on failure the lock is not held. */
static hipError_t
event_lock(const char *argument, hipEvent_t handle, struct ha_event **event)
{
    ha_pool_lock();
    *event = ha_event_peek(handle);
    if (*event != NULL) {
        return hipSuccess;
    }
    ha_pool_unlock();
    return ha_event_fail_gone(argument, handle);
}

hipError_t
ha_event_export(hipEvent_t handle, hipIpcEventHandle_t *ipc)
{
    struct ha_event *event;
    hipError_t code = event_lock("event", handle, &event);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_ipc_event *shared = event->ipc;
    if (shared != NULL) {
        ha_ipc_event_retain(shared);
    }
    ha_pool_unlock();
    if (shared == NULL) {
        return ha_cpu_fail(hipErrorInvalidConfiguration,
                           "argument 'event' was not created with "
                           "hipEventInterprocess");
    }
    code = ha_ipc_event_export(shared, ipc);
    ha_ipc_event_release(shared);
    return code;
}

/* Lock held; false if the handle was not in use. */
static bool
event_retire(uint64_t handle)
{
    struct ha_event *event = ha_handle_retire(HA_HANDLE_EVENT, handle);
    if (event == NULL) {
        return false;
    }
    if (event->ipc != NULL) {
        ha_ipc_event_retire(event->ipc);
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
        return ha_event_fail_gone("event", handle);
    }
    return hipSuccess;
}

struct ha_op *
ha_event_op(struct ha_event *event)
{
    struct ha_op *op = ha_op_new(&mark_class);
    if (op != NULL) {
        op->caller = true;
        mark_set(op, event);
    }
    return op;
}

void
ha_event_will_pass(struct ha_op *op, struct ha_queue *queue)
{
    struct ha_event *event = mark_of(op)->event;
    if (op->class != &mark_class) {
        return;
    }
    mark_announce(op);
    if (event->queue != NULL) {
        ha_queue_release(event->queue);
    }
    ha_queue_retain(queue);
    event->queue = queue;
    event->number = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    event->recorded = true;
}

struct ha_past *
ha_event_past(const struct ha_event *event)
{
    return event->past;
}

void
ha_event_will_know(struct ha_op *op, struct ha_past *past)
{
    if (op->class == &mark_class) {
        set_past(mark_of(op)->event, ha_past_keep(past));
    }
}

bool
ha_event_depend(const struct ha_event *event, struct ha_op *op)
{
    return event->queue == NULL || ha_op_depend(op, event->queue, event->number);
}

void
ha_event_set_point(struct ha_event *event, struct ha_capture_point *point,
                   void (*point_free)(struct ha_capture_point *point))
{
    point_drop(event);
    event->point = point;
    event->point_free = point_free;
}

const struct ha_capture_point *
ha_event_point(const struct ha_event *event)
{
    return event->point;
}

hipEvent_t
ha_event_handle(const struct ha_event *event)
{
    return event->handle;
}

struct ha_device *
ha_event_device(const struct ha_event *event)
{
    return event->device;
}

struct ha_event *
ha_event_acquire(hipEvent_t handle)
{
    struct ha_event *event;
    if (event_lock("event", handle, &event) != hipSuccess) {
        return NULL;
    }
    if (event->ipc != NULL) {
        ha_pool_unlock();
        (void)ha_cpu_fail(hipErrorInvalidHandle,
                          "argument 'event' (%p) is an event of several processes, "
                          "which graphs can't have",
                          (void *)handle);
        return NULL;
    }
    event->references++;
    ha_pool_unlock();
    return event;
}

void
ha_event_retain(struct ha_event *event)
{
    ha_pool_lock();
    event->references++;
    ha_pool_unlock();
}

void
ha_event_leave(struct ha_event *event)
{
    ha_pool_lock();
    event_release(event);
    ha_pool_unlock();
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
    mark_set(op, event);
    mark_announce(op);
    /* Before submitting, which may already run it. */
    struct ha_queue *before = event->queue;
    uint64_t number_before = event->number;
    event->queue = queue;
    event->number = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    ha_queue_retain(queue);
    bool submitted = ha_stream_submit(stream, op, HA_SUBMIT_WAKE) != 0;
    if (submitted) {
        event->recorded = true;
        set_past(event, ha_order_past(queue));
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

/* The stream is idle: the event is complete. Lock held. */
static void
record_now(struct ha_event *event)
{
    event->recorded = true;
    event->time_ns = ha_clock_ns();
    if (event->queue != NULL) {
        ha_queue_release(event->queue);
    }
    event->queue = NULL;
    if (event->ipc != NULL) {
        event->ipc_number = ha_ipc_event_record(event->ipc);
        ha_ipc_event_pass(event->ipc, event->ipc_number);
    }
}

hipError_t
ha_event_record(struct ha_event *event, struct ha_stream *stream)
{
    point_drop(event);
    if (!ha_stream_is_idle(stream)) {
        return record_mark(event, stream);
    }
    record_now(event);
    set_past(event, ha_order_past(&stream->queue));
    ha_pool_unlock();
    return hipSuccess;
}

/* The record in another process that the event waits for, or 0. Lock held. */
static uint64_t
elsewhere(const struct ha_event *event)
{
    if (event->ipc == NULL) {
        return 0;
    }
    uint64_t newest = ha_ipc_event_newest(event->ipc);
    return newest == event->ipc_number || ha_ipc_event_is_done(event->ipc, newest)
               ? 0
               : newest;
}

static hipError_t
captured_fail(void)
{
    return ha_cpu_fail(hipErrorCapturedEvent,
                       "the event was last recorded in a capture");
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
    bool complete = event->queue == NULL && elsewhere(event) == 0;
    bool captured = event->point != NULL;
    if (complete && !captured) {
        ha_order_answered(ha_past_keep(event->past));
    }
    ha_pool_unlock();
    if (captured) {
        return captured_fail();
    }
    if (!complete) {
        return ha_cpu_fail(hipErrorNotReady, "the stream has not passed the event");
    }
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

hipError_t
ha_event_wait(hipEvent_t handle, struct ha_device **device)
{
    struct ha_event *event;
    hipError_t code = event_lock("event", handle, &event);
    if (code != hipSuccess) {
        return code;
    }
    *device = event->device;
    if (event->point != NULL) {
        ha_pool_unlock();
        return captured_fail();
    }
    struct ha_ipc_event *ipc = event->ipc;
    uint64_t ipc_number = elsewhere(event);
    if (ipc_number != 0) {
        ha_ipc_event_retain(ipc);
    }
    struct ha_past *past = ha_past_keep(event->past);
    if (event->queue != NULL) {
        struct ha_queue *queue = event->queue;
        ha_queue_retain(queue);
        code = ha_queue_wait(queue, event->number, 0);
        ha_queue_release(queue);
    }
    if (code == hipSuccess) {
        ha_order_waited(past);
    } else {
        ha_past_release(past);
    }
    ha_pool_unlock();
    if (code != hipSuccess) {
        code = ha_cpu_fail(code, "interrupted; work of the stream goes on");
    } else if (ipc_number != 0) {
        code = ha_ipc_event_wait(ipc, ipc_number);
    }
    if (ipc_number != 0) {
        ha_ipc_event_release(ipc);
    }
    return code;
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
    } else if (first->point != NULL || last->point != NULL) {
        code = hipErrorCapturedEvent;
        reason = "an event was last recorded in a capture";
    } else if (first->queue != NULL || last->queue != NULL) {
        code = hipErrorNotReady;
        reason = "an event is not complete";
    } else {
        int64_t elapsed_ns = (int64_t)(last->time_ns - first->time_ns);
        ha_order_waited(ha_past_join(first->past, last->past));
        *milliseconds = (float)((double)elapsed_ns * 1e-6);
    }
    ha_pool_unlock();
    return code == hipSuccess ? hipSuccess : ha_cpu_fail(code, "%s", reason);
}

/* An operation that waits for what the event names, or NULL without memory. Lock held.
 */
static struct ha_op *
wait_op(const struct ha_event *event)
{
    struct ha_op *op = ha_op_new(&wait_class);
    if (op != NULL && !ha_op_depend(op, event->queue, event->number)) {
        ha_op_discard(op);
        return NULL;
    }
    if (op != NULL) {
        op->caller = true;
    }
    return op;
}

hipError_t
ha_event_follow(struct ha_event *event, struct ha_stream *stream)
{
    struct ha_op *op = NULL;
    uint64_t ipc_number = elsewhere(event);
    if (event->recorded) {
        ha_order_by_rules(&stream->queue);
        ha_order_learn(&stream->queue, event->past);
    }
    if (ipc_number != 0) {
        op = ha_ipc_event_op(event->ipc, ipc_number);
    } else if (event->queue == NULL || event->queue == &stream->queue) {
        ha_pool_unlock();
        return hipSuccess;
    } else {
        op = wait_op(event);
    }
    if (op == NULL) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
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
