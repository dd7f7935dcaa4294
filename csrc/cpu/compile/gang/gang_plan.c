/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_plan.h"

#include <string.h>

#define FAR 512 /* lanes */

struct making {
    struct gang_function *function;
    const struct gang_flow *flow;
    const struct gang_shapes *shapes;
    struct gang_plan *plan;
};

bool
gang_has_barrier(const struct gang_function *function, uint32_t block)
{
    const struct gang_block *at = &function->blocks[block];

    return at->count >= 2 &&
           function->values[at->insts[at->count - 2]].op == GANG_BARRIER;
}

static uint8_t
end_level(const struct gang_function *function, const struct gang_shapes *shapes,
          uint32_t block)
{
    const struct gang_block *at = &function->blocks[block];

    return at->next_count < 2 ? (uint8_t)GANG_SAME_BLOCK
                              : shapes->of[at->insts[at->count - 1]].level;
}

/* ---- masks ---- */

/* Whether the lanes in a loop stay the same from its begin to its end. */
static bool
is_steady(const struct making *making, uint32_t loop)
{
    return making->shapes->leave[loop] <= GANG_SAME_GANG;
}

static bool
is_header(const struct making *making, uint32_t block)
{
    uint32_t loop = making->flow->loops.inner[block];

    return loop != IR_NONE && making->flow->loops.loops[loop].header == block;
}

/* The loop that a block is in when it is come to: of a header, the one around. */
static uint32_t
loop_before(const struct making *making, uint32_t block)
{
    uint32_t loop = making->flow->loops.inner[block];

    return is_header(making, block) ? making->flow->loops.loops[loop].outer : loop;
}

/* The only block that leads here, but for the ends of rounds; or GANG_NONE. */
static uint32_t
only_before(const struct making *making, uint32_t block)
{
    const struct gang_block *at = &making->function->blocks[block];
    uint32_t found = GANG_NONE;

    for (uint32_t i = 0; i < at->prev_count; i++) {
        if (gang_is_back_edge(making->flow, at->prev[i], block)) {
            continue;
        }
        if (found != GANG_NONE) {
            return GANG_NONE;
        }
        found = at->prev[i];
    }
    return found;
}

/* Whether all blocks from `from` up to `to` in the order are dominated by `from`: then
 * who skips `from` skips them all. */
static bool
is_skipped_with(const struct making *making, uint32_t from, uint32_t to)
{
    const struct gang_flow *flow = making->flow;

    for (uint32_t at = flow->loops.order[from]; at < flow->loops.order[to]; at++) {
        if (!gang_dominates(flow, from, flow->at[at])) {
            return false;
        }
    }
    return true;
}

static void
find_mask(struct making *making, uint32_t block)
{
    const struct gang_flow *flow = making->flow;
    struct gang_plan *plan = making->plan;
    uint32_t up = flow->dom[block];
    uint32_t before = only_before(making, block);
    bool header = is_header(making, block);
    bool steady = !header || is_steady(making, flow->loops.inner[block]);

    plan->root[block] = block;
    plan->test[block] = GANG_TEST_MASK;
    if (up == block) {
        plan->test[block] = GANG_TEST_NONE;
        plan->always[block] = 1;
        return;
    }
    bool together = gang_control_of(making->function, flow, making->shapes, block) <=
                    GANG_SAME_BLOCK;
    if (together && header && plan->block_level[flow->loops.inner[block]]) {
        /* A round is begun only if a gang comes, and then all do. */
        plan->root[block] = flow->at[0];
        plan->test[block] = GANG_TEST_NONE;
        plan->always[block] = 1;
        return;
    }
    /* Behind a loop all lanes are together again that were so before it. */
    while (flow->dom[up] != up && loop_before(making, block) != flow->loops.inner[up]) {
        up = flow->dom[up];
    }
    if (steady && gang_postdominates(flow, block, up) &&
        loop_before(making, block) == flow->loops.inner[up]) {
        plan->root[block] = plan->root[up];
        plan->always[block] =
            plan->always[up] &&
            (!header ||
             making->shapes->leave[flow->loops.inner[block]] <= GANG_SAME_BLOCK);
        plan->test[block] =
            plan->always[block] || (is_skipped_with(making, up, block) &&
                                    plan->run[up] == plan->run[block])
                ? GANG_TEST_NONE
                : GANG_TEST_FLAG;
        return;
    }
    if (steady && before != GANG_NONE &&
        end_level(making->function, making->shapes, before) <= GANG_SAME_GANG &&
        loop_before(making, block) == flow->loops.inner[before]) {
        plan->root[block] = plan->root[before];
        plan->test[block] = GANG_TEST_FLAG;
    }
}

