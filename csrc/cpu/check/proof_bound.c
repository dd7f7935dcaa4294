/* SPDX-License-Identifier: MIT */
/* What conditions say of values.
 *
 *     if (i + 1 < n) ...        i + 1 <= n - 1, so i <= n - 2
 *
 * A comparison bounds one of its sides by what the other can be.  That bound is pushed
 * down, through operations that can be undone, to the value that is asked for. */
#include "cpu/check/proof_state.h"

#define CHAIN_MOST 64u
#define DEPTH_MOST 8u

/* What a side of a comparison may be: in [low, high], or anything but `low` (`hole`);
 * in [low, high] if it is not negative (`positive`). */
struct bound {
    int64_t low, high;
    bool hole;
    bool positive;
};

/* ---- pushing down ---- */

static void
apply(struct bound bound, struct proof_range *range)
{
    if (bound.hole) {
        bool point = proof_is_point(*range);
        if (point && range->low == bound.low) {
            *range = (struct proof_range){.low = 1, .high = 0};
        } else if (!point && range->low == bound.low) {
            range->low++;
        } else if (!point && range->high == bound.low) {
            range->high--;
        }
        return;
    }
    if (bound.positive && range->low < 0) {
        return;
    }
    range->low = range->low > bound.low ? range->low : bound.low;
    range->high = range->high < bound.high ? range->high : bound.high;
}

/* Moves a bound by a number; false where that wraps. */
static bool
move(struct bound *bound, int64_t by, unsigned bits)
{
    struct proof_range full = proof_full(bits);
    int64_t low, high;

    if (__builtin_add_overflow(bound->low, by, &low) ||
        __builtin_add_overflow(bound->high, by, &high) || low < full.low ||
        high > full.high) {
        return false;
    }
    bound->low = low;
    bound->high = high;
    return true;
}

static bool
fixed(struct proof *proof, uint32_t node, uint32_t context, int64_t *value)
{
    const struct ha_proof_node *at = &proof->table->nodes[node];

    if (at->op != HA_PROOF_NUMBER && at->op != HA_PROOF_ARGUMENT &&
        at->op != HA_PROOF_COORDINATE) {
        return false;
    }
    struct proof_range range = proof_range_of(proof, node, context);
    *value = range.low;
    return proof_is_point(range);
}

/* x + c, c + x, x - c, c - x: the operand that is not c; HA_PROOF_NONE: it is none. */
static uint32_t
undo_sum(struct proof *proof, const struct ha_proof_node *node, uint32_t context,
         struct bound *bound)
{
    bool sum =
        node->op == HA_PROOF_ADD || (node->op == HA_PROOF_OR && node->disjoint != 0);
    int64_t number;

    if (!sum && node->op != HA_PROOF_SUB) {
        return HA_PROOF_NONE;
    }
    if (fixed(proof, node->b, context, &number) && number != INT64_MIN) {
        return move(bound, sum ? -number : number, node->bits) ? node->a
                                                               : HA_PROOF_NONE;
    }
    if (sum && fixed(proof, node->a, context, &number) && number != INT64_MIN) {
        return move(bound, -number, node->bits) ? node->b : HA_PROOF_NONE;
    }
    return HA_PROOF_NONE;
}

static uint32_t
undo_shift(struct proof *proof, const struct ha_proof_node *node, uint32_t context,
           struct bound *bound)
{
    int64_t by;

    if (!fixed(proof, node->b, context, &by) || bound->hole) {
        return HA_PROOF_NONE;
    }
    if (node->op == HA_PROOF_UDIV) {
        if (by <= 1 || (by & (by - 1)) != 0) {
            return HA_PROOF_NONE;
        }
        by = __builtin_ctzll((uint64_t)by);
    }
    /* The result has no sign; what it is made of must have none. */
    bound->low = bound->low > 0 ? bound->low : 0;
    int64_t most = proof_full(node->bits).high;
    if (by < 1 || by >= (int64_t)node->bits || bound->low > bound->high ||
        bound->high > (most >> by) - 1) {
        return HA_PROOF_NONE;
    }
    bound->low = bound->low << by;
    bound->high = ((bound->high + 1) << by) - 1;
    return node->a;
}

