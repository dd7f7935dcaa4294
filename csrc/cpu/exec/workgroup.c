/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/workgroup.h"

#include <sched.h>
#include <string.h>

#include "cpu/exec/multi_grid.h"

/* Turns that pausing lanes get before a warp call is served without them.  They may be
 * about to join it: a flag that another block sets reaches all of them within two
 * turns. */
#define PAUSE_ROUNDS 16u

/* Stack that a runtime function needs which may not be left half-way. */
#define GROW_STACK_BYTES ((size_t)8 << 10)

static inline uint64_t
bit_of(const struct ha_group *group, uint32_t lane)
{
    return (uint64_t)1 << (lane & (group->warp_size - 1));
}

static inline struct ha_warp_state *
warp_of(struct ha_group *group, uint32_t lane)
{
    return &group->warps[lane >> group->warp_shift];
}

static inline uint32_t
index_of(const struct ha_group *group, const struct ha_lane *lane)
{
    return (uint32_t)((const struct ha_lane_record *)(const void *)lane - group->lanes);
}

static inline void
set_ready(struct ha_group *group, uint32_t warp, uint64_t bits)
{
    group->warps[warp].ready |= bits;
    group->ready_warps |= (uint64_t)1 << warp;
}

/* Takes the lane out of its warp's ready set. */
static inline uint32_t
take(struct ha_group *group, uint32_t warp, uint32_t bit)
{
    struct ha_warp_state *state = &group->warps[warp];
    state->ready &= ~((uint64_t)1 << bit);
    if (!state->ready) {
        group->ready_warps &= ~((uint64_t)1 << warp);
    }
    return (warp << group->warp_shift) + bit;
}

/* Needs a warp with a ready lane. */
static inline uint32_t
take_first(struct ha_group *group)
{
    uint32_t warp = (uint32_t)__builtin_ctzll(group->ready_warps);
    return take(group, warp, (uint32_t)__builtin_ctzll(group->warps[warp].ready));
}

static void
serve(struct ha_group *group, uint32_t warp, uint64_t lanes)
{
    struct ha_warp_state *state = &group->warps[warp];
    ha_warp_serve(group->lanes + ((size_t)warp << group->warp_shift), lanes,
                  group->warp_size);
    state->at_warp &= ~lanes;
    state->masked &= ~lanes;
    set_ready(group, warp, lanes);
}

static void
serve_unmasked(struct ha_group *group, uint32_t warp)
{
    struct ha_warp_state *state = &group->warps[warp];
    serve(group, warp,
          ha_warp_converged(group->lanes + ((size_t)warp << group->warp_shift),
                            state->at_warp & ~state->masked));
}

/* Serves the masked group of lane `leader` of the warp if all lanes that the mask
 * names are there, or in any case if `force`. */
static bool
serve_masked(struct ha_group *group, uint32_t warp, uint32_t leader, bool force)
{
    struct ha_warp_state *state = &group->warps[warp];
    struct ha_lane_record *lanes = group->lanes + ((size_t)warp << group->warp_shift);
    uint64_t named = lanes[leader].call.mask & state->live;
    if (!force && (named & ~state->masked)) {
        return false;
    }
    uint64_t present = ha_warp_named(lanes, state->masked, leader);
    if (!force && (named & ~present)) {
        return false;
    }
    serve(group, warp, present);
    return true;
}

/* A lane of the warp has ended: masks that waited for it may be complete now. */
static void
serve_completed(struct ha_group *group, uint32_t warp)
{
    uint64_t rest = group->warps[warp].masked;
    while (rest) {
        uint32_t leader = (uint32_t)__builtin_ctzll(rest);
        serve_masked(group, warp, leader, false);
        rest &= group->warps[warp].masked;
        rest &= ~((uint64_t)1 << leader);
    }
}

/* Nothing in the block can go on unless some lanes are given up: serves one warp call
 * with the lanes that came.  False if no lane waits at one. */
static bool
serve_forced(struct ha_group *group)
{
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        struct ha_warp_state *state = &group->warps[warp];
        if (!state->at_warp) {
            continue;
        }
        if (state->at_warp & ~state->masked) {
            serve_unmasked(group, warp);
            return true;
        }
        uint64_t first = ha_warp_converged(
            group->lanes + ((size_t)warp << group->warp_shift), state->masked);
        return serve_masked(group, warp, (uint32_t)__builtin_ctzll(first), true);
    }
    return false;
}

