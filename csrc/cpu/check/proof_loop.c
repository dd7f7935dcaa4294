/* SPDX-License-Identifier: MIT */
/* What the values of a loop can be in all of its rounds.
 *
 *     for (i = s; i < n; i += step)      s, s + step, ... up to n - 1 at most
 *
 * The proof goes from round to round: a value that starts in [low, high], and that is
 * not above `high` where a round follows on another, stays there; if what is added can
 * not wrap from there.  A loop that ends at a number, `i != n`, must hit it. */
#include "cpu/check/proof_state.h"

#define ROUNDS_MOST ((int64_t)1 << 40) /* so that sums of products have room */

struct way {
    struct proof_range start, step;
    struct proof_range full;
    struct proof_range at;   /* the value itself, where a round follows */
    struct proof_range next; /* what it becomes, there */
};

static const struct ha_proof_node *
node_at(const struct proof *proof, uint32_t node)
{
    return &proof->table->nodes[node];
}

/* The other operand of `next`, if it adds to the value. */
bool
proof_step(struct proof *proof, uint32_t node, struct proof_range *step)
{
    const struct ha_proof_node *value = node_at(proof, node);
    const struct ha_proof_node *next = node_at(proof, value->b);
    uint32_t again = proof->table->loops[value->c].again;
    bool sum =
        next->op == HA_PROOF_ADD || (next->op == HA_PROOF_OR && next->disjoint != 0);

    if (sum && next->a == node && next->b != node) {
        *step = proof_range_of(proof, next->b, again);
    } else if (sum && next->b == node && next->a != node) {
        *step = proof_range_of(proof, next->a, again);
    } else if (next->op == HA_PROOF_SUB && next->a == node && next->b != node) {
        struct proof_range by = proof_range_of(proof, next->b, again);
        if (by.low == INT64_MIN) {
            return false;
        }
        *step = (struct proof_range){.low = -by.high, .high = -by.low, .twos = by.twos};
    } else {
        return false;
    }
    return !proof_is_empty(*step);
}

static bool
add(int64_t a, int64_t b, const struct proof_range *full, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum) && *sum >= full->low &&
           *sum <= full->high;
}

static int64_t
larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The number that ends the loop is hit, and by no lane passed. */
static bool
is_hit(const struct way *way, struct proof_range stop, bool up)
{
    int64_t step = way->step.low;

    if (!proof_is_point(way->step)) {
        return false;
    }
    if (step == 1 || step == -1) {
        return up ? way->start.high <= stop.low : way->start.low >= stop.high;
    }
    int64_t distance;
    return proof_is_point(way->start) && proof_is_point(stop) &&
           (up ? way->start.low <= stop.low : way->start.low >= stop.low) &&
           !__builtin_sub_overflow(stop.low, way->start.low, &distance) &&
           distance % step == 0;
}

/* The last value of a loop that goes up; false: it is not known. */
static bool
top_of(struct proof *proof, uint32_t node, const struct way *way, int64_t *top)
{
    const struct ha_proof_node *value = node_at(proof, node);
    uint32_t again = proof->table->loops[value->c].again;
    int64_t best = INT64_MAX, sum;
    struct proof_range stop;
    bool found = false;

    if (way->at.high < way->full.high &&
        add(way->at.high, way->step.high, &way->full, &sum)) {
        best = larger(way->start.high, sum);
        found = true;
    }
    if (way->next.high < way->full.high) {
        int64_t last = larger(way->start.high, way->next.high);
        if (add(last, way->step.high, &way->full, &sum)) {
            best = smaller(best, last);
            found = true;
        }
    }
    if (proof_stop(proof, value->b, again, value->c, &stop) &&
        is_hit(way, stop, true) && way->start.high < stop.low) {
        best = smaller(best, stop.high - way->step.low);
        found = true;
    }
    if (proof_stop(proof, node, again, value->c, &stop) && is_hit(way, stop, true)) {
        best = smaller(best, stop.high);
        found = true;
    }
    *top = best;
    return found;
}

/* The same downwards. */
static bool
bottom_of(struct proof *proof, uint32_t node, const struct way *way, int64_t *bottom)
{
    const struct ha_proof_node *value = node_at(proof, node);
    uint32_t again = proof->table->loops[value->c].again;
    int64_t best = INT64_MIN, sum;
    struct proof_range stop;
    bool found = false;

    if (way->at.low > way->full.low &&
        add(way->at.low, way->step.low, &way->full, &sum)) {
        best = smaller(way->start.low, sum);
        found = true;
    }
    if (way->next.low > way->full.low) {
        int64_t last = smaller(way->start.low, way->next.low);
        if (add(last, way->step.low, &way->full, &sum)) {
            best = larger(best, last);
            found = true;
        }
    }
    if (proof_stop(proof, value->b, again, value->c, &stop) &&
        is_hit(way, stop, false) && way->start.low > stop.high) {
        best = larger(best, stop.low - way->step.low);
        found = true;
    }
    if (proof_stop(proof, node, again, value->c, &stop) && is_hit(way, stop, false)) {
        best = larger(best, stop.low);
        found = true;
    }
    *bottom = best;
    return found;
}

/* A value that is shifted in each round, and starts without a sign. */
static bool
shifted(struct proof *proof, uint32_t node, const struct way *way,
        struct proof_range *range)
{
    const struct ha_proof_node *value = node_at(proof, node);
    const struct ha_proof_node *next = node_at(proof, value->b);
    uint32_t again = proof->table->loops[value->c].again;
    bool down = next->op == HA_PROOF_LSHR || next->op == HA_PROOF_ASHR ||
                next->op == HA_PROOF_UDIV || next->op == HA_PROOF_SDIV;

