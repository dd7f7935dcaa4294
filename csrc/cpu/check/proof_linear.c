/* SPDX-License-Identifier: MIT */
/* Values as linear functions of coordinates and rounds.
 *
 *     (block_y * 16 + thread_y) * pitch + x      16 pitch block_y + pitch thread_y +
 * ...
 *
 * That holds where no operation on the way wraps, which ranges tell.  The *parts* of an
 * address are values that conditions may bound better than coordinates do: of
 * row * pitch + col with col < width, no more than width bytes a row are touched. */
#include <string.h>

#include "cpu/check/proof_state.h"

#define DEPTH_MOST 64u

__extension__ typedef __int128 wide;

struct walk {
    struct proof *proof;
    struct proof_address *address;
    uint32_t context;
    uint32_t depth;
};

static struct proof_form form_of(struct walk *walk, uint32_t node);

static struct proof_form
rest_of(struct proof_range range)
{
    return (struct proof_form){.low = range.low, .high = range.high};
}

/* ---- sums; false where a number has no room ---- */

static bool
add_scaled(struct proof_form *sum, const struct proof_form *form, int64_t times)
{
    int64_t product, low, high;

    for (unsigned v = 0; v < PROOF_VARIABLES; v++) {
        if (__builtin_mul_overflow(form->factor[v], times, &product) ||
            __builtin_add_overflow(sum->factor[v], product, &sum->factor[v])) {
            return false;
        }
    }
    if (__builtin_mul_overflow(form->constant, times, &product) ||
        __builtin_add_overflow(sum->constant, product, &sum->constant) ||
        __builtin_mul_overflow(form->low, times, &low) ||
        __builtin_mul_overflow(form->high, times, &high)) {
        return false;
    }
    return !__builtin_add_overflow(sum->low, times < 0 ? high : low, &sum->low) &&
           !__builtin_add_overflow(sum->high, times < 0 ? low : high, &sum->high);
}

/* Whether low and high are numbers of so many bits. */
static bool
fits(unsigned bits, wide low, wide high)
{
    struct proof_range full = proof_full(bits);

    return bits > 1 && low >= full.low && high <= full.high;
}

static struct proof_form
sum_of(struct walk *walk, const struct ha_proof_node *node, struct proof_range range)
{
    struct proof_range a = proof_range_of(walk->proof, node->a, walk->context);
    struct proof_range b = proof_range_of(walk->proof, node->b, walk->context);
    bool less = node->op == HA_PROOF_SUB;
    wide low = (wide)a.low + (less ? -(wide)b.high : b.low);
    wide high = (wide)a.high + (less ? -(wide)b.low : b.high);

    if (!fits(node->bits, low, high)) {
        return rest_of(range);
    }
    struct proof_form sum = form_of(walk, node->a);
    struct proof_form other = form_of(walk, node->b);
    return add_scaled(&sum, &other, less ? -1 : 1) ? sum : rest_of(range);
}

static struct proof_form
product_of(struct walk *walk, const struct ha_proof_node *node,
           struct proof_range range)
{
    struct proof_range a = proof_range_of(walk->proof, node->a, walk->context);
    struct proof_range b = proof_range_of(walk->proof, node->b, walk->context);
    uint32_t of = node->a;
    struct proof_form product = {0};

    if (node->op == HA_PROOF_SHL) {
        if (!proof_is_point(b) || b.low < 0 || b.low > 62 || b.low >= node->bits) {
            return rest_of(range);
        }
        b = proof_point((int64_t)1 << b.low);
    } else if (!proof_is_point(b)) {
        struct proof_range other = a;
        a = b;
        b = other;
        of = node->b;
    }
    wide low = (wide)a.low * b.low, high = (wide)a.high * b.low;
    if (!proof_is_point(b) ||
        !fits(node->bits, low < high ? low : high, low < high ? high : low)) {
        return rest_of(range);
    }
    struct proof_form form = form_of(walk, of);
    return add_scaled(&product, &form, b.low) ? product : rest_of(range);
}

