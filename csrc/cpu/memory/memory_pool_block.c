/* SPDX-License-Identifier: MIT */
/* Blocks of pools: allocation, reuse and freeing in stream order. */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory_pool_state.h"
#include "cpu/queue/order.h"
#include "cpu/queue/stream.h"
#include "cpu/queue/ticket.h"

#define SCAN_MAX 128u                /* blocks of a bin that are looked at */
#define WASTE_MAX 2u                 /* a block is at most so many times too big */
#define PENDING_LIMIT_NS 1000000000u /* how long a full device waits for frees */

static _Atomic uint64_t free_count; /* FREE blocks of all pools */

/* ---- lists ---- */

static struct ha_pool_block **
list_of(struct ha_pool_block *block)
{
    struct ha_memory_pool *pool = block->pool;
    return block->state == HA_BLOCK_LIVE
               ? &pool->live
               : &pool->bins[63 -
                             __builtin_clzll((unsigned long long)block->footprint)];
}

static void
list_add(struct ha_pool_block *block)
{
    struct ha_pool_block **first = list_of(block);
    block->previous = NULL;
    block->next = *first;
    if (*first != NULL) {
        (*first)->previous = block;
    }
    *first = block;
}

static void
list_remove(struct ha_pool_block *block)
{
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        *list_of(block) = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
}

static void
block_release(struct ha_pool_block *block)
{
    if (--block->references == 0) {
        free(block);
    }
}

/* Changes the state and with it the list and the counts. */
static void
block_set(struct ha_pool_block *block, enum ha_block_state state)
{
    struct ha_memory_pool *pool = block->pool;
    list_remove(block);
    if (block->state == HA_BLOCK_FREE) {
        atomic_fetch_sub(&free_count, 1);
        pool->in_use_count++;
    }
    if (state == HA_BLOCK_FREE) {
        atomic_fetch_add(&free_count, 1);
        pool->in_use_count--;
    }
    block->state = state;
    list_add(block);
}

/* Takes a block out of its pool; its memory is the caller's to free. */
static void
block_remove(struct ha_pool_block *block)
{
    struct ha_memory_pool *pool = block->pool;
    ha_activity_memory_defer(HA_ACTIVITY_FREE, pool->device->id, block->ptr, 0,
                             ha_clock_ns());
    list_remove(block);
    if (block->state == HA_BLOCK_FREE) {
        atomic_fetch_sub(&free_count, 1);
    } else {
        pool->in_use_count--;
        pool->used -= block->size;
    }
    pool->reserved -= block->footprint;
    block->pool = NULL;
    block_release(block);
}

static void
highs_update(struct ha_memory_pool *pool)
{
    if (pool->used > pool->used_high) {
        pool->used_high = pool->used;
    }
    if (pool->reserved > pool->reserved_high) {
        pool->reserved_high = pool->reserved;
    }
}

static void
complain(const struct ha_pool_block *block)
{
    ha_log(1, "hipFreeAsync: somebody wrote past the end of the %zu bytes at %p",
           block->size, block->ptr);
}

/* ---- giving back ---- */

void
ha_memory_pool_shrink(struct ha_memory_pool *pool, uint64_t keep)
{
    for (unsigned bin = HA_POOL_BIN_COUNT; bin > 0 && pool->reserved > keep; bin--) {
        struct ha_pool_block *next;
        for (struct ha_pool_block *block = pool->bins[bin - 1];
             block != NULL && pool->reserved > keep; block = next) {
            next = block->next;
            if (block->state == HA_BLOCK_FREE) {
                void *ptr = block->ptr;
                block_remove(block);
                (void)ha_memory_release(ptr);
            }
        }
    }
}

