/* SPDX-License-Identifier: MIT */
/* What the files of graphs and captures share beyond cpu/graph/graph.h; nobody else
 * includes it. All functions need the graph lock. */
#ifndef HA_CPU_GRAPH_GRAPH_STATE_H
#define HA_CPU_GRAPH_GRAPH_STATE_H

#include "cpu/graph/graph.h"

/* Something to be done once the graph lock has been given back. */
struct ha_due {
    struct ha_due *next;
    void (*run)(struct ha_due *self);
};

void ha_graph_defer(struct ha_due *due);

/* True if one of `nodes` is the node or stands behind it. */
bool ha_node_stands_before(const struct ha_node *node, const struct ha_nodes *nodes);

#endif
