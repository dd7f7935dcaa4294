/* SPDX-License-Identifier: MIT */
#include "cpu/queue/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/life.h"
#include "cpu/base/thread.h"
#include "cpu/exec/exec.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/order.h"
#include "cpu/queue/ticket.h"

/* Legacy streams are part of their devices' life. */
static struct ha_stream legacy_streams[HA_DEVICE_MAX];

static uint64_t next_id = 1; /* pool lock */

static pthread_key_t thread_end_key;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;
static bool thread_end_known; /* written once, before threads need it */

static struct ha_stream *
stream_of(struct ha_queue *queue)
{
    return (struct ha_stream *)queue;
}

static void
stream_free(struct ha_queue *queue)
{
    free(stream_of(queue));
}

hipError_t
ha_streams_init(void)
{
    ha_pool_lock();
    for (int id = 0; id < ha_config()->device_count; id++) {
        struct ha_device *device = ha_device_get(id);
        struct ha_stream *stream = &legacy_streams[id];
        memset(stream, 0, sizeof *stream);
        ha_queue_init(&stream->queue, device, true, HA_PRIORITY_NORMAL);
        stream->queue.stream = true;
        stream->id = 0;
        device->legacy = &stream->queue;
    }
    ha_pool_unlock();
    return hipSuccess;
}

/* A stream without a handle. Lock held. */
static struct ha_stream *
stream_new(struct ha_device *device, unsigned flags, int priority)
{
    struct ha_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    ha_queue_init(&stream->queue, device, (flags & hipStreamNonBlocking) == 0,
                  priority);
    stream->queue.stream = true;
    stream->queue.release = stream_free;
    stream->flags = flags;
    stream->id = next_id++;
    return stream;
}

hipError_t
ha_stream_create(struct ha_device *device, unsigned flags, int priority,
                 hipStream_t *handle)
{
    ha_pool_lock();
    struct ha_stream *stream = stream_new(device, flags, priority);
    if (stream != NULL) {
        stream->handle = ha_handle_create(HA_HANDLE_STREAM, stream);
        if (stream->handle == 0) {
            ha_queue_release(&stream->queue);
            stream = NULL;
        } else {
            *handle = (hipStream_t)(uintptr_t)stream->handle;
        }
    }
    ha_pool_unlock();
    if (stream == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another stream");
    }
    ha_activity_stream(HA_ACTIVITY_STREAM_CREATE, *handle);
    return hipSuccess;
}

/* Lock held; false if the handle was not in use. */
static bool
stream_retire(uint64_t handle)
{
    struct ha_stream *stream = ha_handle_retire(HA_HANDLE_STREAM, handle);
    if (stream == NULL) {
        return false;
    }
    ha_handle_release(handle);
    stream->gone = true;
    if (stream->front != NULL) {
        stream->leave(stream->front);
    }
    ha_queue_release(&stream->queue);
    return true;
}

hipError_t
ha_stream_destroy(hipStream_t handle)
{
    if (handle == NULL || handle == HA_STREAM_LEGACY ||
        handle == HA_STREAM_PER_THREAD) {
        return ha_cpu_fail(hipErrorInvalidResourceHandle,
                           "argument 'stream': a default stream can't be destroyed");
    }
    ha_pool_lock();
    bool retired = stream_retire((uint64_t)(uintptr_t)handle);
    ha_pool_unlock();
    if (!retired) {
        return ha_stream_fail_gone(handle);
    }
    ha_activity_stream(HA_ACTIVITY_STREAM_DESTROY, handle);
    return hipSuccess;
}

/* ---- per-thread streams ---- */

static void
thread_end(void *value)
{
    struct ha_thread *thread = value;
    if (thread->epoch != ha_life_epoch()) {
        return;
    }
    ha_pool_lock();
    for (int id = 0; id < HA_DEVICE_MAX; id++) {
        if (thread->own[id] != NULL) {
            ha_queue_release(&thread->own[id]->queue);
        }
        thread->own[id] = NULL;
    }
    ha_pool_unlock();
}

static void
thread_end_setup(void)
{
    thread_end_known = pthread_key_create(&thread_end_key, thread_end) == 0;
}

/* The calling thread's own stream of the device, or NULL without memory. Lock held.
 * Apart from ha_stream_look, which seldom needs it. */
