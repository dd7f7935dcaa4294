/* SPDX-License-Identifier: MIT */
/* What memory_pool.c (pools), memory_pool_block.c (their blocks) and
 * memory_pool_share.c (other processes) share; cpu/memory/memory_pool.h has the words.
 * All of it is guarded by the pool lock. */
#ifndef HA_CPU_MEMORY_MEMORY_POOL_STATE_H
#define HA_CPU_MEMORY_MEMORY_POOL_STATE_H

#include "cpu/base/config.h"
#include "cpu/base/shared_file.h"
#include "cpu/base/span.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/queue/pool.h"

#define HA_POOL_BIN_COUNT 64u /* one for each number of bits of the footprint */

#define HA_PLACE_ANY UINT64_MAX

enum ha_block_state { HA_BLOCK_LIVE, HA_BLOCK_PENDING, HA_BLOCK_FREE };

struct ha_pool_block {
    struct ha_memory_pool *pool; /* borrowed; NULL: the pool has let go of it */
    void *ptr;
    size_t size;      /* as the program asked */
    size_t footprint; /* what it takes from the device */
    enum ha_block_state state;
    bool apart; /* made under check; never given out again */
    uint32_t references;
    uint64_t freed;         /* counts frees, to know an operation that came too late */
    uint64_t place;         /* the stream where it was freed, or HA_PLACE_ANY */
    struct ha_queue *queue; /* PENDING: borrowed, has the work */
    uint64_t number;        /* PENDING: operation of the queue */
    struct ha_pool_block *next, *previous; /* of the list it is on */
};

/* A mapping for a pointer of an imported pool. */
struct ha_import {
    struct ha_import *next;
    struct ha_file_view view; /* owned */
    uint64_t offset;
    uint64_t size;
    uint32_t references; /* how often it was imported and not freed */
};

struct ha_memory_pool {
    struct ha_memory_pool *next, *previous; /* of all */
    uint64_t handle;                        /* 0 = destroyed */
    struct ha_device *device;               /* borrowed */
    hipMemPoolProps props;
    bool is_default;
    bool imported;
    int file;            /* owned; -1 = memory of this process only */
    struct ha_heap heap; /* if there is a file */
    struct ha_pool_block *live;
    struct ha_pool_block *bins[HA_POOL_BIN_COUNT]; /* PENDING and FREE, by footprint */
    struct ha_import *imports;
    uint32_t in_use_count;         /* LIVE and PENDING blocks */
    uint8_t access[HA_DEVICE_MAX]; /* enum ha_access */
    int reuse_follow_events;
    int reuse_opportunistic;
    int reuse_internal;
    uint64_t release_threshold;
    uint64_t reserved, reserved_high;
    uint64_t used, used_high;
};

extern struct ha_memory_pool *ha_memory_pools; /* all */
extern struct ha_memory_pool *ha_memory_pool_defaults[HA_DEVICE_MAX];
extern struct ha_memory_pool *ha_memory_pool_currents[HA_DEVICE_MAX]; /* or NULL */

/* The living pool, or NULL with the failure recorded and the lock given back. */
struct ha_memory_pool *ha_memory_pool_find(hipMemPool_t handle);

/* A new pool with a handle, or NULL without memory. */
struct ha_memory_pool *ha_memory_pool_new(struct ha_device *device,
                                          const hipMemPoolProps *props, int file);

/* Frees a destroyed pool that nothing of is in use any more. */
void ha_memory_pool_drop(struct ha_memory_pool *pool);

/* Where the device's allocations come from now; NULL without memory. */
struct ha_memory_pool *ha_memory_pool_in_force(struct ha_device *device);

/* Gives FREE blocks back until no more than `keep` bytes are reserved. */
void ha_memory_pool_shrink(struct ha_memory_pool *pool, uint64_t keep);

/* Lets go of all blocks, LIVE ones too, whose memory is freed. */
void ha_memory_pool_clear(struct ha_memory_pool *pool);

/* Unmaps what was imported. */
void ha_memory_pool_clear_imports(struct ha_memory_pool *pool);

#endif