/* ~x is -1 - x, which does not wrap. */
static struct proof_form
inverse_of(struct walk *walk, const struct ha_proof_node *node,
           struct proof_range range)
{
    struct proof_range b = proof_range_of(walk->proof, node->b, walk->context);
    struct proof_form inverse = {.constant = -1};

    if (node->bits == 1 || !proof_is_point(b) || b.low != -1) {
        return rest_of(range);
    }
    struct proof_form form = form_of(walk, node->a);
    return add_scaled(&inverse, &form, -1) ? inverse : rest_of(range);
}

/* start + step * the number of the round */
static struct proof_form
round_form(struct walk *walk, uint32_t number, struct proof_range range)
{
    struct proof *proof = walk->proof;
    const struct ha_proof_node *node = &proof->table->nodes[number];
    struct proof_range step, full = proof_full(node->bits);
    struct proof_range all = proof_round(proof, number);

    if (node->c >= PROOF_LOOPS || (all.low == full.low && all.high == full.high) ||
        !proof_step(proof, number, &step) || !proof_is_point(step) ||
        proof_rounds(proof, node->c) < 0) {
        return rest_of(range);
    }
    uint32_t context = walk->context;
    walk->context = proof->table->loops[node->c].begin;
    struct proof_form form = form_of(walk, node->a);
    walk->context = context;
    return __builtin_add_overflow(form.factor[PROOF_LANES + node->c], step.low,
                                  &form.factor[PROOF_LANES + node->c])
               ? rest_of(range)
               : form;
}

static struct proof_form
coordinate_form(const struct ha_proof_node *node)
{
    struct proof_form form = {0};

    form.factor[node->number] = 1;
    return form;
}

/* What a node is that only may be another one. */
static uint32_t
same_as(struct walk *walk, const struct ha_proof_node *node)
{
    struct proof *proof = walk->proof;
    struct proof_range a = proof_range_of(proof, node->a, walk->context), b;

    switch ((enum ha_proof_op)node->op) {
    case HA_PROOF_SEXT:
        return proof->table->nodes[node->a].bits > 1 ? node->a : HA_PROOF_NONE;
    case HA_PROOF_ZEXT:
        return proof->table->nodes[node->a].bits > 1 && a.low >= 0 ? node->a
                                                                   : HA_PROOF_NONE;
    case HA_PROOF_TRUNC:
        return fits(node->bits, a.low, a.high) ? node->a : HA_PROOF_NONE;
    case HA_PROOF_SELECT:
        return proof_is_point(a) ? (a.low != 0 ? node->b : node->c) : HA_PROOF_NONE;
    case HA_PROOF_AND:
        b = proof_range_of(proof, node->b, walk->context);
        return proof_is_point(b) && b.low > 0 && (b.low & (b.low + 1)) == 0 &&
                       b.low < INT64_MAX && a.low >= 0 && a.high <= b.low
                   ? node->a
                   : HA_PROOF_NONE;
    case HA_PROOF_UREM:
        b = proof_range_of(proof, node->b, walk->context);
        return a.low >= 0 && a.high < b.low ? node->a : HA_PROOF_NONE;
    default:
        return HA_PROOF_NONE;
    }
}

