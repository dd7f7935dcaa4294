/* SPDX-License-Identifier: MIT */
/* Between which barriers accesses lie.
 *
 *     bar 1; for (;;) { A; bar 2; B; bar 3; } C     A after {1, 3}   B after {2}
 *
 * Where lanes of a block meet at the same barriers one after the other, two lanes whose
 * last barriers differ are not between the same ones.  That is so where lanes part only
 * if no barrier is on the way to where they meet again, or if but one side comes to any
 * barrier; else lanes may wait at different barriers, which is no right launch.
 *
 * A loop is *in step* if each of its rounds meets each of its barriers once; then two
 * accesses between the same barriers are in one round, unless a round may end behind
 * one of them and the next one reach the other with no barrier between.  C is *behind*
 * the loop: all lanes that come to C leave the loop after the same round.  So it is
 * apart from A and B, as a barrier lies between these and the end of the loop. */
#include <string.h>

#include "cpu/compile/gang/gang_shape.h"
#include "cpu/compile/proof/proof_state.h"

#define BARRIERS_MOST 62u
#define SHAPE_WIDTH 8u /* of gangs; says nothing of what is the same in a block */

struct meet {
    struct proof_build *build;
    uint8_t *bit;     /* by value: of a barrier, from 1 on */
    uint64_t *after;  /* by block: at its begin */
    uint8_t *begun;   /* by block, of one loop: HA_PROOF_ROUND_BEGUN at its begin */
    uint8_t *ends;    /* HA_PROOF_ROUND_ENDS and HA_PROOF_LOOP_LEFT at its end */
    uint8_t *reaches; /* by block: a barrier lies on some way from its begin */
    struct gang_shapes shapes;
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

/* ---- lanes that part ---- */

/* False: nothing is known of how values differ. */
static bool
read_shapes(struct meet *meet)
{
    struct gang_function *function = meet->build->function;
    jmp_buf outer;

    memcpy(outer, function->refused, sizeof outer);
    bool known = setjmp(function->refused) == 0;
    if (known) {
        gang_shapes_read(function, &meet->build->flow, SHAPE_WIDTH, false,
                         &meet->shapes);
    }
    memcpy(function->refused, outer, sizeof outer);
    return known;
}

static bool
holds_barrier(const struct meet *meet, uint32_t block)
{
    const struct gang_block *at = &meet->build->function->blocks[block];

    for (uint32_t i = 0; i < at->count; i++) {
        if (is_barrier(meet, at->insts[i])) {
            return true;
        }
    }
    return false;
}

static void
find_reaches(struct meet *meet)
{
    const struct gang_flow *flow = &meet->build->flow;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = flow->count; i-- > 0;) {
            const struct gang_block *block =
                &meet->build->function->blocks[flow->at[i]];
            uint8_t now = holds_barrier(meet, flow->at[i]);
            for (uint32_t k = 0; k < block->next_count; k++) {
                now |= meet->reaches[block->next[k]];
            }
            changed |= now != meet->reaches[flow->at[i]];
            meet->reaches[flow->at[i]] = now;
        }
    }
}

/* By block: whether it can be reached from the end of this one, not by way of `end`. */
static uint8_t *
reached_from(const struct meet *meet, uint32_t from, uint32_t end)
{
    const struct gang_function *function = meet->build->function;
    uint32_t *todo = ir_alloc(function->arena, function->block_count, sizeof *todo);
    uint8_t *seen = ir_alloc(function->arena, function->block_count, 1);
    uint32_t count = 1;

    todo[0] = from;
    while (count > 0) {
        const struct gang_block *at = &function->blocks[todo[--count]];
        for (uint32_t k = 0; k < at->next_count; k++) {
            uint32_t to = at->next[k];
            if (to != end && !seen[to]) {
                seen[to] = 1;
                todo[count++] = to;
            }
        }
    }
    return seen;
}

/* Whether a barrier lies between where lanes part and where they surely meet again. */
static bool
barrier_between(const struct meet *meet, uint32_t from)
{
    const uint8_t *between = reached_from(meet, from, meet->build->flow.post[from]);

    for (uint32_t b = 0; b < meet->build->function->block_count; b++) {
        if (between[b] && holds_barrier(meet, b)) {
            return true;
        }
    }
    return false;
}

