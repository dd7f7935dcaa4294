/* SPDX-License-Identifier: MIT */
/* HIP streams: queues with a handle, and the rules of the default streams.
 *
 * The *legacy* default stream (handle 0 or 1) of a device is ordered with all its
 * *blocking* streams: work of either side starts when older work of the other is done.
 * Streams made with hipStreamNonBlocking stand outside of that.  Handle 2 is the
 * calling thread's own default stream, a blocking stream that is made when it is first
 * used and goes when the thread ends.
 *
 * Ownership: a stream is the queue it begins with, so the references of
 * cpu/queue/pool.h count; its handle holds one until hipStreamDestroy.  Work that is
 * queued then still runs.
 *
 * Locks: everything here is guarded by the pool lock. */
#ifndef HA_CPU_QUEUE_STREAM_H
#define HA_CPU_QUEUE_STREAM_H

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/queue/pool.h"

struct ha_front;

#define HA_STREAM_LEGACY ((hipStream_t)1)
#define HA_STREAM_PER_THREAD ((hipStream_t)2)

#define HA_MASK_WORDS 32 /* of a mask of compute units, 32 in each */

struct ha_stream {
    struct ha_queue queue; /* first, so that a queue of a stream is the stream */
    uint64_t handle;       /* 0 for default streams */
    uint64_t id;
    unsigned flags;
    bool gone;                            /* its handle is out of use */
    hipAccessPolicyWindow window;         /* stored only so that it can be queried */
    hipSynchronizationPolicy sync_policy; /* likewise; 0 = automatic */
    uint32_t mask[HA_MASK_WORDS];         /* where queue.threads_max is set */
    struct ha_front *front; /* cpu/graph/capture.h; NULL = not capturing */
    void (*leave)(struct ha_front *front); /* where it captures: lock held, it goes */
};

/* Tells the stream from those of all devices. */
static inline uint64_t
ha_stream_place(const struct ha_stream *stream)
{
    return (uint64_t)stream->queue.device->id << 48 | stream->id;
}

/* How a caller wants its operation to be run. */
enum ha_run {
    HA_RUN_ASYNC, /* return at once */
    HA_RUN_CHEAP, /* the same, but run it here if the stream is idle */
    HA_RUN_SYNC,  /* return when it is done */
};

/* Makes the legacy streams of all devices. */
hipError_t ha_streams_init(void);

/* A new stream; its handle goes to *handle. Without the lock. */
hipError_t ha_stream_create(struct ha_device *device, unsigned flags, int priority,
                            hipStream_t *handle);

/* Takes the handle out of use. Without the lock. */
hipError_t ha_stream_destroy(hipStream_t handle);

/* Takes the pool lock and finds the stream that `handle` means for a caller whose
 * current device is `device`. On failure the lock is not held. Borrowed while the lock
 * is held.  Calls that submit work or wait ask ha_capture_find_stream. */
hipError_t ha_stream_look(hipStream_t handle, struct ha_device *device,
                          struct ha_stream **stream);

/* The failure for a handle that means no stream. */
hipError_t ha_stream_fail_gone(hipStream_t handle);

/* Whether the stream is a legacy default stream, and streams that it would wait for are
 * being captured. Lock held. */
static inline bool
ha_stream_waits_for_capture(const struct ha_stream *stream)
{
    const struct ha_device *device = stream->queue.device;
    return device->capturing > 0 && &stream->queue == device->legacy;
}

/* The device of the stream that `handle` means, for a caller whose current device is
 * *device. Without the lock. */
hipError_t ha_stream_device(hipStream_t handle, struct ha_device **device);

/* True if new work of the stream could start at once. Lock held. */
static inline bool
ha_stream_is_idle(const struct ha_stream *stream)
{
    const struct ha_queue *queue = &stream->queue;
    const struct ha_queue *legacy = queue->device->legacy;
    if (queue->head != NULL) {
        return false;
    }
    if (queue == legacy) {
        return queue->device->busy_blocking == 0;
    }
    return !queue->blocking || legacy->head == NULL;
}

/* Makes the operation wait for those that the rules of the default streams put before
 * the queue's next one; false without memory. Lock held. */
bool ha_stream_order(struct ha_queue *queue, struct ha_op *op);

/* Orders the operation by the rules of the default streams and submits it; its number,
 * or 0 without memory (the operation is finished and discarded then). Lock held. */
uint64_t ha_stream_submit(struct ha_stream *stream, struct ha_op *op,
                          enum ha_submit how);

/* Submits, waits if asked to, and gives the lock back. An interrupted wait leaves
 * nothing behind that touches the caller's memory. A fault of the device fails a SYNC
 * run. */
hipError_t ha_stream_run(struct ha_stream *stream, struct ha_op *op, enum ha_run how);

/* Waits for all that the stream was given so far, and gives the lock back; a fault of
 * the device is no failure. Lock held. */
hipError_t ha_stream_wait(struct ha_stream *stream);

/* The operation of such a call, or NULL without memory. Lock held. */
struct ha_ticket;

/* The ticket of a host function, where a profiler wants it; `function` is its address.
 * With no lock held. */
struct ha_ticket *ha_stream_call_ticket(uintptr_t function, hipStream_t stream,
                                        int device);

struct ha_op *ha_stream_call_op(hipHostFn_t fn, hipStreamCallback_t callback,
                                void *data, hipStream_t handle);

/* Destroys the streams of the device but its default streams. */
void ha_streams_reset(struct ha_device *device);

#endif
