/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_block.h"

#include "cpu/compile/gang/gang_barrier.h"
#include "cpu/compile/gang/gang_edge.h"

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
            gang_slot_write(emit, s, gang_all_lanes(emit));
            continue;
        }
        own = emit->flow.loops.inner[block];
        if (slot.kind == GANG_SLOT_LEFT) {
            own = emit->flow.loops.loops[slot.loop].outer;
        } else if ((slot.kind == GANG_SLOT_PHI || slot.kind == GANG_SLOT_COME ||
                    slot.kind == GANG_SLOT_FLAG) &&
                   gang_is_header(emit, block)) {
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
        if (!gang_is_level_header(emit, block) || !emit->slots[slot].block_wide) {
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
    uint32_t place = gang_place_of(emit, block) + 1;
    uint32_t end = emit->flow.count;

    if (gang_is_header(emit, block)) {
        place = gang_loop_end(emit, loop);
        loop = emit->flow.loops.loops[loop].outer;
    }
    if (loop != IR_NONE) {
        end = gang_loop_end(emit, loop);
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
    uint32_t place = gang_place_of(emit, block);

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
    uint32_t place = gang_place_of(emit, block);

    emit->block = block;
    emit->time++;
    gang_begin_label(emit, ir_format(arena, "at.%u", place));
    if (gang_is_level_header(emit, block)) {
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
                     : gang_mask_of(emit, block);
    if (block == emit->flow.at[0]) {
        clear_slots(emit, IR_NONE);
    } else if (gang_is_header(emit, block)) {
        clear_header(emit, block);
        if (!gang_is_level_header(emit, block)) {
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
    gang_take_result(emit, block);
    for (uint32_t i = 0; i + 1 < at->count; i++) {
        if (emit->function->values[at->insts[i]].op != GANG_PHI) {
            gang_write_inst(emit, at->insts[i]);
        }
    }
    if (gang_has_barrier(emit->function, block)) {
        gang_write_arrival(emit, block);
    }
    gang_write_edges(emit, block);
}

/* The end of a loop that each gang does by itself. */
static void
write_back(struct gang_emit *emit, uint32_t loop, struct ir_slice next)
{
    uint32_t header = emit->flow.loops.loops[loop].header;
    struct ir_slice again;

    gang_begin_label(emit, ir_format(emit->function->arena, "back.%u", loop));
    again = gang_is_steady(emit, header)
                ? gang_slot_read(emit, gang_slot(emit, GANG_SLOT_FLAG, header, 0))
                : gang_any(emit, gang_slot_read(
                                     emit, gang_slot(emit, GANG_SLOT_COME, header, 0)));
    gang_line(emit, "br i1 %.*s, label %%do.%u, label %%%.*s", IR_ARGS(again),
              gang_place_of(emit, header), IR_ARGS(next));
}

void
gang_write_blocks(struct gang_emit *emit, uint32_t from, uint32_t to,
                  struct ir_slice next)
{
    struct ir_arena *arena = emit->function->arena;

    for (uint32_t place = from; place < to; place++) {
        uint32_t block = emit->flow.at[place];
        uint32_t loop = emit->flow.loops.inner[block];
        struct ir_slice after =
            place + 1 < to ? ir_format(arena, "at.%u", place + 1) : next;
        write_block(emit, block);
        if (gang_is_header(emit, block) && !emit->plan.block_level[loop]) {
            uint32_t end = gang_loop_end(emit, loop);
            struct ir_slice back = ir_format(arena, "back.%u", loop);
            after = end < to ? ir_format(arena, "at.%u", end) : next;
            if (end > place + 1) {
                gang_line(emit, "br label %%at.%u", place + 1);
                gang_write_blocks(emit, place + 1, end, back);
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
