/* SPDX-License-Identifier: MIT */
#include "cpu/exec/exec.h"

#include <pthread.h>

#include "cpu/exec/blocks.h"
#include "cpu/exec/cooperative.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/fault_text.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/idle_group.h"
#include "cpu/exec/print.h"
#include "cpu/exec/workgroup.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static int init_result = 1; /* 1: not tried yet; guarded by init_lock */
static atomic_bool handlers_installed;

int
ha_exec_init(void)
{
    (void)pthread_mutex_lock(&init_lock);
    if (init_result != 0) {
        init_result = ha_fault_init();
    }
    int result = init_result;
    (void)pthread_mutex_unlock(&init_lock);
    return result;
}

void
ha_exec_prepare(struct ha_launch *launch, unsigned threads)
{
    ha_blocks_prepare(launch, threads);
    atomic_init(&launch->blocks_left, 0);
    atomic_init(&launch->blocks_done, 0);
    atomic_init(&launch->fault, HA_FAULT_NONE);
    launch->fault_text[0] = 0;
    atomic_init(&launch->fault_ready, 0);
    atomic_init(&launch->print_bytes, 0);
    atomic_init(&launch->print_lost, 0);
    atomic_init(&launch->debug_told, false);
    atomic_init(&launch->debug_number, 0);
    atomic_init(&launch->debug_begun, 0);
    atomic_init(&launch->inside, 0);
    atomic_init(&launch->finished, false);
    /* The thread with the first ticket looks at the handlers again (run_chunks), but
     * others may begin before it has. */
    if (!atomic_load_explicit(&handlers_installed, memory_order_acquire)) {
        ha_fault_install();
        atomic_store_explicit(&handlers_installed, true, memory_order_release);
    }
}

/* A block that the fast function has left to the reference function, or whose fault is
 * to be told to the lane.  True if it brought the launch's first fault. */
static bool
run_by_reference(struct ha_group *group, struct ha_runner *runner, uint64_t block)
{
    if (!ha_group_prepare_reference(group)) {
        return ha_fault_record_resources(group->launch);
    }
    return !ha_group_run_block(group, runner, block) &&
           ha_fault_record_blocks(group, runner, block, block + 1);
}

/* True if the chunk brought the launch's first fault. */
static bool
run_fast_chunk(struct ha_group *group, struct ha_runner *runner, uint64_t first,
               uint64_t last)
{
    uint64_t answer;
    while (first < last) {
        if (!ha_group_run_fast(group, runner, first, last, &answer)) {
            return ha_fault_record_blocks(group, runner, first, last);
        }
        if (answer == last) {
            break;
        }
        uint64_t block = answer & ~(HA_FAST_REFUSED | HA_FAST_DIVERGED);
        (void)atomic_fetch_add_explicit(&group->launch->blocks_left, 1,
                                        memory_order_relaxed);
        if (run_by_reference(group, runner, block)) {
            return true;
        }
        if (answer & HA_FAST_DIVERGED) {
            return ha_fault_record_unmet(group->launch, block);
        }
        first = block + 1;
    }
    return false;
}

/* True if the chunk brought the launch's first fault. */
static bool
run_chunk(struct ha_group *group, struct ha_runner *runner, uint64_t first,
          uint64_t last)
{
    struct ha_launch *launch = group->launch;
    if (launch->fast && launch->kernel->fast) {
        return run_fast_chunk(group, runner, first, last);
    }
    for (uint64_t block = first; block < last; block++) {
        if (!ha_group_run_block(group, runner, block)) {
            return ha_fault_record_blocks(group, runner, block, block + 1);
        }
        if (atomic_load_explicit(&launch->fault, memory_order_relaxed)) {
            break;
        }
    }
    return false;
}

/* Takes chunks until none is left; returns how many blocks were finished or dropped. */
static uint64_t
run_chunks(struct ha_group *group, struct ha_runner *runner, bool *was_first_fault)
{
    struct ha_launch *launch = group->launch;
    uint64_t settled = 0;
    while (atomic_load(&launch->fault) == HA_FAULT_NONE) {
        uint64_t ticket = atomic_fetch_add(&launch->next_block, launch->chunk);
        if (ticket >= launch->block_count) {
            return settled;
        }
        if (ticket == 0 && !runner->held) {
            ha_fault_install();
        }
        uint64_t first = ha_blocks_take(launch, ticket);
        if (run_chunk(group, runner, first, ha_blocks_end(launch, first))) {
            *was_first_fault = true;
        }
        /* The last chunk may be a short one, wherever it was taken: tickets count. */
        settled += ha_blocks_end(launch, ticket) - ticket;
    }
    return settled + ha_blocks_drop_rest(launch);
}

/* Takes part once the launch is certain to stay; returns how many blocks were settled.
 */
static uint64_t
take_part(struct ha_launch *launch)
{
    uint64_t settled = 0;
    bool was_first_fault = false;
    struct ha_runner *runner = ha_runner_enter(launch);
    struct ha_group *group = runner ? ha_idle_group_wait(launch, runner) : NULL;
    if (group && launch->cooperative &&
        (!launch->fast || (launch->kernel->flags & HA_KERNEL_GRID))) {
        settled = ha_cooperative_run(launch, runner, group, &was_first_fault);
    } else if (group) {
        settled = run_chunks(group, runner, &was_first_fault);
        ha_idle_group_give(group);
    } else if (!runner || !ha_runner_has_peer(runner)) {
        (void)ha_fault_record_resources(launch);
        settled = ha_blocks_drop_rest(launch);
    }
    if (was_first_fault) {
        ha_fault_interrupt(launch, runner);
    }
    if (runner) {
        ha_runner_leave(runner);
    }
    return settled;
}

bool
ha_exec_run(struct ha_launch *launch)
{
    /* A thread that is counted keeps the launch unfinished, so it counts itself before
     * it looks for blocks: one that comes when all are taken may not touch the kernel
     * any more. */
    atomic_fetch_add(&launch->inside, 1);
    if (atomic_load(&launch->next_block) < launch->block_count) {
        uint64_t settled = take_part(launch);
        atomic_fetch_add(&launch->blocks_done, settled);
    }
    if (atomic_fetch_sub(&launch->inside, 1) != 1 ||
        atomic_load(&launch->blocks_done) != launch->block_count ||
        atomic_exchange(&launch->finished, true)) {
        return false;
    }
    ha_print_finish(launch, launch->kernel->name);
    return true;
}

void
ha_exec_hold(void)
{
    ha_fault_install();
    ha_runner_hold();
}

void
ha_exec_release(void)
{
    ha_runner_release();
}

void
ha_exec_cancel(struct ha_launch *launch, const char *text)
{
    (void)ha_fault_record(launch, HA_FAULT_TIMEOUT, text);
    ha_fault_interrupt(launch, NULL);
}

void
ha_exec_thread_exit(void)
{
    ha_runner_exit();
    ha_idle_groups_trim();
}

void
ha_exec_after_fork_child(void)
{
    (void)pthread_mutex_init(&init_lock, NULL);
    ha_fault_after_fork_child();
    ha_print_after_fork_child();
    ha_heap_after_fork_child();
    ha_idle_groups_after_fork_child();
}

void
ha_exec_flush_print(void)
{
    ha_print_flush();
}

void
ha_exec_wait_begin(bool (*question)(void))
{
    ha_runner_set_question(question);
}

void
ha_exec_wait_end(void)
{
    ha_runner_set_question(NULL);
}

void
ha_exec_ask(void)
{
    ha_fault_ask();
}

bool
ha_exec_is_inside(void)
{
    return ha_runner_is_inside();
}
