/* SPDX-License-Identifier: MIT */
#include "core/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* Added to under hooks_lock; entries below the count never change, so that a fork takes
 * no lock, which libraries that are being loaded meanwhile could wait for. */
static void (*hooks[HA_FORK_HOOKS_MAX])(void);
static _Atomic size_t hook_count;
static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;
static int hooks_installed;

static void
after_fork_child(void)
{
    size_t count = atomic_load(&hook_count);

    (void)pthread_mutex_init(&hooks_lock, NULL); /* its holder isn't here */
    for (size_t i = 0; i < count; i++) {
        hooks[i]();
    }
}

enum ha_status
ha_fork_register(void (*child)(void))
{
    enum ha_status status = HA_OK;
    int known = 0;

    (void)pthread_mutex_lock(&hooks_lock);
    size_t count = atomic_load(&hook_count);
    for (size_t i = 0; i < count; i++) {
        known |= hooks[i] == child;
    }
    if (known) {
        goto done;
    }
    if (count == HA_FORK_HOOKS_MAX) {
        status = ha_error_set(HA_ERROR_MEMORY, "too many fork hooks");
        goto done;
    }
    if (!hooks_installed) {
        if (pthread_atfork(NULL, NULL, after_fork_child) != 0) {
            status = ha_error_set(HA_ERROR_MEMORY, "pthread_atfork failed");
            goto done;
        }
        hooks_installed = 1;
    }
    hooks[count] = child;
    atomic_store(&hook_count, count + 1);
done:
    (void)pthread_mutex_unlock(&hooks_lock);
    return status;
}
