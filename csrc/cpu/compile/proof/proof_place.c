/* SPDX-License-Identifier: MIT */
/* What must hold where code runs: the conditions of the branches that lead there. */
#include <stdlib.h>

#include "cpu/compile/proof/proof_state.h"

/* The node "value == case" where one case of a switch leads to a block, and nothing
 * else; HA_PROOF_NONE where it is not so. */
static uint32_t
case_node(struct proof_build *build, const struct gang_block *block,
          const struct gang_value *end, uint32_t to)
{
    uint32_t found = HA_PROOF_NONE;

    for (uint32_t i = 0; i < block->case_count; i++) {
        if (block->next[block->case_to[i]] == to) {
            if (found != HA_PROOF_NONE || block->next[0] == to) {
                return HA_PROOF_NONE;
            }
            found = i;
        }
    }
    if (found == HA_PROOF_NONE || end->from.bits < 8) {
        return HA_PROOF_NONE;
    }
    struct ha_proof_node number = {
        .op = HA_PROOF_NUMBER,
        .bits = end->from.bits,
        .loop = HA_PROOF_NONE,
        .number = strtoll(block->cases[found].at, NULL, 10),
    };
    struct ha_proof_node equal = {
        .op = HA_PROOF_COMPARE,
        .bits = 1,
        .loop = HA_PROOF_NONE,
        .a = proof_node(build, end->operands[0]),
        .b = proof_add_node(build, number),
        .number = HA_PROOF_EQ,
    };
    return proof_add_node(build, equal);
}

uint32_t
proof_edge_context(struct proof_build *build, uint32_t from, uint32_t to)
{
    const struct gang_block *block = &build->function->blocks[from];
    uint32_t around = proof_context(build, from);
    const struct gang_value *end =
        &build->function->values[block->insts[block->count - 1]];

    if (end->op == GANG_SWITCH) {
        uint32_t condition = case_node(build, block, end, to);
        return condition == HA_PROOF_NONE
                   ? around
                   : proof_add_context(build,
                                       (struct ha_proof_context){.around = around,
                                                                 .condition = condition,
                                                                 .wanted = 1});
    }
    if (end->op != GANG_BRANCH || end->operand_count != 1 || block->next_count != 2) {
        return around;
    }
    struct ha_proof_context context = {
        .around = around,
        .condition = proof_node(build, end->operands[0]),
        .wanted = block->next[0] == to,
    };
    return proof_add_context(build, context);
}

uint32_t
proof_context(struct proof_build *build, uint32_t block)
{
    const struct gang_block *at = &build->function->blocks[block];

    if (build->context_of[block] == HA_PROOF_NONE) {
        uint32_t context = 0;
        if (++build->depth > 400) {
            gang_refuse(build->function, "blocks in blocks, 400 deep");
        }
        if (build->flow.dom[block] != block) {
            context = at->prev_count == 1
                          ? proof_edge_context(build, at->prev[0], block)
                          : proof_context(build, build->flow.dom[block]);
        }
        build->depth--;
        build->context_of[block] = context;
    }
    return build->context_of[block];
}

void
proof_read_loops(struct proof_build *build)
{
    const struct ir_flow *flow = &build->flow.loops;
    struct proof_table *table = build->table;

    table->loop_count = flow->loop_count;
    table->loops =
        ir_alloc(build->function->arena, flow->loop_count + 1u, sizeof *table->loops);
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        table->loops[i] = (struct ha_proof_loop){.around = flow->loops[i].outer,
                                                 .begin = HA_PROOF_NONE};
    }
    /* Contexts have nodes, which have loops: so these stand before. */
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        const struct gang_block *header =
            &build->function->blocks[flow->loops[i].header];
        if (header->prev_count == 2) {
            bool second = gang_in_loop(&build->flow, i, header->prev[0]);
            if (gang_in_loop(&build->flow, i, header->prev[1]) == second) {
                continue;
            }
            table->loops[i].begin = 0;
            table->loops[i].again = 0;
        }
    }
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        uint32_t at = flow->loops[i].header;
        const struct gang_block *header = &build->function->blocks[at];
        if (table->loops[i].begin != HA_PROOF_NONE) {
            bool second = gang_in_loop(&build->flow, i, header->prev[0]);
            uint32_t begin =
                proof_edge_context(build, header->prev[second ? 1 : 0], at);
            uint32_t again =
                proof_edge_context(build, header->prev[second ? 0 : 1], at);
            table->loops[i].begin = begin;
            table->loops[i].again = again;
        }
    }
}
