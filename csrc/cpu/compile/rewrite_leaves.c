/* SPDX-License-Identifier: MIT */
/* A leaf compares a value that is linear in the lane: each step of its arithmetic has
 * one operand at most that the lanes do not share.  Near the first lane of a grid no
 * such step overflows.  Elsewhere that is asked: a step that does not overflow for two
 * lanes does not overflow for the lanes between them, because the exact result lies
 * between the two exact results. */
#include "cpu/compile/rewrite_leaves.h"

#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_operands.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

/* One function that is written. */
struct answer {
    struct ha_rewriter *rewriter;
    const struct ir_function *function;
    const struct ha_fast *fast;
    struct ir_out *out;
    const char *lane; /* "ha.v" for one lane, or "ha.l" and "ha.h" for the two */
    uint8_t *done;    /* a flag per instruction */
    uint8_t *varies;  /* a flag per instruction: 1 shared by the lanes, 2 not */
    uint32_t doubts;  /* written so far: %ha.b.0 is none, %ha.b.<n> the first n */
};

static const struct ir_inst *
definition(const struct answer *answer, struct ir_slice value, uint32_t *number)
{
    return ir_values_find(&answer->fast->values, value, number);
}

/* The lanes do not share it. */
static bool
varies(const struct answer *answer, struct ir_slice value)
{
    uint32_t number;
    struct ha_operands operands;
    const struct ir_inst *inst = definition(answer, value, &number);

    if (inst == NULL) {
        return false;
    }
    if (answer->varies[number] == 0) {
        enum ha_known called = ha_known_of(inst);
        bool differs = called == HA_KNOWN_THREAD_X;
        if (called >= HA_KNOWN_COORDINATES &&
            ha_operands_take(answer->rewriter, inst, &operands)) {
            differs = varies(answer, operands.a) ||
                      (operands.b.size > 0 && varies(answer, operands.b));
        }
        answer->varies[number] = differs ? 2 : 1;
    }
    return answer->varies[number] == 2;
}

/* The name of a value: what all lanes share is computed once. */
static struct ir_slice
name_of(const struct answer *answer, struct ir_slice value)
{
    struct ir_arena *arena = answer->rewriter->arena;
    uint32_t number;
    const struct ir_inst *inst = definition(answer, value, &number);

    if (inst == NULL) {
        return value;
    }
    enum ha_known called = ha_known_of(inst);
    if (called == HA_KNOWN_THREAD_X) {
        return ir_slice_of(answer->lane[3] == 'h' ? "%ha.last" : "%ha.thread_x");
    }
    if (called < HA_KNOWN_COORDINATES) {
        return ir_format(arena, "%%ha.%s", ha_coordinate_names[called]);
    }
    const char *lane = varies(answer, value) ? answer->lane : "ha.v";
    return ir_format(arena, "%%%s.%u", lane, number);
}

/* The instruction that defines a value, if it is still to be written. */
static const struct ir_inst *
take_next(const struct answer *answer, struct ir_slice value,
          struct ha_operands *operands, uint32_t *number)
{
    const struct ir_inst *inst = definition(answer, value, number);

    if (inst == NULL || ha_known_of(inst) < HA_KNOWN_COORDINATES ||
        answer->done[*number] || !ha_operands_take(answer->rewriter, inst, operands)) {
        return NULL;
    }
    answer->done[*number] = 1;
    return inst;
}

/* One line, whose operands are written. */
static void
write_line(const struct answer *answer, const struct ir_inst *inst,
           const struct ha_operands *operands)
{
    struct ir_slice name = name_of(answer, inst->def);
    struct ir_slice a = name_of(answer, operands->a);

    if (ha_operands_conversion(inst)) {
        ir_print(answer->out, "  %.*s = %.*s %.*s %.*s to %.*s\n", IR_ARGS(name),
                 IR_ARGS(inst->op), IR_ARGS(operands->type), IR_ARGS(a),
                 IR_ARGS(operands->to));
        return;
    }
    struct ir_slice b = name_of(answer, operands->b);
    ir_print(answer->out, "  %.*s = %.*s %.*s %.*s %.*s, %.*s\n", IR_ARGS(name),
             IR_ARGS(operands->op), IR_ARGS(operands->predicate),
             IR_ARGS(operands->type), IR_ARGS(a), IR_ARGS(b));
}

/* The value and all that it is made of, for one lane. */
static void
write_value(const struct answer *answer, struct ir_slice value)
{
    struct ha_operands operands;
    uint32_t number;
    const struct ir_inst *inst = take_next(answer, value, &operands, &number);

    if (inst == NULL) {
        return;
    }
    write_value(answer, operands.a);
    if (!ha_operands_conversion(inst)) {
        write_value(answer, operands.b);
    }
    write_line(answer, inst, &operands);
}

