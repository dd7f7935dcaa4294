/* SPDX-License-Identifier: MIT */
/* Which kernels have a fast form, loops over the lanes of a row, and what these may
 * assume.
 *
 * A *row* is the lanes of a block that differ in x only.  A *leaf* is a comparison that
 * decides the same for all lanes of a row, if it does so for the first and the last
 * one. */
#ifndef HA_CPU_COMPILE_REWRITE_FAST_H
#define HA_CPU_COMPILE_REWRITE_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_values.h"

struct ha_rewriter;

#define HA_LEAVES_MAX 32u

/* Fast forms count lanes in 32 bits: a launch with more of them in a direction than
 * this runs the reference form lane by lane. */
#define HA_INDEX_END ((int64_t)1 << 30)
#define HA_BLOCK_MOST 1024

/* What the fast executor may assume about a kernel; made by ha_fast_study. */
struct ha_fast {
    struct ir_values values;
    uint8_t *flagged;    /* index arithmetic that cannot wrap in a fast launch */
    uint32_t most_const; /* largest constant block width that was flagged */
    uint32_t leaf_of[HA_LEAVES_MAX]; /* numbers of instructions */
    uint32_t leaf_count;
    bool parallel; /* plain loads and stores only */
    bool spans;    /* rows may go on through neighbouring blocks */
    bool columns;  /* lanes are better run column by column */
};

/* Decides whether the kernel has a fast form and what it may assume. */
bool ha_fast_study(struct ha_rewriter *rewriter, uint32_t number, struct ha_fast *fast);

#endif
