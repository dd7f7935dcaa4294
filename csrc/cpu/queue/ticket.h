/* SPDX-License-Identifier: MIT */
/* Telling a profiler what the device does (abi/activity.h).
 *
 * A *ticket* goes with an operation of a queue from before it is enqueued until it is
 * over.  Nothing of this costs more than a load where no profiler wants it.
 *
 * Locks: functions without a remark are called with none held, since the profiler's
 * tools run in them. */
#ifndef HA_CPU_QUEUE_TICKET_H
#define HA_CPU_QUEUE_TICKET_H

#include <stdatomic.h>
#include <stdbool.h>

#include "abi/activity.h"
#include "abi/hip.h"

struct ha_copy;
struct ha_function;
struct ha_launch_request;
struct ha_module;
struct ha_ticket;

extern const struct ha_activity ha_activity_table;

/* HA_WANT_*. */
extern _Atomic unsigned ha_activity_wanted;

static inline bool
ha_activity_wants(unsigned bit)
{
    return (atomic_load_explicit(&ha_activity_wanted, memory_order_acquire) & bit) != 0;
}

/* Tickets for a launch and for a copy; NULL where nobody wants one. */
struct ha_ticket *ha_ticket_launch(const struct ha_function *function,
                                   const struct ha_launch_request *request);
struct ha_ticket *ha_ticket_copy(const struct ha_copy *copy, hipStream_t stream);

/* The operation ran between these times of ha_clock_ns, or never (0, 0).  Pool lock
 * held: the profiler is told when it is given back.  NULL does nothing. */
void ha_ticket_end(struct ha_ticket *ticket, uint64_t begin_ns, uint64_t end_ns);

/* There will be no operation; NULL does nothing. */
void ha_ticket_drop(struct ha_ticket *ticket);

/* Memory has come or gone: HA_ACTIVITY_ALLOCATE and so on; `device` -1 is the host.
 * `begin_ns` is ha_clock_ns when the call began. */
void ha_activity_memory(enum ha_activity_memory operation, int device,
                        const void *address, size_t bytes, uint64_t begin_ns);
/* The same, with the pool lock held: it is told when that is given back. */
void ha_activity_memory_defer(enum ha_activity_memory operation, int device,
                              const void *address, size_t bytes, uint64_t begin_ns);

void ha_activity_stream(enum ha_activity_stream operation, hipStream_t stream);

/* A module that was loaded, or is about to go; the ends of kernels are told before it
 * goes. */
void ha_activity_module(struct ha_module *module, bool loaded);

void ha_activity_after_fork_child(void);

#endif
