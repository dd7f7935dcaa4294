/* SPDX-License-Identifier: MIT */
/* Ranges of values.  Sums are made in 128 bits; what does not fit wraps, and is any
 * value of its bits then.  Low bits do not change by that. */
#include <string.h>

#include "cpu/check/proof_state.h"

#define DEPTH_MOST 300u
#define TWOS_MOST 64u

__extension__ typedef __int128 wide;

static uint32_t
twos_of(int64_t value)
{
    return value == 0 ? TWOS_MOST : (uint32_t)__builtin_ctzll((uint64_t)value);
}

struct proof_range
proof_full(unsigned bits)
{
    if (bits == 1) {
        return (struct proof_range){.low = 0, .high = 1};
    }
    int64_t high = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;

    return (struct proof_range){.low = -high - 1, .high = high};
}

struct proof_range
proof_point(int64_t value)
{
    return (struct proof_range){.low = value, .high = value, .twos = twos_of(value)};
}

bool
proof_is_empty(struct proof_range range)
{
    return range.low > range.high;
}

bool
proof_is_point(struct proof_range range)
{
    return range.low == range.high;
}

static struct proof_range
empty(void)
{
    return (struct proof_range){.low = 1, .high = 0};
}

/* What [low, high] is in `bits` bits. */
static struct proof_range
fit(unsigned bits, wide low, wide high, uint32_t twos)
{
    struct proof_range range = proof_full(bits);

    if (low >= range.low && high <= range.high) {
        range.low = (int64_t)low;
        range.high = (int64_t)high;
    }
    range.twos = twos < TWOS_MOST ? twos : TWOS_MOST;
    return range;
}

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The least 2^k - 1 that is not below a number. */
static int64_t
mask_above(int64_t value)
{
    return value == 0 ? 0 : (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)value));
}

/* ---- operations ---- */

static struct proof_range
product(unsigned bits, struct proof_range a, struct proof_range b)
{
    wide all[4] = {(wide)a.low * b.low, (wide)a.low * b.high, (wide)a.high * b.low,
                   (wide)a.high * b.high};
    wide low = all[0], high = all[0];

    for (int i = 1; i < 4; i++) {
        low = all[i] < low ? all[i] : low;
        high = all[i] > high ? all[i] : high;
    }
    return fit(bits, low, high, a.twos + b.twos);
}

static struct proof_range
shift(const struct ha_proof_node *node, struct proof_range a, struct proof_range b)
{
    unsigned bits = node->bits;

    if (b.low < 0 || b.high >= (int64_t)bits) {
        return proof_full(bits);
    }
    if (node->op == HA_PROOF_SHL) {
        if (!proof_is_point(b)) {
            wide low = a.low < 0 ? (wide)a.low * ((wide)1 << b.high) : a.low;
            wide high = a.high < 0 ? a.high : (wide)a.high * ((wide)1 << b.high);
            return fit(bits, low, high, a.twos);
        }
        wide times = (wide)1 << b.low;
        return fit(bits, a.low * times, a.high * times, a.twos + (uint32_t)b.low);
    }
    uint32_t twos =
        proof_is_point(b) && a.twos >= (uint32_t)b.low ? a.twos - (uint32_t)b.low : 0;
    twos = twos < TWOS_MOST && a.twos < TWOS_MOST ? twos : 0;
    if (a.low >= 0) {
        return fit(bits, a.low >> b.high, a.high >> b.low, twos);
    }
    if (node->op == HA_PROOF_ASHR) {
        return fit(bits, a.low >> b.low, larger(a.high >> b.low, a.high >> b.high),
                   twos);
    }
    return b.low == 0 ? proof_full(bits)
                      : fit(bits, 0, (int64_t)(UINT64_MAX >> (64 - bits + b.low)), 0);
}

static struct proof_range
conjunction(unsigned bits, struct proof_range a, struct proof_range b)
{
    if (proof_is_point(a)) {
        struct proof_range other = a;
        a = b;
        b = other;
    }
    uint32_t twos = a.twos > b.twos ? a.twos : b.twos;
    if (proof_is_point(b)) {
        if (proof_is_point(a)) {
            return proof_point(a.low & b.low);
        }
        uint64_t rest = ~(uint64_t)b.low;
        if (b.low < 0 && (rest & (rest + 1)) == 0) { /* rounds down */
            return fit(bits, a.low & b.low, a.high & b.low, twos);
        }
        if (b.low >= 0 && b.low == mask_above(b.low) && a.low >= 0 && a.high <= b.low) {
            return a;
        }
    }
    if (a.low < 0 && b.low < 0) {
        return fit(bits, proof_full(bits).low, proof_full(bits).high, twos);
    }
    int64_t high = a.low < 0 ? b.high : b.low < 0 ? a.high : smaller(a.high, b.high);
    return fit(bits, 0, high, twos);
}