/* ---- runs ---- */

static void
find_levels(struct making *making)
{
    const struct gang_flow *flow = making->flow;

    for (uint32_t b = 0; b < making->function->block_count; b++) {
        if (flow->loops.order[b] == IR_NONE || !gang_has_barrier(making->function, b)) {
            continue;
        }
        for (uint32_t loop = flow->loops.inner[b]; loop != IR_NONE;
             loop = flow->loops.loops[loop].outer) {
            making->plan->block_level[loop] = 1;
        }
    }
}

/* A step of a loop that brings the lanes to memory far from where they were. */
static bool
is_far_step(const struct making *making, uint32_t phi, uint32_t from)
{
    const struct gang_function *function = making->function;
    const struct gang_value *value = &function->values[from];
    int64_t number;

    if (value->op != GANG_BINARY || !ir_is(value->word, "add")) {
        return false;
    }
    uint32_t step = value->operands[value->operands[0] == phi ? 1 : 0];
    return value->operands[value->operands[0] == phi ? 0 : 1] == phi &&
           (!gang_integer(function, step, &number) || number >= FAR || number <= -FAR);
}

static bool
has_row_access(const struct making *making, const struct ir_loop *loop)
{
    const struct gang_function *function = making->function;

    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        if ((value->op == GANG_LOAD || value->op == GANG_STORE) &&
            value->block != GANG_NONE && loop->members[value->block] &&
            making->shapes->of[value->operands[0]].level == GANG_LINEAR) {
            return true;
        }
    }
    return false;
}

/* A loop in which the lanes read or write a row of memory and then one far away:
 * `for (i = index; i < n; i += lanes)`.  Done by one gang after the other, it reads a
 * line here and a line there; done by all gangs in step, it reads whole rows. */
static void
find_strides(struct making *making)
{
    const struct gang_flow *flow = making->flow;

    for (uint32_t l = 0; l < flow->loops.loop_count; l++) {
        const struct ir_loop *loop = &flow->loops.loops[l];
        const struct gang_block *header = &making->function->blocks[loop->header];
        bool far = false;
        for (uint32_t i = 0; i < header->count; i++) {
            const struct gang_value *phi = &making->function->values[header->insts[i]];
            if (phi->op != GANG_PHI ||
                making->shapes->of[header->insts[i]].level != GANG_LINEAR) {
                continue;
            }
            for (uint32_t k = 0; k < phi->operand_count; k++) {
                far |= loop->members[phi->from_of[k]] &&
                       is_far_step(making, header->insts[i], phi->operands[k]);
            }
        }
        if (far && loop->outer == IR_NONE && has_row_access(making, loop)) {
            making->plan->block_level[l] = 1;
            making->plan->strides = true;
        }
    }
}

/* The block-level loop around a block, or IR_NONE. */
static uint32_t
level_of(const struct making *making, uint32_t block)
{
    uint32_t loop = making->flow->loops.inner[block];

    while (loop != IR_NONE && !making->plan->block_level[loop]) {
        loop = making->flow->loops.loops[loop].outer;
    }
    return loop;
}

