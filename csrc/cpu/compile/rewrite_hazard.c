/* SPDX-License-Identifier: MIT */
/* Whether a row of lanes may be declared free of dependences.
 *
 * `llvm.loop.parallel_accesses` says that accesses of different lanes are independent.
 * The vectoriser takes it for more: it also moves accesses of one lane past each other
 * where it gathers neighbours (a[2 * i], a[2 * i + 1]) into one wide access.  Loads
 * move up to the first of the group, stores move down to the last.  So a lane that
 * writes memory and then touches it again under another name would see the wrong value.
 *
 * Only accesses with gaps between lanes are gathered.  An access is *dense* if lanes
 * touch neighbouring elements, or all the same one; everything else may be gathered.
 * The declaration is made if no store that may be gathered comes before another access
 * of possibly the same memory, and no load that may be gathered comes after a store.
 *
 *     a[2 * t] = 1; a[2 * t + 1] = 3;      store   root          offset  size  dense
 *                                          yes     %arrayidx     0       4     no
 *                                          yes     %arrayidx7    0       4     no
 *
 * The roots are two values, so their distance is not known here.  Both are made of the
 * parameter %a, and the first store may be gathered: the second one may write the same
 * bytes, so the declaration is not made.
 *
 * The back end may unroll a loop inside of a lane.  So a pointer that is made on a
 * cycle has several values, and accesses of all rounds count: offsets from it are
 * compared within a round, and with the pointer's own step from round to round. */
#include "cpu/compile/rewrite_hazard.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/compile/ir_flow.h"
#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"

#define ACCESSES_MAX 512u
#define DEPTH_MAX 32u
/* A loop that can be unrolled has too few rounds to go around 32 bits in such steps. */
#define STEP_MAX ((int64_t)1 << 20)

/* How a value changes from one lane of a row to the next, or from one round of a loop
 * to the next. */
struct stride {
    bool known;
    int64_t step;
};

struct access {
    uint32_t block;
    bool store;
    bool dense;
    struct ir_slice root; /* pointer, without constant offsets */
    uint32_t loop;        /* in which the root is made, or IR_NONE */
    struct stride round;  /* of the root in that loop */
    int64_t offset;       /* bytes behind the root */
    int64_t size;
    const struct ir_param *param; /* that the pointer is made of, or NULL */
};

/* What was found out about all instructions, for lanes or for one loop. */
struct strides {
    uint32_t loop;       /* IR_NONE: from lane to lane, where these differ in ... */
    enum ha_known along; /* ... this one */
    struct stride *of;
    uint8_t *done; /* a flag per instruction: values are shared, so that a walk without
                      memory could take exponential time */
};

struct hazard {
    struct ha_rewriter *rewriter;
    const struct ir_function *function;
    const struct ir_values *values;
    struct access accesses[ACCESSES_MAX];
    uint32_t count;
    struct ir_flow flow;
    struct strides *lanes;
    struct strides **loops; /* per loop; NULL: not asked for yet */
    uint8_t *reach; /* block * block_count + block: a path of at least one edge */
};

static const struct stride unknown_stride = {false, 0};

static bool
is_far(int64_t step)
{
    return step > STEP_MAX || step < -STEP_MAX;
}

static const struct ir_inst *
definition(const struct hazard *hazard, struct ir_slice value)
{
    uint32_t number;

    return ir_values_find(hazard->values, value, &number);
}

static const struct ir_param *
param_named(const struct hazard *hazard, struct ir_slice value)
{
    for (uint32_t i = 0; i < hazard->function->param_count; i++) {
        if (ir_same(hazard->function->params[i].name, value)) {
            return &hazard->function->params[i];
        }
    }
    return NULL;
}

static bool
is_constant(struct ir_slice value, int64_t *result)
{
    if (value.size == 0 || value.size > 20 ||
        !(value.at[0] == '-' || (value.at[0] >= '0' && value.at[0] <= '9'))) {
        return false;
    }
    char text[24];
    memcpy(text, value.at, value.size);
    text[value.size] = '\0';
    *result = strtoll(text, NULL, 10);
    return true;
}

