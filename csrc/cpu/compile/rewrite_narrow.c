/* SPDX-License-Identifier: MIT */
/* Which kernels LLVM's checks for values that wrap could break.
 *
 * Where an index is cut to few bits, the vectoriser takes it for one that is not, and
 * checks before the loop that it does not wrap.  In LLVM 20 the check for an index that
 * begins at zero sees only whether the number of rounds fits into these bits; it
 * forgets the step.
 *
 *     x[(i * 3) & 63]      i = 0 ... 63      the check: 63 fits into six bits
 *     lanes 20 to 23       60 63 2 5         read as one row: 60 63 66 69
 *
 * With steps of one the check is right.  So what counts is a mask, a remainder or a
 * narrow type (a *cut*) of a value that a lane's number or a loop's counter reaches
 * multiplied, twice, or counted in other steps than one.  Numbers of 32 bits do not
 * count: no loop over lanes is as long as their range. */
#include "cpu/compile/rewrite_narrow.h"

#include <stdlib.h>

#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"

#define NARROW_BITS 32

/* One walk from a cut to what its value is made of. */
struct walk {
    const struct ha_rewriter *rewriter;
    const struct ir_function *function;
    const struct ir_values *values;
    uint8_t *seen;    /* by number */
    uint32_t moving;  /* lanes' numbers and counters met so far */
    bool axes_met[3]; /* threadIdx.x, .y, .z */
    bool steps;       /* the answer */
};

static void visit(struct walk *walk, struct ir_slice name);

static void
visit_operands(struct walk *walk, const struct ir_inst *inst)
{
    for (size_t i = 0; i < inst->rest.size; i++) {
        if (inst->rest.at[i] == '%') {
            struct ir_slice name = ir_token(inst->rest, i);
            visit(walk, name);
            i += name.size - 1;
        }
    }
}

static bool
has_operand(const struct ir_inst *inst, struct ir_slice wanted)
{
    for (size_t i = 0; i < inst->rest.size; i++) {
        if (inst->rest.at[i] == '%') {
            struct ir_slice name = ir_token(inst->rest, i);
            if (ir_same(name, wanted)) {
                return true;
            }
            i += name.size - 1;
        }
    }
    return false;
}

static struct ir_slice
last_operand(const struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(rewriter->arena, inst->rest, &count);

    return count > 1 ? ir_trim(parts[1]) : (struct ir_slice){0};
}

static bool
is_sum(const struct ir_inst *inst)
{
    return ir_is(inst->op, "add") || ir_is(inst->op, "sub");
}

/* What comes into a phi: where it begins, or itself and a step. */
static void
visit_phi(struct walk *walk, const struct ir_inst *phi)
{
    walk->moving++;
    for (size_t i = 0; i < phi->rest.size; i++) {
        if (phi->rest.at[i] != '%') {
            continue;
        }
        struct ir_slice name = ir_token(phi->rest, i);
        uint32_t number;
        const struct ir_inst *from = ir_values_find(walk->values, name, &number);
        i += name.size - 1;
        if (from != NULL && is_sum(from) && has_operand(from, phi->def)) {
            struct ir_slice step = last_operand(walk->rewriter, from);
            walk->steps |= !ir_is(step, "1") && !ir_is(step, "-1");
        } else {
            visit(walk, name);
        }
    }
}

static void
visit_call(struct walk *walk, const struct ir_inst *call)
{
    for (int axis = 0; axis < 3; axis++) {
        if (ir_is(call->callee, ha_known_names[HA_KNOWN_THREAD_X + axis])) {
            walk->moving++;
            walk->steps |= walk->axes_met[axis];
            walk->axes_met[axis] = true;
        }
    }
}

static void
visit_inst(struct walk *walk, const struct ir_inst *inst)
{
    static const char *const sums[] = {"add",   "sub",  "or",   "xor",  "and",
                                       "trunc", "zext", "sext", "lshr", "udiv",
                                       "urem",  "srem", "ashr", "sdiv", "freeze"};
    uint32_t before = walk->moving;

    if (ir_is(inst->op, "phi")) {
        visit_phi(walk, inst);
    } else if (ir_is(inst->op, "call")) {
        visit_call(walk, inst);
    } else if (ir_is(inst->op, "mul") || ir_is(inst->op, "shl")) {
        visit_operands(walk, inst);
        walk->steps |= walk->moving > before;
    }
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        if (ir_is(inst->op, sums[i])) {
            visit_operands(walk, inst);
        }
    }
}

static void
visit(struct walk *walk, struct ir_slice name)
{
    uint32_t number;
    const struct ir_inst *inst = ir_values_find(walk->values, name, &number);

    if (inst == NULL) {
        /* Whoever calls the function may give it anything. */
        walk->steps |= !walk->function->kernel;
        return;
    }
    if (walk->seen[number] != 0) {
        walk->steps = true; /* added to itself, for all that we know */
        return;
    }
    walk->seen[number] = 1;
    ir_poll(walk->rewriter->arena);
    visit_inst(walk, inst);
}

/* "i8" -> 8; 0 for a type that is no integer. */
static unsigned
bits_of(struct ir_slice type)
{
    return type.size > 1 && type.at[0] == 'i' ? (unsigned)strtoul(type.at + 1, NULL, 10)
                                              : 0;
}

static bool
is_cut(const struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    unsigned bits = bits_of(ir_token(inst->rest, 0));
    size_t to = ir_find(inst->rest, " to ", 0);

    if (ir_is(inst->op, "and") || ir_is(inst->op, "urem") || ir_is(inst->op, "srem")) {
        struct ir_slice last = last_operand(rewriter, inst);
        return bits > 1 && last.size > 0 && last.at[0] != '%';
    }
    if (ir_is(inst->op, "trunc") && to != SIZE_MAX) {
        bits = bits_of(ir_token(inst->rest, to + 4));
    }
    return (ir_is(inst->op, "trunc") || ir_is(inst->op, "zext")) && bits > 1 &&
           bits < NARROW_BITS;
}

static bool
function_has(const struct ha_rewriter *rewriter, const struct ir_function *function)
{
    struct ir_values values;

    ir_values_read(rewriter->arena, function, &values);
    for (uint32_t i = 0; i < values.count; i++) {
        if (!is_cut(rewriter, values.insts[i])) {
            continue;
        }
        struct walk walk = {
            .rewriter = rewriter,
            .function = function,
            .values = &values,
            .seen = ir_alloc(rewriter->arena, values.count, sizeof *walk.seen),
        };
        visit_operands(&walk, values.insts[i]);
        if (walk.steps) {
            return true;
        }
    }
    return false;
}

bool
ha_rewrite_narrow_steps(struct ha_rewriter *rewriter)
{
    for (uint32_t f = 0; f < rewriter->module.function_count; f++) {
        if (rewriter->live_functions[f] &&
            function_has(rewriter, &rewriter->module.functions[f])) {
            return true;
        }
    }
    return false;
}
