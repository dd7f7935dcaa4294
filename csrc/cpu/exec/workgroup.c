/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/workgroup.h"

#include <sched.h>
#include <string.h>

#include "cpu/exec/checks.h"
#include "cpu/exec/lane_call.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/exec/numbers.h"
#include "cpu/exec/workgroup_state.h"

/* Turns that pausing lanes get before a warp call is served without them.  They may be
 * about to join it: a flag that another block sets reaches all of them within two
 * turns. */
#define PAUSE_ROUNDS 16u

/* Stack that a runtime function needs which may not be left half-way. */
#define GROW_STACK_BYTES ((size_t)8 << 10)

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
    if (group->pause_rounds >= PAUSE_ROUNDS && ha_group_serve_forced(group)) {
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
    if (ha_group_serve_forced(group)) {
        return take_first(group);
    }
    /* Every live lane is at a block barrier, and that case was dealt with on arrival.
     */
    runner->fault.kind = HA_FAULT_TRAP;
    runner->fault.text = "no lane can go on";
    ha_runner_quit(runner);
}

/* The lane that runs when no lane of the warp is ready that comes after the one that
 * stops. */
static uint32_t
take_other(struct ha_group *group, struct ha_runner *runner, uint32_t warp)
{
    struct ha_warp_state *state = &group->warps[warp];
    if (!state->ready && !state->paused && (state->at_warp & ~state->masked)) {
        ha_group_serve_unmasked(group, warp);
    }
    if (state->ready) {
        return take(group, warp, (uint32_t)__builtin_ctzll(state->ready));
    }
    if (group->ready_warps) {
        uint64_t later = group->ready_warps & (~(uint64_t)1 << warp);
        warp = (uint32_t)__builtin_ctzll(later ? later : group->ready_warps);
        return take(group, warp, (uint32_t)__builtin_ctzll(group->warps[warp].ready));
    }
    return take_idle(group, runner);
}

/* Ready lanes of its warp behind `lane`. */
static inline uint64_t
later_lanes(const struct ha_group *group, uint32_t lane)
{
    return group->warps[lane >> group->warp_shift].ready &
           (~(uint64_t)1 << (lane & (group->warp_size - 1)));
}

/* The lane that runs when `lane` stops: its own warp first. */
static inline uint32_t
take_next(struct ha_group *group, struct ha_runner *runner, uint32_t lane)
{
    uint32_t warp = lane >> group->warp_shift;
    uint64_t later = later_lanes(group, lane);
    return later ? take(group, warp, (uint32_t)__builtin_ctzll(later))
                 : take_other(group, runner, warp);
}

/* A lane of the block that has ended; there is one. */
static uint32_t
ended_lane(const struct ha_group *group)
{
    uint32_t warp = 0;
    while ((lanes_of(group, warp) & ~group->warps[warp].live) == 0) {
        warp++;
    }
    uint64_t ended = lanes_of(group, warp) & ~group->warps[warp].live;
    return (warp << group->warp_shift) + (uint32_t)__builtin_ctzll(ended);
}

/* Under check: what is wrong with the barrier that the lanes wait at. */
static __attribute__((noinline, cold)) void
tell_barrier(const struct ha_group *group)
{
    const struct ha_barrier_state *barrier = &group->barrier;
    struct ha_meeting meeting = {.launch = group->launch,
                                 .here = &group->lanes[barrier->lane[0]]};
    if (barrier->diverged) {
        meeting.fault = HA_MEETING_DIVERGED;
        meeting.other = &group->lanes[barrier->lane[1]];
        ha_exec_checks->meeting(&meeting);
        return;
    }
    if (group->live < group->lane_count) {
        meeting.fault = HA_MEETING_LEFT;
        meeting.other = &group->lanes[ended_lane(group)];
        meeting.ended = true;
        ha_exec_checks->meeting(&meeting);
    }
    if (barrier->op == HA_BLOCK_GRID && !group->launch->cooperative) {
        meeting.fault = HA_MEETING_NOT_COOPERATIVE;
        meeting.other = NULL;
        ha_exec_checks->meeting(&meeting);
    }
}