static struct proof_form
operation_form(struct walk *walk, uint32_t number, struct proof_range range)
{
    const struct ha_proof_node *node = &walk->proof->table->nodes[number];
    uint32_t same;

    switch ((enum ha_proof_op)node->op) {
    case HA_PROOF_COORDINATE:
        return node->number < PROOF_LANES ? coordinate_form(node) : rest_of(range);
    case HA_PROOF_ADD:
    case HA_PROOF_SUB:
        return sum_of(walk, node, range);
    case HA_PROOF_OR:
        return node->disjoint ? sum_of(walk, node, range) : rest_of(range);
    case HA_PROOF_XOR:
        return inverse_of(walk, node, range);
    case HA_PROOF_MUL:
    case HA_PROOF_SHL:
        return product_of(walk, node, range);
    case HA_PROOF_ROUND:
        return round_form(walk, number, range);
    case HA_PROOF_TRUNC:
    case HA_PROOF_ZEXT:
    case HA_PROOF_SEXT:
    case HA_PROOF_SELECT:
    case HA_PROOF_AND:
    case HA_PROOF_UREM:
        same = same_as(walk, node);
        return same != HA_PROOF_NONE ? form_of(walk, same) : rest_of(range);
    default:
        return rest_of(range);
    }
}

static bool
varies(const struct proof_form *form)
{
    for (unsigned v = 0; v < PROOF_VARIABLES; v++) {
        if (form->factor[v] != 0) {
            return true;
        }
    }
    return false;
}

/* Of one number, whether no coordinate is in it, as far as its operation tells. */
static bool
is_same_for_all(const struct proof *proof, uint32_t node)
{
    const struct ha_proof_node *at = &proof->table->nodes[node];

    return at->op == HA_PROOF_NUMBER || at->op == HA_PROOF_ARGUMENT ||
           at->op == HA_PROOF_BEGIN || at->op == HA_PROOF_ROUND ||
           (at->op == HA_PROOF_COORDINATE && at->number >= (int64_t)PROOF_LANES);
}

/* A value that may bound the address better than what it is made of. */
static void
note_part(struct walk *walk, uint32_t node, const struct proof_form *form)
{
    struct proof_address *address = walk->address;

    if (!varies(form) || form->low != 0 || form->high != 0 ||
        address->part_count == PROOF_PARTS_MOST) {
        return;
    }
    for (uint32_t i = 0; i < address->part_count; i++) {
        if (address->parts[i].node == node) {
            return;
        }
    }
    address->parts[address->part_count++] =
        (struct proof_part){.node = node, .form = *form};
}

static struct proof_form
form_of(struct walk *walk, uint32_t node)
{
    struct proof *proof = walk->proof;
    struct proof_range range = proof_range_of(proof, node, walk->context);
    struct proof_form form = {0};

    bool one = proof_is_point(range);
    form.constant = range.low;
    /* Coordinates stay, also where a condition leaves one number of them: so the form
     * is that of other accesses. */
    if (one && (proof->is_fixed[node] || is_same_for_all(proof, node))) {
        return form;
    }
    if (walk->depth == DEPTH_MOST || proof->budget == 0 || proof_is_empty(range)) {
        return rest_of(range);
    }
    walk->depth++;
    proof->budget--;
    struct proof_form made = operation_form(walk, node, range);
    walk->depth--;
    if (one && !varies(&made)) {
        return form;
    }
    note_part(walk, node, &made);
    return made;
}

/* The sides of conditions are parts, too: `if (i == 0) a[block] = ...`. */
static void
note_sides(struct walk *walk, uint32_t condition, uint32_t depth)
{
    const struct ha_proof_node *node = &walk->proof->table->nodes[condition];

    if (node->op == HA_PROOF_COMPARE) {
        (void)form_of(walk, node->a);
        (void)form_of(walk, node->b);
    } else if (depth < 8 && node->bits == 1 &&
               (node->op == HA_PROOF_AND || node->op == HA_PROOF_OR ||
                node->op == HA_PROOF_XOR || node->op == HA_PROOF_SELECT)) {
        note_sides(walk, node->a, depth + 1);
        note_sides(walk, node->b, depth + 1);
        if (node->op == HA_PROOF_SELECT) {
            note_sides(walk, node->c, depth + 1);
        }
    }
}