void
ha_memory_pool_clear(struct ha_memory_pool *pool)
{
    struct ha_range range;
    ha_memory_pool_shrink(pool, 0);
    while (pool->live != NULL) {
        void *ptr = pool->live->ptr;
        block_remove(pool->live);
        (void)ha_memory_claim(ptr, 1u << HA_MEMORY_POOL, &range);
        (void)ha_memory_release(ptr);
    }
    for (unsigned bin = 0; bin < HA_POOL_BIN_COUNT; bin++) {
        while (pool->bins[bin] != NULL) {
            void *ptr = pool->bins[bin]->ptr;
            block_remove(pool->bins[bin]);
            (void)ha_memory_release(ptr);
        }
    }
    if (pool->heap.shared) {
        ha_memory_empty(&pool->heap);
    }
}

void
ha_memory_pools_settle(struct ha_device *device, bool whole)
{
    if (atomic_load_explicit(&free_count, memory_order_relaxed) == 0) {
        return;
    }
    ha_pool_lock();
    for (struct ha_memory_pool *pool = ha_memory_pools; pool != NULL;
         pool = pool->next) {
        if (pool->device != device) {
            continue;
        }
        ha_memory_pool_shrink(pool, pool->release_threshold);
        for (unsigned bin = 0; whole && bin < HA_POOL_BIN_COUNT; bin++) {
            for (struct ha_pool_block *block = pool->bins[bin]; block != NULL;
                 block = block->next) {
                if (block->state == HA_BLOCK_FREE) {
                    block->place = HA_PLACE_ANY;
                }
            }
        }
    }
    ha_pool_unlock();
}

/* ---- allocation ---- */

static bool
may_take(const struct ha_pool_block *block, uint64_t place)
{
    if (block->apart) {
        return false;
    }
    if (block->place == place) {
        return true;
    }
    return block->state == HA_BLOCK_FREE &&
           (block->place == HA_PLACE_ANY || block->pool->reuse_opportunistic != 0);
}

/* The smallest block that fits among the first ones; `pending` asks for those that
 * other streams have yet to free. */
static struct ha_pool_block *
find(const struct ha_memory_pool *pool, size_t footprint, uint64_t place, bool pending)
{
    struct ha_pool_block *best = NULL;
    unsigned first = 63u - (unsigned)__builtin_clzll((unsigned long long)footprint);
    for (unsigned bin = first; bin <= first + 1 && bin < HA_POOL_BIN_COUNT; bin++) {
        unsigned looked_at = 0;
        for (struct ha_pool_block *block = pool->bins[bin];
             block != NULL && looked_at < SCAN_MAX; block = block->next, looked_at++) {
            if (block->footprint >= footprint &&
                block->footprint / WASTE_MAX <= footprint &&
                (best == NULL || block->footprint < best->footprint) &&
                (may_take(block, place) ||
                 (pending && !block->apart && block->state == HA_BLOCK_PENDING))) {
                best = block;
            }
        }
    }
    return best;
}

static void
take(struct ha_pool_block *block, size_t size)
{
    struct ha_memory_pool *pool = block->pool;
    if (block->state == HA_BLOCK_PENDING) {
        pool->used -= block->size;
        block->freed++; /* the operation that frees it has nothing left to do */
    }
    ha_memory_reuse(block->ptr, size);
    block->size = size;
    pool->used += size;
    block_set(block, HA_BLOCK_LIVE);
    highs_update(pool);
}

/* A block of new memory, or NULL. */
static struct ha_pool_block *
block_new(struct ha_memory_pool *pool, size_t size, size_t footprint)
{
    uint64_t limit = pool->props.maxSize;
    if (limit != 0 && (footprint > limit || pool->reserved > limit - footprint)) {
        return NULL;
    }
    uint64_t begin_ns = ha_clock_ns();
    struct ha_pool_block *block = calloc(1, sizeof *block);
    if (block == NULL) {
        return NULL;
    }
    if (ha_memory_alloc_in(pool->heap.shared ? &pool->heap : NULL, pool->device,
                           HA_MEMORY_POOL, 0, size, block, &block->ptr) != hipSuccess) {
        free(block);
        return NULL;
    }
    block->pool = pool;
    block->apart = ha_memory_is_apart(block->ptr);
    block->size = size;
    block->footprint = footprint;
    block->state = HA_BLOCK_LIVE;
    block->references = 1;
    list_add(block);
    pool->in_use_count++;
    pool->reserved += footprint;
    pool->used += size;
    highs_update(pool);
    ha_activity_memory_defer(HA_ACTIVITY_ALLOCATE, pool->device->id, block->ptr,
                             footprint, begin_ns);
    return block;
}

