/* SPDX-License-Identifier: MIT */
/* The fast form: loops over the lanes of a block, which the back end turns into
 * vectors.
 *
 * It exists only for kernels whose lanes run independently: no barrier, no warp call,
 * no shared memory, no function that asks for its lane.  Lanes of a row run in the
 * innermost loop.  A comparison of the lane's index with a bound would make every
 * access of that loop a masked one, so such leaves are computed for the first and the
 * last lane of the row: the index grows steadily, hence equal answers hold for all
 * lanes between, and the loop with the answers as constants (body a) runs; else the
 * plain loop (body b).
 *
 * Of the kernel `halve` (cpu/compile/README.md):
 *
 *     %mul = mul i32 %call.i9, %call.i      blockDim.x * blockIdx.x: begin of the row
 *     %add = add i32 %mul, %call.i10        + threadIdx.x: the index; steady
 *     %cmp = icmp slt i32 %add, %n          steady against uniform: leaf 0
 *
 * and for the leaf, bit 0 of what @halve.leaf returns:
 *
 *     %ha.v.2 = mul  i32 %ha.block_dim_x, %ha.block_x      numbers of struct ir_values
 *     %ha.v.4 = add  i32 %ha.v.2, %ha.thread_x
 *     %ha.v.5 = icmp slt i32 %ha.v.4, %n
 *     %ha.f.0 = freeze i1 %ha.v.5
 *
 * That argument needs indices that do not wrap.  They are followed as intervals, under
 * the guard that grid * block stays below HA_INDEX_END in each direction; launches
 * beyond it are not run by these loops.
 *
 * The first and the last lane may be ones for which the kernel would not compare.  What
 * the front end inferred from conditions (disjoint, nneg, samesign, nuw, nsw, exact)
 * need not hold there, so it is never used: `or disjoint` is an addition, whose value
 * is right where the flag holds and steady everywhere; other flags are dropped. */
#include "cpu/compile/rewrite_fast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/compile/rewrite_hazard.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_operands.h"
#include "cpu/compile/rewrite_sites.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

#define DEPTH_MAX 32u

/* What is known of an integer value over the lanes of a row. */
struct range {
    bool uniform; /* the same for all lanes */
    bool steady;  /* grows or falls with the lane, never both; uniform values do too */
    int64_t low;
    int64_t high; /* low > high: nothing is known */
};

struct study {
    struct ha_rewriter *rewriter;
    const struct ir_function *function;
    struct ha_fast *fast;
    struct range
        *ranges;     /* per instruction, where `ranged` is set: values are shared, so */
    uint8_t *ranged; /* that a walk without memory could take exponential time */
};

static const struct ir_inst *
definition(const struct study *study, struct ir_slice value, uint32_t *number)
{
    return ir_values_find(&study->fast->values, value, number);
}

/* ---- ranges ---- */

static struct range
unknown(void)
{
    return (struct range){false, false, 1, 0};
}

static struct range
uniform(int64_t low, int64_t high)
{
    return (struct range){true, true, low, high};
}

static bool
known(struct range range)
{
    return range.low <= range.high;
}

/* Keeps the interval only if it fits a signed integer of `bits`; a value that is not
 * uniform and may wrap is not steady either. */
static struct range
fit(struct range range, int64_t bits)
{
    int64_t most = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;

    if (known(range) && range.low >= -most - 1 && range.high <= most) {
        return range;
    }
    return range.uniform ? (struct range){true, true, 1, 0} : unknown();
}

static struct range
coordinate_range(enum ha_known which)
{
    if (which == HA_KNOWN_THREAD_X) {
        return (struct range){false, true, 0, HA_BLOCK_MOST - 1};
    }
    if (which < HA_KNOWN_BLOCK_X) {
        return uniform(0, HA_BLOCK_MOST - 1);
    }
    if (which >= HA_KNOWN_BLOCK_DIM_X && which < HA_KNOWN_GRID_DIM_X) {
        return uniform(1, HA_BLOCK_MOST);
    }
    return uniform(0, HA_INDEX_END);
}