static void
write_head(const struct answer *answer, const char *type, const char *suffix,
           const char *more)
{
    ir_print(
        answer->out, "define internal %s %.*s(", type,
        IR_ARGS(ha_suffixed(answer->rewriter->arena, answer->function->name, suffix)));
    for (uint32_t i = 0; i < answer->function->param_count; i++) {
        const struct ir_param *param = &answer->function->params[i];
        struct ir_slice text = ha_host_text(answer->rewriter, param->type, false);
        ir_print(answer->out, "%.*s %.*s, ", IR_ARGS(text), IR_ARGS(param->name));
    }
    for (unsigned i = 0; i < HA_KNOWN_COORDINATES; i++) {
        ir_print(answer->out, "%si32 %%ha.%s", i > 0 ? ", " : "",
                 ha_coordinate_names[i]);
    }
    ir_print(answer->out, "%s nounwind {\nha.first:\n", more);
}

/* A bit per leaf, for the lane whose coordinates are given.  It may be computed where
 * the kernel itself would not compare, so nothing in it may be poison: there are no
 * flags, and what a shift by too many bits would give is frozen. */
static void
write_leaves(struct answer *answer)
{
    const struct ha_fast *fast = answer->fast;
    struct ir_out *out = answer->out;

    write_head(answer, "i32", "leaf", ") alwaysinline");
    ir_print(out, "  %%ha.m.0 = add i32 0, 0\n");
    for (uint32_t i = 0; i < fast->leaf_count; i++) {
        struct ir_slice def = fast->values.insts[fast->leaf_of[i]]->def;
        write_value(answer, def);
        struct ir_slice bit = name_of(answer, def);
        ir_print(out,
                 "  %%ha.f.%u = freeze i1 %.*s\n"
                 "  %%ha.z.%u = zext i1 %%ha.f.%u to i32\n"
                 "  %%ha.s.%u = shl i32 %%ha.z.%u, %u\n"
                 "  %%ha.m.%u = or i32 %%ha.m.%u, %%ha.s.%u\n",
                 i, IR_ARGS(bit), i, i, i, i, i, i + 1, i, i);
    }
    ir_print(out, "  ret i32 %%ha.m.%u\n}\n\n", fast->leaf_count);
}

/* ---- two lanes ---- */

/* Notes an i1, which is true if something is not as it seems.  It may be poison where
 * the kernel would not compare. */
static void
doubt(struct answer *answer, struct ir_slice bit)
{
    uint32_t n = answer->doubts++;

    ir_print(answer->out,
             "  %%ha.d.%u = freeze i1 %.*s\n"
             "  %%ha.b.%u = or i1 %%ha.b.%u, %%ha.d.%u\n",
             n, IR_ARGS(bit), n + 1, n, n);
}

/* Doubts that the result of the line, %<lane>.<number>, is the exact one: the same is
 * done with twice the bits. */
static void
doubt_exact(struct answer *answer, const struct ir_inst *inst,
            const struct ha_operands *operands)
{
    struct ir_out *out = answer->out;
    struct ir_slice name = name_of(answer, inst->def);
    struct ir_slice a = name_of(answer, operands->a);
    bool narrows = ir_is(inst->op, "trunc");
    struct ir_slice type = narrows ? operands->to : operands->type;
    long long twice =
        narrows ? ha_operands_bits(operands->type) : 2 * ha_operands_bits(type);
    const char *bare = name.at + 1; /* formatted, so it ends with a zero */

    ir_print(out, "  %%x.%s = sext %.*s %.*s to i%lld\n", bare, IR_ARGS(type),
             IR_ARGS(name), twice);
    if (narrows) {
        ir_print(out, "  %%o.%s = icmp ne i%lld %%x.%s, %.*s\n", bare, twice, bare,
                 IR_ARGS(a));
    } else {
        struct ir_slice b = name_of(answer, operands->b);
        ir_print(out,
                 "  %%a.%s = sext %.*s %.*s to i%lld\n"
                 "  %%b.%s = sext %.*s %.*s to i%lld\n"
                 "  %%w.%s = %.*s i%lld %%a.%s, %%b.%s\n"
                 "  %%o.%s = icmp ne i%lld %%x.%s, %%w.%s\n",
                 bare, IR_ARGS(type), IR_ARGS(a), twice, bare, IR_ARGS(type),
                 IR_ARGS(b), twice, bare, IR_ARGS(operands->op), twice, bare, bare,
                 bare, twice, bare, bare);
    }
    doubt(answer, ir_format(answer->rewriter->arena, "%%o.%s", bare));
}

/* Doubts that a value has the same sign for both lanes.  With it the value is steady as
 * an unsigned one, too. */
static void
doubt_sign(struct answer *answer, const char *what, uint32_t number,
           struct ir_slice type, struct ir_slice value)
{
    struct ir_out *out = answer->out;
    struct ir_slice bit = ir_format(answer->rewriter->arena, "%%%s.%u", what, number);

