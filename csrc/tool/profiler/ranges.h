/* SPDX-License-Identifier: MIT */
/* What the ranges of threads (recorder.h) caused on devices: from the first start to
 * the last end of the work that was launched within, for each stream.
 *
 * Pushes, calls and pops of a thread come in their order; work comes at any time.  A
 * range is *complete* when it was popped, all work that calls in it have launched has
 * come, and its inner ranges are complete.  Where events were lost it stays until the
 * end.  One thread at a time. */
#ifndef HA_TOOL_PROFILER_RANGES_H
#define HA_TOOL_PROFILER_RANGES_H

#include <stdint.h>

#include "tool/event.h"

struct ha_ranges;

/* Work of a range on one stream. */
struct ha_range_span {
    uint32_t name; /* tool/name.h; 0: the range is an id */
    uint64_t id;
    int32_t device;
    uint64_t stream;
    uint64_t start; /* as the work has them */
    uint64_t end;
};

typedef void (*ha_range_told)(void *context, const struct ha_range_span *span);

/* `told` is called for each stream of a range that is complete.  NULL: no memory. */
struct ha_ranges *ha_ranges_new(ha_range_told told, void *context);

/* An event of HA_KIND_PUSH or HA_KIND_POP. */
void ha_ranges_push(struct ha_ranges *ranges, const struct ha_trace_event *push);
void ha_ranges_pop(struct ha_ranges *ranges, const struct ha_trace_event *pop);

/* A call in the range has launched so many pieces of work. */
void ha_ranges_launch(struct ha_ranges *ranges, uint64_t range, uint64_t count);

/* One of them has come; NULL: it isn't shown, as is what never ran. */
void ha_ranges_work(struct ha_ranges *ranges, uint64_t range,
                    const struct ha_range_span *span);

/* Completes and frees all of them. */
void ha_ranges_end(struct ha_ranges *ranges);

#endif
