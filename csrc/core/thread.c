/* SPDX-License-Identifier: MIT */
#include "core/thread.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

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
