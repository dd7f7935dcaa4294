/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/exec.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "cpu/exec/cooperative.h"
#include "cpu/exec/exec_state.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/fault_text.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/multi_grid.h"
#include "cpu/exec/print.h"
#include "cpu/exec/workgroup.h"

/* Chunks per thread: many enough to even out slow blocks and slow threads. */
#define CHUNKS_PER_THREAD 16u
#define CHUNK_MAX 4096u

/* Groups that are kept for later, if there are not more threads than that: cooperative
 * launches need one a block. */
#define IDLE_MAX 64u

/* How long a thread without stacks waits for others to give theirs back. */
#define RESOURCE_TRIES 200
#define RESOURCE_WAIT_NS (1000L * 1000)

static struct ha_group *idle_groups; /* owned; this and the next guarded by idle_lock */
static uint32_t idle_count;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

/* Held while waiting for stacks; taken before the registry's and idle_lock. */
static pthread_mutex_t scarce_lock = PTHREAD_MUTEX_INITIALIZER;

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

/* Where in `total` chunks a part begins. */
static uint64_t
part_begin(uint64_t total, uint32_t part, uint32_t count)
{
    return total / count * part + (part < total % count ? part : total % count);
}

static uint64_t
chunk_total(const struct ha_launch *launch)
{
    return (launch->block_count + launch->chunk - 1) / launch->chunk;
}

/* Lanes that are independent may run in any order.  So that a core meets the memory
 * that it has in its caches from the launch before, each begins in a part of its own.
 */
static void
parts_prepare(struct ha_launch *launch, unsigned threads)
{
    bool free_order = launch->fast && launch->kernel->fast;
    uint64_t total = chunk_total(launch);
    launch->part_count = !free_order || total < threads || total > INT32_MAX ? 1
                         : threads > HA_PART_MAX ? HA_PART_MAX
                         : threads > 1           ? threads
                                                 : 1;
    for (uint32_t i = 0; launch->part_count > 1 && i < launch->part_count; i++) {
        atomic_init(&launch->next_chunk[i],
                    (uint32_t)part_begin(total, i, launch->part_count));
    }
}

/* The first block of the chunk for who was handed out chunks from `ticket` on.  There
 * are as many tickets as chunks, so one of the parts has one left. */
static uint64_t
chunk_take(struct ha_launch *launch, uint64_t ticket)
{
    uint32_t count = launch->part_count;
    if (count == 1) {
        return ticket;
    }
    uint64_t total = chunk_total(launch);
    int cpu = sched_getcpu();
    uint32_t part = (cpu > 0 ? (uint32_t)cpu : 0) % count;
    for (;; part = (part + 1) % count) {
        uint64_t end = part_begin(total, part + 1, count);
        if (atomic_load_explicit(&launch->next_chunk[part], memory_order_relaxed) <
            end) {
            uint64_t chunk = atomic_fetch_add(&launch->next_chunk[part], 1);
            if (chunk < end) {
                return chunk * launch->chunk;
            }
        }
    }
}

void
ha_exec_prepare(struct ha_launch *launch, unsigned threads)
{
    uint64_t parts = (uint64_t)(threads > 0 ? threads : 1) * CHUNKS_PER_THREAD;
    uint64_t chunk = launch->block_count / parts;
    launch->chunk = chunk < 1 ? 1 : chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
    atomic_init(&launch->next_block, 0);
    parts_prepare(launch, threads);
    atomic_init(&launch->blocks_done, 0);
    atomic_init(&launch->fault, HA_FAULT_NONE);
    launch->fault_text[0] = 0;
    atomic_init(&launch->fault_ready, 0);
    atomic_init(&launch->print_bytes, 0);
    atomic_init(&launch->print_lost, 0);
    atomic_init(&launch->inside, 0);
    atomic_init(&launch->finished, false);
    /* Threads may begin before the one that looks again, in run_chunks, has done so. */
    if (!atomic_load_explicit(&handlers_installed, memory_order_relaxed)) {
        ha_fault_install();
        atomic_store_explicit(&handlers_installed, true, memory_order_relaxed);
    }
}

/* ---- groups ---- */

static struct ha_group *
take_idle_group(void)
{
    (void)pthread_mutex_lock(&idle_lock);
    struct ha_group *group = idle_groups;
    if (group) {
        idle_groups = group->next;
        idle_count--;
    }
    (void)pthread_mutex_unlock(&idle_lock);
    return group;
}

static void
free_group(struct ha_group *group)
{
    if (!group) {
        return;
    }
    ha_group_release(group);
    free(group);
}

void
ha_exec_give_group(struct ha_group *group)
{
    (void)pthread_mutex_lock(&idle_lock);
    bool keep = idle_count < IDLE_MAX || idle_count < ha_runner_count();
    if (keep) {
        group->next = idle_groups;
        idle_groups = group;
        idle_count++;
    }
    (void)pthread_mutex_unlock(&idle_lock);
    if (!keep) {
        free_group(group);
    }
}