static struct range
combine(struct ir_slice op, struct range a, struct range b, int64_t bits)
{
    struct range result = {a.uniform && b.uniform, false, 1, 0};
    int64_t ends[4];

    if (!known(a) || !known(b) || (!a.uniform && !b.uniform)) {
        result.steady = result.uniform;
        return result;
    }
    result.steady = a.steady && b.steady;
    bool overflow = false;
    if (ir_is(op, "add")) {
        overflow |= __builtin_add_overflow(a.low, b.low, &result.low);
        overflow |= __builtin_add_overflow(a.high, b.high, &result.high);
    } else if (ir_is(op, "sub")) {
        overflow |= __builtin_sub_overflow(a.low, b.high, &result.low);
        overflow |= __builtin_sub_overflow(a.high, b.low, &result.high);
    } else {
        overflow |= __builtin_mul_overflow(a.low, b.low, &ends[0]);
        overflow |= __builtin_mul_overflow(a.low, b.high, &ends[1]);
        overflow |= __builtin_mul_overflow(a.high, b.low, &ends[2]);
        overflow |= __builtin_mul_overflow(a.high, b.high, &ends[3]);
        for (unsigned i = 0; i < 4 && !overflow; i++) {
            result.low = i == 0 || ends[i] < result.low ? ends[i] : result.low;
            result.high = i == 0 || ends[i] > result.high ? ends[i] : result.high;
        }
    }
    if (overflow) {
        return result.uniform ? (struct range){true, true, 1, 0} : unknown();
    }
    return fit(result, bits);
}

static struct range range_of(const struct study *study, struct ir_slice value,
                             int64_t bits, unsigned depth);

static struct range
convert(const struct ir_inst *inst, struct range a, int64_t from, int64_t to)
{
    if (ir_is(inst->op, "zext") && (!known(a) || a.low < 0)) {
        if (!a.uniform) {
            return unknown();
        }
        return from < 63 ? uniform(0, ((int64_t)1 << from) - 1)
                         : (struct range){true, true, 1, 0};
    }
    if (ir_is(inst->op, "sext") && !known(a) && a.uniform && from < 64) {
        return uniform(-((int64_t)1 << (from - 1)), ((int64_t)1 << (from - 1)) - 1);
    }
    return fit(a, to);
}

static struct range
range_of_inst(const struct study *study, const struct ir_inst *inst, uint32_t number,
              unsigned depth)
{
    enum ha_known called = ha_known_of(inst);
    struct ha_operands operands;

    if (called < HA_KNOWN_COORDINATES) {
        return coordinate_range(called);
    }
    if ((!ha_operands_binary(inst) && !ha_operands_conversion(inst)) ||
        !ha_operands_take(study->rewriter, inst, &operands)) {
        return unknown();
    }
    int64_t bits = ha_operands_bits(operands.type);
    struct range a = range_of(study, operands.a, bits, depth + 1);
    if (ha_operands_conversion(inst)) {
        return convert(inst, a, bits, ha_operands_bits(operands.to));
    }
    struct range b = range_of(study, operands.b, bits, depth + 1);
    if (study->fast->flagged[number]) {
        /* Part of the index of the lane: within the guard of a fast launch. */
        return (struct range){a.uniform && b.uniform, true, 0, HA_INDEX_END - 1};
    }
    if (ir_is(inst->op, "shl")) {
        if (!known(b) || b.low != b.high || b.low < 0 || b.low > 31) {
            return a.uniform && b.uniform ? (struct range){true, true, 1, 0}
                                          : unknown();
        }
        b = uniform((int64_t)1 << b.low, (int64_t)1 << b.low);
    } else if (!ir_is(operands.op, "add") && !ir_is(operands.op, "sub") &&
               !ir_is(operands.op, "mul")) {
        return a.uniform && b.uniform ? (struct range){true, true, 1, 0} : unknown();
    }
    return combine(operands.op, a, b, bits);
}

static struct range
range_of(const struct study *study, struct ir_slice value, int64_t bits, unsigned depth)
{
    uint32_t number;

    if (depth > DEPTH_MAX || value.size == 0) {
        return unknown();
    }
    if (value.at[0] == '-' || (value.at[0] >= '0' && value.at[0] <= '9')) {
        int64_t constant = strtoll(value.at, NULL, 10);
        return fit(uniform(constant, constant), bits);
    }
    if (ir_is(value, "true") || ir_is(value, "false")) {
        return uniform(-1, 0);
    }
    const struct ir_inst *inst = definition(study, value, &number);
    if (inst != NULL) {
        if (!study->ranged[number]) {
            study->ranges[number] = range_of_inst(study, inst, number, depth);
            study->ranged[number] = 1;
        }
        return study->ranges[number];
    }
    for (uint32_t i = 0; i < study->function->param_count; i++) {
        if (ir_same(study->function->params[i].name, value)) {
            return (struct range){true, true, 1, 0};
        }
    }
    return unknown();
}

