/* SPDX-License-Identifier: MIT */
/* What cpu/graph/capture.c (life, questions and rules of captures) and
 * cpu/graph/capture_node.c (what calls become) share; nobody else includes it.
 * cpu/graph/capture.h has the words and the locks. */
#ifndef HA_CPU_GRAPH_CAPTURE_STATE_H
#define HA_CPU_GRAPH_CAPTURE_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "cpu/base/thread.h"
#include "cpu/graph/capture.h"
#include "cpu/graph/graph.h"

struct ha_thread;
struct ha_stream;

struct ha_capture {
    struct ha_capture *next, *previous; /* of all that go on */
    _Atomic uint32_t references; /* points, calls that make a node, and the list */
    unsigned long long id;
    struct ha_graph *graph; /* owned, unless the program gave it; NULL once ended */
    bool given;
    hipStreamCaptureMode mode;
    const struct ha_thread *thread; /* that began it; only compared */
    _Atomic bool invalid;
    _Atomic bool orphan;     /* the stream that it began with is gone */
    struct ha_front *fronts; /* owned; those of an ended capture have no stream */
    struct ha_nodes dropped; /* by the program: they need not be joined */
};

struct ha_front {
    struct ha_front *next;      /* of the capture */
    struct ha_capture *capture; /* borrowed: it owns the front */
    struct ha_stream *stream; /* its queue is retained; NULL once the stream is gone */
    bool origin;
    struct ha_nodes nodes;
    hipGraphNode_t *shown; /* owned: what the program was given last */
};

struct ha_capture_point {
    struct ha_capture *capture; /* owned reference */
    struct ha_nodes nodes;
};

/* Adds the nodes that `to` does not have yet; false without memory. */
bool ha_nodes_include(struct ha_nodes *to, const struct ha_nodes *from);

/* Drops a reference to the capture; no lock is needed. */
void ha_capture_release(struct ha_capture *capture);

/* A front of the stream in the capture; NULL without memory. Graph and pool lock held.
 */
struct ha_front *ha_front_new(struct ha_capture *capture, struct ha_stream *stream);

/* Whether a call can add to the front: there is one (NULL: no), its capture goes on,
 * and it is valid. Graph lock held. */
hipError_t ha_front_check(const struct ha_front *front);

#endif
