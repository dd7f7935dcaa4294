/* SPDX-License-Identifier: MIT */
/* What the entry points of nodes share; nobody else includes it.
 *
 * Parameters of nodes are added, set in graphs and set in executable graphs in the same
 * way for all types: a *setter* takes them into the node. */
#ifndef HA_CPU_ENTRY_GRAPH_NODE_H
#define HA_CPU_ENTRY_GRAPH_NODE_H

#include "abi/hip.h"

struct ha_node;

/* Sets the work of a node from what the caller gave; on failure the node is as it was.
 */
typedef hipError_t (*ha_node_setter)(struct ha_node *node, const void *params);

/* Where a node is added. */
struct ha_node_place {
    hipGraphNode_t *node; /* out */
    hipGraph_t graph;
    const hipGraphNode_t *befores;
    size_t count;
};

/* First thing in an entry point: takes the graph lock unless it fails. */
hipError_t ha_graph_enter(const char *function);
/* Gives it back; answers `code`. */
hipError_t ha_graph_leave(hipError_t code);

/* All three take the lock and give it back. */
hipError_t ha_node_add(const char *function, const struct ha_node_place *place,
                       hipGraphNodeType type, ha_node_setter set, const void *params);
hipError_t ha_node_change(const char *function, hipGraphNode_t node,
                          hipGraphNodeType type, ha_node_setter set,
                          const void *params);
hipError_t ha_node_change_exec(const char *function, hipGraphExec_t exec,
                               hipGraphNode_t node, hipGraphNodeType type,
                               ha_node_setter set, const void *params);

/* Gives a node of the type with the lock held; on failure the lock is not held. */
hipError_t ha_node_get_begin(const char *function, hipGraphNode_t handle,
                             hipGraphNodeType type, const void *out,
                             const struct ha_node **node);

/* Setters; `params` points to HIP's record of the type, or to the handle or address. */
hipError_t ha_entry_set_kernel(struct ha_node *node, const void *params);
hipError_t ha_entry_set_copy(struct ha_node *node, const void *params);
hipError_t ha_entry_set_fill(struct ha_node *node, const void *params);
hipError_t ha_entry_set_host(struct ha_node *node, const void *params);
hipError_t ha_entry_set_child(struct ha_node *node, const void *params);
hipError_t ha_entry_set_nothing(struct ha_node *node, const void *params);
hipError_t ha_entry_set_event(struct ha_node *node, const void *params);
hipError_t ha_entry_set_alloc(struct ha_node *node, const void *params);
hipError_t ha_entry_set_free(struct ha_node *node, const void *params);

#endif
