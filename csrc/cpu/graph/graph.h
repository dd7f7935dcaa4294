/* SPDX-License-Identifier: MIT */
/* HIP graphs: nodes that describe work, and edges that order it.
 *
 * A *node* holds a copy of all that its work needs: values of arguments, references to
 * functions and events. Its *befores* are the nodes that have to be done first, its
 * *afters* those that wait for it.  A graph that is instantiated is cloned, so later
 * changes don't reach what runs (cpu/graph/graph_exec.h).
 *
 * Ownership: a graph owns its nodes and child graphs, and keeps user objects.  Handles
 * of graphs and nodes name them until they are destroyed; the graph of a child node
 * goes with the node.
 *
 * Locks: the graph lock guards everything here, executable graphs and captures too.  It
 * is taken before the pool lock. Functions without a note need it held. */
#ifndef HA_CPU_GRAPH_GRAPH_H
#define HA_CPU_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/work/copy.h"
#include "cpu/work/launch.h"

struct ha_device;
struct ha_event;
struct ha_function;
struct ha_graph;
struct ha_graph_memory;
struct ha_node;
struct ha_user_object;
struct ha_value;

struct ha_nodes {
    struct ha_node **items; /* owned array of borrowed nodes */
    uint32_t count;
    uint32_t room;
};

enum ha_node_attribute {
    HA_ATTRIBUTE_WINDOW, /* hipLaunchAttributeAccessPolicyWindow */
    HA_ATTRIBUTE_COOPERATIVE,
    HA_ATTRIBUTE_PRIORITY,
    HA_ATTRIBUTE_COUNT
};

struct ha_kernel_node {
    struct ha_function *function;     /* owned reference */
    struct ha_launch_request request; /* params point into `memory` */
    void *memory;                     /* owned; NULL without arguments */
    bool set[HA_ATTRIBUTE_COUNT];
    hipLaunchAttributeValue values[HA_ATTRIBUTE_COUNT];
};

struct ha_copy_node {
    hipMemcpy3DParms params; /* as the program gave them */
    struct ha_copy copy;
    bool work; /* there is something to copy */
};

struct ha_fill_node {
    hipMemsetParams params;
    struct ha_fill fill;
    bool work;
};

struct ha_alloc_node {
    hipMemAllocNodeParams params;   /* accessDescs points into `access` */
    hipMemAccessDesc *access;       /* owned */
    struct ha_graph_memory *memory; /* owned reference */
};

struct ha_batch_node {
    hipBatchMemOpNodeParams params; /* paramArray is owned */
    struct ha_value *values;        /* owned: the same, checked; NULL before that */
};

struct ha_node {
    uint64_t handle;
    struct ha_graph *graph; /* borrowed */
    hipGraphNodeType type;
    uint32_t index;    /* in graph->nodes; in executable graphs, the step */
    uint64_t id;       /* in debug output */
    uint64_t original; /* handle of the node that it was cloned from, or 0 */
    struct ha_nodes befores;
    struct ha_nodes afters;
    uint32_t mark; /* scratch of ha_graph_sort */
    bool disabled; /* of executable graphs: it is passed over */
    uint32_t seen; /* number of the walk that saw it last */
    union {
        struct ha_kernel_node kernel;
        struct ha_copy_node copy;
        struct ha_fill_node fill;
        hipHostNodeParams host;
        struct ha_graph *child; /* owned */
        struct ha_event *event; /* owned reference; record and wait */
        struct ha_alloc_node alloc;
        void *freed; /* memory of an alloc node */
        struct ha_batch_node batch;
    };
};

struct ha_graph {
    uint64_t handle;
    uint64_t id;            /* in debug output */
    struct ha_nodes nodes;  /* owned nodes, in the order of creation */
    struct ha_node *parent; /* the child graph node that it belongs to, or NULL */
    uint64_t original;      /* graph that it was cloned from, or 0 */
    bool capturing;         /* a capture adds to it */
    bool executable;        /* it belongs to an executable graph */
    struct ha_user_object **objects; /* owned array; a reference each */
    uint32_t object_count;
};

void ha_graph_lock(void);
/* Also releases what became due under the lock. */
void ha_graph_unlock(void);

/* ---- lists ---- */