static bool
wake_paused(struct ha_group *group)
{
    bool any = false;
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        uint64_t paused = group->warps[warp].paused;
        if (paused) {
            group->warps[warp].paused = 0;
            set_ready(group, warp, paused);
            any = true;
        }
    }
    return any;
}

static _Noreturn void
misused(struct ha_runner *runner, const char *text)
{
    runner->fault.kind = HA_FAULT_TRAP;
    runner->fault.text = text;
    ha_runner_quit(runner);
}

static void stop_block(struct ha_group *group, struct ha_runner *runner,
                       enum ha_group_stop stop);

/* No lane of the block is ready. */
static uint32_t
take_idle(struct ha_group *group, struct ha_runner *runner)
{
    if (group->pause_rounds >= PAUSE_ROUNDS && serve_forced(group)) {
        group->pause_rounds = 0;
        return take_first(group);
    }
    if (wake_paused(group)) {
        if (atomic_load_explicit(&group->launch->fault, memory_order_relaxed)) {
            ha_runner_quit(runner);
        }
        if (group->pause_rounds++ > 0) {
            if (group->launch->cooperative) {
                stop_block(group, runner, HA_STOP_YIELD);
            } else {
                (void)sched_yield();
            }
        }
        return take_first(group);
    }
    if (serve_forced(group)) {
        return take_first(group);
    }
    /* Every live lane is at a block barrier, and that case was dealt with on arrival.
     */
    runner->fault.kind = HA_FAULT_TRAP;
    runner->fault.text = "no lane can go on";
    ha_runner_quit(runner);
}

/* The lane that runs when `lane` stops: its own warp first. */
static inline uint32_t
take_next(struct ha_group *group, struct ha_runner *runner, uint32_t lane)
{
    uint32_t warp = lane >> group->warp_shift;
    struct ha_warp_state *state = &group->warps[warp];
    if (!state->ready && !state->paused && (state->at_warp & ~state->masked)) {
        serve_unmasked(group, warp);
    }
    if (state->ready) {
        uint64_t later =
            state->ready & (~(uint64_t)1 << (lane & (group->warp_size - 1)));
        return take(group, warp,
                    (uint32_t)__builtin_ctzll(later ? later : state->ready));
    }
    if (group->ready_warps) {
        uint64_t later = group->ready_warps & (~(uint64_t)1 << warp);
        warp = (uint32_t)__builtin_ctzll(later ? later : group->ready_warps);
        return take(group, warp, (uint32_t)__builtin_ctzll(group->warps[warp].ready));
    }
    return take_idle(group, runner);
}

/* All live lanes wait at block barriers: lets them go, or ends the launch. */
static void
meet(struct ha_group *group, struct ha_runner *runner)
{
    struct ha_barrier_state *barrier = &group->barrier;
    if (barrier->diverged) {
        runner->fault.kind = HA_FAULT_DIVERGED;
        memcpy(runner->fault.line, barrier->line, sizeof barrier->line);
        memcpy(runner->fault.lane, barrier->lane, sizeof barrier->lane);
        ha_runner_quit(runner);
    }
    switch (barrier->op) {
    case HA_BLOCK_COUNT:
        barrier->result = barrier->true_count;
        break;
    case HA_BLOCK_AND:
        barrier->result = barrier->true_count == barrier->waiting;
        break;
    case HA_BLOCK_OR:
        barrier->result = barrier->true_count != 0;
        break;
    default:
        barrier->result = 0;
        break;
    }
    barrier->waiting = 0;
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        if (group->warps[warp].at_block) {
            set_ready(group, warp, group->warps[warp].at_block);
            group->warps[warp].at_block = 0;
        }
    }
    if (barrier->op == HA_BLOCK_GRID) {
        if (!group->launch->cooperative) {
            misused(runner, "grid barrier in a launch that is not cooperative");
        }
        stop_block(group, runner, HA_STOP_GRID);
    } else if (barrier->op == HA_BLOCK_MULTI) {
        if (!group->launch->cooperative || !group->launch->cooperative->multi) {
            misused(runner, "multi-grid barrier in a launch that is not a cooperative "
                            "one on several devices");
        }
        stop_block(group, runner, HA_STOP_MULTI);
    }
}

