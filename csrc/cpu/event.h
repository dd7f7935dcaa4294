/* SPDX-License-Identifier: MIT */
/* HIP events: a place in a stream, and the time when the stream passed it.
 *
 * An event that was *recorded* names an operation (queue and number); it is *complete*
 * when that operation is done.  Recording in an idle stream completes at once, without
 * an operation.  Waiting for an event means waiting for the operation that it named at
 * the time of the call, whatever is recorded later.
 *
 * Ownership: an event holds its queue while it is pending; marks in queues hold the
 * event, so it may be destroyed while pending.
 *
 * Locks: everything here is guarded by the pool lock; functions take it themselves. */
#ifndef HA_CPU_EVENT_H
#define HA_CPU_EVENT_H

#include "abi/hip.h"
#include "cpu/pool.h"

hipError_t ha_event_create(struct ha_device *device, unsigned flags,
                           hipEvent_t *handle);
hipError_t ha_event_destroy(hipEvent_t handle);
hipError_t ha_event_record(hipEvent_t handle, hipStream_t stream,
                           struct ha_device *device);

/* hipSuccess, or hipErrorNotReady. An event that was never recorded is ready. */
hipError_t ha_event_query(hipEvent_t handle);
hipError_t ha_event_synchronize(hipEvent_t handle);
hipError_t ha_event_elapsed(hipEvent_t start, hipEvent_t stop, float *milliseconds);

/* Makes later work of the stream wait for the event. */
hipError_t ha_event_stream_wait(hipStream_t stream, hipEvent_t handle,
                                struct ha_device *device);

/* Destroys the events of the device. */
void ha_events_reset(struct ha_device *device);

#endif
