/* SPDX-License-Identifier: MIT */
/* Tickets (cpu/queue/ticket.h) for kernels, copies and fills of a graph that is
 * launched.
 *
 * A profiler's tools run when tickets are made, so no lock may be held then: what a
 * graph is going to do is listed under the graph lock, tickets are made without it, and
 * the launch takes those that still fit. */
#ifndef HA_CPU_GRAPH_GRAPH_TICKET_H
#define HA_CPU_GRAPH_GRAPH_TICKET_H

#include "abi/hip.h"

struct ha_graph_exec;
struct ha_graph_tickets;

/* What the steps are going to do in a stream of this device; NULL where no profiler
 * wants it, or without memory. Graph lock held. */
struct ha_graph_tickets *ha_graph_tickets_list(const struct ha_graph_exec *exec,
                                               hipStream_t stream, int device);

/* Makes them; no lock held. */
void ha_graph_tickets_make(struct ha_graph_tickets *tickets);

/* Gives them to the operations of the steps. Graph lock and pool lock held. */
void ha_graph_tickets_give(struct ha_graph_tickets *tickets,
                           struct ha_graph_exec *exec);

/* Drops those that nobody got; no lock held.  NULL does nothing. */
void ha_graph_tickets_free(struct ha_graph_tickets *tickets);

#endif
