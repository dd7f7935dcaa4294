/* SPDX-License-Identifier: MIT */
/* What calls on a capturing stream become: nodes, and points of events. */
#include "cpu/graph/capture.h"

#include <stdlib.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/graph/capture_state.h"
#include "cpu/queue/event.h"
#include "cpu/queue/stream.h"

/* ---- nodes ---- */

/* A new node behind the front; the front moves on with node_take. Graph lock held. */
static hipError_t
node_make(struct ha_front *front, hipGraphNodeType type, struct ha_node **node)
{
    hipError_t code = hipSuccess;
    *node = ha_node_new(front->capture->graph, type, NULL, 0);
    if (*node == NULL) {
        return hipErrorOutOfMemory;
    }
    for (uint32_t i = 0; i < front->nodes.count && code == hipSuccess; i++) {
        code = ha_node_connect(front->nodes.items[i], *node);
    }
    if (code != hipSuccess) {
        ha_node_free(*node);
    }
    return code;
}

/* The node becomes the front, or goes if its work could not be set. */
static hipError_t
node_take(struct ha_front *front, struct ha_node *node, hipError_t code)
{
    struct ha_nodes nodes = {.items = NULL};
    if (code == hipSuccess && !ha_nodes_add(&nodes, node)) {
        code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for another node");
    }
    if (code != hipSuccess) {
        ha_node_free(node);
        return code;
    }
    ha_nodes_clear(&front->nodes);
    front->nodes = nodes;
    return hipSuccess;
}

/* A call gives its reference to the capture back. */
static hipError_t
call_end(struct ha_front *front, hipError_t code)
{
    ha_graph_unlock();
    ha_capture_release(front->capture);
    return code;
}

/* A call becomes a node of the type: takes the graph lock and makes one.  On failure
 * the call has ended. */
static hipError_t
call_begin(struct ha_front *front, hipGraphNodeType type, struct ha_node **node)
{
    ha_graph_lock();
    hipError_t code = ha_front_check(front);
    if (code == hipSuccess) {
        code = node_make(front, type, node);
    }
    return code == hipSuccess ? code : call_end(front, code);
}

/* `code` says whether the node's work could be set. */
static hipError_t
call_finish(struct ha_front *front, struct ha_node *node, hipError_t code)
{
    return call_end(front, node_take(front, node, code));
}

hipError_t
ha_capture_launch(struct ha_front *front, struct ha_function *function,
                  const struct ha_launch_request *request)
{
    struct ha_node *node;
    hipError_t code = call_begin(front, hipGraphNodeTypeKernel, &node);
    return code != hipSuccess
               ? code
               : call_finish(front, node, ha_node_set_launch(node, function, request));
}

hipError_t
ha_capture_copy(struct ha_front *front, const struct ha_copy *copy)
{
    struct ha_node *node;
    hipError_t code = call_begin(front, hipGraphNodeTypeMemcpy, &node);
    return code != hipSuccess
               ? code
               : call_finish(front, node, ha_node_set_copy_bytes(node, copy));
}

hipError_t
ha_capture_fill(struct ha_front *front, const struct ha_fill *fill)
{
    struct ha_node *node;
    hipError_t code = call_begin(front, hipGraphNodeTypeMemset, &node);
    return code != hipSuccess
               ? code
               : call_finish(front, node, ha_node_set_fill_bytes(node, fill));
}

hipError_t
ha_capture_host(struct ha_front *front, hipHostFn_t fn, void *data)
{
    struct ha_node *node;
    const hipHostNodeParams params = {.fn = fn, .userData = data};
    hipError_t code = call_begin(front, hipGraphNodeTypeHost, &node);
    return code != hipSuccess
               ? code
               : call_finish(front, node, ha_node_set_host(node, &params));
}

hipError_t
ha_capture_alloc(struct ha_front *front, const struct ha_device *device, size_t bytes,
                 void **ptr)
{
    struct ha_node *node;
    hipMemAllocNodeParams params = {
        .poolProps = {.allocType = hipMemAllocationTypePinned,
                      .location = {.type = hipMemLocationTypeDevice, .id = device->id}},
        .bytesize = bytes,
    };
    hipError_t code = call_begin(front, hipGraphNodeTypeMemAlloc, &node);
    if (code == hipSuccess) {
        code = call_finish(front, node, ha_node_set_alloc(node, &params));
    }
    if (code == hipSuccess) {
        *ptr = params.dptr;
    }
    return code;
}

hipError_t
ha_capture_free(struct ha_front *front, void *ptr)
{
    struct ha_node *node;
    hipError_t code = call_begin(front, hipGraphNodeTypeMemFree, &node);
    return code != hipSuccess ? code
                              : call_finish(front, node, ha_node_set_free(node, ptr));
}

hipError_t
ha_capture_values(struct ha_front *front, const struct ha_value *values, unsigned count)
{
    struct ha_node *node;
    hipError_t code = call_begin(front, hipGraphNodeTypeBatchMemOp, &node);
    return code != hipSuccess
               ? code
               : call_finish(front, node, ha_node_set_values(node, values, count));
}