    answer->lane = "ha.l";
    ir_print(out, "  %%l%s.%u = icmp slt %.*s %.*s, 0\n", what, number, IR_ARGS(type),
             IR_ARGS(name_of(answer, value)));
    answer->lane = "ha.h";
    ir_print(out,
             "  %%h%s.%u = icmp slt %.*s %.*s, 0\n"
             "  %.*s = xor i1 %%l%s.%u, %%h%s.%u\n",
             what, number, IR_ARGS(type), IR_ARGS(name_of(answer, value)), IR_ARGS(bit),
             what, number, what, number);
    doubt(answer, bit);
}

/* The value and all that it is made of, for both lanes, with the doubts of each step.
 */
static void
write_both(struct answer *answer, struct ir_slice value)
{
    struct ha_operands operands;
    uint32_t number;
    const struct ir_inst *inst = take_next(answer, value, &operands, &number);

    if (inst == NULL) {
        return;
    }
    bool binary = !ha_operands_conversion(inst);
    write_both(answer, operands.a);
    if (binary) {
        write_both(answer, operands.b);
    }
    if (!varies(answer, inst->def)) {
        write_line(answer, inst, &operands);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        answer->lane = i == 0 ? "ha.l" : "ha.h";
        write_line(answer, inst, &operands);
        if (binary || ir_is(inst->op, "trunc")) {
            doubt_exact(answer, inst, &operands);
        }
    }
    if (ir_is(inst->op, "zext")) {
        doubt_sign(answer, "z", number, operands.type, operands.a);
    }
}

static void
write_exact(struct answer *answer)
{
    const struct ha_fast *fast = answer->fast;

    write_head(answer, "i1", "exact", ", i32 %ha.last) noinline cold");
    ir_print(answer->out, "  %%ha.b.0 = or i1 false, false\n");
    for (uint32_t i = 0; i < fast->leaf_count; i++) {
        const struct ir_inst *inst = fast->values.insts[fast->leaf_of[i]];
        struct ha_operands operands;
        if (!ha_operands_take(answer->rewriter, inst, &operands)) {
            continue;
        }
        write_both(answer, operands.a);
        write_both(answer, operands.b);
        if (ir_begins(operands.predicate, "u")) {
            doubt_sign(answer, "u", fast->leaf_of[i], operands.type,
                       varies(answer, operands.a) ? operands.a : operands.b);
        }
    }
    ir_print(answer->out,
             "  %%ha.fine = xor i1 %%ha.b.%u, true\n  ret i1 %%ha.fine\n}\n\n",
             answer->doubts);
}

/* The bodies say of each sum that is an index of the lane that it does not wrap,
 * neither as a signed number nor as an unsigned one.  Lanes are counted upwards, so the
 * last one answers for all. */
static void
write_fits(struct answer *answer)
{
    const struct ha_fast *fast = answer->fast;

    write_head(answer, "i1", "fits", ", i32 %ha.last) noinline cold");
    ir_print(answer->out, "  %%ha.b.0 = or i1 false, false\n");
    answer->lane = "ha.h";
    for (uint32_t i = 0; i < fast->values.count; i++) {
        const struct ir_inst *inst = fast->values.insts[i];
        struct ha_operands operands;
        if (!fast->flagged[i] || !ha_operands_take(answer->rewriter, inst, &operands) ||
            !varies(answer, inst->def) || !ir_is(operands.type, "i32")) {
            continue;
        }
        struct ir_slice start = varies(answer, operands.a) ? operands.b : operands.a;
        write_value(answer, inst->def);
        struct ir_slice sum = name_of(answer, inst->def);
        ir_print(answer->out,
                 "  %%wraps.%u = icmp ult i32 %.*s, %%ha.last\n"
                 "  %%signs.%u = xor i32 %.*s, %.*s\n"
                 "  %%passes.%u = icmp slt i32 %%signs.%u, 0\n"
                 "  %%o.%u = or i1 %%wraps.%u, %%passes.%u\n",
                 i, IR_ARGS(sum), i, IR_ARGS(sum), IR_ARGS(name_of(answer, start)), i,
                 i, i, i, i);
        doubt(answer, ir_format(answer->rewriter->arena, "%%o.%u", i));
    }
    ir_print(answer->out,
             "  %%ha.fine = xor i1 %%ha.b.%u, true\n  ret i1 %%ha.fine\n}\n\n",
             answer->doubts);
}

void
ha_leaves_write(struct ha_rewriter *rewriter, uint32_t number,
                const struct ha_fast *fast)
{
    static void (*const writers[])(struct answer *) = {write_leaves, write_exact,
                                                       write_fits};

    for (unsigned i = fast->leaf_count > 0 ? 0 : 2; i < 3; i++) {
        size_t flags = fast->values.count + 1u;
        struct answer answer = {.rewriter = rewriter,
                                .function = &rewriter->module.functions[number],
                                .fast = fast,
                                .out = &rewriter->out,
                                .lane = "ha.v",
                                .done = ir_alloc(rewriter->arena, flags, 1),
                                .varies = ir_alloc(rewriter->arena, flags, 1)};
        writers[i](&answer);
    }
}
