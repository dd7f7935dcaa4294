/* SPDX-License-Identifier: MIT */
#include "cpu/base/slab.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_FIRST 64u  /* items of the first chunk */
#define QUARANTINE 1024u /* items that rest before one is used again */

/* First number and count of the items of a chunk. */
static uint32_t
chunk_begin(uint32_t chunk)
{
    return CHUNK_FIRST * ((1u << chunk) - 1);
}

static uint32_t
chunk_items(uint32_t chunk)
{
    return CHUNK_FIRST << chunk;
}

static void *
item_at(const struct ha_slab *slab, uint32_t number, uint8_t **live)
{
    uint32_t chunk = 31u - (uint32_t)__builtin_clz(number / CHUNK_FIRST + 1);
    uint32_t place = number - chunk_begin(chunk);
    *live = &slab->live[chunk][place];
    return slab->chunks[chunk] + (size_t)place * slab->item_bytes;
}

/* The flag of an item, or NULL if there is no item at this address. */
static uint8_t *
flag_of(const struct ha_slab *slab, const void *item)
{
    uintptr_t address = (uintptr_t)item;
    for (uint32_t chunk = 0; chunk < slab->chunk_count; chunk++) {
        uintptr_t begin = (uintptr_t)slab->chunks[chunk];
        size_t offset = address - begin;
        if (address >= begin && offset / slab->item_bytes < chunk_items(chunk)) {
            return offset % slab->item_bytes == 0
                       ? &slab->live[chunk][offset / slab->item_bytes]
                       : NULL;
        }
    }
    return NULL;
}

bool
ha_slab_holds(const struct ha_slab *slab, const void *address, uint64_t size)
{
    for (uint32_t chunk = 0; chunk < slab->chunk_count; chunk++) {
        uint64_t bytes = chunk_items(chunk) * slab->item_bytes;
        uint64_t offset = (uintptr_t)address - (uintptr_t)slab->chunks[chunk];
        if (offset <= bytes && size <= bytes - offset) {
            return true;
        }
    }
    return false;
}

static bool
grow(struct ha_slab *slab)
{
    uint32_t chunk = slab->chunk_count;
    if (chunk == HA_SLAB_CHUNKS_MAX) {
        return false;
    }
    uint32_t items = chunk_items(chunk);
    uint32_t all = chunk_begin(chunk) + items;
    void **ring = calloc(all, sizeof *ring);
    uint8_t *live = calloc(items, sizeof *live);
    size_t bytes = (size_t)items * slab->item_bytes;
    unsigned char *memory = aligned_alloc(HA_SLAB_ALIGN, bytes);
    if (ring == NULL || live == NULL || memory == NULL) {
        free(ring);
        free(live);
        free(memory);
        return false;
    }
    memset(memory, 0, bytes);
    for (uint32_t i = 0; i < slab->free_count; i++) {
        ring[i] = slab->free[(slab->free_first + i) % slab->free_capacity];
    }
    free(slab->free);
    slab->free = ring;
    slab->free_first = 0;
    slab->free_capacity = all;
    slab->chunks[chunk] = memory;
    slab->live[chunk] = live;
    slab->chunk_count++;
    return true;
}

void *
ha_slab_take(struct ha_slab *slab)
{
    uint8_t *live;
    void *item;
    bool untouched = slab->touched < chunk_begin(slab->chunk_count);
    if (!untouched && slab->free_count <= QUARANTINE) {
        untouched = grow(slab);
    }
    if (untouched) {
        item = item_at(slab, slab->touched++, &live);
    } else if (slab->free_count > 0) {
        item = slab->free[slab->free_first];
        slab->free_first = (slab->free_first + 1) % slab->free_capacity;
        slab->free_count--;
        live = flag_of(slab, item);
    } else {
        return NULL;
    }
    *live = 1;
    return item;
}

bool
ha_slab_has(const struct ha_slab *slab, const void *item)
{
    const uint8_t *live = flag_of(slab, item);
    return live != NULL && *live != 0;
}

void
ha_slab_give(struct ha_slab *slab, void *item)
{
    *flag_of(slab, item) = 0;
    memset(item, 0, slab->item_bytes);
    slab->free[(slab->free_first + slab->free_count) % slab->free_capacity] = item;
    slab->free_count++;
}

void *
ha_slab_next(const struct ha_slab *slab, uint32_t *number)
{
    while (*number < slab->touched) {
        uint8_t *live;
        void *item = item_at(slab, (*number)++, &live);
        if (*live != 0) {
            return item;
        }
    }
    return NULL;
}

void
ha_slab_after_fork_child(struct ha_slab *slab)
{
    *slab = (struct ha_slab){.item_bytes = slab->item_bytes};
}
