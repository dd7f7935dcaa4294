/* SPDX-License-Identifier: MIT */
/* A lane of a kernel as a side of a finding. */
#ifndef HA_CPU_MEMORY_CHECK_SIDE_H
#define HA_CPU_MEMORY_CHECK_SIDE_H

#include "abi/check.h"
#include "cpu/base/image.h"
#include "cpu/exec/launch.h"

/* Of the lane's stack, which a finding and its words may need. */
#define HA_CHECK_STACK_BYTES ((size_t)12 << 10)

/* What stands at the site, by no lane yet. */
struct ha_check_side ha_check_side_at(const struct ha_launch *launch,
                                      const struct ha_check_site *site, uint64_t bytes);

/* Puts in the lane with that number of the block with that number. */
void ha_check_side_place(struct ha_check_side *side, const struct ha_grid *grid,
                         uint64_t block, uint32_t lane);

#endif
