/* SPDX-License-Identifier: MIT */
/* From the clock of events, CLOCK_BOOTTIME, to Unix time.
 *
 * The offset is measured once before a trace and holds for all of it, so that a step of
 * Unix time within the trace moves nothing. */
#ifndef HA_TOOL_CLOCK_H
#define HA_TOOL_CLOCK_H

#include <stdint.h>
#include <time.h>

struct ha_clock_bridge {
    int64_t offset; /* Unix time minus CLOCK_BOOTTIME, ns */
    uint64_t error; /* width of the bracket that it was measured in, ns */
};

struct ha_clock_bridge ha_clock_bridge_measure(void);

/* The same to another clock than Unix time. */
struct ha_clock_bridge ha_clock_bridge_to(clockid_t clock);

static inline uint64_t
ha_clock_unix(const struct ha_clock_bridge *bridge, uint64_t boot)
{
    return boot + (uint64_t)bridge->offset;
}

#endif
