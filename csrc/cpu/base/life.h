/* SPDX-License-Identifier: MIT */
/* Whether the runtime runs in this process.
 *
 * It is NEW until the first call, READY until the process ends (CLOSED) or forks: a
 * forked child is FORKED and refuses every call until hipInit(0) starts it anew.  Only
 * cpu/entry/runtime.c changes the state, under its start lock; everybody may ask. */
#ifndef HA_CPU_BASE_LIFE_H
#define HA_CPU_BASE_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ha_life { HA_LIFE_NEW, HA_LIFE_READY, HA_LIFE_FORKED, HA_LIFE_CLOSED };

extern _Atomic int ha_life_state; /* enum ha_life; for the functions below */

static inline enum ha_life
ha_life(void)
{
    return (enum ha_life)atomic_load_explicit(&ha_life_state, memory_order_acquire);
}

/* All that a start has written can be read where this is true. */
static inline bool
ha_life_is_ready(void)
{
    return ha_life() == HA_LIFE_READY;
}

static inline bool
ha_life_is_forked(void)
{
    return ha_life() == HA_LIFE_FORKED;
}

/* Counts starts; differs between a process and its forked child. */
uint32_t ha_life_epoch(void);

/* A start is complete: READY, in a new epoch.  Start lock held. */
void ha_life_begin(void);

/* FORKED or CLOSED.  Start lock held, or the only thread of a forked child. */
void ha_life_end(enum ha_life state);

#endif