static __attribute__((noinline)) struct ha_stream *
stream_of_thread(struct ha_device *device)
{
    struct ha_thread *thread = ha_thread_self();
    if (thread->epoch != ha_life_epoch()) {
        memset(thread->own, 0, sizeof thread->own);
        thread->epoch = ha_life_epoch();
    }
    if (thread->own[device->id] == NULL) {
        pthread_once(&thread_end_once, thread_end_setup);
        if (!thread_end_known || pthread_setspecific(thread_end_key, thread) != 0) {
            return NULL;
        }
        thread->own[device->id] =
            stream_new(device, hipStreamDefault, HA_PRIORITY_NORMAL);
    }
    return thread->own[device->id];
}

/* ---- finding ---- */

hipError_t
ha_stream_fail_gone(hipStream_t handle)
{
    return ha_cpu_fail(hipErrorContextIsDestroyed,
                       "argument 'stream' (%p) is not a living stream", (void *)handle);
}

hipError_t
ha_stream_look(hipStream_t handle, struct ha_device *device, struct ha_stream **stream)
{
    struct ha_stream *found;
    if (handle == NULL && ha_thread_self()->own_default) {
        handle = HA_STREAM_PER_THREAD;
    }
    ha_pool_lock();
    if (handle == NULL || handle == HA_STREAM_LEGACY) {
        found = stream_of(device->legacy);
    } else if (handle == HA_STREAM_PER_THREAD) {
        found = stream_of_thread(device);
    } else {
        found = ha_handle_peek(HA_HANDLE_STREAM, (uint64_t)(uintptr_t)handle);
    }
    if (found == NULL) {
        ha_pool_unlock();
        if (handle == HA_STREAM_PER_THREAD) {
            return ha_cpu_fail(hipErrorOutOfMemory,
                               "no memory for the thread's stream");
        }
        return ha_stream_fail_gone(handle);
    }
    struct ha_device *owner = found->queue.device;
    if (atomic_load_explicit(&owner->fault, memory_order_relaxed) != 0) {
        ha_pool_unlock();
        return ha_device_fail(owner);
    }
    *stream = found;
    return hipSuccess;
}

hipError_t
ha_stream_device(hipStream_t handle, struct ha_device **device)
{
    struct ha_stream *stream;
    if ((uintptr_t)handle <= (uintptr_t)HA_STREAM_PER_THREAD) {
        return hipSuccess; /* default streams are those of the current device */
    }
    hipError_t code = ha_stream_look(handle, *device, &stream);
    if (code == hipSuccess) {
        *device = stream->queue.device;
        ha_pool_unlock();
    }
    return code;
}

/* ---- running ---- */

bool
ha_stream_order(struct ha_queue *queue, struct ha_op *op)
{
    struct ha_queue *legacy = queue->device->legacy;
    if (!queue->blocking) {
        return true;
    }
    ha_order_by_rules(queue);
    if (queue != legacy) {
        uint64_t newest =
            atomic_load_explicit(&legacy->submitted, memory_order_relaxed);
        if (newest == queue->legacy_seen) {
            return true;
        }
        queue->legacy_seen = newest;
        return ha_op_depend(op, legacy, newest);
    }
    if (queue->device->busy_blocking == (legacy->head != NULL ? 1u : 0u)) {
        return true;
    }
    for (struct ha_queue *other = queue->device->queues; other != NULL;
         other = other->device_next) {
        if (other == legacy || !other->blocking || other->head == NULL) {
            continue;
        }
        uint64_t newest = atomic_load_explicit(&other->submitted, memory_order_relaxed);
        if (!ha_op_depend(op, other, newest)) {
            return false;
        }
    }
    return true;
}

uint64_t
ha_stream_submit(struct ha_stream *stream, struct ha_op *op, enum ha_submit how)
{
    if (!ha_stream_order(&stream->queue, op)) {
        stream->queue.legacy_seen = 0;
        if (op->class->finish != NULL) {
            op->class->finish(op);
        }
        ha_op_discard(op);
        return 0;
    }
    return ha_queue_submit(&stream->queue, op, how);
}

hipError_t
ha_stream_run(struct ha_stream *stream, struct ha_op *op, enum ha_run how)
{
    struct ha_queue *queue = &stream->queue;
    struct ha_device *device = queue->device;
    hipError_t code = hipSuccess;
    ha_queue_retain(queue);
    uint64_t number = ha_stream_submit(
        stream, op, how == HA_RUN_ASYNC ? HA_SUBMIT_WAKE : HA_SUBMIT_RUN);
    if (number != 0) {
        if (how == HA_RUN_SYNC) {
            struct ha_past *past = ha_order_past(queue);
            code = ha_queue_wait(queue, number, 0);
            if (code == hipSuccess) {
                ha_order_waited(past);
            } else {
                ha_past_release(past);
            }
        } else {
            ha_queue_throttle(queue);
        }
        if (code != hipSuccess) {
            ha_queue_abandon(queue, number);
        }
    }
    ha_queue_release(queue);
    ha_pool_unlock();
    if (number == 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the operation did not complete");
    }
    if (how == HA_RUN_SYNC) {
        ha_exec_flush_print();
        if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
            return ha_device_fail(device);
        }
    }
    return hipSuccess;
}

