/* SPDX-License-Identifier: MIT */
/* Exchanges are found by the addresses of pairs of accesses, a store and a later load,
 * with no barrier and no warp call between.  An address is taken apart into a root, a
 * constant, and *terms*, values times bytes:
 *
 *     s[t ^ j]            s + 4 * %xor               %xor is computed from the lane
 *     s[t + 16]           s + 64 + 4 * lane
 *     s[8 * t + i]        s + 32 * lane + 4 * %i     a part of each lane's own
 *
 * What both addresses have in common is taken away.  The rest says whether the second
 * lane can be another one of the warp.  Values of a loop are not in common where its
 * next round lies between the accesses.
 *
 * Kernels whose lanes keep to themselves, or meet at barriers, must not be found: they
 * would lose speed.  So what cannot be known counts as no exchange: rows as long as the
 * block or a parameter says, parts of a lane's own, indices from memory.  In global
 * memory only permutations of lanes count; for the rest, lanes of other blocks would be
 * in the way, too. */
#include "cpu/compile/gang/gang_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/compile/gang/gang_flow.h"
#include "cpu/compile/gang/gang_ir.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"

#define TERMS_MAX 16u
#define DEPTH_MAX 24u
#define LANES_MOST 1024 /* of a block */
#define BYTES_MOST ((int64_t)1 << 40)
#define ACCESSES_MAX 256u /* of one root, looked at in pairs */

enum term_kind { TERM_VALUE, TERM_ROUND };

struct term {
    uint32_t value; /* of rounds: the phi that grows by `bytes` a round */
    uint8_t kind;   /* enum term_kind */
    bool row;       /* a parameter, a product, or a multiple of the block's width */
    int64_t bytes;
    int64_t most; /* > 0: the value counts for no more than this, either way */
};

struct access {
    uint32_t inst;
    uint32_t root;
    int64_t constant;
    int64_t lane; /* bytes a lane */
    struct term terms[TERMS_MAX];
    uint32_t count;
    bool unknown;
    bool store;
    bool is_volatile;
};

struct search {
    struct gang_function *function;
    struct gang_flow flow;
    uint32_t width;
    uint8_t *of_lane;      /* by value: computed from the lane's index */
    uint8_t *permuted;     /* by value: by way of bits of it */
    uint8_t *of_condition; /* by value: a comparison of what is computed from it */
    struct access *accesses;
    uint32_t count;
    uint32_t *ordered; /* by block: place of the first barrier or warp call */
};

/* ---- values that depend on the lane ---- */

static bool
is_computed(const struct gang_value *value)
{
    switch (value->op) {
    case GANG_BINARY:
    case GANG_CAST:
    case GANG_SELECT:
    case GANG_PHI:
    case GANG_FREEZE:
    case GANG_PURE:
    case GANG_ADDRESS:
        return true;
    default:
        return false;
    }
}

static bool
is_bitwise(const struct gang_value *value)
{
    static const char *const words[] = {"and", "or", "xor"};

    for (size_t i = 0; value->op == GANG_BINARY && i < 3; i++) {
        if (ir_is(value->word, words[i]) &&
            ir_find(value->flags, "disjoint", 0) == SIZE_MAX) {
            return true;
        }
    }
    return false;
}

static void
find_lane_values(struct search *search)
{
    const struct gang_function *function = search->function;
    bool changed = true;

    search->of_condition = ir_alloc(function->arena, function->value_count + 1u, 1);
    search->of_lane = ir_alloc(function->arena, function->value_count + 1u, 1);
    search->permuted = ir_alloc(function->arena, function->value_count + 1u, 1);
    while (changed) {
        changed = false;
        for (uint32_t v = 0; v < function->value_count; v++) {
            const struct gang_value *value = &function->values[v];
            bool lane =
                value->op == GANG_COORDINATE && value->extra == HA_KNOWN_THREAD_X;
            bool permuted = false;
            for (uint32_t i = 0; is_computed(value) && i < value->operand_count; i++) {
                lane |= search->of_lane[value->operands[i]] != 0;
                permuted |= search->permuted[value->operands[i]] != 0;
            }
            permuted |= lane && is_bitwise(value);
            changed |= lane != (search->of_lane[v] != 0) ||
                       permuted != (search->permuted[v] != 0);
            search->of_lane[v] = lane;
            search->permuted[v] = permuted;
        }
    }
    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        search->of_condition[v] =
            value->op == GANG_COMPARE && (search->of_lane[value->operands[0]] ||
                                          search->of_lane[value->operands[1]]);
    }
}

