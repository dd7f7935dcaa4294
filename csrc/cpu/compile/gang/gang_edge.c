/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_edge.h"

uint32_t
gang_place_of(const struct gang_emit *emit, uint32_t block)
{
    return emit->flow.loops.order[block];
}

bool
gang_is_header(const struct gang_emit *emit, uint32_t block)
{
    uint32_t loop = emit->flow.loops.inner[block];

    return loop != IR_NONE && emit->flow.loops.loops[loop].header == block;
}

/* The place behind the last block of a loop. */
uint32_t
gang_loop_end(const struct gang_emit *emit, uint32_t loop)
{
    uint32_t end = 0;

    for (uint32_t b = 0; b < emit->function->block_count; b++) {
        if (emit->flow.loops.loops[loop].members[b] &&
            gang_place_of(emit, b) != IR_NONE && gang_place_of(emit, b) >= end) {
            end = gang_place_of(emit, b) + 1;
        }
    }
    return end;
}

bool
gang_is_level_header(const struct gang_emit *emit, uint32_t block)
{
    return gang_is_header(emit, block) &&
           emit->plan.block_level[emit->flow.loops.inner[block]];
}

bool
gang_is_steady(const struct gang_emit *emit, uint32_t block)
{
    return emit->plan.root[block] != block;
}

struct ir_slice
gang_all_lanes(struct gang_emit *emit)
{
    return emit->whole ? ir_slice_of("splat (i1 true)")
                       : ir_format(emit->function->arena, "%%all.%u", emit->run);
}

struct ir_slice
gang_mask_of(struct gang_emit *emit, uint32_t block)
{
    uint32_t root = emit->plan.root[block];

    if (root == emit->flow.at[0]) {
        return gang_all_lanes(emit);
    }
    return gang_slot_read(emit, gang_slot(emit, GANG_SLOT_MASK, root, 0));
}

/* How many edges of the same kind lead to a block: into a loop, or back. */
static uint32_t
ways_to(const struct gang_emit *emit, uint32_t from, uint32_t to)
{
    const struct gang_block *block = &emit->function->blocks[to];
    bool back = gang_is_back_edge(&emit->flow, from, to);
    uint32_t ways = 0;

    for (uint32_t i = 0; i < block->prev_count; i++) {
        ways += gang_is_back_edge(&emit->flow, block->prev[i], to) == back;
    }
    return ways;
}

/* What `phi` gets from block `from`; the code stands in that block. */
static struct ir_slice
incoming(struct gang_emit *emit, uint32_t phi, uint32_t from)
{
    const struct gang_value *value = &emit->function->values[phi];

    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (value->from_of[i] == from) {
            return emit->shapes.of[phi].level == GANG_VARYING
                       ? gang_vector(emit, value->operands[i])
                       : gang_base(emit, value->operands[i]);
        }
    }
    gang_refuse(emit->function, "a phi that lacks a block");
}

/* Values that lanes leave a loop with, as they are in this round. */
static void
keep_left(struct gang_emit *emit, uint32_t from, uint32_t to, struct ir_slice mask)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        struct gang_slot slot = emit->slots[s];
        if (slot.kind != GANG_SLOT_LEFT ||
            !gang_in_loop(&emit->flow, slot.loop, from) ||
            gang_in_loop(&emit->flow, slot.loop, to) ||
            !gang_dominates(&emit->flow, emit->function->values[slot.value].block,
                            from)) {
            continue;
        }
        struct ir_slice type =
            gang_vector_type(emit, emit->function->values[slot.value].type);
        struct ir_slice now = gang_vector(emit, slot.value);
        struct ir_slice old = gang_slot_read(emit, s);
        struct ir_slice name = gang_name(emit);
        gang_line(emit, "%.*s = select <%u x i1> %.*s, %.*s %.*s, %.*s %.*s",
                  IR_ARGS(name), emit->width, IR_ARGS(mask), IR_ARGS(type),
                  IR_ARGS(now), IR_ARGS(type), IR_ARGS(old));
        gang_slot_write(emit, s, name);
    }
}

/* Whether lanes come to `to` from `from` in more than one round. */
static bool
leaves_loop(const struct gang_emit *emit, uint32_t from, uint32_t to)
{
    for (uint32_t l = 0; l < emit->flow.loops.loop_count; l++) {
        if (gang_in_loop(&emit->flow, l, from) && !gang_in_loop(&emit->flow, l, to)) {
            return true;
        }
    }
    return false;
}

