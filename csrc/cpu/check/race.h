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
 *   release     a fence or a release before an atomic write, and an atomic read of it,
 *               or of what atomics that read and write have made from it
 *   acquire     with an acquire, a fence or a barrier behind: what the first lane knew
 *
 * A *narrow* atomic or fence, whose scope is the block, orders for lanes of the block
 * alone, and is no atomic to lanes of others.  An acquire counts in full, whatever its
 * scope.
 *
 * Lanes that meet share their fences: what one has fenced before is handed over by an
 * atomic write of another behind.  C++ does not promise that, but GPUs do, and programs
 * count on it.  They also count on the atomic write behind a fence being handed over
 * itself; it is, if only atomics stand between the two.
 *
 * What an atomic reads depends on the order in which lanes run, and counts as it was.
 *
 * For each four bytes, or each byte where somebody touches less than four, stand the
 * last plain write, and since then: plain reads, atomic reads and atomic writes, each
 * of two lanes, which are of two blocks or else of two warps if there are such.  That
 * is enough for this:
 *
 *   - what is told is a race.
 *   - where lanes meet by whole warps, blocks and grids only, a byte with races has one
 *     that is told, in whatever order lanes run.
 *   - where atomics or parts of warps order accesses, that holds for bytes that two
 *     lanes at most read, read by atomics and write by atomics each; where there are
 *     more, a race may go untold.
 *
 * Writes of one value that race (`equal`) count as told. With `relaxed`, accesses of
 * lanes of one warp do not race, and what was handed over to one orders no other.
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
    bool narrow;
    bool shared;       /* memory of the block, which others had before */
    const void *value; /* what a plain write stores, or NULL */
};

/* The other side of a race. */
struct ha_race_other {
    uint64_t block;
    uint32_t lane;
    uint32_t mark;
    uintptr_t at; /* the first byte that both touch */
    bool wrote, atomic;
    bool equal; /* what it left there is what the access stores */
};

#define HA_RACE_OTHERS 4u

/* For blocks of so many lanes, at most 1024, in warps of `warp_size`; NULL: no memory.
 * `relaxed`: lanes of a warp do not race.  `kept`: the number of blocks, where one may
 * go on after others have run; else 0. */
struct ha_race *ha_race_start(uint32_t lanes, uint32_t warp_size, bool relaxed,
                              uint64_t kept);
void ha_race_end(struct ha_race *race);

/* What follows is done by this block: it begins, or it goes on. */
void ha_race_block(struct ha_race *race, uint64_t block);

/* All lanes of the block have met; `lanes` of the warp have; all of the grid have. */
void ha_race_barrier(struct ha_race *race);
void ha_race_warp(struct ha_race *race, uint32_t warp, uint64_t lanes);
void ha_race_grid(struct ha_race *race);

void ha_race_fence(struct ha_race *race, uint32_t lane, bool acquires, bool releases,
                   bool narrow);

/* The access comes next: how many accesses before it race with it, and these, of places
 * that differ.  There may be more than are told. */
unsigned ha_race_access(struct ha_race *race, const struct ha_race_access *access,
                        struct ha_race_other others[HA_RACE_OTHERS]);

/* Calls `each` for all bytes of memory that others can reach, in rising order, apart
 * for plain reads and for the strongest of the other accesses: the first of each, and
 * its mark in place of a site. */
void ha_race_each(struct ha_race *race,
                  void (*each)(void *context, const struct ha_stretch *cell),
                  void *context);

/* The bytes are new memory: what was done there before was done to other memory. */
void ha_race_forget(struct ha_race *race, uintptr_t at, uint64_t bytes);

/* Whether some memory was not looked at, because there was no room to remember it. */
bool ha_race_has_lost(const struct ha_race *race);

#endif
