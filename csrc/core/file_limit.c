/* SPDX-License-Identifier: MIT */
#include "core/file_limit.h"

#include <errno.h>
#include <time.h>

static void
only_this(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGXFSZ);
}

void
ha_file_limit_hold(struct ha_file_limit *held)
{
    int error = errno;
    sigset_t set;
    sigset_t pending;
    only_this(&set);
    held->pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &set, &held->mask);
    errno = error;
}

void
ha_file_limit_release(const struct ha_file_limit *held)
{
    const struct timespec now = {0};
    int error = errno;
    sigset_t set;
    only_this(&set);
    if (!held->pending) {
        /* The kernel sent it to this thread. */
        while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
    errno = error;
}
