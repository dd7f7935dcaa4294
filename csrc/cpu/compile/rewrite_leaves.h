/* SPDX-License-Identifier: MIT */
/* Functions that say in advance what a kernel decides for a lane, and whether its
 * arithmetic is what it seems for a row of lanes.
 *
 * Of the kernel @halve:
 *
 *     i32 @halve.leaf(parameters, coordinates)         a bit for each leaf
 *     i1  @halve.exact(parameters, coordinates, last)  between two lanes of a row, each
 *                                                      leaf compares what grows or
 *                                                      falls steadily
 *     i1  @halve.fits(parameters, coordinates, last)   between them no index of the
 *                                                      lane passes 2^31 or 2^32
 */
#ifndef HA_CPU_COMPILE_REWRITE_LEAVES_H
#define HA_CPU_COMPILE_REWRITE_LEAVES_H

#include <stdint.h>

#include "cpu/compile/rewrite_fast.h"

struct ha_rewriter;

/* The first and the second if the kernel has leaves, the third always. */
void ha_leaves_write(struct ha_rewriter *rewriter, uint32_t number,
                     const struct ha_fast *fast);

#endif