/* The last word of "i64 %x" or of "ptr %p". */
static struct ir_slice
value_of(struct ir_slice operand)
{
    size_t at = operand.size;

    if (at > 0 && operand.at[at - 1] == '"') {
        for (at--; at > 0 && operand.at[at - 1] != '"'; at--) {
        }
        at -= at > 1 ? 2 : at;
    } else {
        while (at > 0 && operand.at[at - 1] != ' ') {
            at--;
        }
    }
    return ir_part(operand, at, operand.size);
}

/* ---- strides ---- */

static struct stride stride_of(const struct hazard *hazard, struct strides *strides,
                               struct ir_slice value, unsigned depth);

static struct strides *
new_strides(const struct hazard *hazard, uint32_t loop, enum ha_known along)
{
    struct ir_arena *arena = hazard->rewriter->arena;
    struct strides *strides = ir_alloc(arena, 1, sizeof *strides);
    uint32_t count = hazard->values->count + 1u;

    strides->loop = loop;
    strides->along = along;
    strides->of = ir_alloc(arena, count, sizeof *strides->of);
    strides->done = ir_alloc(arena, count, 1);
    return strides;
}

struct address {
    struct ir_slice type;
    struct ir_slice base;
    struct ir_slice *indices;
    uint32_t index_count;
};

/* "inbounds nuw T, ptr %p, i64 %i, ..." */
static bool
take_address(const struct hazard *hazard, const struct ir_inst *inst,
             struct address *address)
{
    static const char *const flags[] = {"inbounds", "nuw", "nusw"};
    struct ir_slice rest = inst->rest;
    uint32_t count;

    for (bool again = true; again;) {
        struct ir_slice word = ir_token(rest, 0);
        again = false;
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
            if (ir_is(word, flags[i])) {
                rest = ir_trim(ir_part(rest, word.size, rest.size));
                again = true;
            }
        }
    }
    struct ir_slice *parts = ir_split(hazard->rewriter->arena, rest, &count);
    while (count > 0 && parts[count - 1].at[0] == '!') {
        count--;
    }
    if (count < 3 || !ir_begins(parts[1], "ptr ")) {
        return false;
    }
    *address = (struct address){parts[0], value_of(parts[1]), parts + 2, count - 2};
    return true;
}

/* Bytes between elements of each index: the type, then the element of its array. */
static bool
element_size(const struct hazard *hazard, struct ir_slice *type, uint32_t index,
             int64_t *size)
{
    if (index > 0) {
        size_t by = ir_find(*type, " x ", 0);
        if (type->at[0] != '[' || by == SIZE_MAX) {
            return false;
        }
        *type = ir_trim(ir_part(*type, by + 3, type->size - 1));
    }
    *size = (int64_t)ir_layout_of(&hazard->rewriter->types, *type).size;
    return true;
}

static struct stride
stride_of_address(const struct hazard *hazard, struct strides *strides,
                  const struct ir_inst *inst, unsigned depth)
{
    struct address address;

    if (!take_address(hazard, inst, &address)) {
        return unknown_stride;
    }
    struct stride total = stride_of(hazard, strides, address.base, depth + 1);
    for (uint32_t i = 0; total.known && i < address.index_count; i++) {
        struct stride index =
            stride_of(hazard, strides, value_of(address.indices[i]), depth + 1);
        int64_t size;
        if (!index.known ||
            (index.step != 0 &&
             (!element_size(hazard, &address.type, i, &size) ||
              __builtin_mul_overflow(index.step, size, &index.step) ||
              __builtin_add_overflow(total.step, index.step, &total.step)))) {
            return unknown_stride;
        }
        if (index.step == 0 && i + 1 < address.index_count &&
            !element_size(hazard, &address.type, i, &size)) {
            return unknown_stride;
        }
    }
    return total;
}

