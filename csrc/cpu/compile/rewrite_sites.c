/* SPDX-License-Identifier: MIT */
/* Sites of a kernel as IR.  A warp call in a loop, and a loop that polls:
 *
 *     for.body:
 *       %ha.trip.0 = phi i32 [ 0, %for.body.lr.ph ], [ %ha.trip.0.next, %for.body ]
 *       ...                                                        phis of the program
 *       %ha.trip.0.next = add i32 %ha.trip.0, 1
 *       %ha.trip.0.at = getelementptr i8, ptr %ha.lane, i64 40
 *       store i32 %ha.trip.0, ptr %ha.trip.0.at                    lane->trip[0]
 *       ...
 *       %call.i12 = tail call i64 @__ha_rt_warp(ptr @__ha_site.0, i32 noundef 3, ...)
 *
 *     @__ha_site.0 = ... { i32 0, i32 1, [8 x i32] [i32 1, i32 0, ...] }
 *                          order  depth             loop 1 is around it
 *     while.cond:
 *       call void @__ha_rt_pause()
 *       %0 = load volatile i32, ptr %flag, align 4
 *
 * Steps, the volatile accesses of shared memory, are there for programs of the old
 * school.  They reduce within a warp without a call, because the lanes of a GPU's warp
 * make each access together.  So lanes meet before each of them.
 *
 * A loop polls if a branch out of it depends on what it reads as volatile or atomic, or
 * from the clock: another lane may have to write that first. */
#include "cpu/compile/rewrite_sites.h"

#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_lockstep.h"
#include "cpu/compile/rewrite_state.h"

#define DEPTH_MAX 32u
#define VALUES_MAX 64u /* looked at from one branch of a loop */

_Static_assert(offsetof(struct ha_lane, trip) == 40, "written below");
#define LANE_TRIP 40u

/* ---- what is accessed ---- */

static bool
is_access(const struct ir_inst *inst)
{
    return ir_is(inst->op, "load") || ir_is(inst->op, "store");
}

static bool
names_shared(const struct ha_rewriter *rewriter, struct ir_slice line)
{
    uint32_t number;

    for (size_t at = 0; (at = ir_find(line, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        if (ir_map_get(&rewriter->shared_names, name, &number)) {
            return true;
        }
        at += name.size;
    }
    return false;
}

/* The pointer behind the first ", ptr " or "ptr " of a line. */
static struct ir_slice
pointer_of(struct ir_slice rest)
{
    size_t at = ir_find(rest, "ptr %", 0);

    return at == SIZE_MAX ? ir_slice_of("") : ir_token(rest, at + 4);
}

/* Whether an access may be one of shared memory; what cannot be followed may be. */
static bool
may_be_shared(const struct ha_rewriter *rewriter, const struct ir_values *values,
              const struct ir_inst *inst)
{
    struct ir_slice line = inst->rest;
    uint32_t number;

    if (ir_is(inst->op, "store")) {
        size_t at = ir_find(line, ", ptr", 0);
        line = at == SIZE_MAX ? line : ir_part(line, at + 2, line.size);
    }
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        if (names_shared(rewriter, line)) {
            return true;
        }
        const struct ir_inst *made = ir_values_find(values, pointer_of(line), &number);
        if (made == NULL) {
            return false; /* a parameter, or another variable */
        }
        if (!ir_is(made->op, "getelementptr") && !ir_is(made->op, "addrspacecast")) {
            return true;
        }
        line = made->rest;
    }
    return true;
}

void
ha_sites_find_steps(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ir_function *function = &rewriter->module.functions[number];
    struct ha_ir_function_info *info = &rewriter->infos[number];
    struct ir_values values = {0};
    bool shared = false;

    for (uint32_t i = 0; i < rewriter->shared_count; i++) {
        shared |= info->shared[i] != 0;
    }
    for (uint32_t b = 0; shared && b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            struct ir_inst *inst = &function->blocks[b].insts[i];
            if (!is_access(inst) || !ir_begins(inst->rest, "volatile ")) {
                continue;
            }
            if (values.insts == NULL) {
                ir_values_read(rewriter->arena, function, &values);
            }
            inst->step = may_be_shared(rewriter, &values, inst);
            info->warp |= inst->step;
        }
    }
}

/* ---- loops that poll ---- */

struct poll {
    struct ir_slice values[VALUES_MAX];
    uint32_t count;
};

