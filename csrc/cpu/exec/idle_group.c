/* SPDX-License-Identifier: MIT */
#include "cpu/exec/idle_group.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cpu/exec/fault.h"
#include "cpu/exec/workgroup.h"

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

static struct ha_group *
take_idle(void)
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
ha_idle_group_give(struct ha_group *group)
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

struct ha_group *
ha_idle_group_take(struct ha_launch *launch)
{
    struct ha_group *group = take_idle();
    if (!group) {
        group = calloc(1, sizeof *group);
    }
    if (!group || ha_group_prepare(group, launch)) {
        return group;
    }
    ha_group_release(group);
    struct ha_group *other;
    while ((other = take_idle())) {
        free_group(other);
    }
    if (ha_group_prepare(group, launch)) {
        return group;
    }
    free_group(group);
    return NULL;
}

/* Where mappings are short, threads ask one after the other, so that two halves of a
 * set do not keep each other waiting. */
struct ha_group *
ha_idle_group_wait(struct ha_launch *launch, struct ha_runner *runner)
{
    struct ha_group *group = ha_idle_group_take(launch);
    if (!group) {
        (void)pthread_mutex_lock(&scarce_lock);
        for (int i = 0; i < RESOURCE_TRIES && !group; i++) {
            if (ha_runner_has_peer(runner) || atomic_load(&launch->fault)) {
                break;
            }
            group = ha_idle_group_take(launch);
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

void
ha_idle_groups_trim(void)
{
    uint32_t threads = ha_runner_count();
    (void)pthread_mutex_lock(&idle_lock);
    bool spare = idle_count > threads;
    (void)pthread_mutex_unlock(&idle_lock);
    if (spare) {
        free_group(take_idle());
    }
}

void
ha_idle_groups_after_fork_child(void)
{
    struct ha_group *group;
    (void)pthread_mutex_init(&idle_lock, NULL);
    (void)pthread_mutex_init(&scarce_lock, NULL);
    while ((group = take_idle())) {
        free_group(group);
    }
}
