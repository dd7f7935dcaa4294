/* SPDX-License-Identifier: MIT */
/* From the edges of a function to its loops and to program order.
 *
 *     for (i = 0; i < n; i++) s += ...;         text   order   inner   next
 *     a[t] = s;                       entry        0       0       -    1 2
 *                                     body.lr.ph   1       1       -    3
 *                                     cleanup      2       3       -    -
 *                                     body         3       2       0    2 3
 *
 * `cleanup` stands before the loop in the text, but a warp in lock step comes to it
 * after the loop, and so it does in program order.  `loops[0]` has the header 3, and 3
 * as its only member.
 *
 * The steps: depth first search gives a first order and, with it, dominators; an edge
 * back to a dominator closes a natural loop, any other edge back makes the function
 * *tangled*; loops are nested by their headers; then the order is made anew, level by
 * level (see "program order" below). */
#include "cpu/compile/ir_flow.h"

#include <string.h>

#define NESTING_MAX 256u

struct walk {
    const struct ir_function *function;
    uint32_t *post; /* blocks in the order in which they were finished */
    uint32_t count;
    uint8_t *seen;
};

static uint32_t
choose(const struct walk *walk, uint32_t block)
{
    const struct ir_block *from = &walk->function->blocks[block];

    for (uint32_t i = from->next_count; i-- > 0;) {
        if (!walk->seen[from->next[i]]) {
            return from->next[i];
        }
    }
    return IR_NONE;
}

/* Depth first without recursion: functions may have very many blocks. */
static void
visit(struct ir_arena *arena, struct walk *walk)
{
    uint32_t blocks = walk->function->block_count;
    uint32_t *stack = ir_alloc(arena, blocks, sizeof *stack);
    uint32_t height = 1;

    walk->post = ir_alloc(arena, blocks, sizeof *walk->post);
    walk->seen = ir_alloc(arena, blocks, 1);
    walk->seen[0] = 1;
    stack[0] = 0;
    while (height > 0) {
        uint32_t next = choose(walk, stack[height - 1]);
        if (next == IR_NONE) {
            walk->post[walk->count++] = stack[--height];
        } else {
            walk->seen[next] = 1;
            stack[height++] = next;
        }
    }
}

static void
number(struct ir_arena *arena, struct ir_flow *flow, struct walk *walk)
{
    uint32_t blocks = walk->function->block_count;

    visit(arena, walk);
    flow->order = ir_alloc(arena, blocks, sizeof *flow->order);
    for (uint32_t i = 0; i < blocks; i++) {
        flow->order[i] = IR_NONE;
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        flow->order[walk->post[i]] = walk->count - 1 - i;
    }
}

/* Immediate dominators by iteration over reverse post order (Cooper, Harvey, Kennedy).
 */
static uint32_t *
dominators(struct ir_arena *arena, const struct walk *walk, const uint32_t *order)
{
    const struct ir_function *function = walk->function;
    uint32_t *dom = ir_alloc(arena, function->block_count, sizeof *dom);
    bool changed = true;

    for (uint32_t i = 0; i < function->block_count; i++) {
        dom[i] = IR_NONE;
    }
    dom[0] = 0;
    while (changed) {
        changed = false;
        for (uint32_t i = walk->count; i-- > 0;) {
            uint32_t block = walk->post[i];
            const struct ir_block *at = &function->blocks[block];
            uint32_t best = IR_NONE;
            for (uint32_t k = 0; block != 0 && k < at->prev_count; k++) {
                uint32_t a = at->prev[k];
                if (dom[a] == IR_NONE) {
                    continue;
                }
                uint32_t b = best == IR_NONE ? a : best;
                while (a != b) {
                    if (order[a] > order[b]) {
                        a = dom[a];
                    } else {
                        b = dom[b];
                    }
                }
                best = a;
            }
            if (block != 0 && best != dom[block]) {
                dom[block] = best;
                changed = true;
            }
        }
    }
    return dom;
}

static bool
dominates(const uint32_t *dom, uint32_t a, uint32_t b)
{
    while (b != a && b != 0 && dom[b] != IR_NONE) {
        b = dom[b];
    }
    return a == b;
}

/* A step back in the order that does not lead to a dominator closes no natural loop. */
static bool
is_tangled(const struct ir_function *function, const struct ir_flow *flow,
           const uint32_t *dom)
{
    for (uint32_t i = 0; i < function->block_count; i++) {
        for (uint32_t k = 0; dom[i] != IR_NONE && k < function->blocks[i].next_count;
             k++) {
            uint32_t target = function->blocks[i].next[k];
            if (flow->order[target] <= flow->order[i] && !dominates(dom, target, i)) {
                return true;
            }
        }
    }
    return false;
}

