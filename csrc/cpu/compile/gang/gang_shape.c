/* SPDX-License-Identifier: MIT */
/* Shapes by iteration: every value begins as unseen, and goes up until nothing changes.
 *
 * A branch whose condition differs brings lanes apart: where the paths from it meet
 * again (*joins*), phis differ.  Lanes leave a loop apart if a branch out of it differs
 * or stands where not all lanes come. */
#include "cpu/compile/gang/gang_shape.h"

#include <string.h>

#include "cpu/compile/rewrite_known.h"

#define LANES_MOST 1024
#define DEPTH_MAX 24u
#define STRIDE_MOST ((int64_t)1 << 34)

struct study {
    struct gang_function *function;
    const struct gang_flow *flow;
    struct gang_shapes *shapes;
    uint32_t *label; /* by block, for one branch */
    bool changed;
};

static struct gang_shape
of_level(uint8_t level)
{
    return (struct gang_shape){.level = level, .align = 1};
}

static uint32_t
low_bit(int64_t number)
{
    uint64_t bit = (uint64_t)number & (~(uint64_t)number + 1);

    return bit == 0 || bit > 1024 ? 1024 : (uint32_t)bit;
}

static struct gang_shape
ranged(uint8_t level, int64_t low, int64_t high)
{
    return (struct gang_shape){
        .level = level,
        .ranged = true,
        .low = low,
        .high = high,
        .align = low == high ? low_bit(low) : 1,
    };
}

/* A range that leaves the type is none.  Lanes farther apart than STRIDE_MOST are not
 * followed, so sums and products of a stride stay within 64 bits. */
static struct gang_shape
fit(struct gang_shape shape, unsigned bits)
{
    if (shape.ranged && bits < 64) {
        int64_t most = ((int64_t)1 << (bits - 1)) - 1;
        shape.ranged = shape.low >= -most - 1 && shape.high <= most;
    }
    if (shape.level == GANG_LINEAR && bits < 64) {
        unsigned drop = 64 - bits;
        shape.stride = (int64_t)((uint64_t)shape.stride << drop) >> drop;
    }
    if (shape.level == GANG_LINEAR && shape.stride == 0) {
        shape.level = GANG_SAME_GANG;
    }
    if (shape.level == GANG_LINEAR &&
        (shape.stride > STRIDE_MOST || shape.stride < -STRIDE_MOST)) {
        return of_level(GANG_VARYING);
    }
    return shape;
}

/* ---- loops that are left ---- */

uint32_t
gang_loop_left(const struct gang_function *function, const struct gang_flow *flow,
               const struct gang_shapes *shapes, uint32_t value, uint32_t at)
{
    uint32_t block = function->values[value].block;
    uint32_t found = IR_NONE;

    if (block == GANG_NONE) {
        return IR_NONE;
    }
    for (uint32_t loop = flow->loops.inner[block];
         loop != IR_NONE && !gang_in_loop(flow, loop, at);
         loop = flow->loops.loops[loop].outer) {
        if (shapes->leave[loop] == GANG_VARYING) {
            found = loop;
        }
    }
    return found;
}

struct gang_shape
gang_shape_at(const struct gang_function *function, const struct gang_flow *flow,
              const struct gang_shapes *shapes, uint32_t value, uint32_t at)
{
    struct gang_shape shape = shapes->of[value];
    uint32_t block = function->values[value].block;

    if (block == GANG_NONE || shape.level == GANG_UNSEEN) {
        return shape;
    }
    for (uint32_t loop = flow->loops.inner[block];
         loop != IR_NONE && !gang_in_loop(flow, loop, at);
         loop = flow->loops.loops[loop].outer) {
        if (shapes->leave[loop] == GANG_VARYING) {
            return of_level(GANG_VARYING);
        }
        if (shapes->leave[loop] == GANG_SAME_GANG && shape.level == GANG_SAME_BLOCK) {
            shape.level = GANG_SAME_GANG;
        }
    }
    return shape;
}

/* An operand where it is read.  A phi behind a loop gets what the lanes had in the
 * rounds in which they left, each its own. */
