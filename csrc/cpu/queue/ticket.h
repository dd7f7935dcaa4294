/* SPDX-License-Identifier: MIT */
/* Reports to a profiler about work, memory and streams (abi/activity.h).
 *
 * The profiler's library hands over a *sink*, whose functions are called from here.  A
 * *ticket* goes with an operation of a queue from before it is submitted until it is
 * over: the sink hears of it when the ticket is made, and when it ends.  All of this
 * costs no more than a load where no profiler wants it.
 *
 * Locks: functions without a remark are called with none held, since the profiler's
 * tools run in them. */
#ifndef HA_CPU_QUEUE_TICKET_H
#define HA_CPU_QUEUE_TICKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/activity.h"
#include "abi/hip.h"

struct ha_ticket;

/* ---- the sink ---- */

/* HA_WANT_*. */
extern _Atomic unsigned ha_activity_wanted;

static inline bool
ha_activity_wants(unsigned bit)
{
    return (atomic_load_explicit(&ha_activity_wanted, memory_order_acquire) & bit) != 0;
}

/* The sink, borrowed; never NULL where anything is wanted. */
const struct ha_activity_sink *ha_activity_current(void);

/* Calls this sink for what `wanted` has a bit for from now on; the bits that it had
 * before.  The sink lives as long as the process. */
unsigned ha_activity_set(const struct ha_activity_sink *sink, unsigned wanted);

/* ---- operations ---- */

/* The ticket of an operation that is about to be submitted: a launch, a copy, a
 * host function.  NULL
 * without memory, or where the sink does not want this one.  Needs: ha_activity_wants.
 */
struct ha_ticket *ha_ticket_dispatch(const struct ha_activity_dispatch *dispatch);
struct ha_ticket *ha_ticket_copy(const struct ha_activity_copy *copy);
struct ha_ticket *ha_ticket_host(const struct ha_activity_host *host);

/* How the lanes of a launch ran (abi/activity.h), before its ticket ends; NULL does
 * nothing. */
void ha_ticket_form(struct ha_ticket *ticket, uint64_t form);

/* Before and after the tickets of one call that has several. */
void ha_tickets_together(bool begins);

/* The operation ran between these times of ha_clock_ns, or never (0, 0), and ended so.
 * Pool lock held: the sink is called when it is given back.  NULL does nothing. */
void ha_ticket_end(struct ha_ticket *ticket, uint64_t begin_ns, uint64_t end_ns,
                   enum ha_activity_status status);

/* There will be no operation; NULL does nothing. */
void ha_ticket_drop(struct ha_ticket *ticket);

/* Waits until the sink was called for all tickets that have ended, for limit_ns at
 * most. */
void ha_tickets_wait(uint64_t limit_ns);

/* ---- what is over at once ---- */

/* Memory has come or gone: HA_ACTIVITY_ALLOCATE and so on; `device` -1 is the host.
 * `begin_ns` is ha_clock_ns when the call began. */
void ha_activity_memory(enum ha_activity_memory operation, int device,
                        const void *address, size_t bytes, uint64_t begin_ns);
/* The same, with the pool lock held: the sink is called when that is given back. */
void ha_activity_memory_defer(enum ha_activity_memory operation, int device,
                              const void *address, size_t bytes, uint64_t begin_ns);

void ha_activity_stream(enum ha_activity_stream operation, hipStream_t stream);

/* In a forked child. */
void ha_ticket_after_fork_child(void);

#endif
