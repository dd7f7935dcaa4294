/* SPDX-License-Identifier: MIT */
#include "rocprofiler/stamp.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local uint64_t thread_id;

uint64_t
ha_thread_id(void)
{
    if (thread_id == 0) {
        thread_id = (uint64_t)syscall(SYS_gettid);
    }
    return thread_id;
}

static void
forget_thread_id(void)
{
    thread_id = 0;
}

__attribute__((constructor)) static void
watch_fork(void)
{
    (void)pthread_atfork(NULL, NULL, forget_thread_id);
}

uint64_t
ha_timestamp(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* can't fail for this clock */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
