/* SPDX-License-Identifier: MIT */
/* Memory of allocation nodes.
 *
 * Its address is the same for the whole life of graph and executable graphs, so it is
 * allocated with the node.  What launches and frees change is whether the program has
 * it: that is decided when they are called, because they are stream-ordered and the
 * memory itself never moves.
 *
 * Ownership: counted by the nodes that have it; memory that the program has stays.
 *
 * Locks: the graph lock guards everything here; functions need it unless they say
 * otherwise. */
#ifndef HA_CPU_GRAPH_GRAPH_MEMORY_H
#define HA_CPU_GRAPH_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;
struct ha_graph_memory;

/* With one reference; NULL with the failure recorded. */
struct ha_graph_memory *ha_graph_memory_new(struct ha_device *device, size_t bytes);
void ha_graph_memory_retain(struct ha_graph_memory *memory);
void ha_graph_memory_release(struct ha_graph_memory *memory);
/* The memory that begins at `ptr`, borrowed, or NULL. */
struct ha_graph_memory *ha_graph_memory_find(const void *ptr);
void *ha_graph_memory_address(const struct ha_graph_memory *memory);
/* Whether the program has it: launched, and not freed since. */
bool ha_graph_memory_in_use(const struct ha_graph_memory *memory);
void ha_graph_memory_use(struct ha_graph_memory *memory, bool used);

/* hipFree (`wait`) and hipFreeAsync of such memory; without the lock. False: it is
 * none, or the wait was interrupted. */
bool ha_graph_memory_free(void *ptr, bool wait);

hipError_t ha_graph_memory_attribute(const struct ha_device *device,
                                     hipGraphMemAttributeType which, uint64_t *value);
hipError_t ha_graph_memory_reset_high(const struct ha_device *device,
                                      hipGraphMemAttributeType which);
/* Gives pages that no program has back to the machine. The device has to be idle. */
void ha_graph_memory_trim(const struct ha_device *device);

/* In a forked child. */
void ha_graph_memory_after_fork_child(void);

#endif
