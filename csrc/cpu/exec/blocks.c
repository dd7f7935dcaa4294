/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/blocks.h"

#include <sched.h>

/* Chunks per thread: many enough to even out slow blocks and slow threads. */
#define CHUNKS_PER_THREAD 16u
#define CHUNK_MAX 4096u
/* Of kernels whose blocks go in step the chunks are longer, up to what goes in step. */
#define SPANS_PER_THREAD 2u

/* Where in `total` chunks a part begins. */
static uint64_t
part_begin(uint64_t total, uint32_t part, uint32_t count)
{
    return total / count * part + (part < total % count ? part : total % count);
}

static uint64_t
chunk_total(const struct ha_launch *launch)
{
    return (launch->block_count + launch->chunk - 1) / launch->chunk;
}

/* Lanes that are independent may run in any order.  So that a core meets the memory
 * that it has in its caches from the launch before, each begins in a part of its own.
 */
static void
parts_prepare(struct ha_launch *launch, unsigned threads)
{
    bool free_order = launch->fast && launch->kernel->fast;
    uint64_t total = chunk_total(launch);
    launch->part_count = !free_order || total < threads || total > INT32_MAX ? 1
                         : threads > HA_PART_MAX ? HA_PART_MAX
                         : threads > 1           ? threads
                                                 : 1;
    for (uint32_t i = 0; launch->part_count > 1 && i < launch->part_count; i++) {
        atomic_init(&launch->next_chunk[i],
                    (uint32_t)part_begin(total, i, launch->part_count));
    }
}

/* There are as many tickets as chunks, so one of the parts has one left. */
uint64_t
ha_blocks_take(struct ha_launch *launch, uint64_t ticket)
{
    uint32_t count = launch->part_count;
    if (count == 1) {
        return ticket;
    }
    uint64_t total = chunk_total(launch);
    int cpu = sched_getcpu();
    uint32_t part = (cpu > 0 ? (uint32_t)cpu : 0) % count;
    for (;; part = (part + 1) % count) {
        uint64_t end = part_begin(total, part + 1, count);
        if (atomic_load_explicit(&launch->next_chunk[part], memory_order_relaxed) <
            end) {
            uint64_t chunk = atomic_fetch_add(&launch->next_chunk[part], 1);
            if (chunk < end) {
                return chunk * launch->chunk;
            }
        }
    }
}

void
ha_blocks_prepare(struct ha_launch *launch, unsigned threads)
{
    uint64_t count = threads > 0 ? threads : 1;
    uint64_t chunk = launch->block_count / (count * CHUNKS_PER_THREAD);
    if (launch->fast && (launch->kernel->flags & HA_KERNEL_SPAN) != 0) {
        uint64_t span = launch->block_count / (count * SPANS_PER_THREAD);
        span = span < HA_SPAN_BLOCKS_MAX ? span : HA_SPAN_BLOCKS_MAX;
        chunk = chunk > span ? chunk : span;
    }
    launch->chunk = launch->checked     ? launch->block_count
                    : chunk < 1         ? 1
                    : chunk > CHUNK_MAX ? CHUNK_MAX
                                        : chunk;
    atomic_init(&launch->next_block, 0);
    parts_prepare(launch, threads);
}

uint64_t
ha_blocks_end(const struct ha_launch *launch, uint64_t first)
{
    uint64_t rest = launch->block_count - first;
    return first + (rest < launch->chunk ? rest : launch->chunk);
}

uint64_t
ha_blocks_drop_rest(struct ha_launch *launch)
{
    uint64_t next = atomic_exchange(&launch->next_block, launch->block_count);
    return next < launch->block_count ? launch->block_count - next : 0;
}