/* Adds all blocks that reach `latch` without passing the loop's header. */
static void
collect(struct ir_arena *arena, const struct ir_function *function,
        struct ir_loop *loop, uint32_t latch)
{
    uint32_t *stack = ir_alloc(arena, function->block_count + 1u, sizeof *stack);
    uint32_t height = 0;

    if (!loop->members[latch]) {
        loop->members[latch] = 1;
        stack[height++] = latch;
    }
    while (height > 0) {
        const struct ir_block *block = &function->blocks[stack[--height]];
        for (uint32_t i = 0; i < block->prev_count; i++) {
            uint32_t from = block->prev[i];
            if (!loop->members[from]) {
                loop->members[from] = 1;
                stack[height++] = from;
            }
        }
    }
}

static void
find_loops(struct ir_arena *arena, const struct ir_function *function,
           struct ir_flow *flow, const uint32_t *dom)
{
    uint32_t *loop_at = ir_alloc(arena, function->block_count, sizeof *loop_at);
    uint32_t headers = 0;

    for (uint32_t i = 0; i < function->block_count; i++) {
        loop_at[i] = IR_NONE;
        for (uint32_t k = 0; k < function->blocks[i].prev_count; k++) {
            uint32_t from = function->blocks[i].prev[k];
            if (dom[i] != IR_NONE && dom[from] != IR_NONE && dominates(dom, i, from)) {
                loop_at[i] = 0;
            }
        }
        headers += loop_at[i] == 0;
    }
    flow->loops = ir_alloc(arena, headers + 1u, sizeof *flow->loops);
    for (uint32_t i = 0; i < function->block_count; i++) {
        if (loop_at[i] == IR_NONE) {
            continue;
        }
        struct ir_loop *loop = &flow->loops[flow->loop_count++];
        loop->header = i;
        loop->outer = IR_NONE;
        loop->members = ir_alloc(arena, function->block_count, 1);
        loop->members[i] = 1;
        for (uint32_t k = 0; k < function->blocks[i].prev_count; k++) {
            uint32_t from = function->blocks[i].prev[k];
            if (dom[from] != IR_NONE && dominates(dom, i, from)) {
                collect(arena, function, loop, from);
            }
        }
    }
}

/* A loop lies in another one if that one has its header and is not the same. */
static void
nest(const struct ir_function *function, struct ir_flow *flow)
{
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        struct ir_loop *loop = &flow->loops[i];
        loop->depth = 1;
        for (uint32_t k = 0; k < flow->loop_count; k++) {
            loop->depth += k != i && flow->loops[k].members[loop->header];
        }
    }
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        struct ir_loop *loop = &flow->loops[i];
        for (uint32_t k = 0; k < flow->loop_count; k++) {
            if (k != i && flow->loops[k].members[loop->header] &&
                flow->loops[k].depth + 1 == loop->depth) {
                loop->outer = k;
            }
        }
        for (uint32_t b = 0; b < function->block_count; b++) {
            if (loop->members[b] && (flow->inner[b] == IR_NONE ||
                                     flow->loops[flow->inner[b]].depth < loop->depth)) {
                flow->inner[b] = i;
            }
        }
    }
}

/* ---- program order ----
 *
 * Plain reverse post order may put a block behind a loop before some block of the loop.
 * So the blocks of each loop are ordered by themselves, with every loop inside taken as
 * one node; the order of the whole is what results from putting them into each other.
 */

struct program {
    struct ir_arena *arena;
    const struct ir_function *function;
    struct ir_flow *flow;
    uint32_t next; /* position in program order */
    /* Room for one walk; walks are not nested. */
    uint32_t *targets;
    uint32_t *stack;
    uint32_t *post;
    uint32_t *seen; /* block -> the last walk that saw it */
    uint32_t walks;
};

/* One loop, or the whole function where `loop` is IR_NONE.  A node is a block, or the
 * header of an inner loop for all of that loop. */
struct level {
    uint32_t loop;
    uint32_t *post; /* nodes in the order in which they were finished */
    uint32_t count;
};

/* The loop directly inside `loop` that has `block`; IR_NONE if there is none. */
static uint32_t
inner_loop(const struct ir_flow *flow, uint32_t block, uint32_t loop)
{
    uint32_t inner = flow->inner[block];

    if (inner == loop) {
        return IR_NONE;
    }
    while (inner != IR_NONE && flow->loops[inner].outer != loop) {
        inner = flow->loops[inner].outer;
    }
    return inner;
}