static void
arrive(struct ha_group *group, uint32_t lane, uint32_t line, uint32_t site)
{
    struct ha_barrier_state *barrier = &group->barrier;
    if (barrier->waiting++ == 0) {
        barrier->true_count = 0;
        barrier->diverged = false;
        barrier->site = site;
        barrier->line[0] = line;
        barrier->lane[0] = lane;
    } else if (barrier->site != site && !barrier->diverged) {
        barrier->diverged = true;
        barrier->line[1] = line;
        barrier->lane[1] = lane;
    }
}

/* A stack for a lane that begins; kernels whose flags promised no barrier come here
 * with too few of them. */
static struct ha_fiber *
new_fiber(struct ha_group *group, struct ha_runner *runner)
{
    if (group->recycled_count > 0) {
        return group->recycled[--group->recycled_count];
    }
    if (group->fresh == group->fibers.count) {
        bool grown = false;
        if (!ha_runner_stack_short(runner, GROW_STACK_BYTES)) {
            ha_runner_busy(runner);
            grown = ha_fiber_reserve(&group->fibers, group->fresh + 1,
                                     group->fibers.stack_bytes);
            ha_runner_idle(runner);
        }
        if (!grown) {
            runner->fault.kind = HA_FAULT_RESOURCE;
            ha_runner_quit(runner);
        }
    }
    return &group->fibers.fibers[group->fresh++];
}

static inline void
begin_lane(struct ha_group *group, struct ha_runner *runner, uint32_t index,
           struct ha_fiber *fiber)
{
    struct ha_lane *lane = &group->lanes[index].lane;
    memcpy(lane->block_idx, group->block_idx, sizeof lane->block_idx);
    memset(lane->trip, 0, sizeof lane->trip);
    lane->grid = &group->launch->grid;
    lane->shared = group->shared;
    group->fiber_of[index] = fiber;
    runner->fiber = fiber;
    runner->lane = lane;
}

/* Instrumented builds only: the sanitizers do not bear a switch that is interrupted by
 * another one, so interrupts wait until the next lane runs.  The thread sanitizer does
 * not even deliver signals to code that calls nothing of libc. */
static inline void
depart(struct ha_runner *runner)
{
    if (HA_FIBER_ASAN || HA_FIBER_TSAN) {
        runner->busy = 1;
    }
}

static inline void
landed_on_lane(struct ha_runner *runner)
{
    if (!HA_FIBER_ASAN && !HA_FIBER_TSAN) {
        return;
    }
    runner->busy = 0;
    if (runner->interrupted ||
        (HA_FIBER_TSAN && atomic_load(&runner->group->launch->fault))) {
        ha_runner_quit(runner);
    }
}

/* Leaves the block as it is; returns when it is resumed.  The lane of the running fiber
 * may have ended: only its stack is needed. */
static void
stop_block(struct ha_group *group, struct ha_runner *runner, enum ha_group_stop stop)
{
    struct ha_fiber *fiber = runner->fiber;
    group->stopped = fiber;
    group->stopped_lane = runner->lane;
    runner->stopped = (sig_atomic_t)stop;
    runner->armed = 0;
    atomic_signal_fence(memory_order_seq_cst);
    runner->finished = 1;
    ha_fiber_switch(fiber, &runner->home);
    runner->armed = 1;
    landed_on_lane(runner);
}

/* The lane on the running fiber has ended.  Returns if that fiber is to run another
 * one, which is runner->lane then. */
