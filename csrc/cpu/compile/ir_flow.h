/* SPDX-License-Identifier: MIT */
/* Control flow of one function: program order and natural loops.
 *
 * The order numbers blocks such that a loop's blocks come before the blocks behind it:
 * the order in which a warp that runs in lock step would serve diverged lanes. */
#ifndef HA_CPU_COMPILE_IR_FLOW_H
#define HA_CPU_COMPILE_IR_FLOW_H

#include "cpu/compile/ir_text.h"

#define IR_NONE UINT32_MAX

struct ir_loop {
    uint32_t header;  /* block number */
    uint32_t outer;   /* the loop around this one, or IR_NONE */
    uint32_t depth;   /* 1 = outermost */
    uint8_t *members; /* a flag per block */
    bool wanted;      /* set by users */
};

struct ir_flow {
    uint32_t *order; /* block -> position in program order; IR_NONE if unreachable */
    uint32_t *inner; /* block -> innermost loop, or IR_NONE */
    struct ir_loop *loops;
    uint32_t loop_count;
    bool tangled; /* has a cycle that is no natural loop (goto into a loop) */
};

void ir_flow_read(struct ir_arena *arena, const struct ir_function *function,
                  struct ir_flow *flow);

#endif
