/* SPDX-License-Identifier: MIT */
/* Blocks of lanes that all find at once that there is nothing for them to do.
 *
 *     int i = blockIdx.x * blockDim.x + threadIdx.x;
 *     if (i >= n) return;                  asked for the first and the last lane of a
 * row
 *
 * The comparison is of an index that is linear in the lane with something that all
 * lanes of the block share, and nothing happens before it or where it leads to.  If the
 * index does not wrap between the two lanes, equal answers hold for all lanes between.
 */
#ifndef HA_CPU_COMPILE_GANG_GANG_IDLE_H
#define HA_CPU_COMPILE_GANG_GANG_IDLE_H

#include "cpu/compile/gang/gang_emit.h"

/* Writes whether the block is idle, an i1, at the start of the function of a block,
 * where %last_x and %wide_x are known; empty for kernels that do not begin like this.
 */
struct ir_slice gang_write_idle(struct gang_emit *emit);

#endif
