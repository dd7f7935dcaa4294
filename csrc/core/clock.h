/* SPDX-License-Identifier: MIT */
/* The one clock of the process: CLOCK_MONOTONIC in nanoseconds. */
#ifndef HA_CORE_CLOCK_H
#define HA_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
ha_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
