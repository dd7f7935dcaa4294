/* SPDX-License-Identifier: MIT */
#include "rocprofiler/in_tool.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rocprofiler/lock.h"

enum {
    STEP_us = 200,
    STEPS_MAX = 5000, /* a second */
};

_Thread_local struct ha_in_tool ha_in_tool_here;

static struct ha_in_tool *all; /* under HA_LOCK_IN_TOOL */
static pthread_key_t key;
static bool key_there;

/* At the end of a thread. */
static void
forget(void *data)
{
    struct ha_in_tool *ended = data;

    ha_lock(HA_LOCK_IN_TOOL);
    for (struct ha_in_tool **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == ended) {
            *at = ended->next;
            break;
        }
    }
    ha_unlock(HA_LOCK_IN_TOOL);
}

__attribute__((constructor)) static void
make_key(void)
{
    key_there = pthread_key_create(&key, forget) == 0;
}

void
ha_in_tool_note(void)
{
    struct ha_in_tool *here = &ha_in_tool_here;

    here->noted = true;
    if (!key_there || pthread_setspecific(key, here) != 0) {
        return; /* this thread is not waited for */
    }
    ha_lock(HA_LOCK_IN_TOOL);
    here->next = all;
    all = here;
    ha_unlock(HA_LOCK_IN_TOOL);
}

static bool
any_other(void)
{
    bool found = false;

    ha_lock(HA_LOCK_IN_TOOL);
    for (const struct ha_in_tool *one = all; one != NULL && !found; one = one->next) {
        found = one != &ha_in_tool_here &&
                atomic_load_explicit(&one->depth, memory_order_acquire) > 0;
    }
    ha_unlock(HA_LOCK_IN_TOOL);
    return found;
}

/* After this, a thread that was not seen within a tool sees what was switched off
 * before. */
static void
order_all_threads(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        usleep(STEP_us); /* no store waits that long */
    }
}

void
ha_in_tool_wait(void)
{
    order_all_threads();
    for (int i = 0; i < STEPS_MAX && any_other(); i++) {
        usleep(STEP_us);
    }
}

void
ha_in_tool_forked(void)
{
    all = NULL;
}
