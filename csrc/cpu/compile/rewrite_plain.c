/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_plain.h"

#include "cpu/compile/check_plain.h"
#include "cpu/compile/ir_flow.h"
#include "cpu/compile/proof/proof_build.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

bool
ha_plain_is_twin(const struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ir_function *function = &rewriter->module.functions[number];

    return rewriter->check && function->kernel && ha_check_is_plain(function->name);
}

bool
ha_plain_is_wanted(const struct ha_rewriter *rewriter, uint32_t number)
{
    if (!ha_plain_is_twin(rewriter, number)) {
        return true;
    }
    for (uint32_t f = 0; f < rewriter->module.function_count; f++) {
        if (rewriter->plains[f] == number) {
            return true;
        }
    }
    return false;
}

/* Functions of other modules that it calls may have brought some. */
static bool
has_questions(const struct ir_function *function)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            if (ha_known_of(&function->blocks[b].insts[i]) == HA_KNOWN_CHECK) {
                return true;
            }
        }
    }
    return false;
}

static void
choose(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ir_function *function = &rewriter->module.functions[number];
    struct ir_slice name =
        ha_suffixed(rewriter->arena, function->name, HA_PLAIN_SUFFIX);
    struct proof_table table;
    uint32_t twin;

    if (!function->kernel || ha_plain_is_twin(rewriter, number) ||
        !ir_map_get(&rewriter->functions, name, &twin) ||
        has_questions(&rewriter->module.functions[twin]) ||
        !ha_proof_build(rewriter, number, &table)) {
        return;
    }
    struct proof_table *kept = ir_alloc(rewriter->arena, 1, sizeof *kept);
    *kept = table;
    rewriter->proofs[number] = kept;
    rewriter->plains[number] = twin;
}

void
ha_plain_choose(struct ha_rewriter *rewriter)
{
    size_t count = rewriter->module.function_count;

    rewriter->proofs = ir_alloc(rewriter->arena, count + 1, sizeof *rewriter->proofs);
    rewriter->plains = ir_alloc(rewriter->arena, count + 1, sizeof *rewriter->plains);
    for (uint32_t f = 0; f < count; f++) {
        rewriter->plains[f] = IR_NONE;
    }
    for (uint32_t f = 0; rewriter->check && f < count; f++) {
        choose(rewriter, f);
    }
}
