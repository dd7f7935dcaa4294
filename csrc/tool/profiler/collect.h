/* SPDX-License-Identifier: MIT */
/* The collection: events of the recorder become slices of a trace.
 *
 * Events come in any order but that of the threads that made them; slices go out as
 * soon as they are known, so that what is kept does not grow with their number.  What
 * is not within the *window* is left out: what was over before it is nothing to speak
 * of, everything else is counted.  Work never starts before the call that launched it;
 * where clocks of a device say so it is moved and counted.
 *
 * One thread at a time. */
#ifndef HA_TOOL_PROFILER_COLLECT_H
#define HA_TOOL_PROFILER_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/event.h"
#include "tool/clock.h"
#include "tool/profiler/slice.h"

struct ha_collect;

/* Times of CLOCK_BOOTTIME, ns; UINT64_MAX where it isn't known yet. */
struct ha_window {
    uint64_t start;
    uint64_t end;
};

struct ha_collect_options {
    uint32_t activities;
    uint64_t first_range; /* ha_recorder_next_range before the start */
    struct ha_clock_bridge clock;
    bool linked; /* operations of clients come, which work belongs to */
    /* Takes a slice; a failure ends the collection. */
    enum ha_status (*slice)(void *context, const struct ha_slice *slice);
    void *context;
};

struct ha_collect_counts {
    uint64_t slices;
    uint64_t kernels;
    uint64_t out_of_window;
    uint64_t never_ran; /* work that the device says it never ran */
    uint64_t moved;     /* work that seemed to start before its launch */
    uint64_t unjoined;  /* work whose call is not known */
    uint64_t unlinked;  /* work without an arrow, for too much waited */
};

/* NULL: no memory. */
struct ha_collect *ha_collect_new(const struct ha_collect_options *options);

/* What the slices said that could not be taken, the first of them; nothing happens
 * after that. */
enum ha_status ha_collect_events(struct ha_collect *collect,
                                 const struct ha_trace_event *events, size_t count,
                                 const struct ha_window *window);

/* No events come after these: slices of what was not complete. */
enum ha_status ha_collect_end(struct ha_collect *collect,
                              const struct ha_window *window);

struct ha_collect_counts ha_collect_counts(const struct ha_collect *collect);

void ha_collect_free(struct ha_collect *collect);

#endif
