/* SPDX-License-Identifier: MIT */
/* The control flow of a gang: runs, loops, blocks with masks, edges.
 *
 * @k.block does one block of lanes.  Its blocks of IR, for a kernel with one barrier:
 *
 *     entry -> asks -> run.0 -> [z.0 -> y.0 -> x.0 -> gang.0 ... end.0] -> after.0
 *           -> run.1 -> ...                                            -> the end
 *
 * Between gang.N and end.N stand the blocks of the program, in the order of
 * gang_flow.h:
 *
 *     at.P      is asked whether a lane comes to the block at place P; if not, on to
 *     do.P      the block itself: masks and phis that edges brought, instructions, and
 *               its edges, which leave masks and phis in slots
 *     back.L    the end of a loop's blocks: on to do.P of its header, or out
 *
 * It is written twice: @k.whole is for blocks whose rows are whole gangs, so that all
 * lanes are on until some part; @k.block for the others.
 *
 * @k.fast does the blocks [first, last), one after the other. */
#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_again.h"
#include "cpu/compile/gang/gang_emit.h"
#include "cpu/compile/gang/gang_idle.h"
#include "cpu/compile/gang/gang_place.h"
#include "cpu/compile/gang/gang_span.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/rewrite_body.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

/* Loops over rows of gangs are not unrolled: it makes code, and no speed. */
#define ROLLED ", !llvm.loop !1048576"
static const char rolled[] = "!1048576 = distinct !{!1048576, !1048577}\n"
                             "!1048577 = !{!\"llvm.loop.unroll.disable\"}\n";

/* What @k.block answers. */
enum { BLOCK_DONE = 0, BLOCK_REFUSED = 1, BLOCK_DIVERGED = 2 };

static uint32_t
place_of(const struct gang_emit *emit, uint32_t block)
{
    return emit->flow.loops.order[block];
}

static bool
is_header(const struct gang_emit *emit, uint32_t block)
{
    uint32_t loop = emit->flow.loops.inner[block];

    return loop != IR_NONE && emit->flow.loops.loops[loop].header == block;
}

/* The place behind the last block of a loop. */
static uint32_t
loop_end(const struct gang_emit *emit, uint32_t loop)
{
    uint32_t end = 0;

    for (uint32_t b = 0; b < emit->function->block_count; b++) {
        if (emit->flow.loops.loops[loop].members[b] && place_of(emit, b) != IR_NONE &&
            place_of(emit, b) >= end) {
            end = place_of(emit, b) + 1;
        }
    }
    return end;
}

static bool
is_level_header(const struct gang_emit *emit, uint32_t block)
{
    return is_header(emit, block) &&
           emit->plan.block_level[emit->flow.loops.inner[block]];
}

static bool
is_steady(const struct gang_emit *emit, uint32_t block)
{
    return emit->plan.root[block] != block;
}

/* ---- masks ---- */

/* The lanes that there are. */
static struct ir_slice
all_lanes(struct gang_emit *emit)
{
    return emit->whole ? ir_slice_of("splat (i1 true)")
                       : ir_format(emit->function->arena, "%%all.%u", emit->run);
}

/* The mask of a block, for code in the block that is written. */
static struct ir_slice
mask_of(struct gang_emit *emit, uint32_t block)
{
    uint32_t root = emit->plan.root[block];

    if (root == emit->flow.at[0]) {
        return all_lanes(emit);
    }
    return gang_slot_read(emit, gang_slot(emit, GANG_SLOT_MASK, root, 0));
}

/* ---- edges ---- */

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
    bool header = is_header(emit, to);
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

static void
write_end(struct gang_emit *emit, uint32_t block)
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

/* ---- barriers ---- */

static uint32_t
barrier_of(const struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];

    return at->insts[at->count - 2];
}

/* Adds a gang to what the barrier counts. */
static void
write_arrival(struct gang_emit *emit, uint32_t block)
{
    uint32_t number = barrier_of(emit, block);
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice name;

    if (value->extra == HA_BLOCK_GRID) {
        gang_line(emit, "store i1 true, ptr %%came");
    }
    if (emit->plan.asked[block]) {
        struct ir_slice alive =
            gang_slot_read(emit, gang_slot(emit, GANG_SLOT_ALIVE, 0, 0));
        struct ir_slice missing = gang_name(emit);
        gang_line(emit,
                  "%.*s = select <%u x i1> %.*s, <%u x i1> zeroinitializer, <%u x i1> "
                  "%.*s",
                  IR_ARGS(missing), emit->width, IR_ARGS(emit->mask), emit->width,
                  emit->width, IR_ARGS(alive));
        struct ir_slice any = gang_any(emit, missing);
        struct ir_slice old = gang_name(emit);
        name = gang_name(emit);
        gang_line(emit, "store i1 true, ptr %%came");
        gang_line(emit, "%.*s = load i1, ptr %%missing", IR_ARGS(old));
        gang_line(emit, "%.*s = or i1 %.*s, %.*s", IR_ARGS(name), IR_ARGS(old),
                  IR_ARGS(any));
        gang_line(emit, "store i1 %.*s, ptr %%missing", IR_ARGS(name));
    }
    if (value->extra == HA_BLOCK_SYNC || value->extra == HA_BLOCK_GRID) {
        return;
    }
    struct ir_slice vector = gang_vector(emit, value->operands[1]);
    struct ir_slice other = gang_name(emit);
    gang_line(emit, "%.*s = icmp %s %.*s %.*s, zeroinitializer", IR_ARGS(other),
              value->extra == 2 ? "eq" : "ne",
              IR_ARGS(gang_vector_type(
                  emit, emit->function->values[value->operands[1]].type)),
              IR_ARGS(vector));
    struct ir_slice bits = gang_bits(emit, gang_masked(emit, emit->mask, other));
    struct ir_slice count = gang_name(emit);
    struct ir_slice longer = gang_name(emit);
    struct ir_slice old = gang_name(emit);
    name = gang_name(emit);
    gang_declare(emit, ir_format(emit->function->arena, "@llvm.ctpop.i%u", emit->width),
                 ir_format(emit->function->arena, "i%u @llvm.ctpop.i%u(i%u)",
                           emit->width, emit->width, emit->width));
    gang_line(emit, "%.*s = call i%u @llvm.ctpop.i%u(i%u %.*s)", IR_ARGS(count),
              emit->width, emit->width, emit->width, IR_ARGS(bits));
    if (emit->width == 32) {
        longer = count;
    } else {
        gang_line(emit, "%.*s = %s i%u %.*s to i32", IR_ARGS(longer),
                  emit->width < 32 ? "zext" : "trunc", emit->width, IR_ARGS(count));
    }
    gang_line(emit, "%.*s = load i32, ptr %%counted", IR_ARGS(old));
    gang_line(emit, "%.*s = add i32 %.*s, %.*s", IR_ARGS(name), IR_ARGS(old),
              IR_ARGS(longer));
    gang_line(emit, "store i32 %.*s, ptr %%counted", IR_ARGS(name));
}

