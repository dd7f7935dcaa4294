/* SPDX-License-Identifier: MIT */
/* What a trace counts: memory in use, with its allocations as instants, and how much
 * work streams have before them.
 *
 * Slices are told with times of events: those of memory at once, those of streams a
 * batch later, in the order of time (lengths.h).  One thread at a time. */
#ifndef HA_TOOL_PROFILER_COUNTERS_H
#define HA_TOOL_PROFILER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/event.h"
#include "tool/profiler/slice.h"

struct ha_counters;

/* An allocation, or its end. */
struct ha_memory_change {
    int32_t device; /* HA_DEVICE_NONE: of the host, or not known */
    int64_t bytes;  /* below 0 where it is free again */
    uint64_t in_use;
};

typedef void (*ha_counter_told)(void *context, struct ha_slice *slice);

/* With `lengths`, work is counted.  NULL: no memory. */
struct ha_counters *ha_counters_new(bool lengths, ha_counter_told told, void *context);

/* Counts an event of HA_KIND_MEMORY.  False for what was allocated before the first
 * one. */
bool ha_counters_account(struct ha_counters *counters,
                         const struct ha_trace_event *event,
                         struct ha_memory_change *change);

/* Tells of it. */
void ha_counters_memory(struct ha_counters *counters,
                        const struct ha_trace_event *event,
                        const struct ha_memory_change *change);

/* As ha_lengths_add and ha_lengths_tell; nothing happens where work isn't counted. */
bool ha_counters_work(struct ha_counters *counters, uint64_t at, int32_t device,
                      uint32_t stream, int64_t more);
void ha_counters_tell(struct ha_counters *counters, bool all);

/* NULL is allowed. */
void ha_counters_free(struct ha_counters *counters);

#endif