static struct stride
stride_of_binary(const struct hazard *hazard, struct strides *strides,
                 const struct ir_inst *inst, unsigned depth)
{
    uint32_t count;
    int64_t constant;
    struct stride result = {true, 0};
    struct ir_slice *parts = ir_split(hazard->rewriter->arena, inst->rest, &count);

    if (count < 2) {
        return unknown_stride;
    }
    struct ir_slice right = value_of(parts[1]);
    struct stride a = stride_of(hazard, strides, value_of(parts[0]), depth + 1);
    struct stride b = stride_of(hazard, strides, right, depth + 1);
    if (!a.known || !b.known) {
        return unknown_stride;
    }
    bool overflow = false;
    if (a.step == 0 && b.step == 0) {
        return result;
    }
    if (ir_is(inst->op, "add") ||
        (ir_is(inst->op, "or") && ir_find(inst->rest, "disjoint", 0) != SIZE_MAX)) {
        overflow = __builtin_add_overflow(a.step, b.step, &result.step);
    } else if (ir_is(inst->op, "sub")) {
        overflow = __builtin_sub_overflow(a.step, b.step, &result.step);
    } else if (ir_is(inst->op, "mul") && is_constant(right, &constant)) {
        overflow = __builtin_mul_overflow(a.step, constant, &result.step);
    } else if (ir_is(inst->op, "shl") && is_constant(right, &constant) &&
               constant >= 0 && constant < 32) {
        overflow = __builtin_mul_overflow(a.step, (int64_t)1 << constant, &result.step);
    } else {
        return unknown_stride;
    }
    return overflow ? unknown_stride : result;
}

/* "nneg i32 %x to i64" */
static struct stride
stride_of_extension(const struct hazard *hazard, struct strides *strides,
                    const struct ir_inst *inst, unsigned depth)
{
    size_t to = ir_find(inst->rest, " to ", 0);
    struct ir_slice operand =
        to == SIZE_MAX ? ir_slice_of("") : ir_part(inst->rest, 0, to);
    struct stride stride = stride_of(hazard, strides, value_of(operand), depth + 1);
    bool wraps = ir_find(operand, "i32 ", 0) == SIZE_MAX || is_far(stride.step);

    return strides->loop != IR_NONE && stride.step != 0 && wraps ? unknown_stride
                                                                 : stride;
}

/* "i32 [ 0, %entry ], [ %next, %body ]" of a loop's first block: the step, if each way
 * back adds the same constant. */
static struct stride
stride_of_phi(const struct hazard *hazard, uint32_t loop, const struct ir_inst *inst)
{
    const struct ir_loop *around = &hazard->flow.loops[loop];
    uint32_t count;
    struct ir_slice *ways = ir_split(hazard->rewriter->arena, inst->rest, &count);
    struct stride result = unknown_stride;

    for (uint32_t i = 0; i < count; i++) {
        size_t open = ir_find(ways[i], "[ ", 0);
        uint32_t number;
        int64_t step;
        if (open == SIZE_MAX) {
            return unknown_stride;
        }
        struct ir_slice value = ir_token(ways[i], open + 2);
        if (!ir_map_get(&hazard->values->numbers, value, &number) ||
            !around->members[hazard->values->blocks[number]]) {
            continue; /* where the loop begins */
        }
        const struct ir_inst *next = hazard->values->insts[number];
        uint32_t parts;
        struct ir_slice *sum = ir_split(hazard->rewriter->arena, next->rest, &parts);
        if (!ir_is(next->op, "add") || parts < 2 ||
            !ir_same(value_of(sum[0]), inst->def) ||
            !is_constant(value_of(sum[1]), &step) ||
            (result.known && result.step != step)) {
            return unknown_stride;
        }
        result = (struct stride){true, step};
    }
    return result;
}