/* The block waits for the others of the grid, if it has come to the barrier. */
static void
write_grid_meeting(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice came = gang_name(emit);
    struct ir_slice wait = gang_label(emit, "wait");
    struct ir_slice on = gang_label(emit, "met");
    struct ir_slice nothing = gang_name(emit);

    gang_line(emit, "%.*s = load i1, ptr %%came", IR_ARGS(came));
    gang_line(emit, "br i1 %.*s, label %%%.*s, label %%%.*s", IR_ARGS(came),
              IR_ARGS(wait), IR_ARGS(on));
    gang_begin_label(emit, wait);
    struct ir_slice line = gang_base(emit, value->operands[2]);
    gang_line(emit, "%.*s = call i32 @__ha_rt_block(i32 %d, i32 0, i32 %.*s, i32 0)",
              IR_ARGS(nothing), (int)HA_BLOCK_GRID, IR_ARGS(line));
    gang_line(emit, "br label %%%.*s", IR_ARGS(on));
    gang_begin_label(emit, on);
}

/* What the barrier says when all gangs have come. */
static void
write_meeting(struct gang_emit *emit, uint32_t block)
{
    uint32_t number = barrier_of(emit, block);
    const struct gang_value *value = &emit->function->values[number];

    if (emit->plan.asked[block]) {
        struct ir_slice came = gang_name(emit);
        struct ir_slice missing = gang_name(emit);
        struct ir_slice both = gang_name(emit);
        struct ir_slice on = gang_label(emit, "met");
        gang_line(emit, "%.*s = load i1, ptr %%came", IR_ARGS(came));
        gang_line(emit, "%.*s = load i1, ptr %%missing", IR_ARGS(missing));
        gang_line(emit, "%.*s = and i1 %.*s, %.*s", IR_ARGS(both), IR_ARGS(came),
                  IR_ARGS(missing));
        gang_line(emit, "br i1 %.*s, label %%diverged, label %%%.*s", IR_ARGS(both),
                  IR_ARGS(on));
        gang_begin_label(emit, on);
    }
    if (value->extra == HA_BLOCK_GRID) {
        write_grid_meeting(emit, value);
        return;
    }
    struct ir_slice counted = gang_name(emit);
    gang_line(emit, "%.*s = load i32, ptr %%counted", IR_ARGS(counted));
    if (value->extra >= 2) {
        struct ir_slice bit = gang_name(emit);
        struct ir_slice longer = gang_name(emit);
        gang_line(emit, "%.*s = icmp %s i32 %.*s, 0", IR_ARGS(bit),
                  value->extra == 2 ? "eq" : "ne", IR_ARGS(counted));
        gang_line(emit, "%.*s = zext i1 %.*s to i32", IR_ARGS(longer), IR_ARGS(bit));
        counted = longer;
    }
    gang_line(emit, "store i32 %.*s, ptr %%result", IR_ARGS(counted));
}

/* The first block behind a barrier takes what the barrier said. */
static void
take_result(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];

    if (at->prev_count == 1 && gang_has_barrier(emit->function, at->prev[0]) &&
        emit->function->used[barrier_of(emit, at->prev[0])]) {
        struct ir_slice name = gang_name(emit);
        gang_line(emit, "%.*s = load i32, ptr %%result", IR_ARGS(name));
        gang_define(emit, barrier_of(emit, at->prev[0]), name);
    }
}

/* ---- blocks ---- */

/* Slots that belong to the round of a loop that begins, or to the whole kernel, begin
 * as nothing. */
static void
clear_slots(struct gang_emit *emit, uint32_t loop)
{
    uint32_t count = emit->slot_count;

    for (uint32_t s = 0; s < count; s++) {
        struct gang_slot slot = emit->slots[s];
        uint32_t block = slot.kind <= GANG_SLOT_LEFT
                             ? emit->function->values[slot.value].block
                             : slot.value;
        uint32_t own;
        if (slot.kind >= GANG_SLOT_ARRAY || slot.block_wide ||
            (slot.kind == GANG_SLOT_ALIVE && loop != IR_NONE)) {
            continue;
        }
        if (slot.kind == GANG_SLOT_ALIVE) {
            gang_slot_write(emit, s, all_lanes(emit));
            continue;
        }
        own = emit->flow.loops.inner[block];
        if (slot.kind == GANG_SLOT_LEFT) {
            own = emit->flow.loops.loops[slot.loop].outer;
        } else if ((slot.kind == GANG_SLOT_PHI || slot.kind == GANG_SLOT_COME ||
                    slot.kind == GANG_SLOT_FLAG) &&
                   is_header(emit, block)) {
            own = emit->flow.loops.loops[own].outer;
        }
        if (own != loop) {
            continue;
        }
        bool zero = slot.kind == GANG_SLOT_COME || slot.kind == GANG_SLOT_FLAG;
        bool flag = slot.kind == GANG_SLOT_FLAG;
        gang_slot_write(emit, s,
                        flag   ? ir_slice_of("false")
                        : zero ? ir_slice_of("zeroinitializer")
                               : ir_slice_of("poison"));
    }
}

/* A header takes what came, and begins to collect for the next round. */
static void
clear_header(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];
    uint32_t loop = emit->flow.loops.inner[block];

    if (emit->plan.root[block] == block) {
        gang_slot_write(emit, gang_slot(emit, GANG_SLOT_COME, block, 0),
                        ir_slice_of("zeroinitializer"));
    } else if (emit->plan.test[block] == GANG_TEST_FLAG ||
               !emit->plan.block_level[loop]) {
        gang_slot_write(emit, gang_slot(emit, GANG_SLOT_FLAG, block, 0),
                        ir_slice_of("false"));
    }
    for (uint32_t i = 0; emit->function->values[at->insts[i]].op == GANG_PHI; i++) {
        uint32_t slot = gang_slot(emit, GANG_SLOT_PHI, at->insts[i], 0);
        if (!emit->slots[slot].block_wide) {
            gang_slot_write(emit, slot, ir_slice_of("poison"));
        }
    }
}

