/* SPDX-License-Identifier: MIT */
/* Between which barriers accesses lie.
 *
 *     bar 1; for (;;) { A; bar 2; B; bar 3; }     A after {1, 3}   B after {2}
 *
 * Lanes of a block meet at the same barriers one after the other, so two lanes whose
 * last barriers differ are not between the same ones.  A loop is *in step* if each of
 * its rounds meets each of its barriers once; then two accesses between the same
 * barriers are in one round, unless a round may end behind one of them and the next one
 * reach the other with no barrier between. */
#include "cpu/compile/proof/proof_state.h"

#define BARRIERS_MOST 62u
#define ROUND_BEGUN 1u
#define ROUND_ENDS 2u

struct meet {
    struct proof_build *build;
    uint8_t *bit;           /* by value: of a barrier, from 1 on */
    uint64_t *after;        /* by block: at its begin */
    uint8_t *begun;         /* by block, of one loop: ROUND_BEGUN at its begin */
    uint8_t *ends;          /* ROUND_ENDS at its end */
    const uint32_t *values; /* by access: its call */
};

static bool
is_barrier(const struct meet *meet, uint32_t value)
{
    return meet->build->function->values[value].op == GANG_BARRIER;
}

static uint64_t
after_block(const struct meet *meet, uint32_t block, uint32_t until)
{
    const struct gang_block *at = &meet->build->function->blocks[block];
    uint64_t after = meet->after[block];

    for (uint32_t i = 0; i < at->count && at->insts[i] != until; i++) {
        if (is_barrier(meet, at->insts[i])) {
            after = (uint64_t)1 << meet->bit[at->insts[i]];
        }
    }
    return after;
}

static void
find_after(struct meet *meet)
{
    const struct gang_flow *flow = &meet->build->flow;
    bool changed = true;

    meet->after[flow->at[0]] = 1;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < flow->count; i++) {
            const struct gang_block *block =
                &meet->build->function->blocks[flow->at[i]];
            uint64_t out = after_block(meet, flow->at[i], GANG_NONE);
            for (uint32_t k = 0; k < block->next_count; k++) {
                uint64_t *in = &meet->after[block->next[k]];
                changed |= (*in | out) != *in;
                *in |= out;
            }
        }
    }
}

/* ---- loops in step ---- */

static bool
has_barrier(const struct meet *meet, uint32_t block)
{
    return after_block(meet, block, GANG_NONE) != meet->after[block];
}

/* Whether each round passes each barrier of the loop once. */
static bool
is_in_step(const struct meet *meet, uint32_t loop)
{
    const struct gang_function *function = meet->build->function;
    const struct gang_flow *flow = &meet->build->flow;
    const struct ir_loop *at = &flow->loops.loops[loop];
    const struct gang_block *header = &function->blocks[at->header];
    bool found = false;

    for (uint32_t b = 0; b < function->block_count; b++) {
        bool meets = false;
        for (uint32_t i = 0; at->members[b] && i < function->blocks[b].count; i++) {
            meets |= is_barrier(meet, function->blocks[b].insts[i]);
        }
        if (!meets) {
            continue;
        }
        found = true;
        for (uint32_t k = 0; k < header->prev_count; k++) {
            if (at->members[header->prev[k]] &&
                !gang_dominates(flow, b, header->prev[k])) {
                return false;
            }
        }
        if (flow->loops.inner[b] != loop) {
            return false;
        }
    }
    return found;
}

/* Where in a round no barrier lies before, or behind. */
static void
find_crossings(struct meet *meet, uint32_t loop)
{
    const struct gang_function *function = meet->build->function;
    const struct gang_flow *flow = &meet->build->flow;
    const struct ir_loop *at = &flow->loops.loops[loop];
    bool changed = true;

    for (uint32_t b = 0; b < function->block_count; b++) {
        meet->begun[b] = b == at->header ? ROUND_BEGUN : 0;
        meet->ends[b] = 0;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < flow->count; i++) {
            uint32_t b = flow->at[i];
            const struct gang_block *block = &function->blocks[b];
            bool passes = at->members[b] && !has_barrier(meet, b);
            for (uint32_t k = 0; at->members[b] && k < block->next_count; k++) {
                uint32_t to = block->next[k];
                if (!at->members[to]) {
                    continue;
                }
                bool last = to == at->header;
                if (passes && meet->begun[b] && !meet->begun[to]) {
                    meet->begun[to] = ROUND_BEGUN;
                    changed = true;
                }
                bool through = !has_barrier(meet, to) && meet->ends[to];
                if ((last || through) && !meet->ends[b]) {
                    meet->ends[b] = ROUND_ENDS;
                    changed = true;
                }
            }
        }
    }
}

static uint32_t
crosses_at(const struct meet *meet, uint32_t block, uint32_t value)
{
    const struct gang_block *at = &meet->build->function->blocks[block];
    uint32_t crosses = (uint32_t)meet->begun[block] | meet->ends[block];
    bool behind = false;

    for (uint32_t i = 0; i < at->count; i++) {
        behind |= at->insts[i] == value;
        if (is_barrier(meet, at->insts[i])) {
            crosses &= behind ? ~ROUND_ENDS : ~ROUND_BEGUN;
        }
    }
    return crosses;
}

static void
read_loop(struct meet *meet, uint32_t loop)
{
    const struct gang_function *function = meet->build->function;
    const struct ir_loop *at = &meet->build->flow.loops.loops[loop];
    struct proof_table *table = meet->build->table;

    if (at->outer != IR_NONE || !is_in_step(meet, loop)) {
        return;
    }
    table->loops[loop].in_step = 1;
    find_crossings(meet, loop);
    for (uint32_t i = 0; i < table->access_count; i++) {
        uint32_t block = function->values[meet->values[i]].block;
        if (at->members[block]) {
            table->accesses[i].loop = loop;
            table->accesses[i].crosses = crosses_at(meet, block, meet->values[i]);
        }
    }
}

void
proof_read_barriers(struct proof_build *build, const uint32_t *values)
{
    struct gang_function *function = build->function;
    struct proof_table *table = build->table;
    struct meet meet = {.build = build, .values = values};
    uint32_t count = 0;

    meet.bit = ir_alloc(function->arena, function->value_count + 1u, 1);
    meet.after = ir_alloc(function->arena, function->block_count, sizeof *meet.after);
    meet.begun = ir_alloc(function->arena, function->block_count, 1);
    meet.ends = ir_alloc(function->arena, function->block_count, 1);
    for (uint32_t v = 0; v < function->value_count; v++) {
        if (is_barrier(&meet, v)) {
            /* Those beyond count as one. */
            count += count <= BARRIERS_MOST ? 1u : 0u;
            meet.bit[v] = (uint8_t)count;
        }
    }
    find_after(&meet);
    for (uint32_t i = 0; i < table->access_count; i++) {
        uint32_t block = function->values[values[i]].block;
        table->accesses[i].after = after_block(&meet, block, values[i]);
    }
    for (uint32_t i = 0; i < table->loop_count; i++) {
        read_loop(&meet, i);
    }
}
