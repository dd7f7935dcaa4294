/* SPDX-License-Identifier: MIT */
/* What a gang does when: regions, masks, questions before blocks.
 *
 * A *mask* is the lanes that are on.  Blocks to which the same lanes come share the
 * mask of one block, their *root*.  A *run* is the blocks that a gang does in one go;
 * all gangs of the block of lanes do a run before the next one begins.  Barriers end
 * runs - what follows them in a loop goes along where no other lane could tell -, and
 * so do the ends of *block-level* loops: those with a barrier inside, or
 * whose rounds all gangs are to do together.
 *
 *     s[t] = a[i];                     run 0
 *     __syncthreads();
 *     for (d = 128; d > 0; d /= 2) {   block-level
 *         if (t < d) s[t] += s[t + d]; run 1
 *         __syncthreads();
 *     }                                run 2: d /= 2
 *     if (t == 0) out[b] = s[0];       run 3
 */
#ifndef HA_CPU_COMPILE_GANG_PLAN_H
#define HA_CPU_COMPILE_GANG_PLAN_H

#include "cpu/compile/gang/gang_shape.h"

/* What is asked before a block. */
enum gang_test {
    GANG_TEST_NONE, /* nothing: who came to the root comes here */
    GANG_TEST_FLAG, /* whether the gang came here */
    GANG_TEST_MASK, /* whether a lane did */
};

struct gang_plan {
    uint8_t *block_level; /* by loop */
    uint32_t *root;       /* by block */
    uint8_t *test;        /* by block: enum gang_test */
    uint8_t *always;      /* by block: all gangs come whenever its run is done */
    uint32_t *run;        /* by block */
    uint32_t run_count;
    uint8_t *reaches; /* by block: a barrier can still come */
    uint8_t *asked;   /* by block with a barrier: whether all lanes came is asked */
    bool any_asked;
    bool strides; /* some block-level loop has no barrier */
};

void gang_plan_make(struct gang_function *function, const struct gang_flow *flow,
                    const struct gang_shapes *shapes, struct gang_plan *plan);

/* How lanes differ in whether they come to a block: an enum gang_level. */
uint8_t gang_control_of(const struct gang_function *function,
                        const struct gang_flow *flow, const struct gang_shapes *shapes,
                        uint32_t block);

bool gang_has_barrier(const struct gang_function *function, uint32_t block);

#endif
