/* SPDX-License-Identifier: MIT */
/* Races within one launch.
 *
 * A *row* is a piece of a block's time: it ends where the lanes of the block, or some
 * of them, meet or hand something over.  Rows are numbered as they begin; a row belongs
 * to one block.  What a lane has accessed is told by its row, its number and the place
 * in the source (*mark*).
 *
 *     block 0     row 0     | barrier | row 1     | barrier | row 2
 *     block 1                                                         row 3 ...
 *
 * Two accesses race if they are of different lanes, touch the same byte, one of them
 * writes, they are not both atomic, and neither is *ordered* before the other.  Orders:
 *
 *   barrier     what any lane of the block did in rows before, for all its lanes
 *   warp        the same for lanes of a warp that meet by __syncwarp
 *   grid        for all lanes of the grid
 *   release     a fence or a release before an atomic write, and an atomic read of it
 *   acquire     with an acquire, a fence or a barrier behind: what the first lane knew
 *
 * A *narrow* release or fence, whose scope is the block, orders for lanes of the block.
 * An acquire counts in full, whatever its scope.
 *
 * For each four bytes, or each byte where somebody touches less than four, stands the
 * last write and the reads since, of two lanes if there are that many.  So the answer
 * does not depend on the order in which lanes between two barriers run.
 *
 * One thread at a time uses a struct ha_race; no lock. */
#ifndef HA_CPU_CHECK_RACE_H
#define HA_CPU_CHECK_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/check/stretch.h"

#define HA_RACE_MARKS ((uint32_t)1 << 22) /* numbers of marks lie below */

struct ha_race;

/* One access. */
struct ha_race_access {
    uintptr_t at;
    uint64_t bytes;
    uint32_t lane;
    uint32_t mark;
    bool reads, writes, atomic;
    bool acquire, release;
    bool narrow; /* atomic for the block alone, and orders nothing for others */
    bool shared; /* memory of the block, which others had before */
};

/* The other side of a race. */
struct ha_race_other {
    uint64_t block;
    uint32_t lane;
    uint32_t mark;
    uintptr_t at; /* the first byte that both touch */
    bool wrote, atomic;
};

/* For blocks of so many lanes, at most 1024, in warps of `warp_size`; NULL: no memory.
 * `relaxed`: lanes of a warp do not race. */
struct ha_race *ha_race_start(uint32_t lanes, uint32_t warp_size, bool relaxed);
void ha_race_end(struct ha_race *race);

/* What follows is done by this block: it begins, or it goes on. */
void ha_race_block(struct ha_race *race, uint64_t block);

/* All lanes of the block have met; `lanes` of the warp have; all of the grid have. */
void ha_race_barrier(struct ha_race *race);
void ha_race_warp(struct ha_race *race, uint32_t warp, uint64_t lanes);
void ha_race_grid(struct ha_race *race);

void ha_race_fence(struct ha_race *race, uint32_t lane, bool narrow);

/* True if the access races; `other` is the side before it. */
bool ha_race_access(struct ha_race *race, const struct ha_race_access *access,
                    struct ha_race_other *other);

/* Calls `each` for all bytes of memory that others can reach, in rising order, apart
 * for plain reads and for the strongest of the other accesses: the first of each, and
 * its mark in place of a site. */
void ha_race_each(struct ha_race *race,
                  void (*each)(void *context, const struct ha_stretch *cell),
                  void *context);

/* Whether some memory was not looked at, because there was no room to remember it. */
bool ha_race_has_lost(const struct ha_race *race);

#endif