static struct stride
stride_of_inst(const struct hazard *hazard, struct strides *strides, uint32_t number,
               unsigned depth)
{
    static const char *const binary[] = {"add",  "sub",  "mul",  "shl",  "or",
                                         "and",  "xor",  "lshr", "ashr", "udiv",
                                         "sdiv", "urem", "srem"};
    const struct ir_inst *inst = hazard->values->insts[number];
    const struct ir_loop *loop =
        strides->loop != IR_NONE ? &hazard->flow.loops[strides->loop] : NULL;
    if (loop != NULL && !loop->members[hazard->values->blocks[number]]) {
        return (struct stride){true, 0};
    }
    if (loop != NULL && ir_is(inst->op, "phi")) {
        return hazard->values->blocks[number] == loop->header
                   ? stride_of_phi(hazard, strides->loop, inst)
                   : unknown_stride;
    }
    enum ha_known called = ha_known_of(inst);
    if (called < HA_KNOWN_COORDINATES) {
        return (struct stride){true, loop == NULL && called == strides->along};
    }
    if (ir_is(inst->op, "getelementptr")) {
        return stride_of_address(hazard, strides, inst, depth);
    }
    if (ir_is(inst->op, "sext") || ir_is(inst->op, "zext")) {
        return stride_of_extension(hazard, strides, inst, depth);
    }
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        if (ir_is(inst->op, binary[i])) {
            return stride_of_binary(hazard, strides, inst, depth);
        }
    }
    return unknown_stride;
}

static struct stride
stride_of(const struct hazard *hazard, struct strides *strides, struct ir_slice value,
          unsigned depth)
{
    uint32_t number;
    int64_t constant;

    if (depth > DEPTH_MAX || value.size == 0) {
        return unknown_stride;
    }
    if (!ir_map_get(&hazard->values->numbers, value, &number)) {
        bool same = is_constant(value, &constant) || value.at[0] == '@' ||
                    param_named(hazard, value) != NULL;
        return (struct stride){same, 0};
    }
    if (!strides->done[number]) {
        strides->of[number] = stride_of_inst(hazard, strides, number, depth);
        strides->done[number] = 1;
    }
    return strides->of[number];
}

/* ---- accesses ---- */

/* How the root of an access changes in the loop that makes it; known only where there
 * is no other loop around. */
static void
find_round(const struct hazard *hazard, struct access *access)
{
    uint32_t number;

    access->loop = IR_NONE;
    access->round = (struct stride){true, 0};
    if (!ir_map_get(&hazard->values->numbers, access->root, &number)) {
        return; /* a parameter or a variable */
    }
    access->loop = hazard->flow.inner[hazard->values->blocks[number]];
    if (hazard->flow.tangled ||
        (access->loop != IR_NONE && hazard->flow.loops[access->loop].depth > 1)) {
        access->round = unknown_stride;
    } else if (access->loop != IR_NONE) {
        struct strides **strides = &hazard->loops[access->loop];
        if (*strides == NULL) {
            *strides = new_strides(hazard, access->loop, HA_KNOWN_NONE);
        }
        access->round = stride_of(hazard, *strides, access->root, 0);
    }
}

/* Splits a pointer into what it is based on and a constant offset. */
static void
find_root(const struct hazard *hazard, struct access *access, struct ir_slice pointer)
{
    struct address address;
    int64_t index;
    int64_t size;

    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        const struct ir_inst *inst = definition(hazard, pointer);
        if (inst == NULL || !ir_is(inst->op, "getelementptr") ||
            !take_address(hazard, inst, &address) || address.index_count != 1 ||
            !is_constant(value_of(address.indices[0]), &index) ||
            !element_size(hazard, &address.type, 0, &size) ||
            __builtin_mul_overflow(index, size, &index) ||
            __builtin_add_overflow(access->offset, index, &access->offset)) {
            break;
        }
        pointer = address.base;
    }
    access->root = pointer;
    find_round(hazard, access);
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        const struct ir_inst *inst = definition(hazard, pointer);
        if (inst == NULL || !ir_is(inst->op, "getelementptr") ||
            !take_address(hazard, inst, &address)) {
            break;
        }
        pointer = address.base;
    }
    access->param = param_named(hazard, pointer);
}

