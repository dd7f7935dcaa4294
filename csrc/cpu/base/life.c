/* SPDX-License-Identifier: MIT */
#include "cpu/base/life.h"

_Atomic int ha_life_state;
static _Atomic uint32_t epoch;

uint32_t
ha_life_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void
ha_life_begin(void)
{
    atomic_fetch_add(&epoch, 1);
    atomic_store_explicit(&ha_life_state, HA_LIFE_READY, memory_order_release);
}

void
ha_life_end(enum ha_life end)
{
    atomic_store(&ha_life_state, (int)end);
}
