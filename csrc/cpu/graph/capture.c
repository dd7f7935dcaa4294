/* SPDX-License-Identifier: MIT */
#include "cpu/graph/capture.h"

#include <stdlib.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/gone.h"
#include "cpu/base/thread.h"
#include "cpu/graph/capture_state.h"
#include "cpu/graph/graph_state.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/stream.h"

static struct ha_capture *captures;    /* graph lock */
static unsigned long long next_id = 1; /* graph lock */
_Atomic uint32_t ha_capture_open_count;
static _Thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

void
ha_capture_after_fork_child(void)
{
    captures = NULL;
    atomic_store(&ha_capture_open_count, 0);
}

/* ---- life ---- */

void
ha_capture_release(struct ha_capture *capture)
{
    if (atomic_fetch_sub(&capture->references, 1) == 1) {
        struct ha_front *next;
        for (struct ha_front *front = capture->fronts; front != NULL; front = next) {
            next = front->next;
            free(front);
        }
        ha_nodes_clear(&capture->dropped);
        free(capture);
    }
}

bool
ha_nodes_include(struct ha_nodes *to, const struct ha_nodes *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (!ha_nodes_have(to, from->items[i]) && !ha_nodes_add(to, from->items[i])) {
            return false;
        }
    }
    return true;
}

/* Takes the stream out of its capture. Pool lock held. */
static void
front_detach(struct ha_front *front)
{
    struct ha_stream *stream = front->stream;
    if (stream == NULL) {
        return;
    }
    if (stream->queue.blocking) {
        stream->queue.device->capturing--;
    }
    stream->front = NULL;
    front->stream = NULL;
    ha_queue_release(&stream->queue);
}

/* The stream goes: its capture can't end well any more. Pool lock held. */
static void
stream_leave(struct ha_front *front)
{
    atomic_store(&front->capture->invalid, true);
    if (front->origin) {
        atomic_store(&front->capture->orphan, true);
    }
    front_detach(front);
}

struct ha_front *
ha_front_new(struct ha_capture *capture, struct ha_stream *stream)
{
    struct ha_front *front = calloc(1, sizeof *front);
    if (front == NULL) {
        return NULL;
    }
    front->capture = capture;
    front->stream = stream;
    ha_queue_retain(&stream->queue);
    front->next = capture->fronts;
    capture->fronts = front;
    stream->front = front;
    stream->leave = stream_leave;
    if (stream->queue.blocking) {
        stream->queue.device->capturing++;
    }
    return front;
}

/* Ends the capture; its graph stays with the caller. Graph lock held. */
static void
capture_close(struct ha_capture *capture)
{
    ha_pool_lock();
    for (struct ha_front *front = capture->fronts; front != NULL; front = front->next) {
        front_detach(front);
        ha_nodes_clear(&front->nodes);
        free(front->shown);
        front->shown = NULL;
    }
    ha_pool_unlock();
    capture->graph->capturing = false;
    capture->graph = NULL;
    if (capture->previous != NULL) {
        capture->previous->next = capture->next;
    } else {
        captures = capture->next;
    }
    if (capture->next != NULL) {
        capture->next->previous = capture->previous;
    }
    atomic_fetch_sub(&ha_capture_open_count, 1);
    ha_capture_release(capture);
}

/* Ends captures that nobody can end any more. Graph lock held. */
static void
sweep(void)
{
    struct ha_capture *capture = captures;
    while (capture != NULL) {
        struct ha_capture *next = capture->next;
        if (atomic_load(&capture->orphan)) {
            struct ha_graph *graph = capture->given ? NULL : capture->graph;
            capture_close(capture);
            if (graph != NULL) {
                ha_graph_free(graph);
            }
        }
        capture = next;
    }
}

/* ---- streams ---- */

/* Makes captures of the device's blocking streams invalid. Pool lock held. */
static void
spoil(struct ha_device *device)
{
    for (struct ha_queue *queue = device->queues; queue != NULL;
         queue = queue->device_next) {
        if (queue->stream) {
            const struct ha_stream *stream = (const struct ha_stream *)queue;
            if (stream->front != NULL && queue->blocking) {
                atomic_store(&stream->front->capture->invalid, true);
            }
        }
    }
}

hipError_t
ha_capture_fail_implicit(struct ha_stream *stream)
{
    spoil(stream->queue.device);
    ha_pool_unlock();
    return ha_cpu_fail(hipErrorStreamCaptureImplicit,
                       "the legacy default stream would wait for a stream that is "
                       "being captured; the capture is invalid now");
}

