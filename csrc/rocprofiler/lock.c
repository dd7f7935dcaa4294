/* SPDX-License-Identifier: MIT */
#include "rocprofiler/lock.h"

#include <pthread.h>

static pthread_mutex_t locks[HA_LOCKS] = {
    [0 ... HA_LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER,
};

/* Locking a mutex of this kind can't fail. */

void
ha_lock(enum ha_lock lock)
{
    (void)pthread_mutex_lock(&locks[lock]);
}

void
ha_unlock(enum ha_lock lock)
{
    (void)pthread_mutex_unlock(&locks[lock]);
}

void
ha_locks_forked(void)
{
    for (int i = 0; i < HA_LOCKS; i++) {
        (void)pthread_mutex_init(&locks[i], NULL);
    }
}