/* ---- addresses ---- */

/* Whether a value is a multiple of the block's width: then it leads from one row of
 * lanes to another, never to another lane of the row. */
static bool
is_row(const struct gang_function *function, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &function->values[number];

    if (value->op == GANG_COORDINATE) {
        return value->extra == HA_KNOWN_BLOCK_DIM_X;
    }
    if (depth == DEPTH_MAX || value->operand_count == 0) {
        return false;
    }
    if (value->op == GANG_CAST || value->op == GANG_FREEZE) {
        return is_row(function, value->operands[0], depth + 1);
    }
    if (value->op != GANG_BINARY || value->float_op) {
        return false;
    }
    bool a = is_row(function, value->operands[0], depth + 1);
    bool b = is_row(function, value->operands[1], depth + 1);
    return ir_is(value->word, "mul")   ? a || b
           : ir_is(value->word, "shl") ? a
           : ir_is(value->word, "add") ? a && b
                                       : false;
}

/* Adds a product.  No memory is as large as what makes an access unknown. */
static void
add_bytes(struct access *access, int64_t *sum, int64_t a, int64_t b)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(*sum, product, sum) || *sum > BYTES_MOST ||
        *sum < -BYTES_MOST) {
        access->unknown = true;
        *sum = 0;
    }
}

static void
add_term(struct access *access, struct term term)
{
    for (uint32_t i = 0; i < access->count; i++) {
        if (access->terms[i].value == term.value &&
            access->terms[i].kind == term.kind) {
            add_bytes(access, &access->terms[i].bytes, term.bytes, 1);
            return;
        }
    }
    if (access->count == TERMS_MAX) {
        access->unknown = true;
        return;
    }
    access->terms[access->count++] = term;
}

static void take_apart(const struct search *search, struct access *access,
                       uint32_t number, int64_t bytes, unsigned depth);

/* i = start; i += step: the start, and rounds of the loop. */
static bool
take_counter(const struct search *search, struct access *access, uint32_t number,
             int64_t bytes, unsigned depth)
{
    const struct gang_function *function = search->function;
    const struct gang_value *phi = &function->values[number];
    uint32_t loop = search->flow.loops.inner[phi->block];
    int64_t step;

    if (loop == IR_NONE || search->flow.loops.loops[loop].header != phi->block ||
        phi->operand_count != 2) {
        return false;
    }
    uint32_t back = gang_in_loop(&search->flow, loop, phi->from_of[0]) ? 0 : 1;
    const struct gang_value *next = &function->values[phi->operands[back]];
    if (next->op != GANG_BINARY || !ir_is(next->word, "add") ||
        (next->operands[0] != number && next->operands[1] != number)) {
        return false;
    }
    uint32_t by = next->operands[next->operands[0] == number ? 1 : 0];
    struct term term = {.value = number, .kind = TERM_ROUND};
    if (gang_integer(function, by, &step)) {
        add_bytes(access, &term.bytes, bytes, step);
    } else if (is_row(function, by, 0)) {
        term.bytes = bytes;
        term.row = true;
    } else {
        return false;
    }
    add_term(access, term);
    take_apart(search, access, phi->operands[1 - back], bytes, depth + 1);
    return true;
}

static bool
take_sum(const struct search *search, struct access *access, uint32_t number,
         int64_t bytes, unsigned depth)
{
    const struct gang_value *value = &search->function->values[number];
    bool either =
        ir_is(value->word, "or") && ir_find(value->flags, "disjoint", 0) != SIZE_MAX;
    int64_t by;

    if (ir_is(value->word, "add") || ir_is(value->word, "sub") || either) {
        bool minus = ir_is(value->word, "sub");
        take_apart(search, access, value->operands[0], bytes, depth + 1);
        take_apart(search, access, value->operands[1], minus ? -bytes : bytes,
                   depth + 1);
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!gang_integer(search->function, value->operands[i], &by) || by > 1 << 24 ||
            by < -(1 << 24)) {
            continue;
        }
        if (ir_is(value->word, "mul")) {
            take_apart(search, access, value->operands[1 - i], bytes * by, depth + 1);
            return true;
        }
        if (ir_is(value->word, "xor") && by > 0) {
            take_apart(search, access, value->operands[1 - i], bytes, depth + 1);
            add_term(access,
                     (struct term){.value = number, .bytes = bytes, .most = by});
            return true;
        }
        if (ir_is(value->word, "shl") && i == 1 && by >= 0 && by < 24) {
            take_apart(search, access, value->operands[0], bytes * ((int64_t)1 << by),
                       depth + 1);
            return true;
        }
    }
    return false;
}