/* Phis as the edges left them. */
static struct ir_slice *
read_phis(struct gang_emit *emit, uint32_t block, uint32_t *count)
{
    const struct gang_block *at = &emit->function->blocks[block];
    struct ir_slice *names = ir_alloc(emit->function->arena, at->count, sizeof *names);

    for (*count = 0; emit->function->values[at->insts[*count]].op == GANG_PHI;
         ++*count) {
        uint32_t slot = gang_slot(emit, GANG_SLOT_PHI, at->insts[*count], 0);
        if (!is_level_header(emit, block) || !emit->slots[slot].block_wide) {
            names[*count] = gang_slot_read(emit, slot);
        } /* else it was taken before the run began */
    }
    return names;
}

/* Where the gang goes on if no lane comes to the block: behind what it dominates, but
 * not out of the loop or the run. */
static struct ir_slice
skip_label(struct gang_emit *emit, uint32_t block)
{
    uint32_t loop = emit->flow.loops.inner[block];
    uint32_t place = place_of(emit, block) + 1;
    uint32_t end = emit->flow.count;

    if (is_header(emit, block)) {
        place = loop_end(emit, loop);
        loop = emit->flow.loops.loops[loop].outer;
    }
    if (loop != IR_NONE) {
        end = loop_end(emit, loop);
    }
    while (place < end && emit->plan.run[emit->flow.at[place]] == emit->run &&
           gang_dominates(&emit->flow, block, emit->flow.at[place])) {
        place++;
    }
    if (place < end && emit->plan.run[emit->flow.at[place]] == emit->run) {
        return ir_format(emit->function->arena, "at.%u", place);
    }
    if (loop != IR_NONE && !emit->plan.block_level[loop]) {
        return ir_format(emit->function->arena, "back.%u", loop);
    }
    return ir_format(emit->function->arena, "end.%u", emit->run);
}

static void
write_question(struct gang_emit *emit, uint32_t block)
{
    struct ir_slice comes;
    struct ir_slice skip = skip_label(emit, block);
    uint32_t place = place_of(emit, block);

    switch ((enum gang_test)emit->plan.test[block]) {
    case GANG_TEST_NONE:
        gang_line(emit, "br label %%do.%u", place);
        return;
    case GANG_TEST_FLAG:
        comes = gang_slot_read(emit, gang_slot(emit, GANG_SLOT_FLAG, block, 0));
        break;
    case GANG_TEST_MASK:
        comes = gang_any(
            emit, gang_slot_read(emit, gang_slot(emit, GANG_SLOT_COME, block, 0)));
        break;
    }
    gang_line(emit, "br i1 %.*s, label %%do.%u, label %%%.*s", IR_ARGS(comes), place,
              IR_ARGS(skip));
}

static void
write_block(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];
    struct ir_arena *arena = emit->function->arena;
    uint32_t place = place_of(emit, block);

    emit->block = block;
    emit->time++;
    gang_begin_label(emit, ir_format(arena, "at.%u", place));
    if (is_level_header(emit, block)) {
        /* A gang that does not come in this round goes through its runs all the same,
         * and must not find there what it left in another round. */
        clear_slots(emit, emit->flow.loops.inner[block]);
    }
    write_question(emit, block);
    gang_begin_label(emit, ir_format(arena, "do.%u", place));
    bool own = emit->plan.root[block] == block && block != emit->flow.at[0];
    uint32_t phis;
    struct ir_slice *names = read_phis(emit, block, &phis);
    emit->mask = own ? gang_slot_read(emit, gang_slot(emit, GANG_SLOT_COME, block, 0))
                     : mask_of(emit, block);
    if (block == emit->flow.at[0]) {
        clear_slots(emit, IR_NONE);
    } else if (is_header(emit, block)) {
        clear_header(emit, block);
        if (!is_level_header(emit, block)) {
            clear_slots(emit, emit->flow.loops.inner[block]);
        }
    }
    if (own) {
        gang_slot_write(emit, gang_slot(emit, GANG_SLOT_MASK, block, 0), emit->mask);
    }
    for (uint32_t i = 0; i < phis; i++) {
        if (names[i].size > 0) {
            gang_define(emit, at->insts[i], names[i]);
        }
    }
    take_result(emit, block);
    for (uint32_t i = 0; i + 1 < at->count; i++) {
        if (emit->function->values[at->insts[i]].op != GANG_PHI) {
            gang_write_inst(emit, at->insts[i]);
        }
    }
    if (gang_has_barrier(emit->function, block)) {
        write_arrival(emit, block);
    }
    write_end(emit, block);
}

/* The end of a loop that each gang does by itself. */
static void
write_back(struct gang_emit *emit, uint32_t loop, struct ir_slice next)
{
    uint32_t header = emit->flow.loops.loops[loop].header;
    struct ir_slice again;

    gang_begin_label(emit, ir_format(emit->function->arena, "back.%u", loop));
    again = is_steady(emit, header)
                ? gang_slot_read(emit, gang_slot(emit, GANG_SLOT_FLAG, header, 0))
                : gang_any(emit, gang_slot_read(
                                     emit, gang_slot(emit, GANG_SLOT_COME, header, 0)));
    gang_line(emit, "br i1 %.*s, label %%do.%u, label %%%.*s", IR_ARGS(again),
              place_of(emit, header), IR_ARGS(next));
}

/* The blocks at the places [from, to), all in one run. */
static void
write_blocks(struct gang_emit *emit, uint32_t from, uint32_t to, struct ir_slice next)
{
    struct ir_arena *arena = emit->function->arena;

    for (uint32_t place = from; place < to; place++) {
        uint32_t block = emit->flow.at[place];
        uint32_t loop = emit->flow.loops.inner[block];
        struct ir_slice after =
            place + 1 < to ? ir_format(arena, "at.%u", place + 1) : next;
        write_block(emit, block);
        if (is_header(emit, block) && !emit->plan.block_level[loop]) {
            uint32_t end = loop_end(emit, loop);
            struct ir_slice back = ir_format(arena, "back.%u", loop);
            after = end < to ? ir_format(arena, "at.%u", end) : next;
            if (end > place + 1) {
                gang_line(emit, "br label %%at.%u", place + 1);
                write_blocks(emit, place + 1, end, back);
            } else {
                gang_line(emit, "br label %%%.*s", IR_ARGS(back));
            }
            write_back(emit, loop, after);
            place = end - 1;
            continue;
        }
        gang_line(emit, "br label %%%.*s", IR_ARGS(after));
    }
}