/* ---- the study ---- */

/* The coordinate, or it in 64 bits. */
static bool
is_coordinate(const struct study *study, struct ir_slice value,
              enum ha_known coordinate)
{
    uint32_t number;
    struct ha_operands operands;
    const struct ir_inst *inst = definition(study, value, &number);

    if (inst != NULL && ir_is(inst->op, "zext") &&
        ha_operands_take(study->rewriter, inst, &operands) &&
        ir_is(operands.to, "i64")) {
        inst = definition(study, operands.a, &number);
    }
    return inst != NULL && ha_known_of(inst) == coordinate;
}

static bool
is_index_type(struct ir_slice type)
{
    return ir_is(type, "i32") || ir_is(type, "i64");
}

/* blockIdx.x * blockDim.x, or blockIdx.x times a constant block width. */
static bool
is_row_start(struct study *study, const struct ir_inst *inst,
             const struct ha_operands *operands)
{
    bool a = is_coordinate(study, operands->a, HA_KNOWN_BLOCK_X);
    bool b = is_coordinate(study, operands->b, HA_KNOWN_BLOCK_X);

    if (!is_index_type(operands->type) || (!a && !b)) {
        return false;
    }
    struct ir_slice other = a ? operands->b : operands->a;
    if (ir_is(inst->op, "mul") && is_coordinate(study, other, HA_KNOWN_BLOCK_DIM_X)) {
        return true;
    }
    long constant =
        other.at[0] >= '0' && other.at[0] <= '9' ? strtol(other.at, NULL, 10) : -1;
    if (ir_is(inst->op, "shl") && a && constant >= 0 && constant <= 10) {
        constant = 1L << constant;
    } else if (!ir_is(inst->op, "mul")) {
        return false;
    }
    if (constant < 1 || constant > HA_BLOCK_MOST) {
        return false;
    }
    if (study->fast->most_const < (uint32_t)constant) {
        study->fast->most_const = (uint32_t)constant;
    }
    return true;
}

/* Whether a value is where the row of a block begins. */
static bool
is_product(const struct study *study, struct ir_slice value)
{
    uint32_t number;
    const struct ir_inst *inst = definition(study, value, &number);

    return inst != NULL && study->fast->flagged[number] &&
           (ir_is(inst->op, "mul") || ir_is(inst->op, "shl"));
}

static void
flag_indices(struct study *study)
{
    for (uint32_t i = 0; i < study->fast->values.count; i++) {
        const struct ir_inst *inst = study->fast->values.insts[i];
        struct ha_operands operands;
        if (!ha_operands_binary(inst) || inst->def.size == 0 ||
            !ha_operands_take(study->rewriter, inst, &operands)) {
            continue;
        }
        if (is_row_start(study, inst, &operands)) {
            study->fast->flagged[i] = 1;
        } else if (ir_is(operands.op, "add") &&
                   ((is_product(study, operands.a) &&
                     is_coordinate(study, operands.b, HA_KNOWN_THREAD_X)) ||
                    (is_product(study, operands.b) &&
                     is_coordinate(study, operands.a, HA_KNOWN_THREAD_X)))) {
            study->fast->flagged[i] = 1;
        }
    }
}

static bool
is_leaf(const struct study *study, const struct ir_inst *inst)
{
    struct ha_operands operands;

    if (!ir_is(inst->op, "icmp") || inst->def.size == 0 ||
        !ha_operands_take(study->rewriter, inst, &operands) ||
        ir_is(operands.predicate, "eq") || ir_is(operands.predicate, "ne")) {
        return false;
    }
    int64_t bits = ha_operands_bits(operands.type);
    struct range a = range_of(study, operands.a, bits, 0);
    struct range b = range_of(study, operands.b, bits, 0);
    if (a.uniform == b.uniform) {
        return false;
    }
    struct range lane = a.uniform ? b : a;
    bool is_signed = ir_begins(operands.predicate, "s");
    return lane.steady && known(lane) && (is_signed || lane.low >= 0);
}

/* Whether the block and the lane in x are used for nothing but the index of the lane,
 * block_x
 * * block_dim_x + thread_x.  Then neighbouring blocks can be one long row: thread_x
 * goes on counting behind the end of the block. */