/* Adds `bytes` times an integer to the address. */
static void
take_apart(const struct search *search, struct access *access, uint32_t number,
           int64_t bytes, unsigned depth)
{
    const struct gang_function *function = search->function;
    const struct gang_value *value = &function->values[number];
    int64_t constant;

    if (gang_integer(function, number, &constant)) {
        add_bytes(access, &access->constant, bytes, constant);
        return;
    }
    if (value->op == GANG_COORDINATE && value->extra == HA_KNOWN_THREAD_X) {
        add_bytes(access, &access->lane, bytes, 1);
        return;
    }
    if (bytes > BYTES_MOST || bytes < -BYTES_MOST) {
        access->unknown = true;
        return;
    }
    if (depth < DEPTH_MAX && llabs(bytes) < (int64_t)1 << 32) {
        if (value->op == GANG_FREEZE ||
            (value->op == GANG_CAST && value->type.kind == GANG_INT &&
             value->from.kind == GANG_INT)) {
            take_apart(search, access, value->operands[0], bytes, depth + 1);
            return;
        }
        if (value->op == GANG_BINARY && !value->float_op &&
            take_sum(search, access, number, bytes, depth)) {
            return;
        }
        if (value->op == GANG_PHI &&
            take_counter(search, access, number, bytes, depth)) {
            return;
        }
    }
    bool row = value->op == GANG_PARAMETER || is_row(function, number, 0) ||
               (value->op == GANG_BINARY &&
                (ir_is(value->word, "mul") || ir_is(value->word, "shl")));
    add_term(access, (struct term){.value = number, .row = row, .bytes = bytes});
}

static void
take_pointer(const struct search *search, struct access *access, uint32_t number)
{
    const struct gang_function *function = search->function;

    for (unsigned depth = 0;; depth++) {
        const struct gang_value *value = &function->values[number];
        access->root = number;
        if (depth == DEPTH_MAX ||
            (value->op != GANG_ADDRESS &&
             (value->op != GANG_CAST || value->from.kind != GANG_POINTER))) {
            return;
        }
        if (value->op == GANG_ADDRESS) {
            add_bytes(access, &access->constant, value->offset, 1);
        }
        for (uint32_t i = 1; i < value->operand_count; i++) {
            take_apart(search, access, value->operands[i], value->scales[i], 0);
        }
        number = value->operands[0];
    }
}

static bool
is_shared(const struct search *search, const struct access *access)
{
    enum gang_op op = search->function->values[access->root].op;

    return op == GANG_SHARED || op == GANG_DYNAMIC;
}

/* Memory that no other lane has an address of: arrays and records of the lane. */
static bool
is_own(const struct gang_function *function, uint32_t root)
{
    const struct gang_value *value = &function->values[root];

    return value->op == GANG_ALLOCA || value->op == GANG_CONSTANT ||
           (value->op == GANG_PARAMETER &&
            function->source->params[value->extra].byval.size > 0);
}

static void
add_access(struct search *search, uint32_t inst, uint32_t pointer, bool store)
{
    const struct gang_value *value = &search->function->values[inst];
    struct access access = {
        .inst = inst, .store = store, .is_volatile = value->is_volatile};

    take_pointer(search, &access, pointer);
    if (is_own(search->function, access.root) || access.unknown ||
        search->count == ACCESSES_MAX) {
        return;
    }
    search->accesses[search->count++] = access;
}

static void
find_accesses(struct search *search)
{
    const struct gang_function *function = search->function;

    search->accesses =
        ir_alloc(function->arena, ACCESSES_MAX, sizeof *search->accesses);
    search->ordered =
        ir_alloc(function->arena, function->block_count + 1u, sizeof *search->ordered);
    for (uint32_t at = 0; at < search->flow.count; at++) {
        uint32_t b = search->flow.at[at];
        search->ordered[b] = UINT32_MAX;
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            uint32_t number = function->blocks[b].insts[i];
            const struct gang_value *value = &function->values[number];
            switch (value->op) {
            case GANG_LOAD:
                add_access(search, number, value->operands[0], false);
                break;
            case GANG_COPY:
                add_access(search, number, value->operands[1], false);
                add_access(search, number, value->operands[0], true);
                break;
            case GANG_STORE:
            case GANG_FILL:
                add_access(search, number, value->operands[0], true);
                break;
            case GANG_BARRIER:
            case GANG_WARP:
                search->ordered[b] = i < search->ordered[b] ? i : search->ordered[b];
                break;
            default:
                break;
            }
        }
    }
}