/* ---- runs ---- */

/* Of a slot in the frame, whose begin is a multiple of 64. */
static unsigned
align_of(const struct gang_slot *slot)
{
    unsigned align = 1;

    while (align < 64 && align < slot->bytes) {
        align *= 2;
    }
    return align;
}

static void
copy_slots(struct gang_emit *emit, bool in)
{
    uint8_t wanted = in ? GANG_RUN_TOUCHES : GANG_RUN_WRITES;

    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (!slot->framed || slot->kind == GANG_SLOT_ARRAY ||
            !(slot->runs[emit->run] & wanted)) {
            continue;
        }
        struct ir_slice at = gang_name(emit);
        struct ir_slice bits = gang_name(emit);
        struct ir_slice value = gang_name(emit);
        struct ir_slice type =
            slot->mask     ? ir_format(emit->function->arena, "i%u", emit->width)
            : slot->vector ? gang_vector_type(emit, slot->type)
                           : ir_slice_of(gang_type_name(slot->type));
        gang_line(emit, "%.*s = getelementptr i8, ptr %%own.%u, i64 %llu", IR_ARGS(at),
                  emit->run, (unsigned long long)slot->offset);
        if (in) {
            gang_line(emit, "%.*s = load %.*s, ptr %.*s, align %u", IR_ARGS(bits),
                      IR_ARGS(type), IR_ARGS(at), align_of(slot));
            if (slot->mask) {
                gang_line(emit, "%.*s = bitcast i%u %.*s to <%u x i1>", IR_ARGS(value),
                          emit->width, IR_ARGS(bits), emit->width);
                gang_line(emit, "store <%u x i1> %.*s, ptr %%slot.%u", emit->width,
                          IR_ARGS(value), s);
            } else {
                gang_line(emit, "store %.*s %.*s, ptr %%slot.%u", IR_ARGS(type),
                          IR_ARGS(bits), s);
            }
        } else if (slot->mask) {
            gang_line(emit, "%.*s = load <%u x i1>, ptr %%slot.%u", IR_ARGS(bits),
                      emit->width, s);
            gang_line(emit, "%.*s = bitcast <%u x i1> %.*s to i%u", IR_ARGS(value),
                      emit->width, IR_ARGS(bits), emit->width);
            gang_line(emit, "store i%u %.*s, ptr %.*s, align %u", emit->width,
                      IR_ARGS(value), IR_ARGS(at), align_of(slot));
        } else {
            gang_line(emit, "%.*s = load %.*s, ptr %%slot.%u", IR_ARGS(bits),
                      IR_ARGS(type), s);
            gang_line(emit, "store %.*s %.*s, ptr %.*s, align %u", IR_ARGS(type),
                      IR_ARGS(bits), IR_ARGS(at), align_of(slot));
        }
    }
}

/* The memory of arrays of this gang. */
static void
name_arrays(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->kind == GANG_SLOT_ARRAY && slot->runs[emit->run]) {
            ir_print(emit->out,
                     "  %%slot.%u.%u = getelementptr i8, ptr %%own.%u, i64 %llu\n", s,
                     emit->run, emit->run, (unsigned long long)slot->offset);
        }
    }
}

static void
write_gangs_head(struct gang_emit *emit)
{
    uint32_t r = emit->run;
    unsigned w = emit->width;
    struct ir_out *out = emit->out;

    if (emit->span > 0) {
        gang_span_begin(emit);
    } else {
        ir_print(out, "run.%u:\n  br label %%begin.%u\n", r, r);
    }
    ir_print(out,
             "begin.%u:\n  br label %%z.%u\n"
             "z.%u:\n  %%tz.%u = phi i32 [ 0, %%begin.%u ], [ %%tz1.%u, %%zend.%u ]\n"
             "  br label %%y.%u\n"
             "y.%u:\n  %%ty.%u = phi i32 [ 0, %%z.%u ], [ %%ty1.%u, %%yend.%u ]\n"
             "  %%row0.%u = mul i32 %%tz.%u, %%ha.block_dim_y\n"
             "  %%row.%u = add i32 %%row0.%u, %%ty.%u\n"
             "  br label %%x.%u\n",
             r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r);
    ir_print(out,
             "x.%u:\n  %%x0.%u = phi i32 [ 0, %%y.%u ], [ %%x1.%u, %%end.%u ]\n"
             "  %%rest.%u = sub i32 %%ha.block_dim_x, %%x0.%u\n"
             "  %%rest1.%u = insertelement <%u x i32> poison, i32 %%rest.%u, i64 0\n"
             "  %%rests.%u = shufflevector <%u x i32> %%rest1.%u, <%u x i32> poison, "
             "<%u x i32> zeroinitializer\n"
             "  %%all.%u = icmp ult <%u x i32> <",
             r, r, r, r, r, r, r, r, w, r, r, w, r, w, w, r, w);
    for (unsigned i = 0; i < w; i++) {
        ir_print(out, "%si32 %u", i > 0 ? ", " : "", i);
    }
    ir_print(out,
             ">, %%rests.%u\n"
             "  %%g0.%u = mul i32 %%row.%u, %%ha.row_gangs\n"
             "  %%g1.%u = udiv i32 %%x0.%u, %u\n"
             "  %%g2.%u = add i32 %%g0.%u, %%g1.%u\n"
             "  %%g.%u = zext i32 %%g2.%u to i64\n"
             "  %%own0.%u = mul i64 %%g.%u, %%ha.frame_bytes\n"
             "  %%own.%u = getelementptr i8, ptr %s, i64 %%own0.%u\n",
             r, r, r, r, r, w, r, r, r, r, r, r, r, r,
             emit->span > 0 ? gang_span_frame(emit) : "%ha.frame", r);
    gang_place_gang(emit);
}

