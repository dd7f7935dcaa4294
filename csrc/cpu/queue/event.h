/* SPDX-License-Identifier: MIT */
/* HIP events: a place in a stream, and the time when the stream passed it.
 *
 * An event that was *recorded* names an operation (queue and number); it is *complete*
 * when that operation is done.  Recording in an idle stream completes at once, without
 * an operation.  Waiting for an event means waiting for the operation that it named at
 * the time of the call, whatever is recorded later.
 *
 * An event that was created with hipEventInterprocess, or opened, has a part that it
 * shares with other processes (cpu/queue/ipc_event.h).  It is complete when both are.
 *
 * Ownership: an event holds its queue while it is pending; marks in queues hold the
 * event, so it may be destroyed while pending.
 *
 * Locks: everything here is guarded by the pool lock; functions take it themselves. */
#ifndef HA_CPU_QUEUE_EVENT_H
#define HA_CPU_QUEUE_EVENT_H

#include "abi/hip.h"
#include "cpu/queue/pool.h"

struct ha_event;
struct ha_capture_point;
struct ha_stream;

hipError_t ha_event_create(struct ha_device *device, unsigned flags,
                           hipEvent_t *handle);
hipError_t ha_event_destroy(hipEvent_t handle);
/* The failure for a handle that is no event. */
hipError_t ha_event_fail_gone(const char *argument, hipEvent_t handle);

/* To and from other processes; export fails with hipErrorInvalidConfiguration for an
 * event that was not created for that. */
hipError_t ha_event_export(hipEvent_t handle, hipIpcEventHandle_t *ipc);
hipError_t ha_event_open(struct ha_device *device, const hipIpcEventHandle_t *handle,
                         hipEvent_t *event);

/* hipSuccess, or hipErrorNotReady. An event that was never recorded is ready. */
hipError_t ha_event_query(hipEvent_t handle);
/* Waits for what the event names; *device is its device, whose fault is no failure. */
hipError_t ha_event_wait(hipEvent_t handle, struct ha_device **device);
hipError_t ha_event_elapsed(hipEvent_t start, hipEvent_t stop, float *milliseconds);

/* ---- in streams (cpu/submit/event.h); pool lock held ---- */

/* The living event, borrowed while the lock is held, or NULL. */
struct ha_event *ha_event_peek(hipEvent_t handle);
/* The same for an event that has to be of the stream's device; on failure the lock is
 * given back. */
hipError_t ha_event_find(hipEvent_t handle, const struct ha_stream *stream,
                         struct ha_event **event);
/* Records the event in a stream of its device; gives the lock back. */
hipError_t ha_event_record(struct ha_event *event, struct ha_stream *stream);
/* Makes later work of the stream wait for the event; gives the lock back. */
hipError_t ha_event_follow(struct ha_event *event, struct ha_stream *stream);

/* ---- for graphs ---- */

/* The living event with a reference for the caller, or NULL with the failure recorded.
 * Events of several processes are refused: a graph waits for its own process only. */
struct ha_event *ha_event_acquire(hipEvent_t handle);
void ha_event_retain(struct ha_event *event);
void ha_event_leave(struct ha_event *event);
struct ha_device *ha_event_device(const struct ha_event *event);
hipEvent_t ha_event_handle(const struct ha_event *event);
/* The operation that stands for recording the event, or NULL without memory; before it
 * is submitted to `queue`, ha_event_will_pass ties the event to it (and does nothing to
 * operations of other classes). Pool lock held, as for the next one. */
struct ha_op *ha_event_op(struct ha_event *event);
void ha_event_will_pass(struct ha_op *op, struct ha_queue *queue);
/* Where it was recorded in a capture (cpu/graph/capture.h), or NULL. Setting steals the
 * point, needs the graph lock too, and says how the point is freed: with the pool lock
 * held, when the event is recorded again or goes. */
void ha_event_set_point(struct ha_event *event, struct ha_capture_point *point,
                        void (*point_free)(struct ha_capture_point *point));
const struct ha_capture_point *ha_event_point(const struct ha_event *event);
/* Under check: what its newest record comes behind, borrowed; and what comes before the
 * record that the operation stands for, if it does. */
struct ha_past *ha_event_past(const struct ha_event *event);
void ha_event_will_know(struct ha_op *op, struct ha_past *past);
/* Makes the operation wait for what the event names now; false without memory. */
bool ha_event_depend(const struct ha_event *event, struct ha_op *op);

/* Destroys the events of the device. */
void ha_events_reset(struct ha_device *device);

#endif