static const struct ha_op_class wait_class = {.name = "wait for a free",
                                              .flags = HA_OP_ALWAYS};

/* A block that another stream has yet to free, for which the stream then waits. */
static struct ha_pool_block *
take_pending(struct ha_memory_pool *pool, struct ha_stream *stream, size_t size,
             size_t footprint)
{
    struct ha_pool_block *block =
        pool->reuse_internal != 0 ? find(pool, footprint, ha_stream_place(stream), true)
                                  : NULL;
    if (block == NULL || block->state != HA_BLOCK_PENDING) {
        return NULL;
    }
    struct ha_op *op = ha_op_new(&wait_class);
    if (op == NULL) {
        return NULL;
    }
    op->caller = true;
    if (!ha_op_depend(op, block->queue, block->number)) {
        ha_op_discard(op);
        return NULL;
    }
    /* Taken before the lock may be given back. */
    take(block, size);
    block->references++;
    bool submitted = ha_stream_submit(stream, op, HA_SUBMIT_WAKE) != 0;
    if (!submitted) {
        /* Without the order, the program must not have it. */
        struct ha_range range;
        (void)ha_memory_claim(block->ptr, 1u << HA_MEMORY_POOL, &range);
        (void)ha_memory_cache(block->ptr);
        pool->used -= block->size;
        block_set(block, HA_BLOCK_FREE);
    }
    block_release(block);
    return submitted ? block : NULL;
}

/* Gives back what the device's pools keep, and with `wait` also what streams are about
 * to free; true if there was any of it. */
static bool
make_room(struct ha_device *device, bool wait)
{
    bool any = false;
    uint64_t begin_ns = wait ? ha_clock_ns() : 0;
    struct ha_memory_pool *pool = ha_memory_pools;
    while (pool != NULL) {
        struct ha_pool_block *pending = NULL;
        uint64_t before = pool->reserved;
        if (pool->device == device) {
            ha_memory_pool_shrink(pool, 0);
            any = any || pool->reserved < before;
        }
        for (unsigned bin = 0; wait && pool->device == device && pending == NULL &&
                               bin < HA_POOL_BIN_COUNT;
             bin++) {
            pending = pool->bins[bin];
        }
        pool = pool->next;
        if (pending == NULL) {
            continue;
        }
        uint64_t passed_ns = ha_clock_ns() - begin_ns;
        struct ha_queue *queue = pending->queue;
        uint64_t number = pending->number;
        ha_queue_retain(queue);
        bool freed =
            passed_ns < PENDING_LIMIT_NS &&
            ha_queue_wait(queue, number, PENDING_LIMIT_NS - passed_ns) == hipSuccess;
        ha_queue_release(queue);
        if (!freed) {
            return any;
        }
        /* The lock was not held: from the beginning. */
        any = true;
        pool = ha_memory_pools;
    }
    return any;
}

/* A block for the stream's work, or NULL.  Lock held, but not always in between. */
static struct ha_pool_block *
block_get(struct ha_memory_pool *pool, struct ha_stream *stream, size_t size)
{
    struct ha_device *device = pool->device;
    size_t footprint = ha_span_footprint(&pool->heap, size);
    if (footprint == 0) {
        return NULL;
    }
    /* Under check each allocation is one of its own. */
    bool reuse = !ha_checked();
    struct ha_pool_block *block =
        reuse ? find(pool, footprint, ha_stream_place(stream), false) : NULL;
    if (block != NULL) {
        take(block, size);
        return block;
    }
    block = block_new(pool, size, footprint);
    if (block == NULL && make_room(device, false)) {
        block = block_new(pool, size, footprint);
    }
    if (block == NULL && reuse) {
        block = take_pending(pool, stream, size, footprint);
    }
    if (block == NULL && size <= device->memory_bytes && make_room(device, true)) {
        block = block_new(pool, size, footprint);
    }
    return block;
}