/* False without memory. */
bool ha_nodes_add(struct ha_nodes *nodes, struct ha_node *node);
void ha_nodes_remove(struct ha_nodes *nodes, const struct ha_node *node);
bool ha_nodes_have(const struct ha_nodes *nodes, const struct ha_node *node);
void ha_nodes_clear(struct ha_nodes *nodes);

/* ---- graphs ---- */

/* A new graph with a handle, or NULL with hipErrorOutOfMemory recorded. */
struct ha_graph *ha_graph_new(void);
/* Takes the graph and its nodes out of use and frees them. */
void ha_graph_free(struct ha_graph *graph);
/* The living graph, or NULL with the failure recorded. */
struct ha_graph *ha_graph_find(hipGraph_t handle);
/* A copy with new handles; NULL with the failure recorded. Alloc and free nodes can be
 * cloned for executable graphs only. */
struct ha_graph *ha_graph_clone(const struct ha_graph *graph, bool executable);
/* All nodes so that each stands after its befores. Answers the first node that lies on
 * a cycle, or NULL. `order` has room for all. */
struct ha_node *ha_graph_sort(struct ha_graph *graph, struct ha_node **order);

/* ---- nodes ---- */

/* A node without work in it, after the given nodes of the same graph; NULL with the
 * failure recorded. */
struct ha_node *ha_node_new(struct ha_graph *graph, hipGraphNodeType type,
                            const hipGraphNode_t *befores, size_t count);
/* Takes the node out of its graph and frees it. */
void ha_node_free(struct ha_node *node);
struct ha_node *ha_node_find(hipGraphNode_t handle);
/* The same for a node that has to be of a type. */
struct ha_node *ha_node_find_type(hipGraphNode_t handle, hipGraphNodeType type);
hipError_t ha_node_connect(struct ha_node *before, struct ha_node *after);
void ha_node_disconnect(struct ha_node *before, struct ha_node *after);

static inline hipGraphNode_t
ha_node_handle(const struct ha_node *node)
{
    return (hipGraphNode_t)(uintptr_t)node->handle;
}

/* ---- what nodes do (graph_node.c) ----
 * Each sets the work of a node of its type, and on failure leaves the node as it was.
 */

hipError_t ha_node_set_kernel(struct ha_node *node, const hipKernelNodeParams *params);
hipError_t ha_node_set_launch(struct ha_node *node, struct ha_function *function,
                              const struct ha_launch_request *request);
hipError_t ha_node_set_cooperative(struct ha_node *node, bool cooperative);
void ha_node_get_kernel(const struct ha_node *node, hipKernelNodeParams *params);
hipError_t ha_node_set_copy(struct ha_node *node, const hipMemcpy3DParms *params);
hipError_t ha_node_set_copy_1d(struct ha_node *node, void *dst, const void *src,
                               size_t bytes, hipMemcpyKind kind);
hipError_t ha_node_set_copy_bytes(struct ha_node *node, const struct ha_copy *copy);
hipError_t ha_node_set_fill_bytes(struct ha_node *node, const struct ha_fill *fill);
hipError_t ha_node_set_fill(struct ha_node *node, const hipMemsetParams *params);
hipError_t ha_node_set_host(struct ha_node *node, const hipHostNodeParams *params);
hipError_t ha_node_set_child(struct ha_node *node, const struct ha_graph *child);
hipError_t ha_node_set_event(struct ha_node *node, hipEvent_t event);
hipError_t ha_node_set_alloc(struct ha_node *node, hipMemAllocNodeParams *params);
hipError_t ha_node_set_free(struct ha_node *node, void *ptr);
hipError_t ha_node_set_batch(struct ha_node *node,
                             const hipBatchMemOpNodeParams *params);
hipError_t ha_node_set_values(struct ha_node *node, const struct ha_value *values,
                              unsigned count);
/* Makes `node`, of the same type, do the work of `source`. */
hipError_t ha_node_set_like(struct ha_node *node, const struct ha_node *source,
                            bool executable);
/* Releases the work; the node is as after ha_node_new. */
void ha_node_drop_work(struct ha_node *node);

/* The operation that does the node's work; *none if there is nothing to run. NULL
 * without memory. Also needs the pool lock. */
struct ha_op *ha_node_op(const struct ha_node *node, bool *none);

/* ---- debugging (graph_dot.c) ---- */

hipError_t ha_graph_print(const struct ha_graph *graph, const char *path,
                          unsigned flags);

/* In a forked child. */
void ha_graph_after_fork_child(void);

#endif