/* False if the access cannot be understood. */
static bool
take_access(const struct hazard *hazard, const struct ir_inst *inst,
            struct access *access)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(hazard->rewriter->arena, inst->rest, &count);
    struct ir_slice type;

    if (count < 2 || !ir_begins(parts[1], "ptr ")) {
        return false;
    }
    type = parts[0];
    if (access->store) {
        size_t end = type.size - value_of(type).size;
        type = ir_trim(ir_part(type, 0, end));
    }
    if (type.size == 0) {
        return false;
    }
    struct ir_slice pointer = value_of(parts[1]);
    access->size = (int64_t)ir_layout_of(&hazard->rewriter->types, type).size;
    struct stride stride = stride_of(hazard, hazard->lanes, pointer, 0);
    access->dense = stride.known && (stride.step == 0 || stride.step == access->size ||
                                     stride.step == -access->size);
    find_root(hazard, access, pointer);
    return true;
}

/* False if there are too many, or one that cannot be understood. */
static bool
list_accesses(struct hazard *hazard)
{
    for (uint32_t b = 0; b < hazard->function->block_count; b++) {
        const struct ir_block *block = &hazard->function->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            const struct ir_inst *inst = &block->insts[i];
            bool store = ir_is(inst->op, "store");
            if (ir_begins(inst->callee, "@llvm.mem")) {
                return false; /* may turn into loads and stores later */
            }
            if (!store && !ir_is(inst->op, "load")) {
                continue;
            }
            struct access *access = &hazard->accesses[hazard->count];
            *access = (struct access){.block = b, .store = store};
            if (hazard->count + 1 == ACCESSES_MAX ||
                !take_access(hazard, inst, access)) {
                return false;
            }
            hazard->count++;
        }
    }
    return true;
}

/* ---- order ---- */

static void
find_paths(struct hazard *hazard)
{
    const struct ir_function *function = hazard->function;
    uint32_t blocks = function->block_count;
    uint32_t *stack = ir_alloc(hazard->rewriter->arena, blocks + 1u, sizeof *stack);

    hazard->reach = ir_alloc(hazard->rewriter->arena, (size_t)blocks * blocks, 1);
    for (uint32_t a = 0; a < hazard->count; a++) {
        uint32_t from = hazard->accesses[a].block;
        uint8_t *row = hazard->reach + (size_t)from * blocks;
        uint32_t height = 1;
        /* Only paths from stores are asked about, and one row serves all of a block. */
        if (!hazard->accesses[a].store || (a > 0 && hazard->accesses[a - 1].store &&
                                           hazard->accesses[a - 1].block == from)) {
            continue;
        }
        stack[0] = from;
        while (height > 0) {
            const struct ir_block *block = &function->blocks[stack[--height]];
            for (uint32_t i = 0; i < block->next_count; i++) {
                if (!row[block->next[i]]) {
                    row[block->next[i]] = 1;
                    stack[height++] = block->next[i];
                }
            }
        }
    }
}

/* `a` stands before `b` in the list. */
static bool
can_follow(const struct hazard *hazard, uint32_t a, uint32_t b)
{
    uint32_t from = hazard->accesses[a].block;
    uint32_t to = hazard->accesses[b].block;

    return (from == to && a < b) ||
           hazard->reach[(size_t)from * hazard->function->block_count + to];
}

/* Whether two accesses of one root, or one access and itself, meet in different rounds
 * of the root's loop. */
static bool
may_meet_later(const struct access *a, const struct access *b)
{
    if (!a->round.known) {
        return true;
    }
    if (a->loop == IR_NONE) {
        return false; /* one value: there is no other round */
    }
    int64_t low = a->offset < b->offset ? a->offset : b->offset;
    int64_t high = a->offset + a->size > b->offset + b->size ? a->offset + a->size
                                                             : b->offset + b->size;
    int64_t step = a->round.step;
    return is_far(step) || (step < 0 ? -step : step) < high - low;
}

