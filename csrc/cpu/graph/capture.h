/* SPDX-License-Identifier: MIT */
/* Stream capture: calls that name a capturing stream become nodes of a graph.
 *
 * A *capture* begins with one stream and spreads to others through events.  Each stream
 * in it has a *front*: the nodes behind which its next one will stand.  An event that
 * is recorded in a capture remembers a *point*: what the front was at that time.  A
 * capture that something illegal happened to is *invalid*: its streams refuse all but
 * the end.
 *
 * Ownership: a capture is kept until it ends, by points, and by calls that are about to
 * add a node; it owns its fronts, so these live as long as it does.
 *
 * Locks: the graph lock guards all of it.  The pointers `front` of a stream and `point`
 * of an event change with the pool lock held too, so with that lock alone one may ask
 * whether there is one, and make its capture invalid. */
#ifndef HA_CPU_GRAPH_CAPTURE_H
#define HA_CPU_GRAPH_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/queue/stream.h"

struct ha_copy;
struct ha_device;
struct ha_event;
struct ha_fill;
struct ha_function;
struct ha_graph;
struct ha_launch_request;
struct ha_capture_point;
struct ha_value;

/* ---- begin and end; without locks ---- */

/* Into a new graph, or into `graph` behind the given nodes. */
hipError_t ha_capture_begin(hipStream_t stream, struct ha_device *device,
                            hipStreamCaptureMode mode, hipGraph_t graph,
                            const hipGraphNode_t *befores, size_t count);
hipError_t ha_capture_end(hipStream_t stream, struct ha_device *device,
                          hipGraph_t *graph);

struct ha_capture_info {
    hipStreamCaptureStatus status;
    unsigned long long id;
    hipGraph_t graph;
    const hipGraphNode_t *befores; /* valid until the front changes */
    size_t before_count;
};

hipError_t ha_capture_info(hipStream_t stream, struct ha_device *device,
                           struct ha_capture_info *info);
hipError_t ha_capture_set_befores(hipStream_t stream, struct ha_device *device,
                                  const hipGraphNode_t *befores, size_t count,
                                  bool replace);
/* Sets the calling thread's mode and gives the one before. */
hipStreamCaptureMode ha_capture_exchange_mode(hipStreamCaptureMode mode);

/* ---- what calls ask ---- */

extern _Atomic uint32_t ha_capture_open_count; /* captures that go on */

/* Whether there is a capture anywhere. */
static inline bool
ha_capture_is_open(void)
{
    return atomic_load_explicit(&ha_capture_open_count, memory_order_relaxed) != 0;
}

/* The failure of ha_capture_find_stream. Pool lock held on entry; given back. */
hipError_t ha_capture_fail_implicit(struct ha_stream *stream);

/* Takes the pool lock and finds the stream (ha_stream_look), for a call that gives it
 * work or waits for it.  If it is a legacy default stream that would wait for streams
 * that are being captured, their captures become invalid:
 * hipErrorStreamCaptureImplicit. */
static inline hipError_t
ha_capture_find_stream(hipStream_t handle, struct ha_device *device,
                       struct ha_stream **stream)
{
    hipError_t code = ha_stream_look(handle, device, stream);
    return code == hipSuccess && ha_stream_waits_for_capture(*stream)
               ? ha_capture_fail_implicit(*stream)
               : code;
}
/* The same for a stream that was found before and whose queue the caller retained. */
hipError_t ha_capture_find_again(struct ha_stream *stream);

/* For calls that are unsafe while something is captured: refused by the rules of the
 * mode. Without locks. */
hipError_t ha_capture_permit(void);

/* The same for a call that waits for the whole device: in no mode may it while a stream
 * of the device is being captured. */
hipError_t ha_capture_permit_device(const struct ha_device *device);
/* Makes the front's capture invalid; hipErrorStreamCaptureUnsupported with the text.
 * Pool lock held on entry; given back. */
hipError_t ha_capture_refuse(struct ha_front *front, const char *what);
/* Keeps the front's capture for a call that becomes a node (below). Pool lock held. */
void ha_capture_retain(struct ha_front *front);
/* Makes the front's capture invalid. Pool lock held. */
void ha_capture_invalidate(struct ha_front *front);

/* ---- what calls become; without locks ----
 *
 * Each takes the front of the stream that the call named and steals a reference to its
 * capture (ha_capture_retain). */

hipError_t ha_capture_launch(struct ha_front *front, struct ha_function *function,
                             const struct ha_launch_request *request);
hipError_t ha_capture_copy(struct ha_front *front, const struct ha_copy *copy);
hipError_t ha_capture_fill(struct ha_front *front, const struct ha_fill *fill);
hipError_t ha_capture_host(struct ha_front *front, hipHostFn_t fn, void *data);
hipError_t ha_capture_alloc(struct ha_front *front, const struct ha_device *device,
                            size_t bytes, void **ptr);
hipError_t ha_capture_free(struct ha_front *front, void *ptr);
hipError_t ha_capture_values(struct ha_front *front, const struct ha_value *values,
                             unsigned count);
/* The stream launches an executable graph. Graph lock held. */
hipError_t ha_capture_graph(struct ha_front *front, const struct ha_graph *graph);
/* `external`: the record is a node of its own. */
hipError_t ha_capture_record(struct ha_front *front, hipEvent_t event, bool external);

/* hipStreamWaitEvent where the stream captures, or the event has a point: the stream's
 * queue was retained by the caller, who keeps that reference. Without locks. */
hipError_t ha_capture_wait(struct ha_stream *stream, hipEvent_t event, bool external);

/* In a forked child. */
void ha_capture_after_fork_child(void);

#endif