static struct proof_range
disjunction(const struct ha_proof_node *node, struct proof_range a,
            struct proof_range b)
{
    unsigned bits = node->bits;
    uint32_t twos = least(a.twos, b.twos);

    if (proof_is_point(a) && proof_is_point(b)) {
        return proof_point(node->op == HA_PROOF_OR ? a.low | b.low : a.low ^ b.low);
    }
    if (node->op == HA_PROOF_OR && node->disjoint) {
        return fit(bits, (wide)a.low + b.low, (wide)a.high + b.high, twos);
    }
    if (a.low >= 0 && b.low >= 0) {
        int64_t low = node->op == HA_PROOF_OR ? larger(a.low, b.low) : 0;
        return fit(bits, low, mask_above(a.high | b.high), twos);
    }
    if (node->op == HA_PROOF_XOR && bits > 1 && proof_is_point(b) && b.low == -1) {
        return fit(bits, -1 - (wide)a.high, -1 - (wide)a.low, 0);
    }
    return fit(bits, proof_full(bits).low, proof_full(bits).high, twos);
}

static struct proof_range
quotient(const struct ha_proof_node *node, struct proof_range a, struct proof_range b)
{
    unsigned bits = node->bits;
    bool is_signed = node->op == HA_PROOF_SDIV || node->op == HA_PROOF_SREM;
    bool rest = node->op == HA_PROOF_UREM || node->op == HA_PROOF_SREM;

    if (b.low <= 0 || (a.low < 0 && !is_signed && !rest)) {
        return proof_full(bits);
    }
    if (rest && a.low >= 0 && a.high < b.low) {
        return a;
    }
    if (rest) {
        int64_t low = is_signed && a.low < 0 ? larger(a.low, 1 - b.high) : 0;
        int64_t high = a.low >= 0 || is_signed ? smaller(larger(a.high, 0), b.high - 1)
                                               : b.high - 1;
        return fit(bits, low, high, 0);
    }
    return fit(bits, a.low >= 0 ? a.low / b.high : a.low / b.low,
               a.high >= 0 ? a.high / b.low : a.high / b.high, 0);
}

static struct proof_range
extreme(const struct ha_proof_node *node, struct proof_range a, struct proof_range b)
{
    uint32_t twos = least(a.twos, b.twos);
    bool positive = a.low >= 0 && b.low >= 0;
    unsigned bits = node->bits;

    if (node->op == HA_PROOF_SMIN || (node->op == HA_PROOF_UMIN && positive)) {
        return fit(bits, smaller(a.low, b.low), smaller(a.high, b.high), twos);
    }
    if (node->op == HA_PROOF_SMAX || (node->op == HA_PROOF_UMAX && positive)) {
        return fit(bits, larger(a.low, b.low), larger(a.high, b.high), twos);
    }
    if (node->op == HA_PROOF_UMIN && (a.low >= 0 || b.low >= 0)) {
        return fit(bits, 0, a.low >= 0 ? a.high : b.high, twos);
    }
    return fit(bits, proof_full(bits).low, proof_full(bits).high, twos);
}

static struct proof_range
binary(const struct ha_proof_node *node, struct proof_range a, struct proof_range b)
{
    uint32_t twos = least(a.twos, b.twos);

    switch ((enum ha_proof_op)node->op) {
    case HA_PROOF_ADD:
        return fit(node->bits, (wide)a.low + b.low, (wide)a.high + b.high, twos);
    case HA_PROOF_SUB:
        return fit(node->bits, (wide)a.low - b.high, (wide)a.high - b.low, twos);
    case HA_PROOF_MUL:
        return product(node->bits, a, b);
    case HA_PROOF_SHL:
    case HA_PROOF_LSHR:
    case HA_PROOF_ASHR:
        return shift(node, a, b);
    case HA_PROOF_AND:
        return conjunction(node->bits, a, b);
    case HA_PROOF_OR:
    case HA_PROOF_XOR:
        return disjunction(node, a, b);
    case HA_PROOF_UDIV:
    case HA_PROOF_SDIV:
    case HA_PROOF_UREM:
    case HA_PROOF_SREM:
        return quotient(node, a, b);
    default:
        return extreme(node, a, b);
    }
}

