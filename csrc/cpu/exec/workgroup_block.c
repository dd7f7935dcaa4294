/* SPDX-License-Identifier: MIT */
/* A group's way from the thread's own stack into a block and back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/workgroup.h"

#include "cpu/exec/checks.h"
#include "cpu/exec/workgroup_state.h"

void
ha_group_reset_lanes(struct ha_group *group)
{
    group->live = group->lane_count;
    group->ready_warps = 0;
    group->pause_rounds = 0;
    group->recycled_count = 0;
    memset(&group->barrier, 0, sizeof group->barrier);
    memset(group->warps, 0, group->warp_count * sizeof group->warps[0]);
    memset(group->suspended, 0, group->lane_count * sizeof group->suspended[0]);
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        uint64_t all = lanes_of(group, warp);
        group->warps[warp].live = all;
        set_ready(group, warp, all);
    }
}

static void
reset_block(struct ha_group *group, uint64_t index)
{
    const uint32_t *dim = group->launch->grid.grid_dim;
    uint64_t row = index / dim[0];
    group->block_idx[0] = (uint32_t)(index % dim[0]);
    group->block_idx[1] = (uint32_t)(row % dim[1]);
    group->block_idx[2] = (uint32_t)(row / dim[1]);
    group->plain = !(group->kernel->flags &
                     (HA_KERNEL_BLOCK | HA_KERNEL_WARP | HA_KERNEL_CONTROL));
    group->controlled = (group->kernel->flags & HA_KERNEL_CONTROL) != 0;
    group->special = group->plain || group->controlled;
    group->fresh = 1;
    for (uint32_t i = 0; group->launch->checked && i < group->lane_count; i++) {
        group->lanes[i].site = NULL;
    }
    if (group->launch->checks != NULL) {
        ha_exec_checks->block(group->launch, index);
    }
    if (group->launch->shadowed) {
        ha_exec_checks->shadow_block(group);
    }
}

/* The number of the block that runs. */
static uint64_t
block_number(const struct ha_group *group)
{
    const uint32_t *dim = group->launch->grid.grid_dim, *at = group->block_idx;
    return at[0] + (uint64_t)dim[0] * (at[1] + (uint64_t)dim[1] * at[2]);
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
    uint32_t first = 0;
    reset_block(group, index);
    if (!group->plain) {
        ha_group_reset_lanes(group);
        first = take_first(group);
    }
    ha_group_start(group, runner, first, &group->fibers.fibers[0]);
    return run_from_home(group, runner, &group->fibers.fibers[0]);
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
    if (group->launch->checks != NULL) {
        ha_exec_checks->block(group->launch, block_number(group));
    }
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

__attribute__((no_sanitize("address", "thread"))) static void
fast_main(void *argument)
{
    struct ha_group *group = argument;
    struct ha_runner *runner = ha_runner_self;
    struct ha_launch *launch = group->launch;
    ha_fiber_entered();
    runner->armed = 1;
    group->fast_answer =
        group->kernel->fast(launch->args, &launch->grid, group->fast_first,
                            group->fast_last, group->shared, group->frame);
    runner->armed = 0;
    atomic_signal_fence(memory_order_seq_cst);
    runner->stopped = HA_STOP_END;
    runner->finished = 1;
    ha_fiber_end(&group->fibers.main, &runner->home);
}

bool
ha_group_run_fast(struct ha_group *group, struct ha_runner *runner, uint64_t first,
                  uint64_t last, uint64_t *answer)
{
    ((struct ha_place *)(void *)group->frame)->blocks = 0;
    group->fast_first = first;
    group->fast_last = last;
    group->fast_answer = first;
    group->fresh = 0;
    group->special = true;
    runner->lane = NULL;
    ha_fiber_start(&group->fibers.main, fast_main, group);
    bool whole = run_from_home(group, runner, &group->fibers.main);
    *answer = group->fast_answer;
    return whole;
}

enum ha_group_stop
ha_group_begin_fast(struct ha_group *group, struct ha_runner *runner, uint64_t index)
{
    uint64_t answer;
    return ha_group_run_fast(group, runner, index, index + 1, &answer)
               ? (enum ha_group_stop)runner->stopped
               : HA_STOP_FAULT;
}
