/* SPDX-License-Identifier: MIT */
/* Operations that clients hand over, as events of the recorder's collector, so that
 * they are bounded, counted and taken as all others are.
 *
 * Such an event has the kind HA_KIND_HANDED, and the text of its arguments in memory of
 * its own, which belongs to who holds the event: ha_handed_free gives it back.  All
 * such texts together have HA_HANDED_BYTES_MAX bytes at most. */
#ifndef HA_TOOL_PROFILER_HANDED_H
#define HA_TOOL_PROFILER_HANDED_H

#include <stddef.h>
#include <stdint.h>

#include "tool/event.h"

enum {
    HA_HANDED_ARGS_MAX = 64 << 10, /* of one */
    HA_HANDED_BYTES_MAX = 64 << 20,
};

/* Times are those of events.  What finds no room is counted as lost. */
void ha_handed_put(const char *name, uint64_t start, uint64_t end, uint32_t thread,
                   uint64_t external, const char *args);

/* Of an event; NULL: none. */
const char *ha_handed_args(const struct ha_trace_event *event);

/* Gives the texts of those that were handed over back; the list stays. */
void ha_handed_free(const struct ha_trace_event *events, size_t count);

#endif