static struct proof_range
cast(const struct proof *proof, const struct ha_proof_node *node, struct proof_range a)
{
    unsigned from = proof->table->nodes[node->a].bits;

    if (node->op == HA_PROOF_TRUNC) {
        return fit(node->bits, a.low, a.high, a.twos);
    }
    if (node->op == HA_PROOF_SEXT && from == 1) {
        return fit(node->bits, -a.high, -a.low, 0);
    }
    if (node->op == HA_PROOF_SEXT || a.low >= 0) {
        return fit(node->bits, a.low, a.high, a.twos);
    }
    wide more = (wide)1 << from;
    return a.high < 0 ? fit(node->bits, a.low + more, a.high + more, a.twos)
                      : fit(node->bits, 0, more - 1, a.twos);
}

/* ---- comparisons ---- */

static struct proof_range
answer(bool always, bool never)
{
    return always  ? proof_point(1)
           : never ? proof_point(0)
                   : (struct proof_range){.low = 0, .high = 1};
}

/* `bits`: of what is compared; numbers of one bit have no sign here. */
static struct proof_range
compare(const struct ha_proof_node *node, unsigned bits, struct proof_range a,
        struct proof_range b)
{
    bool positive = a.low >= 0 && b.low >= 0;

    if (bits == 1 && node->number >= HA_PROOF_SLT && node->number <= HA_PROOF_SGE) {
        return proof_full(1);
    }
    switch ((enum ha_proof_order)node->number) {
    case HA_PROOF_EQ:
        return answer(proof_is_point(a) && proof_is_point(b) && a.low == b.low,
                      a.high < b.low || a.low > b.high);
    case HA_PROOF_NE:
        return answer(a.high < b.low || a.low > b.high,
                      proof_is_point(a) && proof_is_point(b) && a.low == b.low);
    case HA_PROOF_SLT:
        return answer(a.high < b.low, a.low >= b.high);
    case HA_PROOF_SLE:
        return answer(a.high <= b.low, a.low > b.high);
    case HA_PROOF_SGT:
        return answer(a.low > b.high, a.high <= b.low);
    case HA_PROOF_SGE:
        return answer(a.low >= b.high, a.high < b.low);
    case HA_PROOF_ULT:
        return answer(positive && a.high < b.low, positive && a.low >= b.high);
    case HA_PROOF_ULE:
        return answer(positive && a.high <= b.low, positive && a.low > b.high);
    case HA_PROOF_UGT:
        return answer(positive && a.low > b.high, positive && a.high <= b.low);
    case HA_PROOF_UGE:
        return answer(positive && a.low >= b.high, positive && a.high < b.low);
    }
    return answer(false, false);
}

/* ---- nodes ---- */

static struct proof_range
argument(const struct proof *proof, const struct ha_proof_node *node)
{
    const struct ha_proof_launch *launch = proof->launch;
    uint32_t bytes = node->bits < 8 ? 1 : node->bits / 8u;
    int64_t value = 0;

    if (bytes > 8 || node->b + bytes > launch->sizes[node->a].size) {
        return proof_full(node->bits);
    }
    memcpy(&value, (const char *)launch->args[node->a] + node->b, bytes);
    if (node->bits == 1) {
        return value == 0 || value == 1 ? proof_point(value) : proof_full(1);
    }
    unsigned unused = 64 - 8 * bytes;
    return proof_point((int64_t)((uint64_t)value << unused) >> unused);
}

static struct proof_range
coordinate(const struct proof *proof, const struct ha_proof_node *node)
{
    const struct ha_grid *grid = proof->launch->grid;
    uint32_t axis = (uint32_t)node->number % 3;
    uint32_t block = grid->block_dim[axis], count = grid->grid_dim[axis];

    switch ((uint32_t)node->number - axis) {
    case HA_PROOF_BLOCK_DIM:
        return proof_point(block);
    case HA_PROOF_GRID_DIM:
        return proof_point(count);
    case HA_PROOF_THREAD:
        return block == 1 ? proof_point(0) : fit(node->bits, 0, block - 1, 0);
    default:
        return count == 1 ? proof_point(0) : fit(node->bits, 0, (wide)count - 1, 0);
    }
}

