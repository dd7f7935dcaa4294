/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/cooperative.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "cpu/exec/blocks.h"
#include "cpu/exec/checks.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/fault_text.h"
#include "cpu/exec/idle_group.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/exec/workgroup.h"

#define SLEEP_NS 1000000L       /* between looks at the launch's fault */
#define SPIN_TURNS 200u         /* before a thread sleeps */
#define HELPERS_LIMIT_NS 200000 /* for others to take their share of the blocks */

/* A block that this thread has begun. */
struct begun {
    struct ha_group *group; /* owned until the block is over */
    uint64_t block;
    _Atomic uint32_t *counter; /* borrowed: the barrier that it waits at opens when this
                                  is not `round` any more */
    uint32_t round;
    bool waits;
    bool fast; /* the fast function runs it */
};

struct share {
    struct ha_launch *launch;
    struct ha_cooperative *cooperative;
    struct ha_runner *runner;
    struct begun *begun; /* owned */
    uint64_t count;      /* of begun blocks */
    uint64_t room;
    uint64_t taken; /* blocks taken so far, this thread's share of them */
    uint64_t fair;  /* the share if all threads come */
    uint64_t
        wait_ns; /* when the thread began to wait for others to take more; 0: not */
    bool moved;  /* a block came to a barrier or its end in the last turn */
    bool first_fault;
};

struct ha_cooperative *
ha_cooperative_new(unsigned threads)
{
    struct ha_cooperative *cooperative = calloc(1, sizeof *cooperative);
    if (!cooperative) {
        return NULL;
    }
    if (pthread_mutex_init(&cooperative->lock, NULL) != 0) {
        free(cooperative);
        return NULL;
    }
    cooperative->threads = threads > 0 ? threads : 1;
    return cooperative;
}

void
ha_cooperative_free(struct ha_cooperative *cooperative)
{
    if (cooperative) {
        (void)pthread_mutex_destroy(&cooperative->lock);
        free(cooperative);
    }
}

/* ---- the barrier ---- */

/* Some blocks wait for others that are over. Lock held; gives it back. */
static void
fail_unlock(struct share *share)
{
    struct ha_cooperative *cooperative = share->cooperative;
    uint64_t waiting = cooperative->first_waiting;
    uint64_t ended = cooperative->first_ended;
    uint32_t line = cooperative->line;
    (void)pthread_mutex_unlock(&cooperative->lock);
    if (ha_fault_record_grid(share->launch, waiting, line, ended)) {
        share->first_fault = true;
    }
}

/* Some blocks wait at another barrier than the others. Likewise. */
static void
fail_mixed_unlock(struct share *share, uint64_t block)
{
    struct ha_cooperative *cooperative = share->cooperative;
    uint64_t waiting = cooperative->first_waiting;
    (void)pthread_mutex_unlock(&cooperative->lock);
    if (ha_fault_record_mixed(share->launch, waiting, block)) {
        share->first_fault = true;
    }
}

/* All blocks of the grid have come. */
static void
open_barrier(struct ha_cooperative *cooperative, bool at_multi, uint32_t line)
{
    if (at_multi) {
        ha_multi_arrive(cooperative->multi, cooperative->rank, line);
    } else {
        (void)syscall(SYS_futex, &cooperative->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
                      NULL, 0);
    }
}

static void
arrive(struct share *share, struct begun *begun, bool at_multi)
{
    struct ha_cooperative *cooperative = share->cooperative;
    (void)pthread_mutex_lock(&cooperative->lock);
    begun->waits = true;
    begun->counter = at_multi ? &cooperative->multi->round : &cooperative->round;
    begun->round = atomic_load_explicit(begun->counter, memory_order_relaxed);
    if (cooperative->waiting++ == 0) {
        cooperative->at_multi = at_multi;
        cooperative->first_waiting = begun->block;
        cooperative->line = begun->group->barrier.line[0];
    }
    if (cooperative->ended > 0) {
        fail_unlock(share);
        return;
    }
    if (cooperative->at_multi != at_multi) {
        fail_mixed_unlock(share, begun->block);
        return;
    }
    uint32_t line = cooperative->line;
    bool opens = cooperative->waiting == share->launch->block_count;
    if (opens && share->launch->checks != NULL) {
        ha_exec_checks->grid(share->launch);
    }
    if (opens) {
        cooperative->waiting = 0;
        if (!at_multi) {
            atomic_fetch_add(&cooperative->round, 1);
        }
    }
    (void)pthread_mutex_unlock(&cooperative->lock);
    if (opens) {
        open_barrier(cooperative, at_multi, line);
    }
}

