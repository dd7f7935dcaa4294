/* SPDX-License-Identifier: MIT */
/* Which kernels LLVM's loop load elimination could break.
 *
 * The pass gives a loop's load the value that a store of the round before wrote to that
 * address.  In LLVM 20 it looks at stores of the load's own size only: one of another
 * size that writes a part of those bytes in between is lost.  With one store in a loop
 * there is nothing to lose, so the pass may run.  With several, none is trusted: the
 * vectoriser, which comes before, can make two sizes out of one.
 *
 *     round n       store i32 %v, ptr %p       4 bytes
 *                   store i8 0, ptr %q         %q is one of these 4 bytes
 *     round n + 1   %w = load i32, ptr %p      becomes %v: the 0 is lost
 *
 * The loop over the lanes of a fast form does not count.  What a lane writes is not
 * there for the next one without a barrier. */
#include "cpu/compile/rewrite_forward.h"

#include "cpu/compile/ir_flow.h"
#include "cpu/compile/rewrite_state.h"

struct tally {
    bool load;
    unsigned stores;
};

static void
count_inst(const struct ha_rewriter *rewriter, const struct ir_inst *inst,
           struct tally *tally)
{
    static const char *const stores[] = {"store", "atomicrmw", "cmpxchg"};
    uint32_t number;

    tally->load |= ir_is(inst->op, "load");
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        tally->stores += ir_is(inst->op, stores[i]);
    }
    if (!ir_is(inst->op, "call")) {
        return;
    }
    if (ir_begins(inst->callee, "@llvm.mem")) {
        tally->load = true;
        tally->stores++;
    } else if (inst->callee.size == 0 || inst->callee.at[0] == '%' ||
               ir_map_get(&rewriter->functions, inst->callee, &number)) {
        /* It may become part of the loop, with any number of them. */
        tally->load = true;
        tally->stores += 2;
    }
}

static bool
several(const struct tally *tally)
{
    return tally->load && tally->stores > 1;
}

/* A loop, or with NULL the whole function. */
static bool
loop_has_several(const struct ha_rewriter *rewriter, const struct ir_function *function,
                 const struct ir_loop *loop)
{
    struct tally tally = {0};

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0;
             (loop == NULL || loop->members[b]) && i < function->blocks[b].count; i++) {
            count_inst(rewriter, &function->blocks[b].insts[i], &tally);
        }
    }
    return several(&tally);
}

bool
ha_rewrite_loops_store(struct ha_rewriter *rewriter)
{
    for (uint32_t f = 0; f < rewriter->module.function_count; f++) {
        const struct ir_function *function = &rewriter->module.functions[f];
        struct ir_flow flow;
        if (!rewriter->live_functions[f]) {
            continue;
        }
        ir_flow_read(rewriter->arena, function, &flow);
        /* Calls of itself become a loop; one that others call may lie in theirs, and
         * then the call has counted. */
        if ((flow.tangled || !function->kernel) &&
            loop_has_several(rewriter, function, NULL)) {
            return true;
        }
        for (uint32_t l = 0; l < flow.loop_count; l++) {
            if (loop_has_several(rewriter, function, &flow.loops[l])) {
                return true;
            }
        }
    }
    return false;
}