static void
write_gangs_end(struct gang_emit *emit)
{
    uint32_t r = emit->run;

    ir_print(emit->out,
             "  %%x1.%u = add i32 %%x0.%u, %u\n"
             "  %%xmore.%u = icmp ult i32 %%x1.%u, %%ha.block_dim_x\n"
             "  br i1 %%xmore.%u, label %%x.%u, label %%yend.%u\n"
             "yend.%u:\n  %%ty1.%u = add i32 %%ty.%u, 1\n"
             "  %%ymore.%u = icmp ult i32 %%ty1.%u, %%ha.block_dim_y\n"
             "  br i1 %%ymore.%u, label %%y.%u, label %%zend.%u" ROLLED "\n"
             "zend.%u:\n  %%tz1.%u = add i32 %%tz.%u, 1\n"
             "  %%zmore.%u = icmp ult i32 %%tz1.%u, %%ha.block_dim_z\n"
             "  br i1 %%zmore.%u, label %%z.%u, label %%done.%u" ROLLED "\n"
             "done.%u:\n",
             r, r, emit->width, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r,
             r, r, r);
    if (emit->span > 0) {
        gang_span_end(emit);
    } else {
        ir_print(emit->out, "  br label %%after.%u\n", r);
    }
    ir_print(emit->out, "after.%u:\n", r);
    emit->label = ir_format(emit->function->arena, "after.%u", r);
}

/* ---- hops ---- */

/* For each loop, the back end looks at the conditions of all loops that came before it,
 * and runs are loops.  In a kernel of many runs, every few runs the way on is a *hop*:
 * through a number in memory, so that nothing is known about what came before. */
#define HOPS_RUNS_LEAST 24u
#define HOPS_RUNS 4u
#define HOPS_ALL_LEAST 64u /* each run is a hop */

static bool
is_hop(const struct gang_emit *emit, uint32_t run)
{
    return emit->plan.run_count >= HOPS_ALL_LEAST ||
           (emit->plan.run_count >= HOPS_RUNS_LEAST && run % HOPS_RUNS == 0);
}

static void
enter_run(struct gang_emit *emit)
{
    if (!is_hop(emit, emit->run)) {
        gang_line(emit, "br label %%run.%u", emit->run);
        return;
    }
    gang_line(emit, "store volatile i32 %u, ptr %%hop", emit->run);
    gang_line(emit, "br label %%hops");
    emit->time++;
}

static void
write_hops(struct gang_emit *emit)
{
    if (emit->plan.run_count < HOPS_RUNS_LEAST) {
        return;
    }
    ir_print(emit->out, "hops:\n  %%to = load volatile i32, ptr %%hop\n"
                        "  switch i32 %%to, label %%nowhere [\n");
    for (uint32_t r = 0; r < emit->plan.run_count; r++) {
        if (is_hop(emit, r)) {
            ir_print(emit->out, "    i32 %u, label %%run.%u\n", r, r);
        }
    }
    ir_print(emit->out, "  ]\nnowhere:\n  unreachable\n");
}

/* All gangs do the blocks at [from, to). */
static void
write_run(struct gang_emit *emit, uint32_t from, uint32_t to)
{
    uint32_t last = emit->flow.at[to - 1];
    struct ir_arena *arena = emit->function->arena;

    for (uint32_t place = from; place < to; place++) {
        if (gang_has_barrier(emit->function, emit->flow.at[place])) {
            last = emit->flow.at[place];
        }
    }
    emit->run = emit->plan.run[emit->flow.at[from]];
    if (gang_has_barrier(emit->function, last)) {
        gang_line(emit, "store i1 false, ptr %%came");
        gang_line(emit, "store i1 false, ptr %%missing");
        gang_line(emit, "store i32 0, ptr %%counted");
    }
    enter_run(emit);
    write_gangs_head(emit);
    name_arrays(emit);
    copy_slots(emit, true);
    gang_line(emit, "br label %%at.%u", from);
    write_blocks(emit, from, to, ir_format(arena, "end.%u", emit->run));
    gang_begin_label(emit, ir_format(arena, "end.%u", emit->run));
    copy_slots(emit, false);
    write_gangs_end(emit);
    emit->time++;
    emit->block = last;
    if (gang_has_barrier(emit->function, last)) {
        write_meeting(emit, last);
    }
}

/* Values of phis that all gangs have in common are taken before the first of them
 * brings the next ones. */
static void
take_common_phis(struct gang_emit *emit, uint32_t header)
{
    const struct gang_block *at = &emit->function->blocks[header];

    for (uint32_t i = 0; emit->function->values[at->insts[i]].op == GANG_PHI; i++) {
        uint32_t phi = at->insts[i];
        uint32_t slot = gang_slot(emit, GANG_SLOT_PHI, phi, 0);
        if (emit->slots[slot].block_wide) {
            struct ir_slice value = gang_slot_read(emit, slot);
            gang_slot_write(emit, gang_slot(emit, GANG_SLOT_VALUE, phi, 0), value);
        }
    }
}

/* The blocks at [from, to): runs, and loops that all gangs do together. */
static void
write_level(struct gang_emit *emit, uint32_t from, uint32_t to, uint32_t inside)
{
    for (uint32_t place = from; place < to;) {
        uint32_t block = emit->flow.at[place];
        uint32_t loop = emit->flow.loops.inner[block];
        if (is_level_header(emit, block) && loop != inside) {
            uint32_t end = loop_end(emit, loop);
            struct ir_slice more = gang_name(emit);
            gang_line(emit, "br label %%ask.%u", loop);
            ir_print(emit->out, "ask.%u:\n", loop);
            gang_line(emit, "%.*s = load i1, ptr %%round.%u", IR_ARGS(more), loop);
            gang_line(emit, "br i1 %.*s, label %%again.%u, label %%left.%u",
                      IR_ARGS(more), loop, loop);
            ir_print(emit->out, "again.%u:\n", loop);
            gang_line(emit, "store i1 false, ptr %%round.%u", loop);
            emit->run = emit->plan.run[block];
            take_common_phis(emit, block);
            write_level(emit, place, end, loop);
            gang_line(emit, "br label %%ask.%u", loop);
            ir_print(emit->out, "left.%u:\n", loop);
            place = end;
            continue;
        }
        uint32_t end = place + 1;
        while (end < to &&
               emit->plan.run[emit->flow.at[end]] == emit->plan.run[block]) {
            end++;
        }
        write_run(emit, place, end);
        place = end;
    }
}

/* ---- questions ---- */