static void
end(struct share *share, uint64_t block)
{
    struct ha_cooperative *cooperative = share->cooperative;
    (void)pthread_mutex_lock(&cooperative->lock);
    if (cooperative->ended++ == 0) {
        cooperative->first_ended = block;
    }
    if (cooperative->waiting > 0) {
        fail_unlock(share);
        return;
    }
    (void)pthread_mutex_unlock(&cooperative->lock);
}

static bool
has_fault(const struct share *share)
{
    return atomic_load(&share->launch->fault) != HA_FAULT_NONE;
}

/* The same for a thread that has something left to do: another grid that has failed is
 * a fault of this one too. */
static bool
faulty(struct share *share)
{
    const struct ha_multi *multi = share->cooperative->multi;
    if (multi && atomic_load(&multi->failed) && ha_fault_record_peer(share->launch)) {
        share->first_fault = true;
    }
    return has_fault(share);
}

/* All blocks of this thread wait at a barrier that those of other threads, or other
 * grids, have not come to: the one that `begun` waits at. */
static void
sleep_at_barrier(struct share *share, const struct begun *begun)
{
    const struct timespec limit = {.tv_sec = 0, .tv_nsec = SLEEP_NS};
    for (unsigned i = 0; i < SPIN_TURNS; i++) {
        if (atomic_load(begun->counter) != begun->round || faulty(share)) {
            return;
        }
        (void)sched_yield();
    }
    (void)syscall(SYS_futex, begun->counter, FUTEX_WAIT_PRIVATE, begun->round, &limit,
                  NULL, 0);
}

/* ---- blocks ---- */

static void
note_fault(struct share *share, bool first)
{
    share->first_fault = share->first_fault || first;
}

/* The block's fast function has returned.  A block that it refused is run by the
 * reference function, and so is one whose lanes did not all come to a barrier: that
 * names the lanes. */
static enum ha_group_stop
take_answer(struct share *share, struct begun *begun)
{
    uint64_t answer = begun->group->fast_answer;
    begun->fast = false;
    if ((answer & (HA_FAST_REFUSED | HA_FAST_DIVERGED)) == 0) {
        return HA_STOP_END;
    }
    if (!ha_group_prepare_reference(begun->group)) {
        note_fault(share, ha_fault_record_resources(share->launch));
        return HA_STOP_FAULT;
    }
    enum ha_group_stop stop =
        ha_group_begin_block(begun->group, share->runner, begun->block);
    if (stop == HA_STOP_FAULT || (answer & HA_FAST_REFUSED)) {
        return stop;
    }
    if (stop != HA_STOP_END) {
        ha_group_abandon(begun->group, share->runner);
    }
    note_fault(share, ha_fault_record_unmet(share->launch, begun->block));
    return HA_STOP_FAULT;
}

static enum ha_group_stop
go_on(struct share *share, struct begun *begun, bool begin)
{
    enum ha_group_stop stop;
    if (!begin) {
        stop = ha_group_resume(begun->group, share->runner);
    } else if (begun->fast) {
        stop = ha_group_begin_fast(begun->group, share->runner, begun->block);
    } else {
        stop = ha_group_begin_block(begun->group, share->runner, begun->block);
    }
    return stop == HA_STOP_END && begun->fast ? take_answer(share, begun) : stop;
}

/* Runs the block until it stops, and lets the other blocks know.  False if the block is
 * over, in one way or another. */
static bool
run_begun(struct share *share, struct begun *begun, bool begin)
{
    enum ha_group_stop stop = go_on(share, begun, begin);
    switch (stop) {
    case HA_STOP_GRID:
    case HA_STOP_MULTI:
        share->moved = true;
        arrive(share, begun, stop == HA_STOP_MULTI);
        return true;
    case HA_STOP_YIELD:
        return true;
    case HA_STOP_END:
        share->moved = true;
        end(share, begun->block);
        break;
    case HA_STOP_FAULT:
        if (ha_fault_record_blocks(begun->group, share->runner, begun->block,
                                   begun->block + 1)) {
            share->first_fault = true;
        }
        break;
    }
    ha_idle_group_give(begun->group);
    begun->group = NULL;
    return false;
}