static void
bring_phis(struct gang_emit *emit, uint32_t from, uint32_t to, struct ir_slice mask)
{
    const struct gang_block *block = &emit->function->blocks[to];
    struct ir_slice *values =
        ir_alloc(emit->function->arena, block->count, sizeof *values);
    uint32_t count = 0;

    for (; emit->function->values[block->insts[count]].op == GANG_PHI; count++) {
        values[count] = incoming(emit, block->insts[count], from);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t phi = block->insts[i];
        uint32_t slot = gang_slot(emit, GANG_SLOT_PHI, phi, 0);
        if (emit->shapes.of[phi].level == GANG_VARYING &&
            (ways_to(emit, from, to) > 1 || leaves_loop(emit, from, to))) {
            struct ir_slice type =
                gang_vector_type(emit, emit->function->values[phi].type);
            struct ir_slice old = gang_slot_read(emit, slot);
            struct ir_slice name = gang_name(emit);
            gang_line(emit, "%.*s = select <%u x i1> %.*s, %.*s %.*s, %.*s %.*s",
                      IR_ARGS(name), emit->width, IR_ARGS(mask), IR_ARGS(type),
                      IR_ARGS(values[i]), IR_ARGS(type), IR_ARGS(old));
            values[i] = name;
        }
        gang_slot_write(emit, slot, values[i]);
    }
}

/* Lanes that can no longer come to a barrier. */
static void
forget_lanes(struct gang_emit *emit, uint32_t from, uint32_t to, struct ir_slice mask)
{
    if (!emit->plan.any_asked || !emit->plan.reaches[from] ||
        (to != GANG_NONE && emit->plan.reaches[to])) {
        return;
    }
    uint32_t slot = gang_slot(emit, GANG_SLOT_ALIVE, 0, 0);
    struct ir_slice old = gang_slot_read(emit, slot);
    struct ir_slice name = gang_name(emit);
    gang_line(emit,
              "%.*s = select <%u x i1> %.*s, <%u x i1> zeroinitializer, <%u x i1> "
              "%.*s",
              IR_ARGS(name), emit->width, IR_ARGS(mask), emit->width, emit->width,
              IR_ARGS(old));
    gang_slot_write(emit, slot, name);
}

/* Leaves for block `to` what the edge brings; `mask` are the lanes that take it, and
 * `certain` says that there is one. */
static void
write_edge(struct gang_emit *emit, uint32_t from, uint32_t to, struct ir_slice mask,
           bool certain)
{
    const struct gang_plan *plan = &emit->plan;
    uint32_t loop = emit->flow.loops.inner[to];
    bool header = gang_is_header(emit, to);
    struct ir_slice name;

    keep_left(emit, from, to, mask);
    bring_phis(emit, from, to, mask);
    forget_lanes(emit, from, to, mask);
    if (plan->root[to] == to) {
        uint32_t slot = gang_slot(emit, GANG_SLOT_COME, to, 0);
        struct ir_slice old = gang_slot_read(emit, slot);
        name = gang_name(emit);
        gang_line(emit, "%.*s = or <%u x i1> %.*s, %.*s", IR_ARGS(name), emit->width,
                  IR_ARGS(old), IR_ARGS(mask));
        gang_slot_write(emit, slot, name);
    } else if (plan->test[to] == GANG_TEST_FLAG ||
               (header && !plan->block_level[loop] &&
                gang_is_back_edge(&emit->flow, from, to))) {
        gang_slot_write(emit, gang_slot(emit, GANG_SLOT_FLAG, to, 0),
                        ir_slice_of("true"));
    }
    if (header && plan->block_level[loop]) {
        struct ir_slice any = certain ? ir_slice_of("true") : gang_any(emit, mask);
        struct ir_slice old = gang_name(emit);
        name = gang_name(emit);
        gang_line(emit, "%.*s = load i1, ptr %%round.%u", IR_ARGS(old), loop);
        gang_line(emit, "%.*s = or i1 %.*s, %.*s", IR_ARGS(name), IR_ARGS(old),
                  IR_ARGS(any));
        gang_line(emit, "store i1 %.*s, ptr %%round.%u", IR_ARGS(name), loop);
    }
}