/* "ptr %p, i32 1, i32 1 order order": what is written is what was there. */
static bool
exchanges_same(struct ir_slice rest)
{
    size_t first = ir_find(rest, ", ", 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : ir_find(rest, ", ", first + 2);

    if (second == SIZE_MAX) {
        return false;
    }
    struct ir_slice expected = ir_part(rest, first + 2, second);
    struct ir_slice desired = ir_part(rest, second + 2, rest.size);
    return desired.size > expected.size && desired.at[expected.size] == ' ' &&
           ir_same(expected, ir_part(desired, 0, expected.size));
}

/* Whether the next operand is a number, as in ", i32 1"; `at` moves behind its type. */
static bool
operand_is_number(struct ir_slice rest, size_t *at)
{
    size_t comma = ir_find(rest, ", ", *at);
    size_t blank = comma == SIZE_MAX ? SIZE_MAX : ir_find(rest, " ", comma + 2);

    if (blank == SIZE_MAX || blank + 1 >= rest.size) {
        return false;
    }
    *at = blank + 1;
    return rest.at[*at] == '-' || (rest.at[*at] >= '0' && rest.at[*at] <= '9');
}

/* What changes nothing when it is repeated: a loop of it ends by what another lane
 * writes.  Loops of compare-and-swap with values that change do not wait: lanes run one
 * at a time, so they end by themselves; nor do those that count. */
static bool
is_repeatable(const struct ir_inst *inst)
{
    static const char *const operations[] = {"xchg ", "and ",  "or ",  "max ",
                                             "min ",  "umax ", "umin "};
    size_t at = 0;

    if (ir_is(inst->op, "cmpxchg")) {
        return exchanges_same(inst->rest) || (operand_is_number(inst->rest, &at) &&
                                              operand_is_number(inst->rest, &at));
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (ir_begins(inst->rest, operations[i])) {
            return operand_is_number(inst->rest, &at);
        }
    }
    return ir_begins(inst->rest, "add ") &&
           (ir_find(inst->rest, ", i32 0 ", 0) != SIZE_MAX ||
            ir_find(inst->rest, ", i64 0 ", 0) != SIZE_MAX);
}

/* The clock is read like memory: lanes that wait for some time do so together, not one
 * after the other. */
static bool
is_polled(const struct ir_inst *inst, bool reread)
{
    if (ha_known_of(inst) == HA_KNOWN_CLOCK) {
        return true;
    }
    if (ir_is(inst->op, "load")) {
        return reread || ir_begins(inst->rest, "volatile ") ||
               ir_begins(inst->rest, "atomic ");
    }
    return (ir_is(inst->op, "cmpxchg") || ir_is(inst->op, "atomicrmw")) &&
           is_repeatable(inst);
}

/* Whether a function says that memory has changed, as empty assembly does: all that it
 * loads counts then as if it were volatile. */
static bool
rereads(const struct ir_function *function)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            const struct ir_inst *inst = &function->blocks[b].insts[i];
            if (ir_is(inst->op, "call") && inst->callee.size == 0 &&
                memmem(inst->rest.at, inst->rest.size, "~{memory}", 9) != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* Whether one of a function's instructions could be what a loop waits for. */
static bool
reads_polled(const struct ir_function *function)
{
    bool reread = rereads(function);

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            if (is_polled(&function->blocks[b].insts[i], reread)) {
                return true;
            }
        }
    }
    return false;
}

