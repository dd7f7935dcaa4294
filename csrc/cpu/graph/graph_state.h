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

hipError_t ha_user_object_create(hipHostFn_t destroy, void *ptr, unsigned references,
                                 hipUserObject_t *handle);
hipError_t ha_user_object_change(hipUserObject_t handle, unsigned count, bool retain);

hipError_t ha_graph_memory_attribute(const struct ha_device *device,
                                     hipGraphMemAttributeType which, uint64_t *value);
hipError_t ha_graph_memory_reset_high(const struct ha_device *device,
                                      hipGraphMemAttributeType which);
/* Gives pages that no program has back to the machine. The device has to be idle. */
void ha_graph_memory_trim(const struct ha_device *device);
void ha_graph_memory_after_fork_child(void);

#endif