hipError_t
ha_capture_find_again(struct ha_stream *stream)
{
    struct ha_device *device = stream->queue.device;
    ha_pool_lock();
    if (stream->gone) {
        ha_pool_unlock();
        return ha_stream_fail_gone((hipStream_t)(uintptr_t)stream->handle);
    }
    if (atomic_load_explicit(&device->fault, memory_order_relaxed) != 0) {
        ha_pool_unlock();
        return ha_device_fail(device);
    }
    return ha_stream_waits_for_capture(stream) ? ha_capture_fail_implicit(stream)
                                               : hipSuccess;
}

/* The front of the stream behind a handle. Graph lock held. hipErrorIllegalState if the
 * stream does not capture (any more). */
static hipError_t
front_find(hipStream_t handle, struct ha_device *device, struct ha_front **front)
{
    struct ha_stream *stream;
    hipError_t code = ha_capture_find_stream(handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    *front = stream->front;
    ha_pool_unlock();
    if (*front == NULL) {
        return ha_cpu_fail(hipErrorIllegalState, "the stream is not being captured");
    }
    return hipSuccess;
}

hipError_t
ha_front_check(const struct ha_front *front)
{
    if (front == NULL || front->capture->graph == NULL) {
        return ha_cpu_fail(hipErrorIllegalState, "the stream is not being captured");
    }
    if (atomic_load(&front->capture->invalid)) {
        return ha_cpu_fail(hipErrorStreamCaptureInvalidated,
                           "the capture was made invalid by an earlier call");
    }
    return hipSuccess;
}

/* ---- begin and end ---- */

static hipError_t
capture_new(hipStreamCaptureMode mode, struct ha_graph *given,
            struct ha_capture **capture)
{
    struct ha_capture *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for a capture");
    }
    made->graph = given != NULL ? given : ha_graph_new();
    if (made->graph == NULL) {
        free(made);
        return hipErrorOutOfMemory;
    }
    made->given = given != NULL;
    made->mode = mode;
    made->thread = ha_thread_self();
    made->id = next_id++;
    atomic_init(&made->references, 1);
    *capture = made;
    return hipSuccess;
}

static void
capture_open(struct ha_capture *capture)
{
    capture->graph->capturing = true;
    capture->next = captures;
    if (captures != NULL) {
        captures->previous = capture;
    }
    captures = capture;
    atomic_fetch_add(&ha_capture_open_count, 1);
}

static hipError_t
befores_of(const struct ha_graph *graph, const hipGraphNode_t *befores, size_t count,
           struct ha_nodes *nodes)
{
    hipError_t code =
        count == 0 ? hipSuccess
                   : ha_gone_check("dependencies", befores, count * sizeof *befores);
    if (code != hipSuccess) {
        return code;
    }
    for (size_t i = 0; i < count; i++) {
        struct ha_node *node = ha_node_find(befores[i]);
        if (node == NULL || node->graph != graph) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "dependency %zu is not a node of the captured graph", i);
        }
        if (!ha_nodes_have(nodes, node) && !ha_nodes_add(nodes, node)) {
            return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %zu dependencies",
                               count);
        }
    }
    return hipSuccess;
}

/* Graph lock held. */
static hipError_t
begin(hipStream_t handle, struct ha_device *device, hipStreamCaptureMode mode,
      struct ha_graph *given, struct ha_nodes *befores)
{
    struct ha_stream *stream;
    struct ha_capture *capture = NULL;
    hipError_t code = capture_new(mode, given, &capture);
    if (code != hipSuccess) {
        return code;
    }
    const char *reason = NULL;
    code = ha_capture_find_stream(handle, device, &stream);
    if (code == hipSuccess) {
        struct ha_front *front = NULL;
        if (&stream->queue == stream->queue.device->legacy) {
            code = hipErrorStreamCaptureUnsupported;
            reason = "the legacy default stream can't be captured";
        } else if (stream->front != NULL) {
            code = hipErrorIllegalState;
            reason = "the stream is being captured already";
        } else if ((front = ha_front_new(capture, stream)) == NULL) {
            code = hipErrorOutOfMemory;
            reason = "no memory for a capture";
        } else {
            front->origin = true;
            front->nodes = *befores;
            *befores = (struct ha_nodes){.items = NULL};
        }
        ha_pool_unlock();
    }
    if (code == hipSuccess) {
        capture_open(capture);
        return hipSuccess;
    }
    if (!capture->given) {
        ha_graph_free(capture->graph);
    }
    ha_capture_release(capture);
    return reason != NULL ? ha_cpu_fail(code, "%s", reason) : code;
}