static const struct ha_op_class empty_class = {.name = "empty", .flags = HA_OP_ALWAYS};

hipError_t
ha_stream_wait(struct ha_stream *stream)
{
    struct ha_queue *queue = &stream->queue;
    struct ha_device *device = queue->device;
    hipError_t code = hipSuccess;
    uint64_t number = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    struct ha_past *past = ha_order_past(queue);
    ha_queue_retain(queue);
    if (queue == device->legacy && device->busy_blocking > 0) {
        /* Waiting for the legacy stream waits for all blocking streams. */
        struct ha_op *op = ha_op_new(&empty_class);
        if (op != NULL) {
            op->caller = true;
            number = ha_stream_submit(stream, op, HA_SUBMIT_RUN);
        }
        if (op == NULL || number == 0) {
            code = hipErrorOutOfMemory;
        }
    }
    if (code == hipSuccess) {
        code = ha_queue_wait(queue, number, 0);
    }
    if (code == hipSuccess) {
        ha_order_waited(past);
    } else {
        ha_past_release(past);
    }
    ha_queue_release(queue);
    ha_pool_unlock();
    if (code == hipErrorOutOfMemory) {
        return ha_cpu_fail(code, "no memory for another operation");
    }
    return code == hipSuccess
               ? hipSuccess
               : ha_cpu_fail(code, "interrupted; work of the stream goes on");
}

/* ---- host functions ---- */

struct host_call {
    hipHostFn_t fn;
    hipStreamCallback_t callback; /* used if fn is NULL */
    void *data;
    hipStream_t handle;
};

_Static_assert(sizeof(struct host_call) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static bool
host_run(struct ha_op *op)
{
    const struct host_call call = *(const struct host_call *)(const void *)op->payload;
    struct ha_thread *thread = ha_thread_self();
    uint32_t epoch = ha_life_epoch();
    int fault = atomic_load_explicit(&op->queue->device->fault, memory_order_acquire);
    ha_order_waited_unlocked(op->past);
    op->past = NULL;
    thread->in_host_function = true;
    if (call.fn != NULL) {
        call.fn(call.data);
    } else {
        call.callback(call.handle, (hipError_t)fault, call.data);
    }
    thread->in_host_function = false;
    /* A child that was forked in there has neither this queue nor this pool. */
    if (epoch != ha_life_epoch() || ha_life_is_forked()) {
        pthread_exit(NULL);
    }
    return true;
}

static const struct ha_op_class function_class = {
    .name = "host function", .flags = HA_OP_BLOCKING | HA_OP_HOST, .run = host_run};
static const struct ha_op_class callback_class = {.name = "callback",
                                                  .flags = HA_OP_BLOCKING |
                                                           HA_OP_ALWAYS | HA_OP_HOST,
                                                  .run = host_run};

struct ha_op *
ha_stream_call_op(hipHostFn_t fn, hipStreamCallback_t callback, void *data,
                  hipStream_t handle)
{
    struct ha_op *op = ha_op_new(fn != NULL ? &function_class : &callback_class);
    if (op != NULL) {
        struct host_call *call = (struct host_call *)(void *)op->payload;
        *call = (struct host_call){
            .fn = fn, .callback = callback, .data = data, .handle = handle};
    }
    return op;
}

struct ha_ticket *
ha_stream_call_ticket(uintptr_t function, hipStream_t stream, int device)
{
    const struct ha_activity_host host = {
        .device = device, .queue = (uintptr_t)stream, .function = function};

    return ha_activity_wants(HA_WANT_HOST) ? ha_ticket_host(&host) : NULL;
}

/* ---- reset ---- */

static void
reset_visit(uint64_t handle, void *context)
{
    struct ha_stream *stream = ha_handle_peek(HA_HANDLE_STREAM, handle);
    if (stream != NULL && stream->queue.device == context) {
        stream_retire(handle);
    }
}

void
ha_streams_reset(struct ha_device *device)
{
    ha_pool_lock();
    ha_handle_each(HA_HANDLE_STREAM, reset_visit, device);
    ha_pool_unlock();
}
