/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_flow.h"

#include <string.h>

/* Loops and order come from a function of nothing but edges. */
static void
read_loops(struct gang_function *function, struct gang_flow *flow)
{
    struct ir_function edges = {.name = function->source->name,
                                .block_count = function->block_count};

    edges.blocks =
        ir_alloc(function->arena, function->block_count, sizeof *edges.blocks);
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct gang_block *block = &function->blocks[b];
        edges.blocks[b] = (struct ir_block){.label = block->label,
                                            .next = block->next,
                                            .next_count = block->next_count,
                                            .prev = block->prev,
                                            .prev_count = block->prev_count};
    }
    ir_flow_read(function->arena, &edges, &flow->loops);
    if (flow->loops.tangled) {
        gang_refuse(function, "a goto into a loop");
    }
    flow->at = ir_alloc(function->arena, function->block_count, sizeof *flow->at);
    for (uint32_t b = 0; b < function->block_count; b++) {
        if (flow->loops.order[b] != IR_NONE) {
            flow->at[flow->loops.order[b]] = b;
            flow->count++;
        }
    }
}

static uint32_t
meet(const uint32_t *parent, const uint32_t *rank, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (rank[a] > rank[b]) {
            a = parent[a];
        }
        while (rank[b] > rank[a]) {
            b = parent[b];
        }
    }
    return a;
}

/* Cooper, Harvey and Kennedy: dominators by iteration in the order. */
static void
find_dominators(struct gang_function *function, struct gang_flow *flow)
{
    const uint32_t *rank = flow->loops.order;
    bool changed = true;

    flow->dom = ir_alloc(function->arena, function->block_count, sizeof *flow->dom);
    memset(flow->dom, 0xff, function->block_count * sizeof *flow->dom);
    flow->dom[flow->at[0]] = flow->at[0];
    while (changed) {
        changed = false;
        for (uint32_t i = 1; i < flow->count; i++) {
            uint32_t b = flow->at[i];
            const struct gang_block *block = &function->blocks[b];
            uint32_t best = GANG_NONE;
            for (uint32_t k = 0; k < block->prev_count; k++) {
                uint32_t p = block->prev[k];
                if (rank[p] == IR_NONE || flow->dom[p] == GANG_NONE) {
                    continue;
                }
                best = best == GANG_NONE ? p : meet(flow->dom, rank, best, p);
            }
            changed |= best != flow->dom[b];
            flow->dom[b] = best;
        }
    }
}

struct backwards {
    uint32_t *done; /* blocks in the order in which they were finished */
    uint32_t *rank; /* block -> place from the end of `done`; the end is 0 */
    uint32_t count;
};

/* Depth first from the end along the edges backwards. */
static void
walk_backwards(struct gang_function *function, struct backwards *walk)
{
    uint32_t blocks = function->block_count;
    uint32_t *stack = ir_alloc(function->arena, blocks + 1u, sizeof *stack);
    uint32_t *next = ir_alloc(function->arena, blocks + 1u, sizeof *next);
    uint8_t *seen = ir_alloc(function->arena, blocks + 1u, 1);

    walk->done = ir_alloc(function->arena, blocks + 1u, sizeof *walk->done);
    walk->rank = ir_alloc(function->arena, blocks + 1u, sizeof *walk->rank);
    for (uint32_t end = 0; end < blocks; end++) {
        uint32_t height = 0;
        if (function->blocks[end].next_count > 0 || seen[end]) {
            continue;
        }
        seen[end] = 1;
        stack[height++] = end;
        while (height > 0) {
            uint32_t b = stack[height - 1];
            const struct gang_block *block = &function->blocks[b];
            if (next[b] == block->prev_count) {
                walk->done[walk->count++] = b;
                height--;
                continue;
            }
            uint32_t p = block->prev[next[b]++];
            if (!seen[p]) {
                seen[p] = 1;
                stack[height++] = p;
            }
        }
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        walk->rank[walk->done[i]] = walk->count - i;
    }
}

/* The same from the end; the end itself has the number block_count. */
static void
find_postdominators(struct gang_function *function, struct gang_flow *flow)
{
    uint32_t end = function->block_count;
    uint32_t *post = ir_alloc(function->arena, end + 1u, sizeof *post);
    struct backwards walk = {0};
    bool changed = true;

    walk_backwards(function, &walk);
    memset(post, 0xff, (end + 1u) * sizeof *post);
    post[end] = end;
    while (changed) {
        changed = false;
        for (uint32_t i = walk.count; i-- > 0;) {
            uint32_t b = walk.done[i];
            const struct gang_block *block = &function->blocks[b];
            uint32_t best = block->next_count == 0 ? end : GANG_NONE;
            for (uint32_t k = 0; k < block->next_count; k++) {
                uint32_t s = block->next[k];
                if (post[s] != GANG_NONE) {
                    best = best == GANG_NONE ? s : meet(post, walk.rank, best, s);
                }
            }
            changed |= best != post[b];
            post[b] = best;
        }
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        uint32_t b = flow->at[i];
        if (post[b] == GANG_NONE) {
            gang_refuse(function, "a loop without an end");
        }
        post[b] = post[b] == end ? GANG_NONE : post[b];
    }
    flow->post = post;
}

void
gang_flow_read(struct gang_function *function, struct gang_flow *flow)
{
    *flow = (struct gang_flow){0};
    read_loops(function, flow);
    find_dominators(function, flow);
    find_postdominators(function, flow);
}

bool
gang_dominates(const struct gang_flow *flow, uint32_t a, uint32_t b)
{
    while (b != a && flow->dom[b] != b) {
        b = flow->dom[b];
    }
    return a == b;
}

bool
gang_postdominates(const struct gang_flow *flow, uint32_t a, uint32_t b)
{
    while (b != a && b != GANG_NONE) {
        b = flow->post[b];
    }
    return a == b;
}

bool
gang_in_loop(const struct gang_flow *flow, uint32_t loop, uint32_t block)
{
    return loop == IR_NONE || flow->loops.loops[loop].members[block] != 0;
}

bool
gang_is_back_edge(const struct gang_flow *flow, uint32_t from, uint32_t to)
{
    return flow->loops.order[to] <= flow->loops.order[from];
}