/* ---- pairs ---- */

/* What two addresses do not have in common. */
struct rest {
    int64_t constant;
    int64_t step;  /* bytes from one lane's cell to the next one's */
    bool lane;     /* values that are computed from the lane */
    bool permuted; /* one of the addresses has bits of the lane in it */
    bool other;    /* multiples of `step` that do not depend on the lane */
    bool inner;    /* less than `step` */
    bool rows;     /* from one row of lanes to another */
};

static const struct term *
find_term(const struct access *access, const struct term *like)
{
    for (uint32_t i = 0; i < access->count; i++) {
        if (access->terms[i].value == like->value &&
            access->terms[i].kind == like->kind) {
            return &access->terms[i];
        }
    }
    return NULL;
}

/* The most that a value can be, if its bits say so; else INT64_MAX. */
static int64_t
most_of(const struct gang_function *function, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &function->values[number];
    int64_t constant;

    if (gang_integer(function, number, &constant)) {
        return constant < 0 ? INT64_MAX : constant;
    }
    if (depth == 4 || value->operand_count == 0) {
        return INT64_MAX;
    }
    int64_t a = most_of(function, value->operands[0], depth + 1);
    if (value->op == GANG_CAST && ir_is(value->word, "zext")) {
        return value->from.bits == 1 ? 1 : a;
    }
    if (value->op != GANG_BINARY || value->float_op) {
        return INT64_MAX;
    }
    int64_t b = most_of(function, value->operands[1], depth + 1);
    if (ir_is(value->word, "and")) {
        return a < b ? a : b;
    }
    if (ir_is(value->word, "urem")) {
        return b > 0 && b < INT64_MAX ? b - 1 : INT64_MAX;
    }
    bool bits = ir_is(value->word, "xor") || ir_is(value->word, "or");
    if (!bits || a >= 1 << 24 || b >= 1 << 24) {
        return INT64_MAX;
    }
    int64_t most = 1;
    while (most <= a || most <= b) {
        most *= 2;
    }
    return most - 1;
}

/* Whether a term of the lane stays within the part that is the lane's own. */
static bool
is_inner(const struct search *search, const struct term *term, int64_t step)
{
    int64_t most =
        term->most > 0 ? term->most : most_of(search->function, term->value, 0);

    return most < 1 << 24 && llabs(term->bytes) * most < step;
}

/* Whether a value can be another one when the loop has done a round. */
static bool
changes_in(const struct search *search, uint32_t loop, uint32_t value)
{
    uint32_t block = search->function->values[value].block;

    return loop != IR_NONE && block != GANG_NONE &&
           gang_in_loop(&search->flow, loop, block);
}

static void
add_rest(const struct search *search, const struct access *from,
         const struct access *other, uint32_t loop, bool twice, struct rest *rest)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct term *term = &from->terms[i];
        const struct term *same = find_term(other, term);
        bool lane = term->kind == TERM_VALUE && search->of_lane[term->value];
        rest->permuted |= term->kind == TERM_VALUE && search->permuted[term->value];
        if (same != NULL && (twice || (same->bytes == term->bytes &&
                                       !changes_in(search, loop, term->value)))) {
            continue;
        }
        if (lane && !term->row && !is_inner(search, term, rest->step)) {
            rest->lane = true;
        } else if (term->row || term->bytes % (rest->step * search->width) == 0) {
            rest->rows = true;
        } else if (llabs(term->bytes) < rest->step) {
            rest->inner = true;
        } else {
            rest->other = true;
        }
    }
}

/* Bytes from the cell of a lane to the next one's: those of the lane's index, or the
 * least of what is computed from it. */
static int64_t
step_of(const struct search *search, const struct access *access)
{
    int64_t step = llabs(access->lane);

    for (uint32_t i = 0; step == 0 && i < access->count; i++) {
        if (access->terms[i].kind == TERM_VALUE && !access->terms[i].row &&
            search->of_lane[access->terms[i].value]) {
            step = llabs(access->terms[i].bytes);
        }
    }
    return step;
}

/* Whether load `b` may find what store `a` of another lane left, with rounds of `loop`
 * between (IR_NONE: none). */