hipError_t
ha_capture_graph(struct ha_front *front, const struct ha_graph *graph)
{
    struct ha_node *node;
    hipError_t code = ha_front_check(front);
    if (code == hipSuccess) {
        code = node_make(front, hipGraphNodeTypeGraph, &node);
    }
    if (code == hipSuccess) {
        code = node_take(front, node, ha_node_set_child(node, graph));
    }
    ha_capture_release(front->capture);
    return code;
}

/* ---- events ---- */

static void
point_free(struct ha_capture_point *point)
{
    ha_capture_release(point->capture);
    ha_nodes_clear(&point->nodes);
    free(point);
}

/* The event remembers where the front is. Graph lock held. */
static hipError_t
point_set(struct ha_event *event, const struct ha_front *front)
{
    struct ha_capture_point *point = calloc(1, sizeof *point);
    if (point == NULL || !ha_nodes_include(&point->nodes, &front->nodes)) {
        if (point != NULL) {
            ha_nodes_clear(&point->nodes);
        }
        free(point);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another event");
    }
    point->capture = front->capture;
    atomic_fetch_add(&front->capture->references, 1);
    ha_pool_lock();
    ha_event_set_point(event, point, point_free);
    ha_pool_unlock();
    return hipSuccess;
}

/* Graph lock held. */
static hipError_t
record(struct ha_front *front, hipEvent_t handle, bool external)
{
    struct ha_node *node;
    struct ha_event *event;
    hipError_t code = ha_front_check(front);
    if (code == hipSuccess && external) {
        code = node_make(front, hipGraphNodeTypeEventRecord, &node);
        return code != hipSuccess
                   ? code
                   : node_take(front, node, ha_node_set_event(node, handle));
    }
    if (code != hipSuccess) {
        return code;
    }
    event = ha_event_acquire(handle);
    if (event == NULL) {
        return hipErrorInvalidHandle;
    }
    code = point_set(event, front);
    ha_event_leave(event);
    return code;
}

hipError_t
ha_capture_record(struct ha_front *front, hipEvent_t handle, bool external)
{
    ha_graph_lock();
    return call_end(front, record(front, handle, external));
}

/* A stream comes to a point of a capture that goes on. Graph lock held. */
static hipError_t
join(struct ha_stream *stream, const struct ha_capture_point *point)
{
    hipError_t code = ha_capture_find_again(stream);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_front *front = stream->front;
    const char *reason = NULL;
    if (&stream->queue == stream->queue.device->legacy) {
        code = hipErrorStreamCaptureImplicit;
        reason = "the legacy default stream can't wait for an event of a capture";
    } else if (front != NULL && front->capture != point->capture) {
        atomic_store(&front->capture->invalid, true);
        code = hipErrorStreamCaptureMerge;
        reason = "the event and the stream belong to different captures";
    } else if (front == NULL &&
               (front = ha_front_new(point->capture, stream)) == NULL) {
        code = hipErrorOutOfMemory;
        reason = "no memory for another stream of the capture";
    }
    ha_pool_unlock();
    if (code == hipSuccess && !ha_nodes_include(&front->nodes, &point->nodes)) {
        code = hipErrorOutOfMemory;
        reason = "no memory for another stream of the capture";
    }
    if (code != hipSuccess) {
        atomic_store(&point->capture->invalid, true);
        return ha_cpu_fail(code, "%s", reason);
    }
    return hipSuccess;
}

/* Graph lock held. */
static hipError_t
wait_for(struct ha_stream *stream, struct ha_event *event, bool external)
{
    struct ha_front *front = NULL;
    struct ha_node *node;
    const struct ha_capture_point *point = ha_event_point(event);
    if (point != NULL && point->capture->graph == NULL) {
        return ha_cpu_fail(hipErrorCapturedEvent,
                           "the event was last recorded in a capture that has ended");
    }
    if (point != NULL && atomic_load(&point->capture->invalid)) {
        return ha_cpu_fail(hipErrorStreamCaptureInvalidated,
                           "the capture was made invalid by an earlier call");
    }
    if (point != NULL) {
        return join(stream, point);
    }
    hipError_t code = ha_capture_find_again(stream);
    if (code == hipSuccess) {
        front = stream->front;
        ha_pool_unlock();
        code = ha_front_check(front);
    }
    if (code == hipSuccess && !external) {
        atomic_store(&front->capture->invalid, true);
        return ha_cpu_fail(hipErrorStreamCaptureIsolation,
                           "the event was not recorded in the capture");
    }
    if (code == hipSuccess) {
        code = node_make(front, hipGraphNodeTypeWaitEvent, &node);
    }
    return code != hipSuccess
               ? code
               : node_take(front, node,
                           ha_node_set_event(node, ha_event_handle(event)));
}

hipError_t
ha_capture_wait(struct ha_stream *stream, hipEvent_t handle, bool external)
{
    ha_graph_lock();
    struct ha_event *event = ha_event_acquire(handle);
    hipError_t code = hipErrorInvalidHandle;
    if (event != NULL) {
        code = wait_for(stream, event, external);
        ha_event_leave(event);
    }
    ha_graph_unlock();
    return code;
}