/* The operand that the bound of a node is a bound of, which it then is. */
static uint32_t
undo(struct proof *proof, const struct ha_proof_node *node, uint32_t context,
     struct bound *bound)
{
    const struct ha_proof_node *a = &proof->table->nodes[node->a];
    struct proof_range full;

    switch ((enum ha_proof_op)node->op) {
    case HA_PROOF_ADD:
    case HA_PROOF_SUB:
    case HA_PROOF_OR:
        return bound->positive ? HA_PROOF_NONE : undo_sum(proof, node, context, bound);
    case HA_PROOF_LSHR:
    case HA_PROOF_UDIV:
        return bound->positive ? HA_PROOF_NONE
                               : undo_shift(proof, node, context, bound);
    case HA_PROOF_TRUNC:
        return a->bits == node->bits ? node->a : HA_PROOF_NONE;
    case HA_PROOF_SEXT:
    case HA_PROOF_ZEXT:
        full = proof_full(a->bits);
        if (a->bits == 1) {
            return HA_PROOF_NONE;
        }
        if (bound->hole) {
            bool inside = bound->low <= full.high &&
                          bound->low >= (node->op == HA_PROOF_SEXT ? full.low : 0);
            return inside ? node->a : HA_PROOF_NONE;
        }
        if (node->op == HA_PROOF_ZEXT) {
            if (bound->high > full.high) {
                /* A negative one is large without its sign. */
                bound->positive = true;
            }
            bound->low = bound->low > 0 || bound->positive ? bound->low : 0;
        }
        bound->high = bound->high < full.high ? bound->high : full.high;
        bound->low = bound->low > full.low ? bound->low : full.low;
        return node->a;
    default:
        return HA_PROOF_NONE;
    }
}

static void
push(struct proof *proof, uint32_t side, uint32_t node, uint32_t context,
     struct bound bound, struct proof_range *range)
{
    for (uint32_t depth = 0; depth < DEPTH_MOST; depth++) {
        if (side == node) {
            apply(bound, range);
            return;
        }
        side = undo(proof, &proof->table->nodes[side], context, &bound);
        if (side == HA_PROOF_NONE) {
            return;
        }
    }
}

/* Whether `node` is what `side` is computed from, by steps that can be undone. */
static bool
reaches(const struct proof *proof, uint32_t side, uint32_t node, uint32_t depth)
{
    const struct ha_proof_node *at = &proof->table->nodes[side];

    if (side == node) {
        return true;
    }
    if (depth == DEPTH_MOST) {
        return false;
    }
    switch ((enum ha_proof_op)at->op) {
    case HA_PROOF_ADD:
    case HA_PROOF_OR:
        return reaches(proof, at->a, node, depth + 1) ||
               reaches(proof, at->b, node, depth + 1);
    case HA_PROOF_SUB:
    case HA_PROOF_LSHR:
    case HA_PROOF_UDIV:
    case HA_PROOF_TRUNC:
    case HA_PROOF_SEXT:
    case HA_PROOF_ZEXT:
        return reaches(proof, at->a, node, depth + 1);
    default:
        return false;
    }
}

/* ---- comparisons ---- */

static enum ha_proof_order
inverse(enum ha_proof_order order)
{
    static const uint8_t of[] = {
        [HA_PROOF_EQ] = HA_PROOF_NE,   [HA_PROOF_NE] = HA_PROOF_EQ,
        [HA_PROOF_SLT] = HA_PROOF_SGE, [HA_PROOF_SGE] = HA_PROOF_SLT,
        [HA_PROOF_SGT] = HA_PROOF_SLE, [HA_PROOF_SLE] = HA_PROOF_SGT,
        [HA_PROOF_ULT] = HA_PROOF_UGE, [HA_PROOF_UGE] = HA_PROOF_ULT,
        [HA_PROOF_UGT] = HA_PROOF_ULE, [HA_PROOF_ULE] = HA_PROOF_UGT};

    return (enum ha_proof_order)of[order];
}