/* Adds the values that an instruction is made from. */
static void
add_values(struct poll *poll, struct ir_slice text)
{
    for (size_t at = 0; (at = ir_find(text, "%", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(text, at);
        bool seen = poll->count == VALUES_MAX;
        for (uint32_t i = 0; i < poll->count; i++) {
            seen |= ir_same(poll->values[i], name);
        }
        if (!seen) {
            poll->values[poll->count++] = name;
        }
        at += name.size;
    }
}

/* Whether the branch at the end of a block depends on what its loop reads from memory
 * that others may write. */
static bool
branch_polls(const struct ir_block *block, const struct ir_values *values,
             const struct ir_loop *loop, bool reread)
{
    struct poll poll = {.count = 0};
    uint32_t number;

    add_values(&poll, block->insts[block->count - 1].rest);
    for (uint32_t i = 0; i < poll.count; i++) {
        const struct ir_inst *inst = ir_values_find(values, poll.values[i], &number);
        if (inst == NULL || !loop->members[values->blocks[number]]) {
            continue;
        }
        if (is_polled(inst, reread)) {
            return true;
        }
        if (!ir_is(inst->op, "load") && !ir_is(inst->op, "call") &&
            !ir_is(inst->op, "cmpxchg") && !ir_is(inst->op, "atomicrmw")) {
            add_values(&poll, inst->rest);
        }
    }
    return false;
}

/* Returns whether there is one. */
static bool
find_polls(struct ha_rewriter *rewriter, struct ha_sites *sites)
{
    bool any = false;
    const struct ir_function *function = sites->function;
    const struct ir_flow *flow = &sites->flow;
    bool reread = rereads(function);
    struct ir_values values;

    ir_values_read(rewriter->arena, function, &values);
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct ir_block *block = &function->blocks[b];
        uint32_t loop = flow->inner[b];
        bool leaves = false;
        for (uint32_t i = 0; loop != IR_NONE && i < block->next_count; i++) {
            leaves |= !flow->loops[loop].members[block->next[i]];
        }
        if (leaves && branch_polls(block, &values, &flow->loops[loop], reread)) {
            sites->polls[loop] = 1;
            any = true;
        }
    }
    return any;
}

/* A loop that does nothing but wait: the lanes of a GPU's warp spin in step, but here a
 * lane that meets its warp in each round would never let another block run. */
static void
release_spins(struct ha_rewriter *rewriter, uint32_t number, struct ha_sites *sites)
{
    struct ir_function *function = &rewriter->module.functions[number];

    for (uint32_t i = 0; i < sites->flow.loop_count; i++) {
        const struct ir_loop *loop = &sites->flow.loops[i];
        bool stores = !sites->polls[i];
        for (uint32_t b = 0; b < function->block_count && !stores; b++) {
            const struct ir_block *block = &function->blocks[b];
            for (uint32_t k = 0; loop->members[b] && k < block->count; k++) {
                stores |= ir_is(block->insts[k].op, "store") ||
                          ir_begins(block->insts[k].callee, "@llvm.mem");
            }
        }
        for (uint32_t b = 0; b < function->block_count && !stores; b++) {
            for (uint32_t k = 0; loop->members[b] && k < function->blocks[b].count;
                 k++) {
                function->blocks[b].insts[k].step = false;
            }
        }
    }
}

/* ---- numbers ---- */

static bool
is_site(const struct ir_inst *inst)
{
    return inst->step || ha_known_of(inst) == HA_KNOWN_WARP;
}

/* The loops around a site, outermost first. */
static uint32_t
loops_around(struct ha_rewriter *rewriter, const struct ha_sites *sites, uint32_t block,
             uint32_t ids[HA_LOOP_DEPTH_MAX])
{
    uint32_t loop = sites->flow.inner[block];
    uint32_t depth = loop == IR_NONE ? 0 : sites->flow.loops[loop].depth;

    if (depth > HA_LOOP_DEPTH_MAX) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "kernel %.*s has a warp call inside of more than %u loops",
                IR_ARGS(sites->function->name), HA_LOOP_DEPTH_MAX);
    }
    for (uint32_t i = depth; i-- > 0; loop = sites->flow.loops[loop].outer) {
        ids[i] = sites->loop_ids[loop];
        sites->flow.loops[loop].wanted = true;
    }
    return depth;
}

static void
write_site(struct ha_rewriter *rewriter, const struct ha_sites *sites, uint32_t block,
           uint32_t site)
{
    uint32_t ids[HA_LOOP_DEPTH_MAX] = {0};
    uint32_t depth = loops_around(rewriter, sites, block, ids);
    struct ir_out *tail = &rewriter->tail;

    ir_print(
        tail,
        "@__ha_site.%u = internal constant { i32, i32, [%u x i32] } { i32 %u, i32 %u, "
        "[%u x i32] [",
        site, HA_LOOP_DEPTH_MAX, site - rewriter->first.warp_site, depth,
        HA_LOOP_DEPTH_MAX);
    for (uint32_t i = 0; i < HA_LOOP_DEPTH_MAX; i++) {
        ir_print(tail, "%si32 %u", i > 0 ? ", " : "", ids[i]);
    }
    ir_print(tail, "] }\n");
}

static void
number_sites(struct ha_rewriter *rewriter, struct ha_sites *sites)
{
    const struct ir_function *function = sites->function;
    uint32_t *block_at =
        ir_alloc(rewriter->arena, function->block_count + 1u, sizeof *block_at);
    uint32_t reached = 0;

    if (sites->flow.tangled) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "kernel %.*s has warp calls and a goto into a loop",
                IR_ARGS(function->name));
    }
    sites->loop_ids =
        ir_alloc(rewriter->arena, sites->flow.loop_count + 1u, sizeof *sites->loop_ids);
    for (uint32_t i = 0; i < sites->flow.loop_count; i++) {
        sites->loop_ids[i] = ++rewriter->loops - rewriter->first.loop;
    }
    for (uint32_t b = 0; b < function->block_count; b++) {
        if (sites->flow.order[b] != IR_NONE) {
            block_at[sites->flow.order[b]] = b;
            reached++;
        }
    }
    for (uint32_t position = 0; position < reached; position++) {
        uint32_t b = block_at[position];
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            struct ir_inst *inst = &function->blocks[b].insts[i];
            if (is_site(inst)) {
                inst->site = rewriter->warp_sites;
                write_site(rewriter, sites, b, rewriter->warp_sites++);
            }
            if (inst->step && ha_lockstep_is_copy(inst)) {
                write_site(rewriter, sites, b, rewriter->warp_sites++);
            }
        }
    }
}