static bool
may_alias(const struct hazard *hazard, const struct access *a, const struct access *b)
{
    if (a == b) {
        return a->loop != hazard->flow.inner[a->block] || may_meet_later(a, a);
    }
    if (ir_same(a->root, b->root)) {
        return (a->offset < b->offset + b->size && b->offset < a->offset + a->size) ||
               may_meet_later(a, b);
    }
    return a->param == NULL || b->param == NULL || a->param == b->param ||
           (!a->param->noalias && !b->param->noalias);
}

static struct hazard *
new_hazard(struct ha_rewriter *rewriter, uint32_t number,
           const struct ir_values *values)
{
    struct hazard *hazard = ir_alloc(rewriter->arena, 1, sizeof *hazard);

    hazard->rewriter = rewriter;
    hazard->function = &rewriter->module.functions[number];
    hazard->values = values;
    ir_flow_read(rewriter->arena, hazard->function, &hazard->flow);
    hazard->lanes = new_strides(hazard, IR_NONE, HA_KNOWN_THREAD_X);
    hazard->loops =
        ir_alloc(rewriter->arena, hazard->flow.loop_count + 1u, sizeof *hazard->loops);
    return hazard;
}

bool
ha_hazard_reorders(struct ha_rewriter *rewriter, uint32_t number,
                   const struct ir_values *values)
{
    struct hazard *hazard = new_hazard(rewriter, number, values);

    if (!list_accesses(hazard)) {
        return true;
    }
    find_paths(hazard);
    for (uint32_t a = 0; a < hazard->count; a++) {
        const struct access *first = &hazard->accesses[a];
        for (uint32_t b = 0; first->store && b < hazard->count; b++) {
            const struct access *second = &hazard->accesses[b];
            bool moves = !first->dense || (!second->store && !second->dense);
            if (moves && can_follow(hazard, a, b) && may_alias(hazard, first, second)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- columns ---- */

/* Arrays that are read row by row: more of them, in columns, would push each other out
 * of the first cache. */
#define ROWS_READ_MAX 2u

struct sides {
    bool row;    /* lanes of a row touch neighbours */
    bool column; /* lanes of a column do */
    bool one;    /* lanes of a row touch the same element */
};

static struct sides
sides_of(const struct hazard *hazard, struct strides *columns,
         const struct ir_inst *inst, int64_t size)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(hazard->rewriter->arena, inst->rest, &count);
    struct ir_slice pointer = value_of(parts[1]);
    struct stride x = stride_of(hazard, hazard->lanes, pointer, 0);
    struct stride y = stride_of(hazard, columns, pointer, 0);

    return (struct sides){x.known && (x.step == size || x.step == -size),
                          y.known && (y.step == size || y.step == -size),
                          x.known && x.step == 0};
}

bool
ha_hazard_columns(struct ha_rewriter *rewriter, uint32_t number,
                  const struct ir_values *values)
{
    struct hazard *hazard = new_hazard(rewriter, number, values);
    uint32_t columns_written = 0;
    uint32_t rows_read = 0;
    struct strides *columns = new_strides(hazard, IR_NONE, HA_KNOWN_THREAD_Y);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct ir_inst *inst = values->insts[i];
        struct access access = {.store = ir_is(inst->op, "store")};
        if (!access.store && !ir_is(inst->op, "load")) {
            continue;
        }
        if (!take_access(hazard, inst, &access)) {
            return false;
        }
        struct sides sides = sides_of(hazard, columns, inst, access.size);
        if (access.store && (sides.row || !sides.column || sides.one)) {
            return false;
        }
        columns_written += access.store;
        rows_read += !access.store && sides.row;
    }
    return columns_written > 0 && rows_read <= ROWS_READ_MAX;
}
