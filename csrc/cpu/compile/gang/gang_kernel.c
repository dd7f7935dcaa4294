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

#include "cpu/compile/gang/gang_kernel_state.h"

#include "cpu/compile/gang/gang_again.h"
#include "cpu/compile/gang/gang_frame.h"
#include "cpu/compile/gang/gang_idle.h"
#include "cpu/compile/gang/gang_launch.h"
#include "cpu/compile/gang/gang_place.h"
#include "cpu/compile/gang/gang_run.h"
#include "cpu/compile/gang/gang_span.h"
#include "cpu/compile/rewrite_body.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

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

struct ir_slice
gang_param_type(struct gang_emit *emit, uint32_t i)
{
    return ha_host_text(emit->function->rewriter,
                        emit->function->source->params[i].type, false);
}

void
gang_write_params(struct gang_emit *emit, const char *prefix)
{
    for (uint32_t i = 0; i < emit->function->source->param_count; i++) {
        struct ir_slice type = gang_param_type(emit, i);
        ir_print(emit->out, "%.*s %%%s.%u, ", IR_ARGS(type), prefix, i);
    }
}

struct ir_slice
gang_body_name(struct gang_emit *emit)
{
    return ha_suffixed(emit->function->arena, emit->function->source->name,
                       emit->whole ? "whole" : "block");
}

/* Few blocks have rows that are not whole gangs: what is for them is compiled for size,
 * and in kernels of many runs as it is, since that would take as long again. */
static const char *
attributes_of(const struct gang_emit *emit)
{
    return emit->whole            ? ""
           : !gang_has_hops(emit) ? "noinline optsize "
                                  : "noinline optnone ";
}

static void
write_head(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;
    const struct ha_ir_function_info *info =
        &function->rewriter->infos[function->number];

    ir_print(emit->out, "define internal i32 %.*s(", IR_ARGS(gang_body_name(emit)));
    gang_write_params(emit, "ha.p");
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

static void
write_body(struct gang_emit *emit, bool whole)
{
    emit->whole = whole;
    emit->names = 0;
    emit->time++;
    write_head(emit);
    gang_write_slots(emit);
    write_asks(emit);
    gang_begin_label(emit, ir_slice_of("begin"));
    gang_write_level(emit, 0, emit->flow.count, IR_NONE);
    ir_print(emit->out, "  ret i32 %d\n", BLOCK_DONE);
    gang_write_hops(emit);
    ir_print(emit->out, "refused:\n  ret i32 %d\ndiverged:\n  ret i32 %d\n}\n\n",
             BLOCK_REFUSED, BLOCK_DIVERGED);
}

/* ---- the whole ---- */

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
    gang_check_slots(emit);
    gang_place_slots(emit);
    emit->out = out;
    gang_declare_rolled(emit);
    write_body(emit, true);
    write_body(emit, false);
    gang_write_launch(emit);
}