bool
ha_sites_polls(struct ha_rewriter *rewriter, uint32_t number)
{
    struct ha_sites sites = {.function = &rewriter->module.functions[number]};

    if (!reads_polled(sites.function)) {
        return false;
    }
    ir_flow_read(rewriter->arena, sites.function, &sites.flow);
    sites.polls = ir_alloc(rewriter->arena, sites.flow.loop_count + 1u, 1);
    return find_polls(rewriter, &sites);
}

void
ha_sites_read(struct ha_rewriter *rewriter, uint32_t number, struct ha_sites *sites)
{
    const struct ir_function *function = &rewriter->module.functions[number];
    bool meets = false;
    bool waits = reads_polled(function);

    *sites = (struct ha_sites){.function = function};
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            meets |= is_site(&function->blocks[b].insts[i]);
        }
    }
    if (!meets && !waits) {
        return;
    }
    ir_flow_read(rewriter->arena, function, &sites->flow);
    sites->polls = ir_alloc(rewriter->arena, sites->flow.loop_count + 1u, 1);
    if (waits) {
        (void)find_polls(rewriter, sites);
        if (rewriter->infos[number].lockstep != HA_LOCKSTEP_NONE) {
            release_spins(rewriter, number, sites);
        }
    }
    if (meets) {
        number_sites(rewriter, sites);
    }
}

/* ---- text ---- */

uint32_t
ha_sites_loop_at(const struct ha_sites *sites, uint32_t block)
{
    for (uint32_t i = 0; i < sites->flow.loop_count; i++) {
        if (sites->flow.loops[i].header == block) {
            return sites->flow.loops[i].wanted || sites->polls[i] ? i : IR_NONE;
        }
    }
    return IR_NONE;
}

/* The counter is 0 on entry and one more on each way back. */
void
ha_sites_write_phi(const struct ha_sites *sites, uint32_t loop, struct ir_out *out)
{
    const struct ir_loop *at = &sites->flow.loops[loop];
    const struct ir_block *header = &sites->function->blocks[at->header];

    if (!at->wanted) {
        return;
    }
    ir_print(out, "  %%ha.trip.%u = phi i32 ", loop);
    for (uint32_t i = 0; i < header->prev_count; i++) {
        uint32_t from = header->prev[i];
        ir_print(out, "%s[ ", i > 0 ? ", " : "");
        if (at->members[from]) {
            ir_print(out, "%%ha.trip.%u.next", loop);
        } else {
            ir_print(out, "0");
        }
        ir_print(out, ", %.*s ]", IR_ARGS(sites->function->blocks[from].label));
    }
    ir_print(out, "\n");
}

void
ha_sites_write_round(const struct ha_sites *sites, uint32_t loop, struct ir_out *out)
{
    const struct ir_loop *at = &sites->flow.loops[loop];

    if (at->wanted) {
        ir_print(out,
                 "  %%ha.trip.%u.next = add i32 %%ha.trip.%u, 1\n"
                 "  %%ha.trip.%u.at = getelementptr i8, ptr %%ha.lane, i64 %u\n"
                 "  store i32 %%ha.trip.%u, ptr %%ha.trip.%u.at\n",
                 loop, loop, loop, LANE_TRIP + 4 * (at->depth - 1), loop, loop);
    }
    if (sites->polls[loop]) {
        ir_print(out, "  call void @__ha_rt_pause()\n");
    }
}

void
ha_sites_write_step(const struct ha_rewriter *rewriter, uint32_t site, bool wanted,
                    struct ir_out *out)
{
    ir_print(out,
             "  %%ha.step.%u = call i64 @__ha_rt_warp(ptr @__ha_site.%u, i32 %d, i64 "
             "0, i64 0, i32 %u, i32 %u)\n",
             site, site, HA_WARP_SYNC, wanted ? HA_SYNC_ORDERS : HA_SYNC_STEP,
             rewriter->warp_size);
}
