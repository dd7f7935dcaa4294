/* SPDX-License-Identifier: MIT */
/* A flag comes first, so that one writer wakes the reader for all of them. */
#include "tool/bell.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic bool woken;
} bell = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t bell_once = PTHREAD_ONCE_INIT;

static void
bell_init(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&bell.changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void
ha_bell_wake(void)
{
    (void)pthread_once(&bell_once, bell_init);
    if (!atomic_exchange(&bell.woken, true)) {
        pthread_mutex_lock(&bell.lock);
        pthread_cond_signal(&bell.changed);
        pthread_mutex_unlock(&bell.lock);
    }
}

void
ha_bell_wait(uint64_t ns)
{
    struct timespec until;
    int code = 0;

    (void)pthread_once(&bell_once, bell_init);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec += (long)(ns % 1000000000);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&bell.lock);
    while (!atomic_load(&bell.woken) && code == 0) {
        code = pthread_cond_timedwait(&bell.changed, &bell.lock, &until);
    }
    atomic_store(&bell.woken, false);
    pthread_mutex_unlock(&bell.lock);
}

void
ha_bell_forked(void)
{
    (void)pthread_mutex_init(&bell.lock, NULL);
    bell_init();
}