static struct proof_range
begin_of(const struct proof *proof, const struct ha_proof_node *node)
{
    const struct ha_proof_root *root = &proof->table->roots[node->a];

    switch ((enum ha_check_root)root->kind) {
    case HA_ROOT_VARIABLE:
    case HA_ROOT_CONSTANT:
        return proof_point((int64_t)(intptr_t)root->address);
    case HA_ROOT_SHARED:
    case HA_ROOT_DYNAMIC:
        return proof_point((int64_t)root->offset);
    default: /* of the lane: only the alignment is known */
        return (struct proof_range){.twos = twos_of((int64_t)root->offset)};
    }
}

static struct proof_range
unite(struct proof_range a, struct proof_range b)
{
    if (proof_is_empty(a) || proof_is_empty(b)) {
        return proof_is_empty(a) ? b : a;
    }
    return (struct proof_range){.low = smaller(a.low, b.low),
                                .high = larger(a.high, b.high),
                                .twos = least(a.twos, b.twos)};
}

static struct proof_range
join(struct proof *proof, const struct ha_proof_node *node)
{
    struct proof_range all = empty();

    for (uint32_t i = 0; i < node->b; i++) {
        const struct ha_proof_edge *edge = &proof->table->edges[node->a + i];
        if (!proof_is_dead(proof, edge->context)) {
            all = unite(all, proof_range_of(proof, edge->value, edge->context));
        }
    }
    return all;
}

static struct proof_range
choice(struct proof *proof, const struct ha_proof_node *node, uint32_t context)
{
    struct proof_range by = proof_range_of(proof, node->a, context);

    if (proof_is_point(by)) {
        return proof_range_of(proof, by.low != 0 ? node->b : node->c, context);
    }
    return unite(proof_range_of(proof, node->b, context),
                 proof_range_of(proof, node->c, context));
}

/* Before the conditions of the context. */
static struct proof_range
computed(struct proof *proof, uint32_t number, uint32_t context)
{
    const struct ha_proof_node *node = &proof->table->nodes[number];
    struct proof_range a, b;

    switch ((enum ha_proof_op)node->op) {
    case HA_PROOF_UNKNOWN:
        return proof_full(node->bits);
    case HA_PROOF_NUMBER:
        return proof_point(node->number);
    case HA_PROOF_ARGUMENT:
        return argument(proof, node);
    case HA_PROOF_COORDINATE:
        return coordinate(proof, node);
    case HA_PROOF_BEGIN:
        return begin_of(proof, node);
    case HA_PROOF_SELECT:
        return choice(proof, node, context);
    case HA_PROOF_JOIN:
        return join(proof, node);
    case HA_PROOF_ROUND:
        return proof_round(proof, number);
    default:
        break;
    }
    a = proof_range_of(proof, node->a, context);
    if (proof_is_empty(a)) {
        return a;
    }
    if (node->op == HA_PROOF_TRUNC || node->op == HA_PROOF_ZEXT ||
        node->op == HA_PROOF_SEXT) {
        return cast(proof, node, a);
    }
    b = proof_range_of(proof, node->b, context);
    return proof_is_empty(b) ? b
           : node->op == HA_PROOF_COMPARE
               ? compare(node, proof->table->nodes[node->a].bits, a, b)
           : node->bits == 1 && (node->op < HA_PROOF_AND || node->op > HA_PROOF_XOR)
               ? proof_full(1)
               : binary(node, a, b);
}

struct proof_range
proof_range_of(struct proof *proof, uint32_t node, uint32_t context)
{
    size_t place = (size_t)context * proof->table->node_count + node;
    struct proof_cell *cell = &proof->cells[place];
    unsigned bits = proof->table->nodes[node].bits;

    if (proof->is_fixed[node]) {
        return proof_point(proof->fixed[node]);
    }
    if (cell->stamp == proof->stamp) {
        proof->open =
            cell->depth > 0 && cell->depth < proof->open ? cell->depth : proof->open;
        return cell->depth > 0 ? proof_full(bits) : cell->range;
    }
    if (proof->depth == DEPTH_MOST || proof->budget == 0) {
        return proof_full(bits);
    }
    cell->stamp = proof->stamp;
    cell->depth = ++proof->depth;
    proof->budget--;
    struct proof_range range = computed(proof, node, context);
    if (!proof_is_point(range) && !proof_is_empty(range)) {
        proof_narrow(proof, node, context, &range);
    }
    /* What hangs on one that is not known yet is found anew when that is. */
    bool keeps = proof->open >= proof->depth;
    cell->stamp = keeps ? proof->stamp : 0;
    proof->open = keeps ? UINT32_MAX : proof->open;
    cell->depth = 0;
    cell->range = range;
    proof->depth--;
    return range;
}