/* All live lanes wait at block barriers: lets them go, or ends the launch. */
static void
meet(struct ha_group *group, struct ha_runner *runner)
{
    struct ha_barrier_state *barrier = &group->barrier;
    if (group->launch->checked) {
        tell_barrier(group);
    }
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
    if (group->launch->checks != NULL) {
        ha_exec_checks->barrier(group->launch);
    }
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        if (group->warps[warp].live) {
            set_ready(group, warp, group->warps[warp].live);
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

/* The lane comes to the barrier; true if it is the last. */
static inline bool
arrive(struct ha_group *group, uint32_t lane, uint32_t op, uint32_t value,
       uint32_t line, uint32_t site)
{
    struct ha_barrier_state *barrier = &group->barrier;
    uint32_t waiting = barrier->waiting++;
    group->pause_rounds = 0;
    if (waiting == 0) {
        barrier->op = op;
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
    barrier->true_count += value != 0;
    return waiting + 1 == group->live;
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
    ready_lane(group, lane);
    if (group->kernel->flags & HA_KERNEL_WARP) {
        memset(lane->trip, 0, sizeof lane->trip);
    }
    group->fiber_of[index] = fiber;
    group->suspended[index] = fiber; /* until it waits */
    runner->fiber = fiber;
    runner->lane = lane;
}

/* The control words of a lane that begins where another one has ended. */
static void
begin_control(const struct ha_group *group)
{
    if (!group->controlled) {
        return; /* all have the same */
    }
    ha_context_reset_control();
    if (group->launch->numbers) {
        ha_numbers_watch(group->launch->numbers);
    }
}

/* Instrumented builds only: what depart began. */
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

/* The block is over, or its lanes never came to wait: the thread goes home. */
static _Noreturn void
finish_block(struct ha_runner *runner)
{
    runner->armed = 0;
    atomic_signal_fence(memory_order_seq_cst);
    runner->stopped = HA_STOP_END;
    runner->finished = 1;
    ha_fiber_end(runner->fiber, &runner->home);
}

/* The running lane has ended.  Returns the one that goes on. */
static inline uint32_t
end_lane(struct ha_group *group, struct ha_runner *runner)
{
    if (group->plain) {
        finish_block(runner);
    }
    uint32_t lane = index_of(group, runner->lane);
    struct ha_warp_state *state = warp_of(group, lane);
    state->live &= ~bit_of(group, lane);
    group->live--;
    group->pause_rounds = 0;
    if (group->live == 0) {
        finish_block(runner);
    }
    if (group->barrier.waiting == group->live) {
        meet(group, runner);
        return take_first(group);
    }
    if (state->masked) {
        ha_group_serve_completed(group, lane >> group->warp_shift);
    }
    return take_next(group, runner, lane);
}

/* The lanes of a block whose kernel has no calls that wait, one after the other on one
 * stack.  Ends early when one waits nevertheless: the others have their turn then. */
static void
plain_lanes(void *const *args, struct ha_lane *lane)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    struct ha_lane_record *record = &group->lanes[index_of(group, lane)];
    const struct ha_lane_record *last = &group->lanes[group->lane_count - 1];
    struct ha_numbers *numbers = group->launch->numbers;
    runner->armed = 1;
    for (;;) {
        group->kernel->reference(args, &record->lane);
        if (!group->plain || record == last) {
            return;
        }
        record++;
        ready_lane(group, &record->lane);
        runner->lane = &record->lane;
        if (numbers && numbers->muted) {
            ha_numbers_watch(numbers);
        }
    }
}

/* The running lane of a plain block is going to wait: those before it have ended, those
 * behind it have not begun. */
static __attribute__((noinline)) void
end_plain(struct ha_group *group, struct ha_runner *runner)
{
    uint32_t lane = index_of(group, runner->lane);
    group->plain = false;
    group->special = group->controlled;
    ha_group_reset_lanes(group);
    for (uint32_t i = 0; i <= lane; i++) {
        struct ha_warp_state *state = warp_of(group, i);
        state->ready &= ~bit_of(group, i);
        state->live &= ~(i < lane ? bit_of(group, i) : 0);
        if (!state->ready) {
            group->ready_warps &= ~((uint64_t)1 << (i >> group->warp_shift));
        }
    }
    group->live -= lane;
    group->fiber_of[lane] = runner->fiber;
    group->suspended[lane] = runner->fiber;
    memset(runner->lane->trip, 0, sizeof runner->lane->trip);
}

/* ---- what images call ---- */

static const char block_misuse[] = "barrier outside the reference executor";
static const char warp_misuse[] = "warp call outside the reference executor";

/* The running code is going to wait: it must be a lane's, of a block that keeps sets.
 */
static void
begin_waits(struct ha_group *group, struct ha_runner *runner, const char *misuse)
{
    if (!runner->lane) {
        misused(runner, misuse);
    }
    if (group->plain) {
        end_plain(group, runner);
    }
}

/* Lane `lane` waits at a call with a mask, which is complete when all are there. */
static void
wait_masked(struct ha_group *group, uint32_t lane)
{
    warp_of(group, lane)->masked |= bit_of(group, lane);
    (void)ha_group_serve_masked(group, lane >> group->warp_shift,
                                lane & (group->warp_size - 1), false);
}

/* False in a fast kernel, whose thread has given up its turn instead. */
static bool
pause_begins(struct ha_runner *runner)
{
    if (runner->interrupted) {
        ha_runner_quit(runner);
    }
    if (runner->lane) {
        return true;
    }
    if (atomic_load_explicit(&runner->group->launch->fault, memory_order_relaxed)) {
        ha_runner_quit(runner);
    }
    (void)sched_yield();
    return false;
}

/* A block of gangs has come to a barrier of the grid; false if none runs, or the
 * barrier is another one.  Comes back when the barrier has opened. */
static bool
gangs_wait(struct ha_runner *runner, uint32_t op, uint32_t line)
{
    struct ha_group *group = runner->group;
    if (runner->lane || op != HA_BLOCK_GRID || !group->launch->cooperative) {
        return false;
    }
    group->barrier.line[0] = line;
    stop_block(group, runner, HA_STOP_GRID);
    return true;
}

#if HA_LANE_CALLS

/* The steps keep to registers that calls do not save, so that nothing is saved twice:
 * what is seldom done is a call at their end. */
#define SELDOM __attribute__((noinline, cold))
#define HINT_NO(condition) __builtin_expect((condition), 0)

/* A context is aligned: its lowest bit says that the lane waits at a warp call. */
#define AT_WARP_CALL ((uintptr_t)1)

enum { CACHE_LINE_BYTES = 64 };

static SELDOM struct ha_lane_next
controlled(struct ha_lane_next step)
{
    ha_lane_take_control(step.context);
    return step;
}

/* The context of a lane that begins. */
static inline void
watch_context(const struct ha_group *group, void *context)
{
    if (HINT_NO(group->launch->numbers != NULL)) {
        ha_numbers_watch_in(group->launch->numbers, context);
    }
}

void
ha_group_control_lanes(struct ha_group *group, const struct ha_lane *running)
{
    if (group->plain || group->controlled) {
        return;
    }
    group->controlled = true;
    group->special = true;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        uintptr_t context = (uintptr_t)group->suspended[i] & ~AT_WARP_CALL;
        bool waits = context && &group->lanes[i].lane != running &&
                     (warp_of(group, i)->live & bit_of(group, i));
        if (waits) {
            ha_lane_keep_control((void *)context);
            ha_numbers_watch_in(group->launch->numbers, (void *)context);
        }
    }
}

static __attribute__((noinline)) struct ha_lane_next
begin_next(struct ha_group *group, struct ha_runner *runner, uint32_t next)
{
    struct ha_fiber *fiber = new_fiber(group, runner);
    begin_lane(group, runner, next, fiber);
    struct ha_lane_next step = {ha_lane_context(fiber->high, group->kernel->reference,
                                                group->launch->args, runner->lane),
                                0};
    watch_context(group, step.context);
    return group->controlled ? controlled(step) : step;
}

/* The lane behind is the next one, as a rule: its registers are two lines of its stack,
 * which the lanes of a big block push out of the cache. */
static inline void
expect(const struct ha_group *group, uint32_t lane)
{
    uintptr_t context = (uintptr_t)group->suspended[lane];
    __builtin_prefetch((const void *)context);
    __builtin_prefetch((const void *)(context + CACHE_LINE_BYTES));
}

/* The thread goes on as lane `next`. */
static inline __attribute__((always_inline)) struct ha_lane_next
go_on(struct ha_group *group, struct ha_runner *runner, uint32_t next)
{
    uintptr_t context = (uintptr_t)group->suspended[next];
    struct ha_lane_record *record = &group->lanes[next];
    struct ha_lane_next step;
    if (HINT_NO(!context)) {
        return begin_next(group, runner, next);
    }
    expect(group, next + 1);
    runner->fiber = group->fiber_of[next];
    runner->lane = &record->lane;
    step.context = (void *)(context & ~AT_WARP_CALL);
    step.value = context & AT_WARP_CALL ? record->call.value : group->barrier.result;
    return HINT_NO(group->controlled) ? controlled(step) : step;
}

static __attribute__((noinline)) struct ha_lane_next
go_on_after_barrier(struct ha_group *group, struct ha_runner *runner)
{
    meet(group, runner);
    return go_on(group, runner, take_first(group));
}

static __attribute__((noinline)) struct ha_lane_next
go_on_elsewhere(struct ha_group *group, struct ha_runner *runner, uint32_t warp)
{
    return go_on(group, runner, take_other(group, runner, warp));
}

static inline __attribute__((always_inline)) struct ha_lane_next
go_on_after(struct ha_group *group, struct ha_runner *runner, uint32_t lane)
{
    uint32_t warp = lane >> group->warp_shift;
    uint64_t later = later_lanes(group, lane);
    if (HINT_NO(!later)) {
        return go_on_elsewhere(group, runner, warp);
    }
    return go_on(group, runner, take(group, warp, (uint32_t)__builtin_ctzll(later)));
}

static SELDOM void
begin_special(struct ha_runner *runner, const char *misuse, void *context)
{
    struct ha_group *group = runner->group;
    begin_waits(group, runner, misuse);
    if (group->controlled) {
        ha_lane_keep_control(context);
    }
}

static __attribute__((noinline)) struct ha_lane_next
go_on_masked(struct ha_group *group, struct ha_runner *runner, uint32_t lane)
{
    wait_masked(group, lane);
    return go_on_after(group, runner, lane);
}

static inline __attribute__((always_inline)) struct ha_lane_next
step_block(uint32_t op, uint32_t value, uint32_t line, uint32_t site, void *context)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    uint32_t lane = index_of(group, runner->lane);
    group->suspended[lane] = context;
    if (HINT_NO(arrive(group, lane, op, value, line, site))) {
        return go_on_after_barrier(group, runner);
    }
    return go_on_after(group, runner, lane);
}