struct ir_slice
gang_write_early(struct gang_emit *emit, uint32_t number, const char *thread_x)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice a;
    struct ir_slice b;
    struct ir_slice name;

    if (value->op == GANG_COORDINATE && value->extra == HA_KNOWN_THREAD_X) {
        return ir_slice_of(thread_x);
    }
    if (value->op != GANG_BINARY && value->op != GANG_CAST) {
        return gang_base(emit, number);
    }
    a = gang_write_early(emit, value->operands[0], thread_x);
    if (value->op == GANG_CAST) {
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %s %.*s to %s", IR_ARGS(name),
                  IR_ARGS(value->word), gang_type_name(value->from), IR_ARGS(a),
                  gang_type_name(value->type));
        return name;
    }
    b = gang_write_early(emit, value->operands[1], thread_x);
    name = gang_name(emit);
    gang_line(emit, "%.*s = %.*s %s %.*s, %.*s", IR_ARGS(name), IR_ARGS(value->word),
              gang_type_name(value->type), IR_ARGS(a), IR_ARGS(b));
    return name;
}

/* Whether no index wraps between the first and the last lane of a row. */
static void
write_asks(struct gang_emit *emit)
{
    struct ir_slice all = ir_slice_of("true");
    const char *fine = "begin";

    if (emit->span > 0) {
        gang_span_ask(emit);
        fine = "asked";
    }
    gang_line(emit, "%%last_x = add i32 %%ha.block_dim_x, -1");
    gang_line(emit, "%%wide_x = zext i32 %%last_x to i64");
    for (uint32_t i = 0; i < emit->shapes.question_count; i++) {
        const struct gang_question *question = &emit->shapes.questions[i];
        const struct gang_value *value = &emit->function->values[question->value];
        const char *extend = question->is_signed ? "sext" : "zext";
        const char *type = gang_type_name(value->type);
        struct ir_slice first = gang_write_early(emit, question->value, "0");
        struct ir_slice last = gang_write_early(emit, question->value, "%last_x");
        struct ir_slice names[6];
        for (unsigned k = 0; k < 6; k++) {
            names[k] = gang_name(emit);
        }
        gang_line(emit, "%.*s = %s %s %.*s to i64", IR_ARGS(names[0]), extend, type,
                  IR_ARGS(first));
        gang_line(emit, "%.*s = %s %s %.*s to i64", IR_ARGS(names[1]), extend, type,
                  IR_ARGS(last));
        gang_line(emit, "%.*s = sub i64 %.*s, %.*s", IR_ARGS(names[2]),
                  IR_ARGS(names[1]), IR_ARGS(names[0]));
        gang_line(emit, "%.*s = mul i64 %%wide_x, %lld", IR_ARGS(names[3]),
                  (long long)emit->shapes.of[question->value].stride);
        gang_line(emit, "%.*s = icmp eq i64 %.*s, %.*s", IR_ARGS(names[4]),
                  IR_ARGS(names[2]), IR_ARGS(names[3]));
        gang_line(emit, "%.*s = and i1 %.*s, %.*s", IR_ARGS(names[5]), IR_ARGS(all),
                  IR_ARGS(names[4]));
        all = names[5];
    }
    struct ir_slice idle = emit->span > 0 ? ir_slice_of("") : gang_write_idle(emit);
    if (idle.size > 0) {
        gang_line(emit, "br i1 %.*s, label %%idle, label %%busy", IR_ARGS(idle));
        gang_begin_label(emit, ir_slice_of("idle"));
        gang_line(emit, "ret i32 %d", BLOCK_DONE);
        gang_begin_label(emit, ir_slice_of("busy"));
    }
    gang_line(emit, "br i1 %.*s, label %%%s, label %%refused", IR_ARGS(all), fine);
    if (emit->span > 0) {
        gang_span_asked(emit);
    }
}

/* ---- the function of a block ---- */

static struct ir_slice
param_type(struct gang_emit *emit, uint32_t i)
{
    return ha_host_text(emit->function->rewriter,
                        emit->function->source->params[i].type, false);
}

static void
write_params(struct gang_emit *emit, const char *prefix)
{
    for (uint32_t i = 0; i < emit->function->source->param_count; i++) {
        struct ir_slice type = param_type(emit, i);
        ir_print(emit->out, "%.*s %%%s.%u, ", IR_ARGS(type), prefix, i);
    }
}

static struct ir_slice
body_name(struct gang_emit *emit)
{
    return ha_suffixed(emit->function->arena, emit->function->source->name,
                       emit->whole ? "whole" : "block");
}

/* Few blocks have rows that are not whole gangs: what is for them is compiled for size,
 * and in kernels of many runs as it is, since that would take as long again. */
static const char *
attributes_of(const struct gang_emit *emit)
{
    return emit->whole                              ? ""
           : emit->plan.run_count < HOPS_RUNS_LEAST ? "noinline optsize "
                                                    : "noinline optnone ";
}

static void
write_head(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;
    const struct ha_ir_function_info *info =
        &function->rewriter->infos[function->number];

    ir_print(emit->out, "define internal i32 %.*s(", IR_ARGS(body_name(emit)));
    write_params(emit, "ha.p");
    for (unsigned i = HA_KNOWN_BLOCK_X; i < HA_KNOWN_COORDINATES; i++) {
        ir_print(emit->out, "i32 %%ha.%s, ", ha_coordinate_names[i]);
    }
    if (emit->span > 0) {
        ir_print(emit->out, "i32 %%ha.span, ");
    }
    ir_print(emit->out,
             "ptr %%ha.shared, ptr %%ha.frame) nounwind %s" HA_PROBED " {\nentry:\n"
             "  %%came = alloca i1\n  %%missing = alloca i1\n  %%counted = alloca i32\n"
             "  %%result = alloca i32\n  %%hop = alloca i32\n"
             "  %%ha.row0 = add i32 %%ha.block_dim_x, %u\n"
             "  %%ha.row_gangs = udiv i32 %%ha.row0, %u\n"
             "  %%ha.frame_bytes = add i64 0, %llu\n"
             "  %%ha.dynamic = getelementptr i8, ptr %%ha.shared, i64 %llu\n",
             attributes_of(emit), emit->width - 1, emit->width,
             (unsigned long long)emit->frame_bytes,
             (unsigned long long)info->shared_static);
    gang_place_names(emit);
    if (emit->span > 0) {
        gang_span_names(emit);
    }
    for (uint32_t i = 0; i < function->rewriter->shared_count; i++) {
        const struct ha_shared *shared = &function->rewriter->shared[i];
        if (info->shared[i] && !shared->dynamic) {
            ir_print(emit->out,
                     "  %%ha.sh.%u = getelementptr i8, ptr %%ha.shared, i64 %llu\n", i,
                     (unsigned long long)info->offsets[i]);
        }
    }
    for (uint32_t i = 0; i < emit->flow.loops.loop_count; i++) {
        if (emit->plan.block_level[i]) {
            ir_print(emit->out,
                     "  %%round.%u = alloca i1\n  store i1 false, ptr %%round.%u\n", i,
                     i);
        }
    }
}