    if (next->a != node || way->start.low < 0 || (!down && next->op != HA_PROOF_SHL)) {
        return false;
    }
    struct proof_range by = proof_range_of(proof, next->b, again);
    bool divides = next->op == HA_PROOF_UDIV || next->op == HA_PROOF_SDIV;
    if (!proof_is_point(by) || by.low < 1 ||
        (!divides && by.low >= (int64_t)next->bits)) {
        return false;
    }
    if (down) {
        struct proof_range at = {.low = 0, .high = way->start.high};
        struct proof_range made = at;
        proof_narrow(proof, node, again, &at);
        proof_narrow(proof, value->b, again, &made);
        int64_t least = divides ? at.low / by.low : at.low >> by.low;
        least = larger(larger(least, made.low), 0);
        *range = (struct proof_range){.low = smaller(way->start.low, least),
                                      .high = way->start.high};
        return true;
    }
    int64_t last = larger(way->start.high, way->next.high), product;
    if (way->next.high >= way->full.high || last < 0 ||
        by.low >= 62 || /* products beyond do not matter */
        __builtin_mul_overflow(last, (int64_t)1 << by.low, &product) ||
        product > way->full.high) {
        return false;
    }
    *range = (struct proof_range){.low = way->start.low, .high = last};
    return true;
}

static void
look(struct proof *proof, uint32_t node, struct way *way)
{
    const struct ha_proof_node *value = node_at(proof, node);
    const struct ha_proof_loop *loop = &proof->table->loops[value->c];

    way->full = proof_full(value->bits);
    way->at = way->next = way->full;
    proof_narrow(proof, node, loop->again, &way->at);
    proof_narrow(proof, value->b, loop->again, &way->next);
}

/* By the conditions on the value itself; false: they do not bound it. */
static bool
own_range(struct proof *proof, uint32_t node, struct way *way,
          struct proof_range *range)
{
    const struct ha_proof_node *value = node_at(proof, node);
    int64_t end;

    *range = way->start;
    range->twos = 0;
    if (proof_is_empty(way->at) || proof_is_empty(way->next) ||
        proof_is_dead(proof, proof->table->loops[value->c].again)) {
        return true; /* there is no second round */
    }
    if (!proof_step(proof, node, &way->step)) {
        return shifted(proof, node, way, range);
    }
    range->twos = way->start.twos < way->step.twos ? way->start.twos : way->step.twos;
    if (way->step.low > 0 && top_of(proof, node, way, &end)) {
        range->high = larger(end, way->start.high);
        return true;
    }
    if (way->step.high < 0 && bottom_of(proof, node, way, &end)) {
        range->low = smaller(end, way->start.low);
        return true;
    }
    return way->step.low == 0 && way->step.high == 0;
}

/* Rounds that a value of the loop leaves room for. */
static int64_t
rounds_of(struct proof *proof, uint32_t node)
{
    const struct ha_proof_node *value = node_at(proof, node);
    struct way way = {
        .start = proof_range_of(proof, value->a, proof->table->loops[value->c].begin)};
    struct proof_range range;
    int64_t distance;

    if (proof_is_empty(way.start)) {
        return 0;
    }
    look(proof, node, &way);
    if (!own_range(proof, node, &way, &range)) {
        return -1;
    }
    if (!proof_step(proof, node, &way.step)) {
        return -1;
    }
    if (way.step.low > 0 &&
        !__builtin_sub_overflow(range.high, way.start.low, &distance)) {
        return distance / way.step.low;
    }
    if (way.step.high < 0 && way.step.high > -INT64_MAX &&
        !__builtin_sub_overflow(way.start.high, range.low, &distance)) {
        return distance / -way.step.high;
    }
    return -1;
}

int64_t
proof_rounds(struct proof *proof, uint32_t loop)
{
    if (proof->rounds_state[loop] == 0) {
        int64_t best = -1;
        proof->rounds_state[loop] = 1;
        for (uint32_t i = 0; i < proof->table->node_count; i++) {
            const struct ha_proof_node *node = node_at(proof, i);
            if (node->op == HA_PROOF_ROUND && node->c == loop) {
                int64_t rounds = rounds_of(proof, i);
                best = rounds >= 0 && (best < 0 || rounds < best) ? rounds : best;
            }
        }
        proof->rounds[loop] = best < ROUNDS_MOST ? best : -1;
        proof->rounds_state[loop] = 2;
    }
    return proof->rounds_state[loop] == 2 ? proof->rounds[loop] : -1;
}

struct proof_range
proof_round(struct proof *proof, uint32_t node)
{
    const struct ha_proof_node *value = node_at(proof, node);
    const struct ha_proof_loop *loop = &proof->table->loops[value->c];
    struct way way = {.start = proof_range_of(proof, value->a, loop->begin)};
    struct proof_range range;
    int64_t more, sum;

    if (proof_is_empty(way.start)) {
        return way.start;
    }
    look(proof, node, &way);
    if (own_range(proof, node, &way, &range)) {
        return range;
    }
    int64_t rounds = proof_rounds(proof, value->c);
    range = way.start;
    if (rounds < 0 || !proof_step(proof, node, &way.step)) {
        return way.full;
    }
    range.twos = way.start.twos < way.step.twos ? way.start.twos : way.step.twos;
    if (way.step.high > 0) {
        if (__builtin_mul_overflow(rounds, way.step.high, &more) ||
            !add(way.start.high, more, &way.full, &sum)) {
            return way.full;
        }
        range.high = sum;
    }
    if (way.step.low < 0) {
        if (__builtin_mul_overflow(rounds, way.step.low, &more) ||
            !add(way.start.low, more, &way.full, &sum)) {
            return way.full;
        }
        range.low = sum;
    }
    return range;
}