void
proof_linear(struct proof *proof, struct proof_address *address)
{
    struct walk walk = {
        .proof = proof, .address = address, .context = address->access->context};

    address->part_count = 0;
    address->form = form_of(&walk, address->access->address);
    for (uint32_t at = address->access->context; at != 0;
         at = proof->table->contexts[at].around) {
        note_sides(&walk, proof->table->contexts[at].condition, 0);
    }
}

/* ---- ranges of forms ---- */

int64_t
proof_variable(struct proof *proof, unsigned variable)
{
    const struct ha_grid *grid = proof->launch->grid;

    return variable >= PROOF_LANES ? proof_rounds(proof, variable - PROOF_LANES)
           : variable >= (unsigned)HA_PROOF_BLOCK
               ? (int64_t)grid->grid_dim[variable - HA_PROOF_BLOCK] - 1
               : (int64_t)grid->block_dim[variable] - 1;
}

/* What a form can be by its variables alone; false: nothing is known. */
static bool
add_variables(struct proof *proof, const struct proof_form *form, wide *low, wide *high)
{
    *low = *high = form->constant;
    *low += form->low;
    *high += form->high;
    for (unsigned v = 0; v < PROOF_VARIABLES; v++) {
        int64_t most = form->factor[v] != 0 ? proof_variable(proof, v) : 0;
        if (most < 0) {
            return false;
        }
        wide far = (wide)form->factor[v] * most;
        *low += far < 0 ? far : 0;
        *high += far > 0 ? far : 0;
    }
    return true;
}

/* How often a part is in a form, with all of its variables; 0: it is not. */
static int64_t
times_in(const struct proof_form *part, const struct proof_form *form)
{
    int64_t times = 0;

    for (unsigned v = 0; v < PROOF_VARIABLES; v++) {
        if (part->factor[v] == 0) {
            continue;
        }
        if (form->factor[v] == INT64_MIN || form->factor[v] % part->factor[v] != 0) {
            return 0;
        }
        int64_t here = form->factor[v] / part->factor[v];
        if (here == 0 || (times != 0 && times != here)) {
            return 0;
        }
        times = here;
    }
    return times;
}

/* The part whose place in the form is narrowed most by what is known of it. */
static bool
take_best(struct proof *proof, const struct proof_address *address,
          struct proof_form *left, wide *low, wide *high)
{
    const struct proof_part *best = NULL;
    wide most = 0;

    for (uint32_t i = 0; i < address->part_count; i++) {
        const struct proof_part *part = &address->parts[i];
        int64_t times = times_in(&part->form, left);
        wide from, to;
        if (times == 0 || times == INT64_MIN ||
            !add_variables(proof, &part->form, &from, &to)) {
            continue;
        }
        struct proof_range range =
            proof_range_of(proof, part->node, address->access->context);
        wide gain = (to - from) - ((wide)range.high - range.low);
        gain *= times < 0 ? -times : times;
        if (!proof_is_empty(range) && gain > most) {
            most = gain;
            best = part;
        }
    }
    if (best == NULL) {
        return false;
    }
    int64_t times = times_in(&best->form, left);
    struct proof_range range =
        proof_range_of(proof, best->node, address->access->context);
    if (!add_scaled(left, &best->form, -times)) {
        return false;
    }
    *low += (wide)times * (times < 0 ? range.high : range.low);
    *high += (wide)times * (times < 0 ? range.low : range.high);
    return true;
}

struct proof_range
proof_form_range(struct proof *proof, const struct proof_address *address)
{
    struct proof_range range = address->range;
    struct proof_form left = address->form;
    wide low = 0, high = 0, from, to;

    while (take_best(proof, address, &left, &low, &high)) {
    }
    if (!add_variables(proof, &left, &from, &to)) {
        return range;
    }
    low += from;
    high += to;
    if (low > range.high || high < range.low) {
        return (struct proof_range){.low = 1, .high = 0};
    }
    range.low = low > range.low ? (int64_t)low : range.low;
    range.high = high < range.high ? (int64_t)high : range.high;
    return range;
}