/* Variables on the stack; arrays are in the frame. */
static void
write_slots(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->kind == GANG_SLOT_ARRAY) {
            continue;
        }
        if (slot->mask) {
            ir_print(emit->out, "  %%slot.%u = alloca <%u x i1>\n", s, emit->width);
        } else if (slot->vector) {
            ir_print(emit->out, "  %%slot.%u = alloca %.*s\n", s,
                     IR_ARGS(gang_vector_type(emit, slot->type)));
        } else {
            ir_print(emit->out, "  %%slot.%u = alloca %s\n", s,
                     gang_type_name(slot->type));
        }
    }
}

static void
write_body(struct gang_emit *emit, bool whole)
{
    emit->whole = whole;
    emit->names = 0;
    emit->time++;
    write_head(emit);
    write_slots(emit);
    write_asks(emit);
    gang_begin_label(emit, ir_slice_of("begin"));
    write_level(emit, 0, emit->flow.count, IR_NONE);
    ir_print(emit->out, "  ret i32 %d\n", BLOCK_DONE);
    write_hops(emit);
    ir_print(emit->out, "refused:\n  ret i32 %d\ndiverged:\n  ret i32 %d\n}\n\n",
             BLOCK_REFUSED, BLOCK_DIVERGED);
}

/* ---- the function of a launch ---- */

static void
write_arguments(struct gang_emit *emit)
{
    struct ir_out *out = emit->out;

    for (uint32_t i = 0; i < emit->function->source->param_count; i++) {
        const struct ir_param *param = &emit->function->source->params[i];
        struct ir_slice type = param_type(emit, i);
        bool record = param->byval.size > 0;
        ir_print(out,
                 "  %%q%u = getelementptr ptr, ptr %%args, i64 %u\n"
                 "  %%%s%u = load ptr, ptr %%q%u\n",
                 i, i, record ? "v." : "p", i, i);
        if (record) {
            continue;
        }
        if (ir_is(type, "i1")) {
            ir_print(out,
                     "  %%u%u = load i8, ptr %%p%u\n  %%v.%u = icmp ne i8 %%u%u, 0\n",
                     i, i, i, i);
        } else {
            ir_print(out, "  %%v.%u = load %.*s, ptr %%p%u, align 1\n", i,
                     IR_ARGS(type), i);
        }
    }
}

static void
write_call(struct gang_emit *emit, bool whole, const char *name)
{
    emit->whole = whole;
    ir_print(emit->out, "  %%%s = call i32 %.*s(", name, IR_ARGS(body_name(emit)));
    write_params(emit, "v");
    ir_print(emit->out,
             "i32 %%bx, i32 %%by, i32 %%bz, i32 %%dim0, i32 %%dim1, i32 %%dim2, "
             "i32 %%dim3, i32 %%dim4, i32 %%dim5, %sptr %%shared, ptr %%gangs)\n",
             emit->span > 0 ? "i32 %count, " : "");
}

static void
write_calls(struct gang_emit *emit)
{
    struct ir_out *out = emit->out;

    ir_print(out, "  br i1 %%whole, label %%of_gangs, label %%of_lanes\nof_gangs:\n");
    write_call(emit, true, "what0");
    ir_print(out, "  br label %%did\nof_lanes:\n");
    write_call(emit, false, "what1");
    ir_print(out, "  br label %%did\ndid:\n"
                  "  %%what = phi i32 [ %%what0, %%of_gangs ], [ %%what1, %%of_lanes "
                  "]\n");
}

static void
write_launch(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;
    struct ir_out *out = emit->out;

    ir_print(out,
             "define hidden i64 %.*s(ptr %%args, ptr %%grid, i64 %%first, i64 %%last, "
             "ptr %%shared, ptr %%frame) nounwind " HA_PROBED " {\nentry:\n",
             IR_ARGS(ha_suffixed(function->arena, function->source->name, "fast")));
    write_arguments(emit);
    for (unsigned i = 0; i < 6; i++) {
        ir_print(out,
                 "  %%at%u = getelementptr i8, ptr %%grid, i64 %u\n"
                 "  %%dim%u = load i32, ptr %%at%u\n",
                 i, 4 * i, i, i);
    }
    gang_place_launch(emit);
    if (emit->span > 0) {
        gang_span_launch(emit);
    }
    ir_print(out,
             "  %%w3 = zext i32 %%dim3 to i64\n  %%w4 = zext i32 %%dim4 to i64\n"
             "  %%part = urem i32 %%dim0, %u\n  %%whole = icmp eq i32 %%part, 0\n"
             "  %%x64 = urem i64 %%first, %%w3\n"
             "  %%row64 = udiv i64 %%first, %%w3\n"
             "  %%y64 = urem i64 %%row64, %%w4\n"
             "  %%z64 = udiv i64 %%row64, %%w4\n"
             "  %%x.first = trunc i64 %%x64 to i32\n"
             "  %%y.first = trunc i64 %%y64 to i32\n"
             "  %%z.first = trunc i64 %%z64 to i32\n"
             "  br label %%next\n"
             "next:\n"
             "  %%b = phi i64 [ %%first, %%entry ], [ %%b1, %%done ]\n"
             "  %%bx = phi i32 [ %%x.first, %%entry ], [ %%bx1, %%done ]\n"
             "  %%by = phi i32 [ %%y.first, %%entry ], [ %%by1, %%done ]\n"
             "  %%bz = phi i32 [ %%z.first, %%entry ], [ %%bz1, %%done ]\n"
             "  %%more = icmp ult i64 %%b, %%last\n"
             "  br i1 %%more, label %%block, label %%end\n"
             "block:\n",
             emit->width);
    gang_place_block(emit, "%b");
    if (emit->span > 0) {
        gang_span_count(emit);
    }
    write_calls(emit);
    ir_print(out,
             "  br label %%done\ndone:\n"
             "  %%b1 = add i64 %%b, %s\n"
             "  %%x.more = add i32 %%bx, %s\n"
             "  %%x.end = icmp eq i32 %%x.more, %%dim3\n"
             "  %%bx1 = select i1 %%x.end, i32 0, i32 %%x.more\n"
             "  %%x.over = zext i1 %%x.end to i32\n"
             "  %%y.more = add i32 %%by, %%x.over\n"
             "  %%y.end = icmp eq i32 %%y.more, %%dim4\n"
             "  %%by1 = select i1 %%y.end, i32 0, i32 %%y.more\n"
             "  %%y.over = zext i1 %%y.end to i32\n"
             "  %%bz1 = add i32 %%bz, %%y.over\n"
             "  %%fine = icmp eq i32 %%what, 0\n"
             "  br i1 %%fine, label %%next, label %%stop\n"
             "stop:\n"
             "  %%what64 = zext i32 %%what to i64\n"
             "  %%high = shl i64 %%what64, 62\n"
             "  %%answer = or i64 %%b, %%high\n"
             "  ret i64 %%answer\n"
             "end:\n  ret i64 %%last\n}\n\n",
             emit->span > 0 ? "%count64" : "1", emit->span > 0 ? "%count" : "1");
}