/* The nodes of `level` that follow `node` at once; fills `targets`. */
static uint32_t
follow(const struct program *program, const struct level *level, uint32_t node,
       uint32_t *targets)
{
    const struct ir_flow *flow = program->flow;
    const struct ir_function *function = program->function;
    uint32_t own = inner_loop(flow, node, level->loop);
    uint32_t first = own == IR_NONE ? node : 0;
    uint32_t last = own == IR_NONE ? node + 1 : function->block_count;
    uint32_t count = 0;

    for (uint32_t b = first; b < last; b++) {
        if (own != IR_NONE && !flow->loops[own].members[b]) {
            continue;
        }
        for (uint32_t i = 0; i < function->blocks[b].next_count; i++) {
            uint32_t target = function->blocks[b].next[i];
            if (level->loop != IR_NONE && (!flow->loops[level->loop].members[target] ||
                                           target == flow->loops[level->loop].header)) {
                continue;
            }
            uint32_t inner = inner_loop(flow, target, level->loop);
            if (inner != own || inner == IR_NONE) {
                targets[count++] =
                    inner == IR_NONE ? target : flow->loops[inner].header;
            }
        }
    }
    return count;
}

/* Needs `post` of the level to have room for all blocks. */
static void
walk_level(struct program *program, struct level *level, uint32_t start)
{
    uint32_t walk = ++program->walks;
    uint32_t *targets = program->targets;
    uint32_t *stack = program->stack; /* three numbers a node: itself, first, end */
    uint32_t used = follow(program, level, start, targets);
    uint32_t height = 1;

    program->seen[start] = walk;
    stack[0] = start;
    stack[1] = 0;
    stack[2] = used;
    while (height > 0) {
        uint32_t *top = &stack[3 * (height - 1)];
        if (top[1] == top[2]) {
            level->post[level->count++] = top[0];
            height--;
            continue;
        }
        uint32_t next = targets[--top[2]];
        if (program->seen[next] == walk) {
            continue;
        }
        program->seen[next] = walk;
        stack[3 * height] = next;
        stack[3 * height + 1] = used;
        used += follow(program, level, next, targets + used);
        stack[3 * height + 2] = used;
        height++;
    }
}

static void
order_level(struct program *program, uint32_t loop, uint32_t depth)
{
    struct ir_flow *flow = program->flow;
    struct level level = {.loop = loop, .post = program->post};

    if (depth > NESTING_MAX) {
        ir_fail(program->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s: loops are nested more than %u deep",
                IR_ARGS(program->function->name), NESTING_MAX);
    }
    walk_level(program, &level, loop == IR_NONE ? 0 : flow->loops[loop].header);
    level.post = ir_alloc(program->arena, level.count, sizeof *level.post);
    memcpy(level.post, program->post, level.count * sizeof *level.post);
    for (uint32_t i = level.count; i-- > 0;) {
        uint32_t node = level.post[i];
        uint32_t inner = inner_loop(flow, node, loop);
        if (inner == IR_NONE) {
            flow->order[node] = program->next++;
        } else {
            order_level(program, inner, depth + 1);
        }
    }
}

void
ir_flow_read(struct ir_arena *arena, const struct ir_function *function,
             struct ir_flow *flow)
{
    struct walk plain = {.function = function};
    struct program program = {.arena = arena, .function = function, .flow = flow};
    uint32_t edges = 0;
    uint32_t *dom;

    *flow = (struct ir_flow){0};
    flow->inner = ir_alloc(arena, function->block_count, sizeof *flow->inner);
    for (uint32_t i = 0; i < function->block_count; i++) {
        flow->inner[i] = IR_NONE;
    }
    number(arena, flow, &plain);
    dom = dominators(arena, &plain, flow->order);
    flow->tangled = is_tangled(function, flow, dom);
    find_loops(arena, function, flow, dom);
    nest(function, flow);
    for (uint32_t i = 0; i < function->block_count; i++) {
        flow->order[i] = IR_NONE;
        edges += function->blocks[i].next_count;
    }
    /* A block's edges leave one node of a level, so all targets together fit. */
    program.targets = ir_alloc(arena, edges + 1u, sizeof *program.targets);
    program.stack = ir_alloc(arena, function->block_count, 3 * sizeof *program.stack);
    program.post = ir_alloc(arena, function->block_count, sizeof *program.post);
    program.seen = ir_alloc(arena, function->block_count, sizeof *program.seen);
    order_level(&program, IR_NONE, 0);
}
