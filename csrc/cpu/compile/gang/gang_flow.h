/* SPDX-License-Identifier: MIT */
/* Control flow of a kernel: the order in which a gang does its blocks, dominators, and
 * loops.
 *
 * A gang goes through the blocks in one *order*, in which a block comes after those
 * that lead to it and the blocks of a loop stand together; lanes that do not take a
 * block are off there. */
#ifndef HA_CPU_COMPILE_GANG_FLOW_H
#define HA_CPU_COMPILE_GANG_FLOW_H

#include "cpu/compile/gang/gang_ir.h"
#include "cpu/compile/ir_flow.h"

struct gang_flow {
    struct ir_flow loops;
    uint32_t *at;   /* position -> block */
    uint32_t count; /* of positions: blocks that can be reached */
    uint32_t *dom;  /* block -> immediate dominator; of the first: itself */
    uint32_t *post; /* block -> immediate postdominator, GANG_NONE: the end */
};

void gang_flow_read(struct gang_function *function, struct gang_flow *flow);

/* Whether a dominates b; a block dominates itself. */
bool gang_dominates(const struct gang_flow *flow, uint32_t a, uint32_t b);
bool gang_postdominates(const struct gang_flow *flow, uint32_t a, uint32_t b);

/* Whether `block` is in `loop`; each block is in IR_NONE, the whole kernel. */
bool gang_in_loop(const struct gang_flow *flow, uint32_t loop, uint32_t block);

/* Whether the edge leads back to the header of a loop around it. */
bool gang_is_back_edge(const struct gang_flow *flow, uint32_t from, uint32_t to);

#endif
