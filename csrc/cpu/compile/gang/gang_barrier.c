/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_barrier.h"

#include "cpu/base/image.h"

static uint32_t
barrier_of(const struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];

    return at->insts[at->count - 2];
}

void
gang_write_arrival(struct gang_emit *emit, uint32_t block)
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

void
gang_write_meeting(struct gang_emit *emit, uint32_t block)
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

void
gang_take_result(struct gang_emit *emit, uint32_t block)
{
    const struct gang_block *at = &emit->function->blocks[block];

    if (at->prev_count == 1 && gang_has_barrier(emit->function, at->prev[0]) &&
        emit->function->used[barrier_of(emit, at->prev[0])]) {
        struct ir_slice name = gang_name(emit);
        gang_line(emit, "%.*s = load i32, ptr %%result", IR_ARGS(name));
        gang_define(emit, barrier_of(emit, at->prev[0]), name);
    }
}
