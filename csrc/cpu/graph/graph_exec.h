/* SPDX-License-Identifier: MIT */
/* Executable graphs: a clone of a graph, laid out so that a launch is one pass.
 *
 * A *step* is a node that does something when it is launched, with the steps that have
 * to be done first; nodes without work only lend their edges.  A *track* is a queue
 * that steps are given to: track 0 is the stream of the launch, the others are queues
 * of the executable graph, so that branches run side by side.  Launches of one
 * executable graph follow each other.
 *
 * Locks: the graph lock guards everything here. */
#ifndef HA_CPU_GRAPH_GRAPH_EXEC_H
#define HA_CPU_GRAPH_GRAPH_EXEC_H

#include "cpu/graph/graph.h"
#include "cpu/queue/stream.h"

struct ha_graph_exec;
struct ha_graph_tickets;

/* Clones and lays out. On failure *error_node is the node that is to blame, or NULL.
 * Lock held. */
hipError_t ha_graph_exec_create(struct ha_graph *graph, unsigned long long flags,
                                hipGraphExec_t *handle, hipGraphNode_t *error_node);
/* Without the lock: may wait for a launch. */
hipError_t ha_graph_exec_destroy(hipGraphExec_t handle);

/* Lock held for all below.  The living executable graph, if it can be launched now: its
 * memory is there. */
hipError_t ha_graph_exec_ready(hipGraphExec_t handle, struct ha_graph_exec **exec);
/* Submits such a graph's work, which gets those of the tickets (graph_ticket.h; may be
 * NULL) that fit.  Pool lock held on entry and on return, but not always in between;
 * the stream's queue is retained. */
hipError_t ha_graph_exec_run(struct ha_graph_exec *exec, struct ha_stream *stream,
                             struct ha_graph_tickets *tickets);

/* The living executable graph, or NULL with the failure recorded. */
struct ha_graph_exec *ha_graph_exec_find(hipGraphExec_t handle);
const struct ha_graph *ha_graph_exec_graph(const struct ha_graph_exec *exec);
unsigned long long ha_graph_exec_flags(const struct ha_graph_exec *exec);
/* The executable graph's own copy of a node of the graph that it was made from. */
struct ha_node *ha_graph_exec_node(struct ha_graph_exec *exec, hipGraphNode_t node);
hipError_t ha_graph_exec_update(struct ha_graph_exec *exec, struct ha_graph *graph,
                                hipGraphExecUpdateResult *result,
                                hipGraphNode_t *error_node);
/* Takes the parameters of a graph with the same nodes into a child graph node. */
hipError_t ha_graph_exec_set_child(struct ha_graph_exec *exec, hipGraphNode_t node,
                                   const struct ha_graph *child);
hipError_t ha_graph_exec_set_enabled(struct ha_graph_exec *exec, hipGraphNode_t node,
                                     bool enabled);
hipError_t ha_graph_exec_get_enabled(struct ha_graph_exec *exec, hipGraphNode_t node,
                                     bool *enabled);

#endif
