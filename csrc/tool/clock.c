/* SPDX-License-Identifier: MIT */
#include "tool/clock.h"

#include "tool/events.h"

enum { BRACKETS = 32 };

static uint64_t
now_of(clockid_t clock)
{
    struct timespec time;

    (void)clock_gettime(clock, &time); /* can't fail for the clocks of a system */
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Each time stands between two others; the narrowest bracket tells most. */
struct ha_clock_bridge
ha_clock_bridge_to(clockid_t clock)
{
    struct ha_clock_bridge best = {0, UINT64_MAX};

    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = ha_events_now();
        uint64_t there = now_of(clock);
        uint64_t width = ha_events_now() - before;
        if (width < best.error) {
            best.error = width;
            best.offset = (int64_t)(there - (before + width / 2));
        }
    }
    return best;
}

struct ha_clock_bridge
ha_clock_bridge_measure(void)
{
    return ha_clock_bridge_to(CLOCK_REALTIME);
}
