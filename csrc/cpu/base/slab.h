/* SPDX-License-Identifier: MIT */
/* Objects that the program holds by address, because it or its kernels read them:
 * texture and surface objects, mipmapped arrays.
 *
 * Items have one size and never move, and their memory is never given back, so that a
 * stale or made-up address can be looked up, and a kernel that reads a stale one finds
 * zeros instead of a hole.  An item that was given back is used again as late as
 * possible.
 *
 * Locks: none here; the owner of a slab has one and holds it around each call. */
#ifndef HA_CPU_BASE_SLAB_H
#define HA_CPU_BASE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HA_SLAB_ALIGN 64u
#define HA_SLAB_CHUNKS_MAX 24u

/* Zero but for item_bytes (a multiple of HA_SLAB_ALIGN) before the first use. */
struct ha_slab {
    size_t item_bytes;
    unsigned char *chunks[HA_SLAB_CHUNKS_MAX]; /* owned; each twice the one before */
    uint8_t *live[HA_SLAB_CHUNKS_MAX];         /* owned; a flag for each item */
    uint32_t chunk_count;
    uint32_t touched; /* items that were ever used */
    void **free;      /* owned ring of items that were given back */
    uint32_t free_first;
    uint32_t free_count;
    uint32_t free_capacity;
};

/* A new item, zeroed, or NULL without memory. */
void *ha_slab_take(struct ha_slab *slab);

/* Whether the address is that of an item that is in use. */
bool ha_slab_has(const struct ha_slab *slab, const void *item);

/* Whether the bytes lie in memory of the slab, of items in use or not. */
bool ha_slab_holds(const struct ha_slab *slab, const void *address, uint64_t size);

/* Zeroes an item that is in use and gives it back. */
void ha_slab_give(struct ha_slab *slab, void *item);

/* The item in use with the lowest number >= *number, which is set to its number plus 1;
 * NULL behind the last one. */
void *ha_slab_next(const struct ha_slab *slab, uint32_t *number);

/* In a forked child: everything so far is left behind. */
void ha_slab_after_fork_child(struct ha_slab *slab);

#endif