/* The lanes that take each way of a branch or switch that differs. */
static void
write_apart(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];
    const struct gang_value *end = &emit->function->values[at->insts[at->count - 1]];
    struct ir_slice mask = emit->mask;
    struct ir_slice condition = gang_vector(emit, end->operands[0]);
    struct ir_slice other = gang_name(emit);

    if (end->op == GANG_BRANCH) {
        gang_line(emit, "%.*s = xor <%u x i1> %.*s, splat (i1 true)", IR_ARGS(other),
                  emit->width, IR_ARGS(condition));
        struct ir_slice first = gang_masked(emit, mask, condition);
        struct ir_slice second = gang_masked(emit, mask, other);
        write_edge(emit, block, at->next[0], first, false);
        write_edge(emit, block, at->next[1], second, false);
        return;
    }
    struct ir_slice *ways =
        ir_alloc(emit->function->arena, at->next_count, sizeof *ways);
    struct ir_slice rest = mask;
    for (uint32_t i = 0; i < at->case_count; i++) {
        uint32_t way = at->case_to[i];
        struct ir_slice same = gang_name(emit);
        struct ir_slice not= gang_name(emit);
        gang_line(emit, "%.*s = icmp eq %.*s %.*s, splat (%s %.*s)", IR_ARGS(same),
                  IR_ARGS(gang_vector_type(emit, end->from)), IR_ARGS(condition),
                  gang_type_name(end->from), IR_ARGS(at->cases[i]));
        struct ir_slice lanes = gang_masked(emit, mask, same);
        gang_line(emit, "%.*s = xor <%u x i1> %.*s, splat (i1 true)", IR_ARGS(not),
                  emit->width, IR_ARGS(same));
        rest = gang_masked(emit, rest, not);
        if (ways[way].size > 0) {
            struct ir_slice both = gang_name(emit);
            gang_line(emit, "%.*s = or <%u x i1> %.*s, %.*s", IR_ARGS(both),
                      emit->width, IR_ARGS(ways[way]), IR_ARGS(lanes));
            lanes = both;
        }
        ways[way] = lanes;
    }
    if (ways[0].size > 0) {
        struct ir_slice both = gang_name(emit);
        gang_line(emit, "%.*s = or <%u x i1> %.*s, %.*s", IR_ARGS(both), emit->width,
                  IR_ARGS(ways[0]), IR_ARGS(rest));
        rest = both;
    }
    ways[0] = rest;
    for (uint32_t i = 0; i < at->next_count; i++) {
        write_edge(emit, block, at->next[i], ways[i], false);
    }
}

/* All lanes of the gang go one way. */
static void
write_jump(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];
    const struct gang_value *end = &emit->function->values[at->insts[at->count - 1]];
    struct ir_slice done = gang_label(emit, "gone");
    struct ir_slice ways[256];

    if (at->next_count > 256) {
        gang_refuse(emit->function, "a switch with more than 256 ways");
    }
    for (uint32_t i = 0; i < at->next_count; i++) {
        ways[i] = gang_label(emit, "way");
    }
    struct ir_slice condition = gang_base(emit, end->operands[0]);
    if (end->op == GANG_BRANCH) {
        gang_line(emit, "br i1 %.*s, label %%%.*s, label %%%.*s", IR_ARGS(condition),
                  IR_ARGS(ways[0]), IR_ARGS(ways[1]));
    } else {
        ir_print(emit->out, "  switch %s %.*s, label %%%.*s [",
                 gang_type_name(end->from), IR_ARGS(condition), IR_ARGS(ways[0]));
        for (uint32_t i = 0; i < at->case_count; i++) {
            ir_print(emit->out, " %s %.*s, label %%%.*s", gang_type_name(end->from),
                     IR_ARGS(at->cases[i]), IR_ARGS(ways[at->case_to[i]]));
        }
        ir_print(emit->out, " ]\n");
    }
    emit->aside++;
    for (uint32_t i = 0; i < at->next_count; i++) {
        gang_begin_label(emit, ways[i]);
        write_edge(emit, block, at->next[i], emit->mask, true);
        gang_line(emit, "br label %%%.*s", IR_ARGS(done));
    }
    emit->aside--;
    gang_begin_label(emit, done);
}

void
gang_write_edges(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];
    uint32_t end = at->insts[at->count - 1];

    if (at->next_count == 0) {
        forget_lanes(emit, block, GANG_NONE, emit->mask);
    } else if (at->next_count == 1) {
        write_edge(emit, block, at->next[0], emit->mask, true);
    } else if (gang_is_same(emit->shapes.of[end])) {
        write_jump(emit, block);
    } else {
        write_apart(emit, block);
    }
}
