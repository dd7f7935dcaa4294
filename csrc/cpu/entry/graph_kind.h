/* SPDX-License-Identifier: MIT */
/* Kinds of nodes: a type, and how what a program gives for it gets into a node.
 *
 * Parameters are given when a node is added, set in a graph or set in an executable
 * graph, in the same way for all kinds (cpu/entry/graph_node.h).  Those that one call
 * alone has are beside it, as its own kinds. */
#ifndef HA_CPU_ENTRY_GRAPH_KIND_H
#define HA_CPU_ENTRY_GRAPH_KIND_H

#include "abi/hip.h"

struct ha_node;

struct ha_node_kind {
    hipGraphNodeType type;
    /* Sets the node's work; on failure the node is as it was.  Graph lock held. */
    hipError_t (*set)(struct ha_node *node, const void *params);
};

/* `params` is HIP's record of the type. */
extern const struct ha_node_kind ha_kind_kernel;
extern const struct ha_node_kind ha_kind_copy;
extern const struct ha_node_kind ha_kind_fill;
extern const struct ha_node_kind ha_kind_host;
extern const struct ha_node_kind ha_kind_alloc; /* writes the address to the record */
extern const struct ha_node_kind ha_kind_batch;
/* It points to the handle, or to the address. */
extern const struct ha_node_kind ha_kind_child;
extern const struct ha_node_kind ha_kind_record;
extern const struct ha_node_kind ha_kind_wait;
extern const struct ha_node_kind ha_kind_free;
/* It is not looked at. */
extern const struct ha_node_kind ha_kind_empty;

/* The kind of a record for any type, and the part of it that is for the setter; NULL
 * for a type that nodes cannot be made of this way. */
const struct ha_node_kind *ha_kind_of(const hipGraphNodeParams *params,
                                      const void **argument);

#endif
