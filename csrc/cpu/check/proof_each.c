/* SPDX-License-Identifier: MIT */
/* Rounds one by one, for loops whose values are no linear functions of the round.
 *
 *     for (d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; barrier }
 *
 * In the round with d = 32, s[0..31] is written and s[32..63] is read besides. */
#include <string.h>

#include "cpu/check/proof_state.h"

#define ROUNDS_MOST 80u

/* From here on, all is found anew. */
static void
renew(struct proof *proof)
{
    proof->stamp++;
    memset(proof->rounds_state, 0, proof->table->loop_count + PROOF_LOOPS);
}

/* The values of the first round; false: there are none that are the same for all. */
static bool
fix_first(struct proof *proof, uint32_t loop)
{
    uint32_t begin = proof->table->loops[loop].begin;
    bool any = false;

    for (uint32_t i = 0; i < proof->table->node_count; i++) {
        const struct ha_proof_node *node = &proof->table->nodes[i];
        if (node->op != HA_PROOF_ROUND || node->c != loop) {
            continue;
        }
        struct proof_range start = proof_range_of(proof, node->a, begin);
        if (proof_is_point(start)) {
            proof->fixed[i] = start.low;
            proof->is_fixed[i] = 2; /* from the next renewal on */
            any = true;
        }
    }
    for (uint32_t i = 0; i < proof->table->node_count; i++) {
        proof->is_fixed[i] = proof->is_fixed[i] != 0;
    }
    return any;
}

/* Those of the next one. */
static bool
fix_next(struct proof *proof, uint32_t loop)
{
    uint32_t again = proof->table->loops[loop].again;
    bool any = false;
    /* All of them are of the round that ends, so none is set before all are found. */
    int64_t next[PROOF_VARIABLES];
    uint32_t nodes[PROOF_VARIABLES], count = 0;

    for (uint32_t i = 0; i < proof->table->node_count; i++) {
        const struct ha_proof_node *node = &proof->table->nodes[i];
        if (!proof->is_fixed[i] || node->c != loop) {
            continue;
        }
        struct proof_range range = proof_range_of(proof, node->b, again);
        if (count == PROOF_VARIABLES || !proof_is_point(range)) {
            return false;
        }
        nodes[count] = i;
        next[count++] = range.low;
        any = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        proof->fixed[nodes[i]] = next[i];
    }
    return any;
}

bool
proof_each_round(struct proof *proof, uint32_t loop, proof_holds *holds, void *context)
{
    bool all = false;

    if (loop == HA_PROOF_NONE || proof->table->loops[loop].begin == HA_PROOF_NONE ||
        !fix_first(proof, loop)) {
        return false;
    }
    for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
        renew(proof);
        if (!holds(proof, context)) {
            break;
        }
        if (proof_is_dead(proof, proof->table->loops[loop].again)) {
            all = true;
            break;
        }
        if (!fix_next(proof, loop)) {
            break;
        }
    }
    memset(proof->is_fixed, 0, proof->table->node_count);
    renew(proof);
    return all;
}
