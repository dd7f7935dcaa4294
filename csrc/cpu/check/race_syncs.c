/* SPDX-License-Identifier: MIT */
/* The addresses by which lanes hand over: a table with open addressing. */
#include <stdlib.h>

#include "cpu/check/race_state.h"

#define FIRST_CAPACITY 64u /* a power of two */

static size_t
slot_of(const struct ha_race_syncs *syncs, uintptr_t at)
{
    uint64_t mixed = (uint64_t)at * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(mixed >> 32) & (syncs->capacity - 1);

    while (syncs->table[slot].at != 0 && syncs->table[slot].at != at) {
        slot = (slot + 1) & (syncs->capacity - 1);
    }
    return slot;
}

static bool
grow(struct ha_race_syncs *syncs)
{
    struct ha_race_syncs grown = *syncs;

    grown.capacity = syncs->capacity > 0 ? 2 * syncs->capacity : FIRST_CAPACITY;
    grown.table = calloc(grown.capacity, sizeof *grown.table);
    if (grown.table == NULL) {
        return false;
    }
    for (size_t i = 0; i < syncs->capacity; i++) {
        if (syncs->table[i].at != 0) {
            grown.table[slot_of(&grown, syncs->table[i].at)] = syncs->table[i];
        }
    }
    free(syncs->table);
    *syncs = grown;
    return true;
}

struct ha_race_clock **
ha_race_syncs_find(struct ha_race_syncs *syncs, uintptr_t at)
{
    if (syncs->count == 0) {
        return NULL;
    }
    struct ha_race_sync *sync = &syncs->table[slot_of(syncs, at)];
    return sync->at == 0 ? NULL : &sync->left;
}

struct ha_race_clock **
ha_race_syncs_add(struct ha_race_syncs *syncs, uintptr_t at)
{
    if (2 * (syncs->count + 1) > syncs->capacity && !grow(syncs)) {
        return NULL;
    }
    struct ha_race_sync *sync = &syncs->table[slot_of(syncs, at)];
    syncs->first = syncs->count == 0 || at < syncs->first ? at : syncs->first;
    syncs->last = at > syncs->last ? at : syncs->last;
    syncs->count++;
    sync->at = at;
    return &sync->left;
}

void
ha_race_syncs_release(struct ha_race_syncs *syncs)
{
    for (size_t i = 0; i < syncs->capacity; i++) {
        ha_race_clock_drop(&syncs->table[i].left);
    }
    free(syncs->table);
    *syncs = (struct ha_race_syncs){0};
}