static enum ha_proof_order
swapped(enum ha_proof_order order)
{
    static const uint8_t of[] = {
        [HA_PROOF_EQ] = HA_PROOF_EQ,   [HA_PROOF_NE] = HA_PROOF_NE,
        [HA_PROOF_SLT] = HA_PROOF_SGT, [HA_PROOF_SGE] = HA_PROOF_SLE,
        [HA_PROOF_SGT] = HA_PROOF_SLT, [HA_PROOF_SLE] = HA_PROOF_SGE,
        [HA_PROOF_ULT] = HA_PROOF_UGT, [HA_PROOF_UGE] = HA_PROOF_ULE,
        [HA_PROOF_UGT] = HA_PROOF_ULT, [HA_PROOF_ULE] = HA_PROOF_UGE};

    return (enum ha_proof_order)of[order];
}

/* What is left of the order's other side; false: nothing is known. */
static bool
bound_of(enum ha_proof_order order, unsigned bits, struct proof_range other,
         struct bound *bound)
{
    struct proof_range full = proof_full(bits);
    bool is_unsigned = order >= HA_PROOF_ULT;
    int64_t less = other.high > full.low ? other.high - 1 : full.low;
    int64_t more = other.low < full.high ? other.low + 1 : full.high;

    *bound = (struct bound){.low = full.low, .high = full.high};
    if (is_unsigned && other.low < 0) {
        return false;
    }
    switch (order) {
    case HA_PROOF_EQ:
        *bound = (struct bound){.low = other.low, .high = other.high};
        return true;
    case HA_PROOF_NE:
        *bound = (struct bound){.low = other.low, .high = other.low, .hole = true};
        return proof_is_point(other);
    case HA_PROOF_SLT:
        bound->high = less;
        return other.high > full.low;
    case HA_PROOF_SLE:
        bound->high = other.high;
        return true;
    case HA_PROOF_SGT:
        bound->low = more;
        return other.low < full.high;
    case HA_PROOF_SGE:
        bound->low = other.low;
        return true;
    case HA_PROOF_ULT:
        bound->low = 0;
        bound->high = less;
        return other.high > 0;
    case HA_PROOF_ULE:
        bound->low = 0;
        bound->high = other.high;
        return true;
    case HA_PROOF_UGT:
        bound->low = more;
        bound->positive = true;
        return other.low < full.high;
    case HA_PROOF_UGE:
        bound->low = other.low;
        bound->positive = true;
        return true;
    }
    return false;
}

static void
narrow_side(struct proof *proof, enum ha_proof_order order, uint32_t side,
            uint32_t other, uint32_t node, uint32_t context, struct proof_range *range)
{
    unsigned bits = proof->table->nodes[side].bits;
    struct bound bound;

    if (bits == 1 || !reaches(proof, side, node, 0)) {
        return;
    }
    struct proof_range of = proof_range_of(proof, other, context);
    if (!proof_is_empty(of) && bound_of(order, bits, of, &bound)) {
        push(proof, side, node, context, bound, range);
    }
}

/* A condition that is a comparison of another: "x and y", "not x". */
static uint32_t
parts_of(const struct proof *proof, uint32_t condition, bool wanted, uint32_t parts[2],
         bool wants[2])
{
    const struct ha_proof_node *node = &proof->table->nodes[condition];
    const struct ha_proof_node *nodes = proof->table->nodes;

    if (node->bits != 1) {
        return 0;
    }
    if ((node->op == HA_PROOF_AND && wanted) || (node->op == HA_PROOF_OR && !wanted)) {
        parts[0] = node->a;
        parts[1] = node->b;
        wants[0] = wants[1] = wanted;
        return 2;
    }
    if (node->op == HA_PROOF_SELECT) {
        const struct ha_proof_node *b = &nodes[node->b], *c = &nodes[node->c];
        bool both = wanted && c->op == HA_PROOF_NUMBER && c->number == 0;
        bool none = !wanted && b->op == HA_PROOF_NUMBER && b->number == 1;
        parts[0] = node->a;
        parts[1] = both ? node->b : node->c;
        wants[0] = wants[1] = wanted;
        return both || none ? 2 : 0;
    }
    if (node->op == HA_PROOF_XOR && nodes[node->b].op == HA_PROOF_NUMBER &&
        nodes[node->b].number == 1) {
        parts[0] = node->a;
        wants[0] = !wanted;
        return 1;
    }
    if (node->op == HA_PROOF_TRUNC && nodes[node->a].bits == 1) {
        parts[0] = node->a;
        wants[0] = wanted;
        return 1;
    }
    return 0;
}