/* Whether a block does nothing that other lanes could see, or that could see them. */
static bool
is_private(const struct making *making, uint32_t block)
{
    const struct gang_block *at = &making->function->blocks[block];

    for (uint32_t i = 0; i < at->count; i++) {
        enum gang_op op = making->function->values[at->insts[i]].op;
        if (op != GANG_PURE && op != GANG_BRANCH && op != GANG_SWITCH &&
            !gang_is_computed(op)) {
            return false;
        }
    }
    return true;
}

/* Whether what follows a barrier up to the end of its loop is private: then it needs no
 * run of its own, and gangs do it before they wait. */
static bool
ends_privately(const struct making *making, uint32_t barrier)
{
    const struct gang_flow *flow = making->flow;
    const struct gang_block *block = &making->function->blocks[barrier];
    uint32_t level = level_of(making, barrier);

    if (level == IR_NONE || making->function->used[block->insts[block->count - 2]]) {
        return false;
    }
    for (uint32_t at = flow->loops.order[barrier] + 1;
         at < flow->count && gang_in_loop(flow, level, flow->at[at]); at++) {
        uint32_t b = flow->at[at];
        if (flow->loops.inner[b] != level || is_header(making, b) ||
            gang_has_barrier(making->function, b) || !is_private(making, b)) {
            return false;
        }
    }
    return true;
}

static void
find_runs(struct making *making)
{
    const struct gang_flow *flow = making->flow;
    struct gang_plan *plan = making->plan;
    uint32_t run = 0;

    for (uint32_t at = 0; at < flow->count; at++) {
        uint32_t b = flow->at[at];
        if (at > 0 &&
            ((gang_has_barrier(making->function, flow->at[at - 1]) &&
              !ends_privately(making, flow->at[at - 1])) ||
             level_of(making, b) != level_of(making, flow->at[at - 1]) ||
             (is_header(making, b) && plan->block_level[flow->loops.inner[b]]))) {
            run++;
        }
        plan->run[b] = run;
    }
    plan->run_count = run + 1;
}

/* ---- barriers ---- */

/* How lanes differ in whether they come to a block. */
uint8_t
gang_control_of(const struct gang_function *function, const struct gang_flow *flow,
                const struct gang_shapes *shapes, uint32_t block)
{
    uint8_t level = GANG_SAME_BLOCK;

    for (uint32_t loop = flow->loops.inner[block]; loop != IR_NONE;
         loop = flow->loops.loops[loop].outer) {
        uint8_t own = shapes->leave[loop];
        level = own > level ? own : level;
    }
    for (uint32_t up; flow->dom[block] != block; block = up) {
        up = flow->dom[block];
        if (gang_postdominates(flow, block, up)) {
            continue;
        }
        for (uint32_t at = flow->loops.order[up]; at < flow->loops.order[block]; at++) {
            uint8_t own = end_level(function, shapes, flow->at[at]);
            if (gang_dominates(flow, up, flow->at[at]) && own > level) {
                level = own;
            }
        }
    }
    return level;
}

/* Backwards over all blocks until nothing changes: any successor, or all of them. */
static void
spread_back(const struct making *making, uint8_t *flags, bool all)
{
    const struct gang_flow *flow = making->flow;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t at = flow->count; at-- > 0;) {
            uint32_t b = flow->at[at];
            const struct gang_block *block = &making->function->blocks[b];
            bool any = false;
            bool each = block->next_count > 0;
            for (uint32_t i = 0; i < block->next_count; i++) {
                any |= flags[block->next[i]] != 0;
                each &= flags[block->next[i]] != 0;
            }
            bool now = gang_has_barrier(making->function, b) || (all ? each : any);
            changed |= now != (flags[b] != 0);
            flags[b] = now;
        }
    }
}

