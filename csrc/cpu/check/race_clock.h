/* SPDX-License-Identifier: MIT */
/* What somebody knows of other lanes: for lanes of blocks, the row (see
 * cpu/check/race.h) below which all that they did is ordered before.
 *
 * Clocks are shared, so that to hand one over costs nothing; who changes one that
 * others have gets a copy.  NULL knows nothing. */
#ifndef HA_CPU_CHECK_RACE_CLOCK_H
#define HA_CPU_CHECK_RACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define HA_RACE_ALL UINT32_MAX /* all lanes of a block */

struct ha_race_clock;

/* One more user of it, who owns what this answers. */
struct ha_race_clock *ha_race_clock_share(struct ha_race_clock *clock);
/* The user has it no more; *clock is NULL then. */
void ha_race_clock_drop(struct ha_race_clock **clock);

/* Adds what `other` (borrowed) knows, or that rows of the lane below `row` are known.
 * False: no memory; then nothing has changed. */
bool ha_race_clock_join(struct ha_race_clock **clock, struct ha_race_clock *other);
bool ha_race_clock_raise(struct ha_race_clock **clock, uint64_t block, uint32_t lane,
                         uint32_t row);

/* Whether it knows what the lane did in this row. */
bool ha_race_clock_knows(const struct ha_race_clock *clock, uint64_t block,
                         uint32_t lane, uint32_t row);

#endif