static SELDOM struct ha_lane_next
step_block_special(uint32_t op, uint32_t value, uint32_t line, uint32_t site,
                   void *context)
{
    if (gangs_wait(ha_runner_self, op, line)) {
        return (struct ha_lane_next){context, 0};
    }
    begin_special(ha_runner_self, block_misuse, context);
    return step_block(op, value, line, site, context);
}

__attribute__((used)) struct ha_lane_next
ha_lane_step_block(uint32_t op, uint32_t value, uint32_t line, uint32_t site,
                   void *context)
{
    if (HINT_NO(ha_runner_self->group->special)) {
        return step_block_special(op, value, line, site, context);
    }
    return step_block(op, value, line, site, context);
}

static inline __attribute__((always_inline)) struct ha_lane_next
step_warp(const struct ha_warp_call *call, void *context)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    uint32_t lane = index_of(group, runner->lane);
    group->suspended[lane] = (void *)((uintptr_t)context | AT_WARP_CALL);
    group->lanes[lane].call = *call;
    warp_of(group, lane)->at_warp |= bit_of(group, lane);
    group->pause_rounds = 0;
    if (call->mask) {
        return go_on_masked(group, runner, lane);
    }
    return go_on_after(group, runner, lane);
}

static SELDOM struct ha_lane_next
step_warp_special(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                  uint64_t value, uint32_t operand, uint32_t width, void *context)
{
    struct ha_warp_call call = {site, mask, value, op, operand, width};
    begin_special(ha_runner_self, warp_misuse, context);
    return step_warp(&call, context);
}