static void
narrow_by(struct proof *proof, uint32_t condition, bool wanted, uint32_t node,
          uint32_t context, uint32_t depth, struct proof_range *range)
{
    const struct ha_proof_node *at = &proof->table->nodes[condition];
    uint32_t parts[2];
    bool wants[2];

    if (at->op == HA_PROOF_COMPARE) {
        enum ha_proof_order order = (enum ha_proof_order)at->number;
        order = wanted ? order : inverse(order);
        narrow_side(proof, order, at->a, at->b, node, context, range);
        narrow_side(proof, swapped(order), at->b, at->a, node, context, range);
        return;
    }
    if (condition == node && at->bits == 1) {
        apply((struct bound){.low = wanted, .high = wanted}, range);
        return;
    }
    uint32_t count = depth < 16 ? parts_of(proof, condition, wanted, parts, wants) : 0;
    for (uint32_t i = 0; i < count; i++) {
        narrow_by(proof, parts[i], wants[i], node, context, depth + 1, range);
    }
}

/* The contexts around one, the outermost first. */
static uint32_t
chain_of(const struct proof *proof, uint32_t context, uint32_t chain[CHAIN_MOST])
{
    uint32_t count = 0;

    for (uint32_t at = context; at != 0 && count < CHAIN_MOST;
         at = proof->table->contexts[at].around) {
        chain[count++] = at;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t other = chain[i];
        chain[i] = chain[count - 1 - i];
        chain[count - 1 - i] = other;
    }
    return count;
}

void
proof_narrow(struct proof *proof, uint32_t node, uint32_t context,
             struct proof_range *range)
{
    uint32_t chain[CHAIN_MOST];
    uint32_t count = chain_of(proof, context, chain);

    for (uint32_t i = 0; i < count; i++) {
        const struct ha_proof_context *at = &proof->table->contexts[chain[i]];
        narrow_by(proof, at->condition, at->wanted != 0, node, context, 0, range);
    }
}

bool
proof_is_dead(struct proof *proof, uint32_t context)
{
    for (uint32_t at = context; at != 0; at = proof->table->contexts[at].around) {
        const struct ha_proof_context *condition = &proof->table->contexts[at];
        struct proof_range range =
            proof_range_of(proof, condition->condition, condition->around);
        if (proof_is_empty(range) ||
            (proof_is_point(range) && range.low != (int64_t)condition->wanted)) {
            return true;
        }
    }
    return false;
}

/* ---- loops that end at a number ---- */

static bool
in_loop(const struct proof *proof, uint32_t node, uint32_t loop)
{
    uint32_t at = proof->table->nodes[node].loop;

    while (at != HA_PROOF_NONE && at != loop) {
        at = proof->table->loops[at].around;
    }
    return at == loop;
}

static bool
stop_by(struct proof *proof, uint32_t condition, bool wanted, uint32_t node,
        uint32_t context, uint32_t loop, uint32_t depth, struct proof_range *stop)
{
    const struct ha_proof_node *at = &proof->table->nodes[condition];
    uint32_t parts[2];
    bool wants[2];

    if (at->op == HA_PROOF_COMPARE) {
        enum ha_proof_order order = (enum ha_proof_order)at->number;
        order = wanted ? order : inverse(order);
        uint32_t other = at->a == node ? at->b : at->b == node ? at->a : HA_PROOF_NONE;
        if (order != HA_PROOF_NE || other == HA_PROOF_NONE) {
            return false;
        }
        *stop = proof_range_of(proof, other, context);
        return !proof_is_empty(*stop) &&
               (proof_is_point(*stop) || !in_loop(proof, other, loop));
    }
    uint32_t count = depth < 16 ? parts_of(proof, condition, wanted, parts, wants) : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (stop_by(proof, parts[i], wants[i], node, context, loop, depth + 1, stop)) {
            return true;
        }
    }
    return false;
}

bool
proof_stop(struct proof *proof, uint32_t node, uint32_t context, uint32_t loop,
           struct proof_range *stop)
{
    for (uint32_t at = context; at != 0; at = proof->table->contexts[at].around) {
        const struct ha_proof_context *condition = &proof->table->contexts[at];
        if (stop_by(proof, condition->condition, condition->wanted != 0, node, context,
                    loop, 0, stop)) {
            return true;
        }
    }
    return false;
}
