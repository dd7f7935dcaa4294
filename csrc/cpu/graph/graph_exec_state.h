/* SPDX-License-Identifier: MIT */
/* What the files of executable graphs share; nobody else includes it.  Everything is
 * guarded by the graph lock, queues by the pool lock. */
#ifndef HA_CPU_GRAPH_GRAPH_EXEC_STATE_H
#define HA_CPU_GRAPH_GRAPH_EXEC_STATE_H

#include "cpu/base/config.h"
#include "cpu/graph/graph_exec.h"

#define HA_TRACKS_USUAL 16u
/* Beyond those, a track is made only for a device that has none. */
#define HA_TRACK_MAX (HA_TRACKS_USUAL + (unsigned)HA_DEVICE_MAX)

struct ha_step {
    struct ha_node *node; /* borrowed from the clone */
    uint32_t first;       /* of its befores in exec->befores */
    uint32_t count;
    uint32_t track;
    struct ha_op *op;     /* during a launch */
    uint64_t number;      /* likewise: in the track's queue */
    struct ha_past *past; /* likewise: owned; what knows it has, under check, or NULL */
};

/* A queue of the executable graph. */
struct ha_track {
    struct ha_queue queue;
};

struct ha_named {
    uint64_t original; /* handle of the node that `node` was cloned from */
    struct ha_node *node;
};

struct ha_graph_exec {
    uint64_t handle;
    unsigned long long flags;
    struct ha_graph *graph; /* owned clone */
    struct ha_step *steps;  /* owned, in the order of submission */
    uint32_t step_count;
    uint32_t *befores; /* owned: steps */
    uint32_t before_count, before_room;
    struct ha_track *tracks[HA_TRACK_MAX];         /* owned references, or NULL */
    struct ha_device *track_devices[HA_TRACK_MAX]; /* borrowed; NULL: any device */
    int track_priorities[HA_TRACK_MAX];            /* highest of the nodes' own */
    bool own_first; /* in a launch: track 0 is not the stream, but a queue of ours */
    uint32_t track_count;
    struct ha_named *names; /* owned, sorted by `original` */
    uint32_t name_count;
    struct ha_nodes memory_nodes; /* allocations and frees, in order */
    bool allocates;
    struct ha_queue *last; /* owned: where the newest launch ends, or NULL */
    uint64_t last_number;
    struct ha_past *past; /* owned; what its end knows, under check, or NULL */
};

/* graph_layout.c: steps and tracks of exec->graph. *cycle is a node on a cycle, or
 * NULL.
 */
hipError_t ha_graph_exec_lay_out(struct ha_graph_exec *exec, struct ha_node **cycle);

/* For qsort and bsearch: by `original`. */
int ha_named_compare(const void *left, const void *right);

#endif