hipError_t
ha_memory_pool_alloc(struct ha_memory_pool *pool, struct ha_stream *stream, size_t size,
                     void **ptr)
{
    struct ha_device *device = pool->device;
    struct ha_queue *queue = &stream->queue;
    pool->in_use_count++; /* keeps it where the lock is not held */
    ha_queue_retain(queue);
    struct ha_pool_block *block = block_get(pool, stream, size);
    if (block != NULL) {
        *ptr = block->ptr;
        ha_order_forget(block->ptr, size);
    }
    pool->in_use_count--;
    ha_memory_pool_drop(pool);
    ha_queue_release(queue);
    ha_pool_unlock();
    return block != NULL ? hipSuccess : ha_memory_full(device, HA_MEMORY_POOL, size);
}

/* ---- freeing ---- */

struct free_block {
    struct ha_pool_block *block; /* owned reference */
    uint64_t freed;
};

_Static_assert(sizeof(struct free_block) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

/* The program does not have it any more; false if somebody wrote past its end. */
static bool
block_to_free(struct ha_pool_block *block)
{
    struct ha_memory_pool *pool = block->pool;
    void *ptr = block->ptr;
    bool intact;
    if (block->apart) {
        block_remove(block);
        intact = ha_memory_release(ptr);
    } else {
        intact = ha_memory_cache(ptr);
        pool->used -= block->size;
        block_set(block, HA_BLOCK_FREE);
    }
    if (pool->handle == 0) {
        ha_memory_pool_shrink(pool, 0);
        ha_memory_pool_drop(pool);
    }
    return intact;
}

static void
free_finish(struct ha_op *op)
{
    const struct free_block *payload = (const void *)op->payload;
    struct ha_pool_block *block = payload->block;
    if (block->pool != NULL && block->state == HA_BLOCK_PENDING &&
        block->freed == payload->freed) {
        if (op->queue == NULL) {
            /* It was not submitted. */
            ha_memory_unclaim(block->ptr);
            block_set(block, HA_BLOCK_LIVE);
        } else if (!block_to_free(block)) {
            complain(block);
        }
    }
    block_release(block);
}

static const struct ha_op_class free_class = {
    .name = "free in a pool", .flags = HA_OP_ALWAYS, .finish = free_finish};

hipError_t
ha_memory_pool_free_async(const struct ha_range *range, struct ha_stream *stream)
{
    struct ha_pool_block *block = range->owner;
    struct ha_queue *queue = &stream->queue;
    struct ha_op *op = ha_op_new(&free_class);
    if (op == NULL) {
        ha_memory_unclaim(range->base);
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    block->place = ha_stream_place(stream);
    block->queue = queue;
    block->number = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    block->freed++;
    block->references++;
    block_set(block, HA_BLOCK_PENDING);
    *(struct free_block *)(void *)op->payload =
        (struct free_block){.block = block, .freed = block->freed};
    op->caller = true;
    return ha_stream_run(stream, op, HA_RUN_CHEAP);
}

bool
ha_memory_pool_free(const struct ha_range *range)
{
    struct ha_range now;
    bool intact = true;
    ha_pool_lock();
    /* A device reset may have freed it meanwhile. */
    if (ha_memory_find(range->base, &now) && now.id == range->id &&
        now.owner == range->owner) {
        struct ha_pool_block *block = range->owner;
        block->place = HA_PLACE_ANY;
        intact = block_to_free(block);
    }
    ha_pool_unlock();
    return intact;
}