static bool
may_meet(const struct search *search, const struct access *a, const struct access *b,
         uint32_t loop)
{
    int64_t step = step_of(search, a);
    struct rest rest = {.constant = b->constant - a->constant, .step = step};

    if (step == 0) {
        return false; /* all lanes store to one cell */
    }
    add_rest(search, a, b, loop, false, &rest);
    add_rest(search, b, a, loop, true, &rest);
    bool exchanged = rest.lane || rest.other;
    if (!exchanged && !rest.rows && !rest.inner) {
        int64_t cells = rest.constant / step;
        exchanged = a->lane == b->lane
                        ? rest.constant != 0 && rest.constant % step == 0 &&
                              llabs(cells) < search->width
                        : llabs(cells) < LANES_MOST;
    }
    bool exact = is_shared(search, a) || (a->is_volatile && b->is_volatile);
    return exchanged && (exact || rest.permuted);
}

/* ---- lanes that are there ---- */

/* The branch that decides whether lanes come from `up` to `block`, by the lane; or
 * GANG_NONE. */
static uint32_t
lane_branch(const struct search *search, uint32_t up, uint32_t block)
{
    const struct gang_block *at = &search->function->blocks[up];
    const struct gang_value *end = &search->function->values[at->insts[at->count - 1]];

    return end->op == GANG_BRANCH && end->operand_count > 0 && up != block &&
                   search->of_condition[end->operands[0]] &&
                   !gang_postdominates(&search->flow, block, up)
               ? end->operands[0]
               : GANG_NONE;
}

/* if (t == 0): one lane only.  if (t < w), if (t == 0): some lanes. */
static bool
is_guarded(const struct search *search, uint32_t block, bool by_equality)
{
    for (uint32_t up = block; search->flow.dom[up] != up;) {
        up = search->flow.dom[up];
        uint32_t condition = lane_branch(search, up, block);
        if (condition == GANG_NONE) {
            continue;
        }
        struct ir_slice word = search->function->values[condition].word;
        if (!by_equality || ir_is(word, "eq") || ir_is(word, "ne")) {
            return true;
        }
    }
    return false;
}

/* In the last round of a tree, lane 0 stores what lane 0 loads behind it. */
static bool
is_last_of_tree(const struct search *search, const struct access *store,
                const struct access *load)
{
    const struct gang_value *values = search->function->values;

    return step_of(search, load) == 0 &&
           is_guarded(search, values[load->inst].block, true) &&
           is_guarded(search, values[store->inst].block, false);
}

/* ---- paths ---- */

/* Where one can come from an access without a barrier: by block and by the outermost of
 * the access' loops of which another round was begun on the way. */
struct reach {
    uint32_t loops[32]; /* around the access, innermost first */
    uint32_t count;
    uint8_t *begun; /* block * (count + 1) + loops: the begin of the block */
};

static void
visit(const struct search *search, struct reach *reach, uint32_t from, uint32_t loops,
      uint32_t *stack, uint32_t *height)
{
    const struct gang_block *block = &search->function->blocks[from];

    for (uint32_t i = 0; i < block->next_count; i++) {
        uint32_t to = block->next[i];
        uint32_t now = loops;
        for (uint32_t k = loops; k < reach->count; k++) {
            if (search->flow.loops.loops[reach->loops[k]].header == to &&
                gang_in_loop(&search->flow, reach->loops[k], from)) {
                now = k + 1;
            }
        }
        uint32_t at = to * (reach->count + 1) + now;
        if (!reach->begun[at]) {
            reach->begun[at] = 1;
            stack[(*height)++] = at;
        }
    }
}

static void
find_reach(const struct search *search, const struct access *access,
           struct reach *reach)
{
    const struct gang_function *function = search->function;
    const struct gang_value *value = &function->values[access->inst];
    uint32_t height = 0;

    *reach = (struct reach){0};
    for (uint32_t loop = search->flow.loops.inner[value->block];
         loop != IR_NONE && reach->count < 32;
         loop = search->flow.loops.loops[loop].outer) {
        reach->loops[reach->count++] = loop;
    }
    uint32_t states = function->block_count * (reach->count + 1);
    reach->begun = ir_alloc(function->arena, states + 1u, 1);
    uint32_t *stack = ir_alloc(function->arena, states + 1u, sizeof *stack);
    bool stopped = false;
    for (uint32_t i = value->place; i < function->blocks[value->block].count; i++) {
        enum gang_op op = function->values[function->blocks[value->block].insts[i]].op;
        stopped |= op == GANG_BARRIER || op == GANG_WARP;
    }
    if (!stopped) {
        visit(search, reach, value->block, 0, stack, &height);
    }
    while (height > 0) {
        uint32_t at = stack[--height];
        uint32_t block = at / (reach->count + 1);
        if (search->ordered[block] == UINT32_MAX) {
            visit(search, reach, block, at % (reach->count + 1), stack, &height);
        }
    }
}