static bool
is_silent(struct gang_function *function, uint32_t block)
{
    for (uint32_t i = 0; i < function->blocks[block].count; i++) {
        function->at = function->values[function->blocks[block].insts[i]].source;
        switch (function->values[function->blocks[block].insts[i]].op) {
        case GANG_STORE:
        case GANG_ATOMIC:
        case GANG_EXCHANGE:
        case GANG_COPY:
        case GANG_FILL:
        case GANG_CALL:
            return false;
        default:
            break;
        }
    }
    return true;
}

static void
need_silent(const struct making *making, uint32_t block, uint8_t *seen)
{
    if (seen[block]) {
        return;
    }
    seen[block] = 1;
    if (!is_silent(making->function, block)) {
        gang_refuse(making->function,
                    "lanes that leave before a barrier have work of their own");
    }
    for (uint32_t i = 0; i < making->function->blocks[block].next_count; i++) {
        need_silent(making, making->function->blocks[block].next[i], seen);
    }
}

/* A gang waits for lanes at a barrier where the device would let those go on that do
 * not come.  So where lanes part, each side must come to a barrier for certain, or end
 * without a trace. */
static void
check_parting(const struct making *making, uint32_t from, const uint8_t *sure,
              uint8_t *seen)
{
    const struct gang_block *block = &making->function->blocks[from];

    if (gang_has_barrier(making->function, from)) {
        return; /* who has come to a barrier may do as he likes */
    }
    for (uint32_t i = 0; i < block->next_count; i++) {
        uint32_t to = block->next[i];
        if (!making->plan->reaches[to]) {
            need_silent(making, to, seen);
        } else if (!sure[to] && block->next_count > 1) {
            making->function->at =
                making->function->values[block->insts[block->count - 1]].source;
            gang_refuse(
                making->function,
                "lanes part here, and whether they come to a barrier is not known");
        }
    }
}

static void
study_barriers(struct making *making)
{
    struct gang_function *function = making->function;
    struct gang_plan *plan = making->plan;
    uint8_t *sure = ir_alloc(function->arena, function->block_count, 1);
    uint8_t *seen = ir_alloc(function->arena, function->block_count, 1);

    spread_back(making, plan->reaches, false);
    memset(sure, 1, function->block_count);
    spread_back(making, sure, true);
    for (uint32_t at = 0; at < making->flow->count; at++) {
        uint32_t b = making->flow->at[at];
        plan->asked[b] = gang_has_barrier(function, b) &&
                         gang_control_of(function, making->flow, making->shapes, b) >
                             GANG_SAME_BLOCK;
        plan->any_asked |= plan->asked[b] != 0;
    }
    for (uint32_t at = 0; plan->any_asked && at < making->flow->count; at++) {
        uint32_t b = making->flow->at[at];
        if (plan->reaches[b] &&
            (end_level(function, making->shapes, b) > GANG_SAME_BLOCK ||
             gang_control_of(function, making->flow, making->shapes, b) >
                 GANG_SAME_BLOCK)) {
            check_parting(making, b, sure, seen);
        }
    }
    function->at = 0;
}

void
gang_plan_make(struct gang_function *function, const struct gang_flow *flow,
               const struct gang_shapes *shapes, struct gang_plan *plan)
{
    struct making making = {function, flow, shapes, plan};

    *plan = (struct gang_plan){0};
    plan->block_level = ir_alloc(function->arena, flow->loops.loop_count + 1u, 1);
    plan->root = ir_alloc(function->arena, function->block_count, sizeof *plan->root);
    plan->test = ir_alloc(function->arena, function->block_count, 1);
    plan->always = ir_alloc(function->arena, function->block_count, 1);
    plan->run = ir_alloc(function->arena, function->block_count, sizeof *plan->run);
    plan->reaches = ir_alloc(function->arena, function->block_count, 1);
    plan->asked = ir_alloc(function->arena, function->block_count, 1);
    find_levels(&making);
    find_strides(&making);
    find_runs(&making);
    for (uint32_t at = 0; at < flow->count; at++) {
        find_mask(&making, flow->at[at]);
    }
    study_barriers(&making);
}