/* ---- the whole ---- */

static int
by_size(const void *a, const void *b)
{
    const struct gang_slot *x = *(struct gang_slot *const *)a;
    const struct gang_slot *y = *(struct gang_slot *const *)b;

    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->value > y->value;
}

static bool
is_carried(const struct gang_emit *emit, const struct gang_slot *slot)
{
    uint32_t block = slot->kind <= GANG_SLOT_LEFT
                         ? emit->function->values[slot->value].block
                         : slot->value;

    if (slot->kind == GANG_SLOT_LEFT) {
        return emit->plan.block_level[slot->loop] != 0;
    }
    return (slot->kind == GANG_SLOT_PHI || slot->kind == GANG_SLOT_COME ||
            slot->kind == GANG_SLOT_FLAG) &&
           is_level_header(emit, block);
}

/* Each slot that is read must be one that something was written to. */
static void
check_slots(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->read && !slot->written) {
            gang_refuse(emit->function, "a value that is read and was not kept");
        }
    }
}

/* Which slots more than one run uses, and where they lie. */
static void
place_slots(struct gang_emit *emit)
{
    struct gang_slot **list = ir_alloc(emit->function->arena, emit->slot_count + 1u,
                                       sizeof(struct gang_slot *));
    uint32_t count = 0;

    for (uint32_t s = 0; s < emit->slot_count; s++) {
        struct gang_slot *slot = &emit->slots[s];
        uint32_t runs = 0;
        for (uint32_t r = 0; r < emit->plan.run_count; r++) {
            runs += slot->runs[r] != 0;
        }
        slot->framed = !slot->block_wide && (runs > 1 || is_carried(emit, slot));
        if (slot->kind == GANG_SLOT_ARRAY) {
            slot->framed = true;
            slot->bytes = (emit->function->values[slot->value].extra + 63) / 64 * 64 *
                          emit->width;
        }
        if (slot->framed) {
            list[count++] = slot;
        }
    }
    qsort(list, count, sizeof(struct gang_slot *), by_size);
    emit->frame_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t align = align_of(list[i]);
        emit->frame_bytes = (emit->frame_bytes + align - 1) / align * align;
        list[i]->offset = emit->frame_bytes;
        emit->frame_bytes += list[i]->bytes;
    }
    /* The first slot is the one with the strictest alignment. */
    uint64_t align = count > 0 ? align_of(list[0]) : 1;
    emit->frame_bytes = (emit->frame_bytes + align - 1) / align * align;
}

static void
plan_text(struct gang_emit *emit)
{
    struct ir_out nothing = {.arena = emit->function->arena};

    emit->out = &nothing;
    emit->planning = true;
    write_body(emit, false);
    emit->planning = false;
}

/* A value that is made longer part by part needs the parts where the cast stands. */
static void
use_parts(struct gang_emit *emit, uint32_t number, uint32_t block, bool is_signed)
{
    struct gang_function *function = emit->function;
    const struct gang_value *value = &function->values[number];

    if (value->block != block) {
        function->used_elsewhere[number] = 1;
    }
    if (gang_goes_down(function, &emit->shapes, number, is_signed)) {
        for (uint32_t i = 0; i < value->operand_count; i++) {
            use_parts(emit, value->operands[i], block, is_signed);
        }
    }
}

/* The vector of a checked value is made from its operands wherever it is needed, so
 * where it is needed they are, too. */
static void
spread_uses(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;
    bool changed = true;

    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        if (value->op == GANG_CAST && emit->shapes.of[v].level == GANG_LINEAR &&
            (ir_is(value->word, "sext") || ir_is(value->word, "zext"))) {
            use_parts(emit, value->operands[0], value->block, gang_is_signed(value));
        }
    }

    while (changed) {
        changed = false;
        for (uint32_t v = 0; v < function->value_count; v++) {
            const struct gang_value *value = &function->values[v];
            struct gang_shape shape = emit->shapes.of[v];
            if (!function->used_elsewhere[v] || shape.level != GANG_LINEAR ||
                !shape.checked) {
                continue;
            }
            for (uint32_t i = 0; i < value->operand_count; i++) {
                changed |= !function->used_elsewhere[value->operands[i]];
                function->used_elsewhere[value->operands[i]] = 1;
            }
        }
    }
}

void
gang_write_kernel(struct gang_emit *emit, struct ir_out *out)
{
    struct gang_function *function = emit->function;
    uint32_t values = function->value_count + 1;
    uint32_t count;

    emit->bases = ir_alloc(function->arena, values, sizeof *emit->bases);
    emit->vectors = ir_alloc(function->arena, values, sizeof *emit->vectors);
    emit->base_time = ir_alloc(function->arena, values, sizeof *emit->base_time);
    emit->vector_time = ir_alloc(function->arena, values, sizeof *emit->vector_time);
    emit->combined = ir_alloc(function->arena, values, 1);
    emit->slot_names.arena = function->arena;
    gang_again_find(emit);
    spread_uses(emit);
    /* Each slot that is found can make more writes, and these more slots. */
    do {
        count = emit->slot_count;
        plan_text(emit);
    } while (count != emit->slot_count);
    plan_text(emit);
    check_slots(emit);
    place_slots(emit);
    emit->out = out;
    struct ha_rewriter *rewriter = function->rewriter;
    uint32_t found;
    if (!ir_map_get(&rewriter->declared, ir_slice_of(rolled), &found)) {
        ir_map_set(&rewriter->declared, ir_slice_of(rolled), 1);
        ir_print(&rewriter->intrinsics, "%s", rolled);
    }
    write_body(emit, true);
    write_body(emit, false);
    write_launch(emit);
}