/* Whether no barrier stands between two accesses of one block. */
static bool
follows(const struct search *search, const struct gang_value *a,
        const struct gang_value *b)
{
    const struct gang_block *block = &search->function->blocks[a->block];

    if (a->block != b->block || a->place > b->place) {
        return false;
    }
    for (uint32_t i = a->place; i < b->place; i++) {
        enum gang_op op = search->function->values[block->insts[i]].op;
        if (op == GANG_BARRIER || op == GANG_WARP) {
            return false;
        }
    }
    return true;
}

static bool
exchanges_after(const struct search *search, const struct access *a,
                const struct access *b, const struct reach *reach)
{
    const struct gang_value *first = &search->function->values[a->inst];
    const struct gang_value *second = &search->function->values[b->inst];

    if (follows(search, first, second) && may_meet(search, a, b, IR_NONE)) {
        return true;
    }
    for (uint32_t k = 0; k <= reach->count; k++) {
        uint32_t loop = k == 0 ? IR_NONE : reach->loops[k - 1];
        if (reach->begun[second->block * (reach->count + 1) + k] &&
            second->place <= search->ordered[second->block] &&
            may_meet(search, a, b, loop)) {
            return true;
        }
    }
    return false;
}

/* Whether the addresses alone allow for an exchange, whatever lies between. */
static bool
is_worth_it(const struct search *search, const struct access *a, const struct access *b)
{
    uint32_t outer = IR_NONE;

    for (uint32_t loop =
             search->flow.loops.inner[search->function->values[a->inst].block];
         loop != IR_NONE; loop = search->flow.loops.loops[loop].outer) {
        outer = loop;
    }
    return may_meet(search, a, b, IR_NONE) || may_meet(search, a, b, outer);
}

static const struct access *
find_exchange(const struct search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        const struct access *a = &search->accesses[i];
        struct reach reach = {0};
        for (uint32_t k = 0; k < search->count; k++) {
            const struct access *b = &search->accesses[k];
            if (a->root != b->root || !a->store || b->store ||
                !is_worth_it(search, a, b) || is_last_of_tree(search, a, b)) {
                continue;
            }
            if (reach.begun == NULL) {
                find_reach(search, a, &reach);
            }
            if (exchanges_after(search, a, b, &reach)) {
                return a;
            }
        }
    }
    return NULL;
}

/* ---- the whole ---- */

/* A function of its own, so that no local survives the jump of gang_refuse. */
static const struct access *
try_search(struct gang_function *function, struct search *search)
{
    if (setjmp(function->refused) != 0) {
        return NULL;
    }
    gang_read(function);
    gang_flow_read(function, &search->flow);
    find_accesses(search);
    find_lane_values(search);
    return find_exchange(search);
}

static bool
may_exchange(const struct ir_function *function)
{
    bool store = false;
    bool load = false;

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            const struct ir_inst *inst = &function->blocks[b].insts[i];
            bool copy = ir_begins(inst->callee, "@llvm.mem");
            store |= copy || ir_is(inst->op, "store");
            load |= copy || ir_is(inst->op, "load");
        }
    }
    return store && load;
}

bool
ha_gang_exchanges(struct ha_rewriter *rewriter, uint32_t number, struct ir_slice *why)
{
    struct gang_function function = {.rewriter = rewriter,
                                     .source = &rewriter->module.functions[number],
                                     .number = number,
                                     .arena = rewriter->arena};
    struct search search = {.function = &function, .width = rewriter->warp_size};

    if (!may_exchange(function.source)) {
        return false;
    }
    const struct access *found = try_search(&function, &search);
    if (found == NULL) {
        return false;
    }
    const struct gang_value *root = &function.values[found->root];
    struct ir_slice name = ir_slice_of(
        root->op == GANG_DYNAMIC ? "dynamic shared memory" : "global memory");
    if (root->op == GANG_SHARED) {
        name = rewriter->shared[root->extra].name;
        name = ir_format(rewriter->arena, "the shared variable %.*s",
                         IR_ARGS(ir_part(name, 1, name.size)));
    }
    *why = ir_format(rewriter->arena,
                     "lanes of a warp exchange through %.*s without a barrier",
                     IR_ARGS(name));
    return true;
}