static void
end_lane(struct ha_group *group, struct ha_runner *runner)
{
    uint32_t lane = index_of(group, runner->lane);
    struct ha_warp_state *state = warp_of(group, lane);
    struct ha_fiber *fiber = runner->fiber;
    uint32_t next;
    state->live &= ~bit_of(group, lane);
    group->live--;
    group->pause_rounds = 0;
    if (group->live == 0) {
        runner->armed = 0;
        atomic_signal_fence(memory_order_seq_cst);
        runner->stopped = HA_STOP_END;
        runner->finished = 1;
        ha_fiber_end(fiber, &runner->home);
    }
    if (group->barrier.waiting == group->live) {
        meet(group, runner);
        next = take_first(group);
    } else {
        if (state->masked) {
            serve_completed(group, lane >> group->warp_shift);
        }
        next = take_next(group, runner, lane);
    }
    if (!group->fiber_of[next]) {
        begin_lane(group, runner, next, fiber);
        return;
    }
    group->recycled[group->recycled_count++] = fiber;
    runner->fiber = group->fiber_of[next];
    runner->lane = &group->lanes[next].lane;
    depart(runner);
    ha_fiber_end(fiber, runner->fiber);
}

/* Entry of every lane fiber.  Without instrumentation, because it never returns. */
__attribute__((no_sanitize("address", "thread"))) static void
lane_main(void *argument)
{
    struct ha_runner *runner = argument;
    ha_fiber_entered();
    runner->armed = 1;
    landed_on_lane(runner);
    for (;;) {
        struct ha_group *group = runner->group;
        group->kernel->reference(group->launch->args, runner->lane);
        end_lane(group, runner);
    }
}

/* The running lane has stopped; returns when it goes on. */
static inline __attribute__((always_inline)) void
switch_to(struct ha_group *group, struct ha_runner *runner, uint32_t lane,
          uint32_t next)
{
    if (next == lane) {
        return;
    }
    struct ha_fiber *from = runner->fiber;
    struct ha_fiber *to = group->fiber_of[next];
    if (to) {
        runner->fiber = to;
        runner->lane = &group->lanes[next].lane;
    } else {
        to = new_fiber(group, runner);
        ha_fiber_start(to, lane_main, runner);
        begin_lane(group, runner, next, to);
    }
    depart(runner);
    ha_fiber_switch(from, to);
    landed_on_lane(runner);
}

/* ---- what images call ---- */

uint32_t
ha_group_call_block(uint32_t op, uint32_t value, uint32_t line, uint32_t site)
{
    struct ha_runner *runner = ha_runner_self;
    if (!runner->lane) {
        misused(runner, "barrier outside the reference executor");
    }
    struct ha_group *group = runner->group;
    uint32_t lane = index_of(group, runner->lane);
    uint32_t next;
    warp_of(group, lane)->at_block |= bit_of(group, lane);
    group->pause_rounds = 0;
    arrive(group, lane, line, site);
    group->barrier.op = op;
    group->barrier.true_count += value != 0;
    if (group->barrier.waiting == group->live) {
        meet(group, runner);
        next = take_first(group);
    } else {
        next = take_next(group, runner, lane);
    }
    switch_to(group, runner, lane, next);
    return group->barrier.result;
}

uint64_t
ha_group_call_warp(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                   uint64_t value, uint32_t operand, uint32_t width)
{
    struct ha_runner *runner = ha_runner_self;
    if (!runner->lane) {
        misused(runner, "warp call outside the reference executor");
    }
    struct ha_group *group = runner->group;
    uint32_t lane = index_of(group, runner->lane);
    struct ha_warp_state *state = warp_of(group, lane);
    struct ha_lane_record *record = &group->lanes[lane];
    record->call = (struct ha_warp_call){.site = site,
                                         .mask = mask,
                                         .value = value,
                                         .op = op,
                                         .operand = operand,
                                         .width = width};
    state->at_warp |= bit_of(group, lane);
    group->pause_rounds = 0;
    if (mask) {
        state->masked |= bit_of(group, lane);
        serve_masked(group, lane >> group->warp_shift, lane & (group->warp_size - 1),
                     false);
    }
    switch_to(group, runner, lane, take_next(group, runner, lane));
    return record->call.value;
}

void
ha_group_call_pause(void)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    if (runner->interrupted) {
        ha_runner_quit(runner);
    }
    if (!runner->lane) {
        if (atomic_load_explicit(&group->launch->fault, memory_order_relaxed)) {
            ha_runner_quit(runner);
        }
        (void)sched_yield();
        return;
    }
    uint32_t lane = index_of(group, runner->lane);
    warp_of(group, lane)->paused |= bit_of(group, lane);
    switch_to(group, runner, lane, take_next(group, runner, lane));
}

