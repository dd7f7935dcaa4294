/* SPDX-License-Identifier: MIT */
/* What the entry points of nodes share: nodes are added, and their parameters set in
 * graphs and in executable graphs, in the same way for all kinds.
 *
 * All of it works under the graph lock (cpu/graph/graph.h), which ha_graph_enter takes
 * and ha_graph_leave gives back. */
#ifndef HA_CPU_ENTRY_GRAPH_NODE_H
#define HA_CPU_ENTRY_GRAPH_NODE_H

#include "abi/hip.h"

struct ha_graph;
struct ha_node;
struct ha_node_kind;

/* Where a node is added, and where its handle goes. */
struct ha_new_node {
    hipGraphNode_t *node; /* out */
    hipGraph_t graph;
    const hipGraphNode_t *befores;
    size_t count;
};

/* First thing in an entry point: takes the graph lock unless it fails. */
hipError_t ha_graph_enter(const char *function);
/* Gives it back; answers `code`. */
hipError_t ha_graph_leave(hipError_t code);

/* The same for a call about one graph, or one node, with a pointer that must not be
 * NULL; on failure the lock is not held. */
hipError_t ha_graph_begin(const char *function, hipGraph_t handle, const char *argument,
                          const void *pointer, struct ha_graph **graph);
hipError_t ha_node_begin(const char *function, hipGraphNode_t handle,
                         const char *argument, const void *pointer,
                         const struct ha_node **node);

/* All three take the lock and give it back. `params` is what kind->set takes. */
hipError_t ha_node_add(const char *function, const struct ha_new_node *where,
                       const struct ha_node_kind *kind, const void *params);
hipError_t ha_node_change(const char *function, hipGraphNode_t node,
                          const struct ha_node_kind *kind, const void *params);
hipError_t ha_node_change_exec(const char *function, hipGraphExec_t exec,
                               hipGraphNode_t node, const struct ha_node_kind *kind,
                               const void *params);

/* Gives a node of the type with the lock held; on failure the lock is not held. */
hipError_t ha_node_get_begin(const char *function, hipGraphNode_t handle,
                             hipGraphNodeType type, const void *out,
                             const struct ha_node **node);

#endif
