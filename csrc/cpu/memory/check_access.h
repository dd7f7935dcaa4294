/* SPDX-License-Identifier: MIT */
/* What checked kernels tell of each access (cpu/base/image.h, `check`): is it right?
 *
 * Bounds: an access whose address is computed from a variable, or from an address in an
 * allocation, is right within that variable or allocation only, whatever lies beside
 * it.  Others are right in all memory that the kernel may touch (cpu/memory/access.h).
 *
 * Races: cpu/check/race.h, for one launch at a time; between launches, check_deed.h.
 *
 * The launch goes on after a finding, so that further ones are found; it ends, as under
 * HIPADAPT_CPU_GUARD, where the access would hit memory that is not HIP's.
 *
 * Locks: those of the rooms that are asked, within a busy section. */
#ifndef HA_CPU_MEMORY_CHECK_ACCESS_H
#define HA_CPU_MEMORY_CHECK_ACCESS_H

#include <stdint.h>

#include <stdbool.h>

#include "abi/check.h"
#include "cpu/base/image.h"
#include "cpu/exec/checks.h"

/* For ha_exec_set_checks. */
extern const struct ha_checks ha_memory_checks;

/* Whether a launch of the kernel is watched: its blocks run one after the other. */
bool ha_check_launch_wanted(const struct ha_image_kernel *kernel);
/* Around the run of a launch that is. */
void ha_check_launch_begin(struct ha_launch *launch);
void ha_check_launch_end(struct ha_launch *launch);

/* The side of the access that a mark of ha_race_each stands for, without a place. */
struct ha_check_side ha_check_side_of_mark(const struct ha_launch *launch,
                                           uint32_t mark);

#endif