__attribute__((used)) struct ha_lane_next
ha_lane_step_warp(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                  uint64_t value, uint32_t operand, uint32_t width, void *context)
{
    struct ha_warp_call call = {site, mask, value, op, operand, width};
    if (HINT_NO(ha_runner_self->group->special)) {
        return step_warp_special(op, site, mask, value, operand, width, context);
    }
    return step_warp(&call, context);
}

__attribute__((used)) struct ha_lane_next
ha_lane_step_pause(void *context)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    if (!pause_begins(runner)) {
        return (struct ha_lane_next){context, 0};
    }
    if (group->special) {
        begin_special(runner, NULL, context);
    }
    uint32_t lane = index_of(group, runner->lane);
    group->suspended[lane] = context;
    warp_of(group, lane)->paused |= bit_of(group, lane);
    return go_on_after(group, runner, lane);
}

__attribute__((used)) struct ha_lane_next
ha_lane_step_end(void)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    struct ha_fiber *fiber = runner->fiber;
    uint32_t next = end_lane(group, runner);
    if (!group->suspended[next]) {
        begin_lane(group, runner, next, fiber);
        group->start = (struct ha_lane_start){group->kernel->reference,
                                              group->launch->args, runner->lane};
        begin_control(group);
        return (struct ha_lane_next){NULL, (uintptr_t)&group->start};
    }
    group->recycled[group->recycled_count++] = fiber;
    return go_on(group, runner, next);
}

