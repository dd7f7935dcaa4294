/* SPDX-License-Identifier: MIT */
/* Stream memory operations and host functions, which run or become nodes; and waits for
 * streams and events, which captures refuse.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_STREAM_H
#define HA_CPU_SUBMIT_STREAM_H

#include "abi/hip.h"

struct ha_device;
struct ha_value;

/* A batch that was checked (cpu/work/value.h). */
hipError_t ha_submit_values(hipStream_t stream, struct ha_device *device,
                            const struct ha_value *values, unsigned count);

/* Calls fn(data) in stream order. */
hipError_t ha_submit_function(hipStream_t stream, struct ha_device *device,
                              hipHostFn_t fn, void *data);
/* Calls callback(stream, status, data) in stream order, even after a fault. */
hipError_t ha_submit_callback(hipStream_t stream, struct ha_device *device,
                              hipStreamCallback_t callback, void *data);

/* Waits for all that the stream was given so far, or for what the event names.  What
 * comes with a wait follows: memory pools give back what they keep too much of, printed
 * text is shown, and a fault of the device is the wait's failure. */
hipError_t ha_wait_stream(hipStream_t stream, struct ha_device *device);
hipError_t ha_wait_event(hipEvent_t event);

/* hipSuccess if the stream has nothing to do, or hipErrorNotReady. */
hipError_t ha_query_stream(hipStream_t stream, struct ha_device *device);

#endif
