/* SPDX-License-Identifier: MIT */
#include "core/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Added to under hooks_lock; entries below the count never change, so that a fork takes
 * no lock, which libraries that are being loaded meanwhile could wait for. */
static void (*hooks[HA_FORK_HOOKS_MAX])(void);
static _Atomic size_t hook_count;
static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;
static int hooks_installed;

static void
block_for_thread(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        (void)sigdelset(set, faults[i]);
    }
}

enum ha_status
ha_thread_start(pthread_t *thread, const char *name, void *(*body)(void *),
                void *context)
{
    char short_name[16];
    sigset_t blocked;
    sigset_t before;

    /* The new thread inherits the mask, so there is no moment without it. */
    block_for_thread(&blocked);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int code = pthread_create(thread, NULL, body, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "cannot start thread '%s': %s", name,
                            strerror(code));
    }
    (void)snprintf(short_name, sizeof short_name, "%s", name);
    (void)pthread_setname_np(*thread, short_name);
    return HA_OK;
}

static void
after_fork_child(void)
{
    size_t count = atomic_load(&hook_count);

    (void)pthread_mutex_init(&hooks_lock, NULL); /* whoever had it isn't here */
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