hipError_t
ha_capture_begin(hipStream_t stream, struct ha_device *device,
                 hipStreamCaptureMode mode, hipGraph_t graph_handle,
                 const hipGraphNode_t *befores, size_t count)
{
    struct ha_nodes nodes = {.items = NULL};
    struct ha_graph *graph = NULL;
    hipError_t code = hipSuccess;
    ha_graph_lock();
    sweep();
    if (graph_handle != NULL) {
        graph = ha_graph_find(graph_handle);
        code = graph == NULL ? hipErrorInvalidValue
                             : befores_of(graph, befores, count, &nodes);
        if (code == hipSuccess && graph->capturing) {
            code =
                ha_cpu_fail(hipErrorIllegalState, "another capture adds to the graph");
        }
    }
    if (code == hipSuccess) {
        code = begin(stream, device, mode, graph, &nodes);
    }
    ha_nodes_clear(&nodes);
    ha_graph_unlock();
    return code;
}

/* False if work of another stream was never joined to the first one. */
static bool
is_joined(const struct ha_capture *capture, const struct ha_front *origin)
{
    for (const struct ha_front *front = capture->fronts; front != NULL;
         front = front->next) {
        for (uint32_t i = 0; i < front->nodes.count && front != origin; i++) {
            const struct ha_node *last = front->nodes.items[i];
            if (!ha_node_stands_before(last, &origin->nodes) &&
                !ha_node_stands_before(last, &capture->dropped)) {
                return false;
            }
        }
    }
    return true;
}

/* Graph lock held. */
static hipError_t
end(hipStream_t handle, struct ha_device *device, hipGraph_t *graph)
{
    struct ha_front *front;
    hipError_t code = front_find(handle, device, &front);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_capture *capture = front->capture;
    if (!front->origin) {
        return ha_cpu_fail(hipErrorStreamCaptureUnmatched,
                           "the capture did not begin in this stream");
    }
    if (capture->mode != hipStreamCaptureModeRelaxed &&
        capture->thread != ha_thread_self()) {
        return ha_cpu_fail(hipErrorStreamCaptureWrongThread,
                           "the capture was begun by another thread");
    }
    const char *reason = NULL;
    if (atomic_load(&capture->invalid)) {
        code = hipErrorStreamCaptureInvalidated;
        reason = "the capture was made invalid by an earlier call";
    } else if (!is_joined(capture, front)) {
        code = hipErrorStreamCaptureUnjoined;
        reason = "work of another stream was not joined to the first one";
    }
    struct ha_graph *made = capture->graph;
    bool given = capture->given;
    capture_close(capture);
    if (code != hipSuccess) {
        if (!given) {
            ha_graph_free(made);
        }
        return ha_cpu_fail(code, "%s", reason);
    }
    *graph = (hipGraph_t)(uintptr_t)made->handle;
    return hipSuccess;
}

hipError_t
ha_capture_end(hipStream_t stream, struct ha_device *device, hipGraph_t *graph)
{
    *graph = NULL;
    ha_graph_lock();
    hipError_t code = end(stream, device, graph);
    ha_graph_unlock();
    return code;
}

/* ---- questions ---- */

/* Graph lock held. */
static hipError_t
show(struct ha_front *front, struct ha_capture_info *info)
{
    size_t bytes = front->nodes.count * sizeof *front->shown;
    info->id = front->capture->id;
    info->status = atomic_load(&front->capture->invalid)
                       ? hipStreamCaptureStatusInvalidated
                       : hipStreamCaptureStatusActive;
    info->graph = (hipGraph_t)(uintptr_t)front->capture->graph->handle;
    info->before_count = front->nodes.count;
    if (bytes > 0) {
        hipGraphNode_t *shown = realloc(front->shown, bytes);
        if (shown == NULL) {
            return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %zu dependencies",
                               info->before_count);
        }
        front->shown = shown;
        for (uint32_t i = 0; i < front->nodes.count; i++) {
            shown[i] = ha_node_handle(front->nodes.items[i]);
        }
    }
    info->befores = front->shown;
    return hipSuccess;
}