/* The first lane of a block. */
static void
first_lane(void *const *args, struct ha_lane *lane)
{
    struct ha_runner *runner = ha_runner_self;
    runner->armed = 1;
    runner->group->kernel->reference(args, lane);
}

void
ha_group_start(struct ha_group *group, struct ha_runner *runner, uint32_t index,
               struct ha_fiber *fiber)
{
    begin_lane(group, runner, index, fiber);
    fiber->context =
        ha_lane_context(fiber->high, group->plain ? plain_lanes : first_lane,
                        group->launch->args, runner->lane);
    watch_context(group, fiber->context);
}

#else

/* The sanitizers do not bear a switch that is interrupted by another one, so interrupts
 * wait until the next lane runs.  The thread sanitizer does not even deliver signals to
 * code that calls nothing of libc. */
static void
depart(struct ha_runner *runner)
{
    runner->busy = 1;
}

/* Entry of every lane fiber.  Without instrumentation, because it never returns. */
__attribute__((no_sanitize("address", "thread"))) static void
lane_main(void *argument)
{
    struct ha_runner *runner = argument;
    ha_fiber_entered();
    runner->armed = 1;
    begin_control(runner->group);
    landed_on_lane(runner);
    for (;;) {
        struct ha_group *group = runner->group;
        struct ha_fiber *fiber = runner->fiber;
        (group->plain ? plain_lanes : group->kernel->reference)(group->launch->args,
                                                                runner->lane);
        uint32_t next = end_lane(group, runner);
        if (group->suspended[next]) {
            group->recycled[group->recycled_count++] = fiber;
            runner->fiber = group->fiber_of[next];
            runner->lane = &group->lanes[next].lane;
            depart(runner);
            ha_fiber_end(fiber, runner->fiber);
        }
        begin_control(group);
        begin_lane(group, runner, next, fiber);
    }
}

/* Fibers have them anyway. */
void
ha_group_control_lanes(struct ha_group *group, const struct ha_lane *running)
{
    (void)running;
    group->controlled = !group->plain;
}

/* The running lane has stopped; returns when it goes on. */
static inline __attribute__((always_inline)) void
switch_to(struct ha_group *group, struct ha_runner *runner, uint32_t next)
{
    struct ha_fiber *from = runner->fiber;
    struct ha_fiber *to = group->fiber_of[next];
    if (next == index_of(group, runner->lane)) {
        return;
    }
    if (group->suspended[next]) {
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

uint32_t
ha_group_call_block(uint32_t op, uint32_t value, uint32_t line, uint32_t site)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    if (gangs_wait(runner, op, line)) {
        return 0;
    }
    begin_waits(group, runner, block_misuse);
    uint32_t lane = index_of(group, runner->lane);
    if (arrive(group, lane, op, value, line, site)) {
        meet(group, runner);
        switch_to(group, runner, take_first(group));
    } else {
        switch_to(group, runner, take_next(group, runner, lane));
    }
    return group->barrier.result;
}

uint64_t
ha_group_call_warp(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                   uint64_t value, uint32_t operand, uint32_t width)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    begin_waits(group, runner, warp_misuse);
    uint32_t lane = index_of(group, runner->lane);
    group->lanes[lane].call =
        (struct ha_warp_call){site, mask, value, op, operand, width};
    warp_of(group, lane)->at_warp |= bit_of(group, lane);
    group->pause_rounds = 0;
    if (mask) {
        wait_masked(group, lane);
    }
    switch_to(group, runner, take_next(group, runner, lane));
    return group->lanes[lane].call.value;
}

void
ha_group_call_pause(void)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_group *group = runner->group;
    if (pause_begins(runner)) {
        begin_waits(group, runner, NULL);
        uint32_t lane = index_of(group, runner->lane);
        warp_of(group, lane)->paused |= bit_of(group, lane);
        switch_to(group, runner, take_next(group, runner, lane));
    }
}

void
ha_group_start(struct ha_group *group, struct ha_runner *runner, uint32_t index,
               struct ha_fiber *fiber)
{
    begin_lane(group, runner, index, fiber);
    ha_fiber_start(fiber, lane_main, runner);
}

#endif
