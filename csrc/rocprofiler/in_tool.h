/* SPDX-License-Identifier: MIT */
/* Being within a function of a tool: what a thread does there isn't traced, and a tool
 * is finalized when no other thread is in one.
 *
 * Each thread that has been in one is known by the address of its depth, so that going
 * in and out takes no lock. */
#ifndef HA_ROCPROFILER_IN_TOOL_H
#define HA_ROCPROFILER_IN_TOOL_H

#include <stdatomic.h>
#include <stdbool.h>

struct ha_in_tool {
    atomic_uint depth; /* written by its own thread only */
    bool noted;        /* the others know of it, or it is too late for that */
    struct ha_in_tool *next;
};

extern _Thread_local struct ha_in_tool ha_in_tool_here;

/* Makes the thread known, until it ends. */
void ha_in_tool_note(void);

/* Waits until no other thread is within a tool, a second at most.  What tools must not
 * be told any more was switched off before. */
void ha_in_tool_wait(void);

/* In a forked child. */
void ha_in_tool_forked(void);

static inline unsigned
ha_in_tool(void)
{
    return atomic_load_explicit(&ha_in_tool_here.depth, memory_order_relaxed);
}

static inline void
ha_in_tool_set(unsigned depth)
{
    atomic_store_explicit(&ha_in_tool_here.depth, depth, memory_order_release);
    /* The compiler keeps the order to what follows; ha_in_tool_wait makes the
     * processors do so. */
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void
ha_in_tool_enter(void)
{
    if (__builtin_expect(!ha_in_tool_here.noted, 0)) {
        ha_in_tool_note();
    }
    ha_in_tool_set(ha_in_tool() + 1);
}

static inline void
ha_in_tool_leave(void)
{
    ha_in_tool_set(ha_in_tool() - 1);
}

#endif
