/* SPDX-License-Identifier: MIT */
/* How the blocks of a launch are handed out to the threads that run it.
 *
 * Blocks go out in *chunks* of neighbours.  A thread draws a *ticket*, the value of
 * `next_block` before it adds a chunk to it, and gets one chunk for each ticket below
 * the number of blocks.  Chunks go out in the order of tickets, but for fast kernels,
 * whose lanes are independent.  Their chunks are cut into *parts*: a thread takes the
 * next chunk of the part of the processor that it runs on, or of the parts behind it.
 *
 *     block  0         chunk     2 chunk    3 chunk             block_count
 *            | chunk 0 | chunk 1 | chunk 2  | chunk 3 |  ...  | last |
 *            |<----- part 0 ---->|<------ part 1 ---->|  ...         |
 *
 * All state is in struct ha_launch, and atomic; no lock. */
#ifndef HA_CPU_EXEC_BLOCKS_H
#define HA_CPU_EXEC_BLOCKS_H

#include <stdint.h>

#include "cpu/exec/launch.h"

/* Cuts the blocks into chunks for `threads` threads. */
void ha_blocks_prepare(struct ha_launch *launch, unsigned threads);

/* The first block of the chunk that a ticket is good for. */
uint64_t ha_blocks_take(struct ha_launch *launch, uint64_t ticket);

/* Behind the last block of the chunk that begins at `first`. */
uint64_t ha_blocks_end(const struct ha_launch *launch, uint64_t first);

/* Takes all blocks that no thread has taken, and runs none of them; returns how many.
 */
uint64_t ha_blocks_drop_rest(struct ha_launch *launch);

#endif
