/* SPDX-License-Identifier: MIT */
/* The loops of a fast kernel: blocks, planes, rows, pieces of a row, lanes. */
#ifndef HA_CPU_COMPILE_REWRITE_ROWS_H
#define HA_CPU_COMPILE_REWRITE_ROWS_H

#include <stdint.h>

struct ha_fast;
struct ha_rewriter;

/* Writes the bodies, the leaf function and the loops around them. */
void ha_fast_write(struct ha_rewriter *rewriter, uint32_t number,
                   const struct ha_fast *fast);

#endif