static struct gang_shape
operand(const struct study *study, const struct gang_value *value, uint32_t number)
{
    return gang_shape_at(study->function, study->flow, study->shapes,
                         value->operands[number], value->block);
}

/* ---- widening ---- */

bool
gang_is_early(const struct gang_function *function, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &function->values[number];

    switch (value->op) {
    case GANG_PARAMETER:
    case GANG_CONSTANT:
        return true;
    case GANG_COORDINATE:
        return value->extra != HA_KNOWN_THREAD_Y && value->extra != HA_KNOWN_THREAD_Z;
    case GANG_BINARY:
        if (value->float_op || ir_is(value->word, "udiv") ||
            ir_is(value->word, "sdiv") || ir_is(value->word, "urem") ||
            ir_is(value->word, "srem")) {
            return false;
        }
        break;
    case GANG_CAST:
        if (value->type.kind != GANG_INT || value->from.kind != GANG_INT) {
            return false;
        }
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (depth == DEPTH_MAX ||
            !gang_is_early(function, value->operands[i], depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool
fits_longer(struct gang_shape shape, bool is_signed)
{
    return shape.ranged && (is_signed || shape.low >= 0);
}

/* Whether flags say that a sum or product does not wrap in any lane that is on, and so
 * its parts can be made longer instead of it. */
static bool
is_flagged(const struct gang_value *value, bool is_signed)
{
    if (value->op != GANG_BINARY ||
        (!ir_is(value->word, "add") && !ir_is(value->word, "sub") &&
         !ir_is(value->word, "mul") && !ir_is(value->word, "shl"))) {
        return false;
    }
    return ir_find(value->flags, is_signed ? "nsw" : "nuw", 0) != SIZE_MAX;
}

/* Whether a value is made longer part by part: it is linear, its range does not say
 * that it fits, its flags say that no lane that is on wraps, and no part varies. */
bool
gang_goes_down(const struct gang_function *function, const struct gang_shapes *shapes,
               uint32_t number, bool is_signed)
{
    const struct gang_value *value = &function->values[number];
    struct gang_shape shape = shapes->of[number];

    if (shape.level != GANG_LINEAR || fits_longer(shape, is_signed) ||
        !is_flagged(value, is_signed)) {
        return false;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (shapes->of[value->operands[i]].level == GANG_VARYING) {
            return false;
        }
    }
    return true;
}

static enum gang_widening
widening_of(struct study *study, uint32_t number, bool is_signed, unsigned depth)
{
    const struct gang_value *value = &study->function->values[number];
    struct gang_shape shape = study->shapes->of[number];
    enum gang_widening worst = GANG_WIDE_KNOWN;

    if (shape.level != GANG_LINEAR || fits_longer(shape, is_signed)) {
        return GANG_WIDE_KNOWN;
    }
    if (!gang_goes_down(study->function, study->shapes, number, is_signed)) {
        return gang_is_early(study->function, number, 0) ? GANG_WIDE_ASKED
                                                         : GANG_WIDE_CHECKED;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        enum gang_widening own =
            depth == DEPTH_MAX
                ? GANG_WIDE_CHECKED
                : widening_of(study, value->operands[i], is_signed, depth + 1);
        worst = own > worst ? own : worst;
    }
    return worst;
}

bool
gang_is_signed(const struct gang_value *value)
{
    return ir_is(value->word, "sext") || ir_find(value->flags, "nneg", 0) != SIZE_MAX;
}

static struct gang_shape
shape_of_cast(struct study *study, uint32_t number)
{
    const struct gang_value *value = &study->function->values[number];
    struct gang_shape a = operand(study, value, 0);
    bool longer = ir_is(value->word, "sext") || ir_is(value->word, "zext");

    if (a.level != GANG_LINEAR) {
        if (value->type.kind != GANG_INT || value->from.kind != GANG_INT ||
            (ir_is(value->word, "zext") && !fits_longer(a, false))) {
            a.ranged = false;
            if (ir_is(value->word, "zext") && value->from.bits < 32) {
                a = ranged(a.level, 0, ((int64_t)1 << value->from.bits) - 1);
            }
            a.align = 1;
        }
        return a.ranged ? fit(a, value->type.bits) : a;
    }
    if (longer) {
        enum gang_widening widening =
            widening_of(study, value->operands[0], gang_is_signed(value), 0);
        study->shapes->widening[number] = (uint8_t)widening;
        a.checked |= widening == GANG_WIDE_CHECKED;
        if (!fits_longer(a, gang_is_signed(value))) {
            a.ranged = false;
        }
        return a;
    }
    if (ir_is(value->word, "trunc")) {
        a = fit(a, value->type.bits);
        return value->type.bits >= 8 ? a : of_level(GANG_VARYING);
    }
    if (ir_is(value->word, "ptrtoint") || ir_is(value->word, "inttoptr") ||
        ir_is(value->word, "addrspacecast") ||
        (ir_is(value->word, "bitcast") && gang_same_type(value->type, value->from))) {
        return value->type.bits == value->from.bits ? a : of_level(GANG_VARYING);
    }
    return of_level(GANG_VARYING);
}

/* ---- arithmetic ---- */

static uint8_t
higher(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static struct gang_shape
combine_range(struct ir_slice word, struct gang_shape result, struct gang_shape a,
              struct gang_shape b)
{
    bool overflow = !a.ranged || !b.ranged;

    if (!overflow && ir_is(word, "add")) {
        overflow = __builtin_add_overflow(a.low, b.low, &result.low) ||
                   __builtin_add_overflow(a.high, b.high, &result.high);
    } else if (!overflow && ir_is(word, "sub")) {
        overflow = __builtin_sub_overflow(a.low, b.high, &result.low) ||
                   __builtin_sub_overflow(a.high, b.low, &result.high);
    } else if (!overflow && ir_is(word, "mul") && a.low >= 0 && b.low >= 0) {
        overflow = __builtin_mul_overflow(a.low, b.low, &result.low) ||
                   __builtin_mul_overflow(a.high, b.high, &result.high);
    } else {
        overflow = true;
    }
    result.ranged = !overflow;
    return result;
}

/* x & mask, x % power and so on, where the answer is known from alignment. */
static bool
shape_of_bits(struct study *study, const struct gang_value *value, struct gang_shape a,
              struct gang_shape *result)
{
    int64_t number;

    if (!gang_integer(study->function, value->operands[1], &number) ||
        a.level != GANG_LINEAR || a.stride != 1 || !a.ranged || a.low < 0 ||
        a.align < study->shapes->width || a.checked || number == INT64_MAX) {
        return false;
    }
    bool shift = ir_is(value->word, "lshr") || ir_is(value->word, "ashr");
    bool divide = ir_is(value->word, "udiv") || ir_is(value->word, "sdiv");
    bool remain = ir_is(value->word, "urem") || ir_is(value->word, "srem");
    if (shift) {
        if (number < 0 || number > 30) {
            return false;
        }
        number = (int64_t)1 << number;
    } else if (ir_is(value->word, "and")) {
        number += 1;
    } else if (!divide && !remain) {
        return false;
    }
    if (number < (int64_t)study->shapes->width || number > ((int64_t)1 << 30) ||
        (number & (number - 1)) != 0) {
        return false;
    }
    if (shift || divide) {
        *result = ranged(GANG_SAME_GANG, a.low / number, a.high / number);
        return true;
    }
    *result = ranged(GANG_LINEAR, 0, number - 1);
    result->stride = 1;
    result->align = study->shapes->width;
    return true;
}

static struct gang_shape
shape_of_integers(struct study *study, const struct gang_value *value)
{
    struct gang_shape a = operand(study, value, 0);
    struct gang_shape b = operand(study, value, 1);
    struct gang_shape result;
    struct ir_slice word = value->word;
    int64_t number;

    if (a.level == GANG_VARYING || b.level == GANG_VARYING) {
        return of_level(GANG_VARYING);
    }
    if (shape_of_bits(study, value, a, &result)) {
        return result;
    }
    result = of_level(higher(a.level, b.level));
    if (ir_is(word, "or") && ir_find(value->flags, "disjoint", 0) != SIZE_MAX) {
        word = ir_slice_of("add");
    }
    if (ir_is(word, "shl") &&
        gang_integer(study->function, value->operands[1], &number) && number >= 0 &&
        number < 31) {
        word = ir_slice_of("mul");
        b = ranged(GANG_SAME_BLOCK, (int64_t)1 << number, (int64_t)1 << number);
    }
    result.checked = a.checked || b.checked;
    if (ir_is(word, "add") || ir_is(word, "sub")) {
        int64_t other = b.level == GANG_LINEAR ? b.stride : 0;
        result.stride = (a.level == GANG_LINEAR ? a.stride : 0) +
                        (ir_is(word, "add") ? other : -other);
        result.align = a.align < b.align ? a.align : b.align;
    } else if (ir_is(word, "mul") && result.level == GANG_LINEAR) {
        struct gang_shape fixed = a.level == GANG_LINEAR ? b : a;
        if ((a.level == GANG_LINEAR && b.level == GANG_LINEAR) || !fixed.ranged ||
            fixed.low != fixed.high || fixed.low > (1 << 24) ||
            fixed.low < -(1 << 24)) {
            return of_level(GANG_VARYING);
        }
        result.stride = (a.level == GANG_LINEAR ? a.stride : b.stride) * fixed.low;
    } else if (result.level == GANG_LINEAR) {
        return of_level(GANG_VARYING);
    }
    if (ir_is(word, "mul")) {
        uint64_t align = (uint64_t)a.align * b.align;
        result.align = align > 1024 ? 1024 : (uint32_t)align;
    }
    result = combine_range(word, result, a, b);
    if (ir_is(word, "and") && result.level <= GANG_SAME_GANG &&
        gang_integer(study->function, value->operands[1], &number) && number >= 0) {
        return ranged(result.level, 0, number);
    }
    if ((ir_is(word, "lshr") || ir_is(word, "udiv")) && a.ranged && a.low >= 0) {
        return ranged(result.level, 0, a.high);
    }
    if (result.level <= GANG_SAME_GANG) {
        result.checked = false;
    }
    return fit(result, value->type.bits);
}

static struct gang_shape
shape_of_all(struct study *study, const struct gang_value *value)
{
    uint8_t level = GANG_SAME_BLOCK;

    for (uint32_t i = 0; i < value->operand_count; i++) {
        level = higher(level, operand(study, value, i).level);
    }
    return of_level(level == GANG_LINEAR ? (uint8_t)GANG_VARYING : level);
}

/* threadIdx.x < 64: the same for a gang whose first lane has a multiple of its width.
 */
static struct gang_shape
shape_of_compare(struct study *study, const struct gang_value *value)
{
    struct gang_shape a = operand(study, value, 0);
    int64_t number;
    bool below = ir_is(value->word, "ult") || ir_is(value->word, "slt") ||
                 ir_is(value->word, "uge") || ir_is(value->word, "sge");
    bool above = ir_is(value->word, "ugt") || ir_is(value->word, "sgt") ||
                 ir_is(value->word, "ule") || ir_is(value->word, "sle");

    if (!value->float_compare && a.level == GANG_LINEAR && a.stride == 1 && a.ranged &&
        a.low >= 0 && a.align >= study->shapes->width && !a.checked &&
        gang_integer(study->function, value->operands[1], &number) && number >= -1 &&
        number < INT64_MAX) {
        number += above;
        if ((below || above) && number % study->shapes->width == 0) {
            return of_level(GANG_SAME_GANG);
        }
    }
    return shape_of_all(study, value);
}

static struct gang_shape
shape_of_select(struct study *study, const struct gang_value *value)
{
    struct gang_shape condition = operand(study, value, 0);
    struct gang_shape a = operand(study, value, 1);
    struct gang_shape b = operand(study, value, 2);

    if (!gang_is_same(condition) || a.level == GANG_VARYING ||
        b.level == GANG_VARYING) {
        return of_level(GANG_VARYING);
    }
    if (a.level == GANG_LINEAR || b.level == GANG_LINEAR) {
        bool same = a.level == b.level && a.stride == b.stride;
        if (!same) {
            return of_level(GANG_VARYING);
        }
        a.checked |= b.checked;
        a.ranged = false;
        a.align = 1;
        return a;
    }
    a = of_level(higher(condition.level, higher(a.level, b.level)));
    return a;
}

static struct gang_shape
shape_of_address(struct study *study, const struct gang_value *value)
{
    struct gang_shape result = of_level(GANG_SAME_BLOCK);

    for (uint32_t i = 0; i < value->operand_count; i++) {
        struct gang_shape at = operand(study, value, i);
        result.level = higher(result.level, at.level);
        if (at.level == GANG_LINEAR) {
            int64_t stride;
            if (__builtin_mul_overflow(at.stride, i == 0 ? 1 : value->scales[i],
                                       &stride) ||
                __builtin_add_overflow(result.stride, stride, &result.stride)) {
                return of_level(GANG_VARYING);
            }
            result.checked |= at.checked;
        }
        /* A shorter index is made longer by its sign. */
        if (i > 0 && at.level == GANG_LINEAR &&
            study->function->values[value->operands[i]].type.bits != 64) {
            return of_level(GANG_VARYING);
        }
    }
    if (result.level == GANG_VARYING) {
        return of_level(GANG_VARYING);
    }
    if (result.level != GANG_LINEAR) {
        result.checked = false;
    }
    return fit(result, 64);
}

static struct gang_shape
shape_of_phi(struct study *study, const struct gang_value *value)
{
    struct gang_shape result = of_level(GANG_UNSEEN);
    uint8_t join = study->shapes->join[value->block];

    for (uint32_t i = 0; i < value->operand_count; i++) {
        struct gang_shape at = operand(study, value, i);
        if (at.level == GANG_UNSEEN) {
            continue;
        }
        if (result.level == GANG_UNSEEN) {
            result = at;
        } else if (at.level == GANG_LINEAR || result.level == GANG_LINEAR) {
            if (at.level != result.level || at.stride != result.stride) {
                return of_level(GANG_VARYING);
            }
        }
        result.level = higher(result.level, at.level);
        result.checked |= at.checked;
    }
    if (result.level == GANG_UNSEEN) {
        return result;
    }
    result.ranged = false;
    result.align = 1;
    if (join == GANG_VARYING || (result.level == GANG_LINEAR && result.checked)) {
        return of_level(GANG_VARYING);
    }
    if (join == GANG_SAME_GANG && result.level == GANG_SAME_BLOCK) {
        result.level = GANG_SAME_GANG;
    }
    return result;
}

/* Memory that nothing writes while the block runs: records among the parameters. */
static bool
is_fixed_memory(const struct study *study, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &study->function->values[number];

    if (value->op == GANG_PARAMETER) {
        const struct ir_param *param = &study->function->source->params[value->extra];
        return param->byval.size > 0 && param->constant;
    }
    return value->op == GANG_ADDRESS && depth < DEPTH_MAX &&
           is_fixed_memory(study, value->operands[0], depth + 1);
}

static struct gang_shape
shape_of_coordinate(const struct study *study, const struct gang_value *value)
{
    struct gang_shape shape;

    switch ((enum ha_known)value->extra) {
    case HA_KNOWN_THREAD_X:
        shape = ranged(GANG_LINEAR, 0, LANES_MOST + study->shapes->width);
        shape.stride = 1;
        shape.align = study->shapes->width;
        return shape;
    case HA_KNOWN_THREAD_Y:
    case HA_KNOWN_THREAD_Z:
        return ranged(GANG_SAME_GANG, 0, LANES_MOST);
    case HA_KNOWN_BLOCK_X:
        return ranged(study->shapes->span ? GANG_SAME_GANG : GANG_SAME_BLOCK, 0,
                      INT32_MAX);
    case HA_KNOWN_BLOCK_DIM_X:
    case HA_KNOWN_BLOCK_DIM_Y:
    case HA_KNOWN_BLOCK_DIM_Z:
        return ranged(GANG_SAME_BLOCK, 1, LANES_MOST);
    default:
        return ranged(GANG_SAME_BLOCK, 0, INT32_MAX);
    }
}

static struct gang_shape
shape_of_warp(const struct gang_value *value)
{
    switch (value->extra) {
    case 4: /* ballot, any, all, sync, active, match_all: enum ha_warp_op */
    case 5:
    case 6:
    case 7:
    case 8:
    case 10:
        return of_level(GANG_SAME_GANG);
    default:
        return of_level(GANG_VARYING);
    }
}

static struct gang_shape
shape_of(struct study *study, uint32_t number)
{
    const struct gang_value *value = &study->function->values[number];
    int64_t constant;
    struct gang_shape shape;

    switch (value->op) {
    case GANG_CONSTANT:
        shape = gang_integer(study->function, number, &constant)
                    ? ranged(GANG_SAME_BLOCK, constant, constant)
                    : of_level(GANG_SAME_BLOCK);
        return shape;
    case GANG_PARAMETER:
        /* A record that the kernel writes is a copy a lane. */
        if (study->function->source->params[value->extra].byval.size > 0 &&
            !study->function->source->params[value->extra].constant) {
            gang_refuse(study->function, "a record among the parameters is written");
        }
        return of_level(GANG_SAME_BLOCK);
    case GANG_SHARED:
    case GANG_DYNAMIC:
    case GANG_QUERY:
    case GANG_BARRIER:
        return of_level(GANG_SAME_BLOCK);
    case GANG_COORDINATE:
        return shape_of_coordinate(study, value);
    case GANG_BINARY:
        return value->float_op || value->type.bits == 1
                   ? shape_of_all(study, value)
                   : shape_of_integers(study, value);
    case GANG_CAST:
        return shape_of_cast(study, number);
    case GANG_COMPARE:
        return shape_of_compare(study, value);
    case GANG_SELECT:
        return shape_of_select(study, value);
    case GANG_FREEZE:
        return operand(study, value, 0);
    case GANG_ADDRESS:
        return shape_of_address(study, value);
    case GANG_PHI:
        return shape_of_phi(study, value);
    case GANG_LOAD:
        if (!gang_is_same(operand(study, value, 0))) {
            return of_level(GANG_VARYING);
        }
        return of_level(is_fixed_memory(study, value->operands[0], 0)
                            ? (uint8_t)GANG_SAME_BLOCK
                            : (uint8_t)GANG_SAME_GANG);
    case GANG_ALLOCA:
        shape = of_level(GANG_LINEAR);
        shape.stride = (int64_t)((value->extra + 63) / 64 * 64);
        return shape;
    case GANG_WARP:
        return shape_of_warp(value);
    case GANG_CLOCK:
        return of_level(GANG_SAME_GANG);
    case GANG_NEGATE:
    case GANG_PURE:
        return shape_of_all(study, value);
    case GANG_BRANCH:
    case GANG_SWITCH:
        return value->operand_count > 0 ? shape_of_all(study, value)
                                        : of_level(GANG_SAME_BLOCK);
    default:
        return of_level(GANG_VARYING);
    }
}

/* ---- joins ---- */

static void
raise(struct study *study, uint8_t *level, uint8_t to)
{
    if (*level < to) {
        *level = to;
        study->changed = true;
    }
}

/* Lanes that come apart at `from` into `starts` meet where two of the paths do.  Paths
 * are followed in the order; one that goes back to a header has to do with the next
 * round only, but if two come back, they meet there. */
static void
spread(struct study *study, uint32_t from, const uint32_t *starts, uint32_t count,
       uint8_t level)
{
    struct gang_function *function = study->function;
    const struct gang_flow *flow = study->flow;
    uint32_t *label = study->label;
    uint32_t first = flow->loops.order[from] + 1;

    for (uint32_t b = 0; b < function->block_count; b++) {
        label[b] = GANG_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        label[starts[i]] = starts[i];
        if (flow->loops.order[starts[i]] < first) {
            first = flow->loops.order[starts[i]];
        }
    }
    for (uint32_t at = first; at < flow->count; at++) {
        uint32_t b = flow->at[at];
        /* A header that is gone back to begins another round. */
        if (label[b] == GANG_NONE || at <= flow->loops.order[from]) {
            continue;
        }
        for (uint32_t i = 0; i < function->blocks[b].next_count; i++) {
            uint32_t to = function->blocks[b].next[i];
            if (label[to] == GANG_NONE) {
                label[to] = label[b];
            } else if (label[to] != label[b]) {
                raise(study, &study->shapes->join[to], level);
                if (!gang_is_back_edge(flow, b, to)) {
                    label[to] = to;
                }
            }
        }
    }
}

/* Whether all lanes that begin a round of the loop come to `block` of it. */
static uint8_t
comes_apart(struct study *study, uint32_t header, uint32_t block)
{
    const struct gang_flow *flow = study->flow;
    uint8_t level = GANG_SAME_BLOCK;

    /* Up the dominators: each step that the block does not postdominate depends on a
     * branch between. */
    while (block != header) {
        uint32_t up = flow->dom[block];
        if (!gang_postdominates(flow, block, up)) {
            /* Any branch from which the block can be missed: those of the dominator
             * and of the blocks between are all in the loop; take the worst of them. */
            for (uint32_t at = flow->loops.order[up]; at < flow->loops.order[block];
                 at++) {
                uint32_t b = flow->at[at];
                const struct gang_block *between = &study->function->blocks[b];
                if (between->next_count > 1 && gang_dominates(flow, up, b)) {
                    uint32_t end = between->insts[between->count - 1];
                    level = higher(level, study->shapes->of[end].level);
                }
            }
        }
        block = up;
    }
    return level;
}

static void
study_loop(struct study *study, uint32_t number)
{
    const struct gang_flow *flow = study->flow;
    const struct ir_loop *loop = &flow->loops.loops[number];
    struct gang_function *function = study->function;
    uint32_t exits[64];
    uint32_t count = 0;
    uint8_t level = GANG_SAME_BLOCK;

    for (uint32_t at = 0; at < flow->count; at++) {
        uint32_t b = flow->at[at];
        const struct gang_block *block = &function->blocks[b];
        bool leaves = false;
        if (!loop->members[b]) {
            continue;
        }
        for (uint32_t i = 0; i < block->next_count; i++) {
            uint32_t to = block->next[i];
            if (loop->members[to]) {
                continue;
            }
            leaves = true;
            bool seen = false;
            for (uint32_t k = 0; k < count; k++) {
                seen |= exits[k] == to;
            }
            if (!seen && count == 64) {
                gang_refuse(function, "a loop with more than 64 ways out");
            }
            if (!seen) {
                exits[count++] = to;
            }
        }
        if (leaves || block->next_count == 0) {
            uint32_t end = block->insts[block->count - 1];
            if (block->next_count > 1) {
                level = higher(level, study->shapes->of[end].level);
            }
            level = higher(level, comes_apart(study, loop->header, b));
        }
    }
    if (level == GANG_LINEAR) {
        level = GANG_VARYING;
    }
    raise(study, &study->shapes->leave[number], level);
    if (level <= GANG_SAME_BLOCK || count == 0) {
        return;
    }
    /* Lanes come out in different rounds: by one way or several, they meet behind. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ways = 0;
        for (uint32_t k = 0; k < function->blocks[exits[i]].prev_count; k++) {
            ways += loop->members[function->blocks[exits[i]].prev[k]] != 0;
        }
        if (ways > 1) {
            raise(study, &study->shapes->join[exits[i]], level);
        }
    }
    uint32_t last = loop->header;
    for (uint32_t b = 0; b < function->block_count; b++) {
        if (loop->members[b] && flow->loops.order[b] > flow->loops.order[last]) {
            last = b;
        }
    }
    spread(study, last, exits, count, level);
}

static void
study_branches(struct study *study)
{
    struct gang_function *function = study->function;

    for (uint32_t at = 0; at < study->flow->count; at++) {
        uint32_t b = study->flow->at[at];
        const struct gang_block *block = &function->blocks[b];
        uint8_t level = study->shapes->of[block->insts[block->count - 1]].level;
        if (block->next_count > 1 && level > GANG_SAME_BLOCK) {
            spread(study, b, block->next, block->next_count,
                   level == GANG_SAME_GANG ? level : (uint8_t)GANG_VARYING);
        }
    }
    for (uint32_t i = 0; i < study->flow->loops.loop_count; i++) {
        study_loop(study, i);
    }
}

/* ---- the whole ---- */

static bool
same_shape(struct gang_shape a, struct gang_shape b)
{
    return a.level == b.level && a.stride == b.stride && a.checked == b.checked &&
           a.ranged == b.ranged && a.align == b.align &&
           (!a.ranged || (a.low == b.low && a.high == b.high));
}

static void
set_shape(struct study *study, uint32_t number)
{
    struct gang_shape *shape = &study->shapes->of[number];
    struct gang_shape now = shape_of(study, number);

    if (now.level < shape->level) {
        now = *shape; /* shapes go up only */
    }
    if (now.level > GANG_LINEAR) {
        now = of_level(GANG_VARYING);
    }
    if (!same_shape(*shape, now)) {
        *shape = now;
        study->changed = true;
    }
}

static void
ask(struct gang_shapes *shapes, uint32_t value, bool is_signed)
{
    for (uint32_t i = 0; i < shapes->question_count; i++) {
        if (shapes->questions[i].value == value &&
            shapes->questions[i].is_signed == is_signed) {
            return;
        }
    }
    shapes->questions[shapes->question_count++] =
        (struct gang_question){value, is_signed};
}

/* The parts of a value that must not wrap for it to be made longer: the same way down
 * as widening_of. */
static void
ask_parts(struct study *study, uint32_t number, bool is_signed, unsigned depth)
{
    const struct gang_value *value = &study->function->values[number];

    if (!gang_goes_down(study->function, study->shapes, number, is_signed)) {
        struct gang_shape shape = study->shapes->of[number];
        if (shape.level == GANG_LINEAR && !fits_longer(shape, is_signed)) {
            ask(study->shapes, number, is_signed);
        }
        return;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        ask_parts(study, value->operands[i], is_signed, depth + 1);
    }
}

static void
ask_questions(struct study *study)
{
    struct gang_function *function = study->function;
    struct gang_shapes *shapes = study->shapes;

    shapes->questions = ir_alloc(function->arena, function->value_count * 2u + 1u,
                                 sizeof *shapes->questions);
    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        if (value->op == GANG_CAST && shapes->of[v].level == GANG_LINEAR &&
            shapes->widening[v] == GANG_WIDE_ASKED) {
            ask_parts(study, value->operands[0], gang_is_signed(value), 0);
        }
    }
}

void
gang_shapes_read(struct gang_function *function, const struct gang_flow *flow,
                 uint32_t width, bool span, struct gang_shapes *shapes)
{
    struct ir_arena *arena = function->arena;
    struct study study = {.function = function, .flow = flow, .shapes = shapes};
    unsigned rounds = 0;

    *shapes = (struct gang_shapes){.width = width, .span = span};
    shapes->of = ir_alloc(arena, function->value_count + 1u, sizeof *shapes->of);
    shapes->widening = ir_alloc(arena, function->value_count + 1u, 1);
    shapes->join = ir_alloc(arena, function->block_count, 1);
    shapes->leave = ir_alloc(arena, flow->loops.loop_count + 1u, 1);
    study.label = ir_alloc(arena, function->block_count, sizeof *study.label);
    for (uint32_t v = 0; v < function->value_count; v++) {
        if (function->values[v].block == GANG_NONE) {
            set_shape(&study, v);
        }
    }
    do {
        study.changed = false;
        for (uint32_t at = 0; at < flow->count; at++) {
            const struct gang_block *block = &function->blocks[flow->at[at]];
            for (uint32_t i = 0; i < block->count; i++) {
                set_shape(&study, block->insts[i]);
            }
        }
        study_branches(&study);
        if (++rounds > 1000) {
            gang_refuse(function, "shapes of values that do not settle");
        }
    } while (study.changed);
    ask_questions(&study);
    shapes->settled = true;
}