static bool
uses_index_only(const struct study *study)
{
    const struct ha_fast *fast = study->fast;

    for (uint32_t i = 0; i < fast->values.count; i++) {
        const struct ir_inst *inst = fast->values.insts[i];
        struct ir_slice line = inst->line;
        bool sum = fast->flagged[i] && ir_is(inst->op, "add");
        bool product = fast->flagged[i] && ir_is(inst->op, "mul");
        if (is_coordinate(study, inst->def, HA_KNOWN_THREAD_X) ||
            is_coordinate(study, inst->def, HA_KNOWN_BLOCK_X)) {
            continue; /* itself in 64 bits, whose own uses are looked at */
        }
        for (size_t at = inst->def.size; (at = ir_find(line, "%", at)) != SIZE_MAX;) {
            struct ir_slice name = ir_token(line, at);
            at += name.size;
            if ((is_coordinate(study, name, HA_KNOWN_THREAD_X) && !sum) ||
                (is_coordinate(study, name, HA_KNOWN_BLOCK_X) && !product) ||
                (is_product(study, name) && !sum)) {
                return false;
            }
        }
    }
    return fast->most_const == 0;
}

/* Calls that neither read nor write memory that other lanes could see. */
static bool
harmless_call(const struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    uint32_t number;

    if (ha_known_of(inst) < HA_KNOWN_COORDINATES || ir_begins(inst->callee, "@llvm.")) {
        return true;
    }
    if (ha_known_of(inst) != HA_KNOWN_NONE || inst->callee.at == NULL ||
        inst->callee.at[0] != '@' ||
        ir_map_get(&rewriter->functions, inst->callee, &number)) {
        return false;
    }
    size_t group = ir_find(inst->line, " #", 0);
    return group != SIZE_MAX &&
           ir_map_get(&rewriter->kept_attributes, ir_token(inst->line, group + 1),
                      &number) &&
           number != 0;
}

bool
ha_fast_study(struct ha_rewriter *rewriter, uint32_t number, struct ha_fast *fast)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];
    struct study study = {.rewriter = rewriter,
                          .function = &rewriter->module.functions[number],
                          .fast = fast};

    *fast = (struct ha_fast){0};
    if (info->block || info->warp || info->indirect || info->dynamic || info->pause ||
        ha_sites_polls(rewriter, number)) {
        return false;
    }
    for (uint32_t i = 0; i < rewriter->shared_count; i++) {
        if (info->shared[i]) {
            return false;
        }
    }
    /* A function that is called asks the device for its lane, and there is none here.
     */
    for (uint32_t i = 0; i < info->call_count; i++) {
        if (rewriter->infos[info->calls[i]].lane) {
            return false;
        }
    }
    for (uint32_t i = 0; i < study.function->param_count; i++) {
        const struct ir_param *param = &study.function->params[i];
        /* A record that is copied is defined behind the parameters, and IR wants
         * numbered values in order. */
        bool numbered = param->name.at[1] >= '0' && param->name.at[1] <= '9';
        if (param->byval.size > 0 && !param->constant && numbered) {
            return false;
        }
    }
    ir_values_read(rewriter->arena, study.function, &fast->values);
    fast->flagged = ir_alloc(rewriter->arena, fast->values.count + 1u, 1);
    study.ranges =
        ir_alloc(rewriter->arena, fast->values.count + 1u, sizeof *study.ranges);
    study.ranged = ir_alloc(rewriter->arena, fast->values.count + 1u, 1);
    flag_indices(&study);
    fast->parallel = !info->ordered && !info->stack;
    for (uint32_t i = 0; i < study.function->param_count; i++) {
        const struct ir_param *param = &study.function->params[i];
        fast->parallel &= param->byval.size == 0 || param->constant;
    }
    for (uint32_t i = 0; i < fast->values.count; i++) {
        const struct ir_inst *inst = fast->values.insts[i];
        if (ir_is(inst->op, "call") && !harmless_call(rewriter, inst)) {
            fast->parallel = false;
        }
        if (fast->leaf_count < HA_LEAVES_MAX && is_leaf(&study, inst)) {
            fast->leaf_of[fast->leaf_count++] = i;
        }
    }
    fast->spans = uses_index_only(&study);
    fast->parallel =
        fast->parallel && !ha_hazard_reorders(rewriter, number, &fast->values);
    fast->columns =
        fast->parallel && ha_hazard_columns(rewriter, number, &fast->values);
    return true;
}