/* ---- blocks ---- */

static void
reset_block(struct ha_group *group, uint64_t index)
{
    const uint32_t *dim = group->launch->grid.grid_dim;
    uint64_t row = index / dim[0];
    group->block_idx[0] = (uint32_t)(index % dim[0]);
    group->block_idx[1] = (uint32_t)(row % dim[1]);
    group->block_idx[2] = (uint32_t)(row / dim[1]);
    group->live = group->lane_count;
    group->ready_warps = 0;
    group->pause_rounds = 0;
    group->recycled_count = 0;
    group->fresh = 0;
    memset(&group->barrier, 0, sizeof group->barrier);
    memset(group->warps, 0, group->warp_count * sizeof group->warps[0]);
    memset(group->fiber_of, 0, group->lane_count * sizeof(struct ha_fiber *));
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        uint32_t rest = group->lane_count - (warp << group->warp_shift);
        uint32_t count = rest < group->warp_size ? rest : group->warp_size;
        uint64_t all = ~(uint64_t)0 >> (64 - count);
        group->warps[warp].live = all;
        set_ready(group, warp, all);
    }
}

/* Runs what was started on `fiber` until the thread is home again. */
static bool
run_from_home(struct ha_group *group, struct ha_runner *runner, struct ha_fiber *fiber)
{
    runner->group = group;
    runner->fiber = fiber;
    runner->finished = 0;
    runner->busy = 0;
    runner->interrupted = 0;
    memset(&runner->fault, 0, sizeof runner->fault);
    atomic_signal_fence(memory_order_seq_cst);
    ha_fiber_switch(&runner->home, fiber);
    runner->busy = 0;
    if (runner->finished) {
        return true;
    }
    ha_fiber_landed(&runner->home, &group->fibers, group->fresh);
    return false;
}

bool
ha_group_run_block(struct ha_group *group, struct ha_runner *runner, uint64_t index)
{
    reset_block(group, index);
    uint32_t first = take_first(group);
    struct ha_fiber *fiber = &group->fibers.fibers[group->fresh++];
    ha_fiber_start(fiber, lane_main, runner);
    begin_lane(group, runner, first, fiber);
    return run_from_home(group, runner, fiber);
}

enum ha_group_stop
ha_group_begin_block(struct ha_group *group, struct ha_runner *runner, uint64_t index)
{
    return ha_group_run_block(group, runner, index)
               ? (enum ha_group_stop)runner->stopped
               : HA_STOP_FAULT;
}

enum ha_group_stop
ha_group_resume(struct ha_group *group, struct ha_runner *runner)
{
    runner->lane = group->stopped_lane;
    return run_from_home(group, runner, group->stopped)
               ? (enum ha_group_stop)runner->stopped
               : HA_STOP_FAULT;
}

void
ha_group_abandon(struct ha_group *group, struct ha_runner *runner)
{
    ha_fiber_landed(&runner->home, &group->fibers, group->fresh);
}

struct fast_call {
    struct ha_runner *runner;
    struct ha_group *group;
    uint64_t first;
    uint64_t last;
    uint64_t answer;
};

__attribute__((no_sanitize("address", "thread"))) static void
fast_main(void *argument)
{
    struct fast_call *call = argument;
    struct ha_runner *runner = call->runner;
    struct ha_launch *launch = call->group->launch;
    ha_fiber_entered();
    runner->armed = 1;
    call->answer =
        call->group->kernel->fast(launch->args, &launch->grid, call->first, call->last,
                                  call->group->shared, call->group->frame);
    runner->armed = 0;
    atomic_signal_fence(memory_order_seq_cst);
    runner->finished = 1;
    ha_fiber_end(&call->group->fibers.main, &runner->home);
}

bool
ha_group_run_fast(struct ha_group *group, struct ha_runner *runner, uint64_t first,
                  uint64_t last, uint64_t *answer)
{
    struct fast_call call = {runner, group, first, last, first};
    group->fresh = 0;
    runner->lane = NULL;
    ha_fiber_start(&group->fibers.main, fast_main, &call);
    bool whole = run_from_home(group, runner, &group->fibers.main);
    *answer = call.answer;
    return whole;
}
