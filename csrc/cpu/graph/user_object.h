/* SPDX-License-Identifier: MIT */
/* User objects: what graphs keep alive for the program.
 *
 * Ownership: an object counts the references of the program and of graphs.  With the
 * last one its destroy function is called, without locks.
 *
 * Locks: the graph lock guards everything here; all functions need it. */
#ifndef HA_CPU_GRAPH_USER_OBJECT_H
#define HA_CPU_GRAPH_USER_OBJECT_H

#include <stdbool.h>

#include "abi/hip.h"

struct ha_graph;
struct ha_user_object;

hipError_t ha_user_object_create(hipHostFn_t destroy, void *ptr, unsigned references,
                                 hipUserObject_t *handle);
hipError_t ha_user_object_change(hipUserObject_t handle, unsigned count, bool retain);

void ha_user_object_release(struct ha_user_object *object, unsigned count);
void ha_user_object_retain(struct ha_user_object *object, unsigned count);

/* The graph keeps the object, with references of the program's (`move`) or new ones. */
hipError_t ha_graph_keep_object(struct ha_graph *graph, hipUserObject_t object,
                                unsigned count, bool move);
hipError_t ha_graph_drop_object(struct ha_graph *graph, hipUserObject_t object,
                                unsigned count);

#endif