hipError_t
ha_capture_info(hipStream_t handle, struct ha_device *device,
                struct ha_capture_info *info)
{
    struct ha_stream *stream;
    *info = (struct ha_capture_info){.status = hipStreamCaptureStatusNone};
    ha_graph_lock();
    hipError_t code = ha_stream_look(handle, device, &stream);
    if (code == hipSuccess) {
        struct ha_front *front = stream->front;
        bool implicit = ha_stream_waits_for_capture(stream);
        ha_pool_unlock();
        if (implicit) {
            code = ha_cpu_fail(hipErrorStreamCaptureImplicit,
                               "the legacy default stream would wait for a stream that "
                               "is being captured");
        } else if (front != NULL) {
            code = show(front, info);
        }
    }
    ha_graph_unlock();
    return code;
}

hipError_t
ha_capture_set_befores(hipStream_t handle, struct ha_device *device,
                       const hipGraphNode_t *befores, size_t count, bool replace)
{
    struct ha_front *front;
    struct ha_nodes nodes = {.items = NULL};
    ha_graph_lock();
    hipError_t code = front_find(handle, device, &front);
    if (code == hipSuccess) {
        code = ha_front_check(front);
    }
    if (code == hipSuccess) {
        code = befores_of(front->capture->graph, befores, count, &nodes);
    }
    if (code == hipSuccess &&
        !ha_nodes_include(replace ? &front->capture->dropped : &nodes, &front->nodes)) {
        code =
            ha_cpu_fail(hipErrorOutOfMemory, "no memory for %zu dependencies", count);
    }
    if (code == hipSuccess) {
        ha_nodes_clear(&front->nodes);
        front->nodes = nodes;
        nodes = (struct ha_nodes){.items = NULL};
    }
    ha_nodes_clear(&nodes);
    ha_graph_unlock();
    return code;
}

hipStreamCaptureMode
ha_capture_exchange_mode(hipStreamCaptureMode mode)
{
    hipStreamCaptureMode before = thread_mode;
    thread_mode = mode;
    return before;
}

/* ---- rules ---- */

hipError_t
ha_capture_permit(void)
{
    bool refused = false;
    if (!ha_capture_is_open() || thread_mode == hipStreamCaptureModeRelaxed) {
        return hipSuccess;
    }
    ha_graph_lock();
    sweep();
    for (struct ha_capture *capture = captures; capture != NULL;
         capture = capture->next) {
        bool own = capture->thread == ha_thread_self();
        if (capture->mode != hipStreamCaptureModeRelaxed &&
            (own || (capture->mode == hipStreamCaptureModeGlobal &&
                     thread_mode == hipStreamCaptureModeGlobal))) {
            atomic_store(&capture->invalid, true);
            refused = true;
        }
    }
    ha_graph_unlock();
    if (refused) {
        return ha_cpu_fail(hipErrorStreamCaptureUnsupported,
                           "not allowed while a stream is being captured; the capture "
                           "is invalid now");
    }
    return hipSuccess;
}

hipError_t
ha_capture_permit_device(const struct ha_device *device)
{
    bool refused = false;
    hipError_t code = ha_capture_permit();
    if (code != hipSuccess || !ha_capture_is_open()) {
        return code;
    }
    ha_graph_lock();
    sweep();
    ha_pool_lock();
    for (struct ha_capture *capture = captures; capture != NULL;
         capture = capture->next) {
        for (const struct ha_front *front = capture->fronts; front != NULL;
             front = front->next) {
            if (front->stream != NULL && front->stream->queue.device == device) {
                atomic_store(&capture->invalid, true);
                refused = true;
            }
        }
    }
    ha_pool_unlock();
    ha_graph_unlock();
    if (refused) {
        return ha_cpu_fail(
            hipErrorStreamCaptureUnsupported,
            "a stream of device %d is being captured, so the device can't "
            "be waited for; the capture is invalid now",
            device->id);
    }
    return hipSuccess;
}

void
ha_capture_retain(struct ha_front *front)
{
    atomic_fetch_add(&front->capture->references, 1);
}

void
ha_capture_invalidate(struct ha_front *front)
{
    atomic_store(&front->capture->invalid, true);
}

hipError_t
ha_capture_refuse(struct ha_front *front, const char *what)
{
    ha_capture_invalidate(front);
    ha_pool_unlock();
    return ha_cpu_fail(hipErrorStreamCaptureUnsupported,
                       "%s a stream that is being captured; the capture is invalid now",
                       what);
}