/* A group that is ready for the launch, or NULL.  Where mappings are short, idle groups
 * go first. */
struct ha_group *
ha_exec_take_group(struct ha_launch *launch)
{
    struct ha_group *group = take_idle_group();
    if (!group) {
        group = calloc(1, sizeof *group);
    }
    if (!group || ha_group_prepare(group, launch)) {
        return group;
    }
    ha_group_release(group);
    struct ha_group *other;
    while ((other = take_idle_group())) {
        free_group(other);
    }
    if (ha_group_prepare(group, launch)) {
        return group;
    }
    free_group(group);
    return NULL;
}

/* Like ha_exec_take_group, and marks the runner as running.  Where mappings are short,
 * threads ask one after the other, so that two halves of a set do not keep each other
 * waiting; NULL if another thread runs the launch, or if nothing was given back for a
 * while. */
static struct ha_group *
wait_for_group(struct ha_launch *launch, struct ha_runner *runner)
{
    struct ha_group *group = ha_exec_take_group(launch);
    if (!group) {
        (void)pthread_mutex_lock(&scarce_lock);
        for (int i = 0; i < RESOURCE_TRIES && !group; i++) {
            if (ha_runner_has_peer(runner) || atomic_load(&launch->fault)) {
                break;
            }
            group = ha_exec_take_group(launch);
            struct timespec wait = {.tv_sec = 0, .tv_nsec = RESOURCE_WAIT_NS};
            if (!group) {
                (void)nanosleep(&wait, NULL);
            }
        }
        if (group) {
            atomic_store(&runner->running, true);
        }
        (void)pthread_mutex_unlock(&scarce_lock);
    }
    if (group) {
        atomic_store(&runner->running, true);
    }
    return group;
}

/* ---- running ---- */

uint64_t
ha_exec_drop_rest(struct ha_launch *launch)
{
    uint64_t next = atomic_exchange(&launch->next_block, launch->block_count);
    return next < launch->block_count ? launch->block_count - next : 0;
}

static uint64_t
chunk_end(const struct ha_launch *launch, uint64_t first)
{
    uint64_t rest = launch->block_count - first;
    return first + (rest < launch->chunk ? rest : launch->chunk);
}

/* True if the chunk brought the launch's first fault. */
static bool
run_chunk(struct ha_group *group, struct ha_runner *runner, uint64_t first,
          uint64_t last)
{
    struct ha_launch *launch = group->launch;
    if (launch->fast && launch->kernel->fast) {
        return !ha_group_run_fast(group, runner, first, last) &&
               ha_fault_record_blocks(group, runner, first, last);
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
        uint64_t first = chunk_take(launch, ticket);
        if (run_chunk(group, runner, first, chunk_end(launch, first))) {
            *was_first_fault = true;
        }
        /* The last chunk may be a short one, wherever it was taken: tickets count. */
        settled += chunk_end(launch, ticket) - ticket;
    }
    return settled + ha_exec_drop_rest(launch);
}

/* Takes part once the launch is certain to stay; returns how many blocks were settled.
 */
static uint64_t
take_part(struct ha_launch *launch)
{
    uint64_t settled = 0;
    bool was_first_fault = false;
    struct ha_runner *runner = ha_runner_enter(launch);
    struct ha_group *group = runner ? wait_for_group(launch, runner) : NULL;
    if (group && launch->cooperative && !launch->fast) {
        settled = ha_cooperative_run(launch, runner, group, &was_first_fault);
    } else if (group) {
        settled = run_chunks(group, runner, &was_first_fault);
        ha_exec_give_group(group);
    } else if (!runner || !ha_runner_has_peer(runner)) {
        (void)ha_fault_record_resources(launch);
        settled = ha_exec_drop_rest(launch);
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
    /* Who is counted keeps the launch unfinished, so the order of these two matters: a
     * thread that comes when all blocks are taken may not look at the kernel any more.
     */
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
    /* One place to run blocks per thread is enough. */
    uint32_t threads = ha_runner_count();
    (void)pthread_mutex_lock(&idle_lock);
    bool spare = idle_count > threads;
    (void)pthread_mutex_unlock(&idle_lock);
    if (spare) {
        free_group(take_idle_group());
    }
}

void
ha_exec_after_fork_child(void)
{
    (void)pthread_mutex_init(&init_lock, NULL);
    (void)pthread_mutex_init(&idle_lock, NULL);
    (void)pthread_mutex_init(&scarce_lock, NULL);
    ha_fault_after_fork_child();
    ha_print_after_fork_child();
    ha_heap_after_fork_child();
    struct ha_group *group;
    while ((group = take_idle_group())) {
        free_group(group);
    }
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