static bool
parts_lanes(const struct meet *meet, uint32_t block)
{
    const struct gang_block *at = &meet->build->function->blocks[block];

    return at->next_count > 1 &&
           meet->shapes.of[at->insts[at->count - 1]].level > GANG_SAME_BLOCK;
}

/* Whether the barriers that a lane meets are a beginning of those that another does. */
static bool
meets_alike(struct meet *meet)
{
    const struct gang_function *function = meet->build->function;
    const struct gang_flow *flow = &meet->build->flow;

    if (!read_shapes(meet)) {
        return false;
    }
    find_reaches(meet);
    for (uint32_t i = 0; i < flow->count; i++) {
        const struct gang_block *block = &function->blocks[flow->at[i]];
        uint32_t sides = 0;
        for (uint32_t k = 0; k < block->next_count; k++) {
            sides += meet->reaches[block->next[k]];
        }
        if (sides > 1 && parts_lanes(meet, flow->at[i]) &&
            barrier_between(meet, flow->at[i])) {
            return false;
        }
    }
    return true;
}

/* ---- loops in step ---- */

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
        if (!at->members[b] || !holds_barrier(meet, b)) {
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
        meet->begun[b] = b == at->header ? HA_PROOF_ROUND_BEGUN : 0;
        meet->ends[b] = 0;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < flow->count; i++) {
            uint32_t b = flow->at[i];
            const struct gang_block *block = &function->blocks[b];
            bool passes = at->members[b] && !holds_barrier(meet, b);
            for (uint32_t k = 0; at->members[b] && k < block->next_count; k++) {
                uint32_t to = block->next[k];
                if (!at->members[to]) {
                    changed |= (meet->ends[b] & HA_PROOF_LOOP_LEFT) == 0;
                    meet->ends[b] |= HA_PROOF_LOOP_LEFT;
                    continue;
                }
                bool last = to == at->header;
                uint8_t end = last ? HA_PROOF_ROUND_ENDS : 0;
                if (!last && !holds_barrier(meet, to)) {
                    end = meet->ends[to];
                }
                if (passes && meet->begun[b] && !meet->begun[to]) {
                    meet->begun[to] = HA_PROOF_ROUND_BEGUN;
                    changed = true;
                }
                changed |= (meet->ends[b] | end) != meet->ends[b];
                meet->ends[b] |= end;
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
            crosses &= behind ? ~(uint32_t)(HA_PROOF_ROUND_ENDS | HA_PROOF_LOOP_LEFT)
                              : ~(uint32_t)HA_PROOF_ROUND_BEGUN;
        }
    }
    return crosses;
}

/* Whether all lanes that come to `block` came to the header, or none of them did: they
 * were together at a block that dominates both, and did not part from there. */
static bool
come_alike(const struct meet *meet, uint32_t header, uint32_t block)
{
    const struct gang_flow *flow = &meet->build->flow;
    uint32_t top = block;

    while (!gang_dominates(flow, top, header)) {
        top = flow->dom[top];
    }
    for (uint32_t at = header, up; at != top; at = up) {
        up = flow->dom[at];
        if (gang_postdominates(flow, at, up)) {
            continue;
        }
        for (uint32_t i = flow->loops.order[up]; i < flow->loops.order[at]; i++) {
            if (gang_dominates(flow, up, flow->at[i]) &&
                parts_lanes(meet, flow->at[i])) {
                return false;
            }
        }
    }
    return true;
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
    bool together =
        loop < HA_PROOF_BEHIND_MOST && meet->shapes.leave[loop] <= GANG_SAME_BLOCK;
    const uint8_t *later = together ? reached_from(meet, at->header, GANG_NONE) : NULL;
    for (uint32_t i = 0; i < table->access_count; i++) {
        uint32_t block = function->values[meet->values[i]].block;
        if (at->members[block]) {
            table->accesses[i].loop = loop;
            table->accesses[i].crosses = crosses_at(meet, block, meet->values[i]);
        } else if (together && later[block] && come_alike(meet, at->header, block)) {
            table->accesses[i].behind |= (uint64_t)1 << loop;
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
    meet.reaches = ir_alloc(function->arena, function->block_count, 1);
    for (uint32_t v = 0; v < function->value_count; v++) {
        if (is_barrier(&meet, v)) {
            /* Those beyond count as one. */
            count += count <= BARRIERS_MOST ? 1u : 0u;
            meet.bit[v] = (uint8_t)count;
        }
    }
    if (count > 0 && !meets_alike(&meet)) {
        table->parts = 1;
        return;
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
