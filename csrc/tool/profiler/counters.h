/* SPDX-License-Identifier: MIT */
/* What a trace counts: memory in use, with its allocations as instants, and how much
 * work streams have before them.
 *
 * Events of threads come in batches, in no order; slices are told in the order of time,
 * a batch later (timeline.h), with times of events.  One thread at a time. */
#ifndef HA_TOOL_PROFILER_COUNTERS_H
#define HA_TOOL_PROFILER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/event.h"
#include "tool/profiler/slice.h"

struct ha_counters;

typedef void (*ha_counter_told)(void *context, struct ha_slice *slice);

/* With `lengths`, work is counted.  NULL: no memory. */
struct ha_counters *ha_counters_new(bool lengths, ha_counter_told told, void *context);

/* An event of HA_KIND_MEMORY.  What was allocated before the first one is not told
 * when it is free again.  False: no memory. */
bool ha_counters_memory(struct ha_counters *counters,
                        const struct ha_trace_event *event);

/* As ha_lengths_add; nothing happens where work isn't counted. */
bool ha_counters_work(struct ha_counters *counters, uint64_t at, int32_t device,
                      uint32_t stream, int64_t more);

/* A batch is over: tells what is older than its beginning; with `all` everything. */
void ha_counters_tell(struct ha_counters *counters, bool all);

/* NULL is allowed. */
void ha_counters_free(struct ha_counters *counters);

#endif