static void
remove_begun(struct share *share, uint64_t index)
{
    share->begun[index] = share->begun[--share->count];
}

static bool
grow(struct share *share)
{
    if (share->count < share->room) {
        return true;
    }
    uint64_t room = share->room > 0 ? share->room * 2 : 8;
    struct begun *begun = realloc(share->begun, (size_t)room * sizeof *begun);
    if (!begun) {
        return false;
    }
    share->begun = begun;
    share->room = room;
    return true;
}

/* Other threads may still come for their share of the blocks: this one takes more than
 * its own only after a while. */
static bool
may_take(struct share *share, bool idle)
{
    if (share->taken < share->fair) {
        return true;
    }
    if (!idle) {
        return false;
    }
    uint64_t now_ns = ha_clock_ns();
    if (share->wait_ns == 0) {
        share->wait_ns = now_ns;
    }
    if (now_ns - share->wait_ns >= HELPERS_LIMIT_NS) {
        share->fair = UINT64_MAX;
        return true;
    }
    return false;
}

/* Takes one block, if one is left, and runs it until it stops. `group` is stolen; NULL:
 * one is looked for. */
static void
take_block(struct share *share, struct ha_group *group)
{
    uint64_t block = atomic_fetch_add(&share->launch->next_block, 1);
    bool taken = block < share->launch->block_count;
    if (taken && !group) {
        group = ha_idle_group_take(share->launch);
    }
    share->taken += taken;
    if (taken && group && grow(share)) {
        struct begun *begun = &share->begun[share->count++];
        *begun =
            (struct begun){.group = group, .block = block, .fast = share->launch->fast};
        if (!run_begun(share, begun, true)) {
            remove_begun(share, share->count - 1);
        }
        return;
    }
    if (group) {
        ha_idle_group_give(group);
    }
    if (taken && ha_fault_record_resources(share->launch)) {
        share->first_fault = true;
    }
}

/* One turn for each block that can go on; false if none could. */
static bool
run_turn(struct share *share)
{
    bool any = false;
    share->moved = false;
    for (uint64_t i = 0; i < share->count && !faulty(share);) {
        struct begun *begun = &share->begun[i];
        if (begun->waits && atomic_load(begun->counter) == begun->round) {
            i++;
            continue;
        }
        any = true;
        begun->waits = false;
        if (run_begun(share, begun, false)) {
            i++;
        } else {
            remove_begun(share, i);
        }
    }
    return any;
}

/* The launch has a fault: what is left of the blocks is forgotten. */
static void
abandon(struct share *share)
{
    for (uint64_t i = 0; i < share->count; i++) {
        ha_group_abandon(share->begun[i].group, share->runner);
        ha_idle_group_give(share->begun[i].group);
    }
    share->count = 0;
}

uint64_t
ha_cooperative_run(struct ha_launch *launch, struct ha_runner *runner,
                   struct ha_group *group, bool *was_first_fault)
{
    struct ha_cooperative *cooperative = launch->cooperative;
    struct share share = {
        .launch = launch,
        .cooperative = cooperative,
        .runner = runner,
        .fair = (launch->block_count + cooperative->threads - 1) / cooperative->threads,
    };
    bool over = faulty(&share);
    while (!over) {
        bool any = run_turn(&share);
        bool left = atomic_load(&launch->next_block) < launch->block_count;
        over = (share.count == 0 && !left) || faulty(&share);
        if (over) {
            break;
        }
        if (left && may_take(&share, !any)) {
            take_block(&share, group);
            group = NULL;
        } else if (!any && !left) {
            sleep_at_barrier(&share, share.begun);
        } else if (!share.moved) {
            (void)sched_yield();
        }
    }
    if (group) {
        ha_idle_group_give(group);
    }
    if (has_fault(&share)) {
        abandon(&share);
        share.taken += ha_blocks_drop_rest(launch);
    }
    free(share.begun);
    *was_first_fault = share.first_fault;
    return share.taken;
}
