/* SPDX-License-Identifier: MIT */
/* Puts things that come in batches, in no order, into the order of time.
 *
 * They are told a batch later, so that what is kept is a batch.  What comes even later
 * is told as soon as it can be.  One thread at a time. */
#ifndef HA_TOOL_PROFILER_TIMELINE_H
#define HA_TOOL_PROFILER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of what is kept. */
struct ha_moment {
    uint64_t at;
    uint64_t number; /* in the order of coming, which counts at the same time */
};

/* Zero is an empty one, but for `size`. */
struct ha_timeline {
    size_t size; /* bytes of what is kept */
    char *items; /* owned */
    size_t count;
    size_t room;
    uint64_t number;
    uint64_t newest;  /* of all that came */
    uint64_t horizon; /* the newest before this batch */
};

typedef void (*ha_moment_told)(void *context, const struct ha_moment *moment);

/* Copies it, and numbers it.  False: no memory. */
bool ha_timeline_add(struct ha_timeline *timeline, const struct ha_moment *moment);

/* A batch is over: tells what is older than its beginning; with `all` everything. */
void ha_timeline_tell(struct ha_timeline *timeline, bool all, ha_moment_told told,
                      void *context);

void ha_timeline_free(struct ha_timeline *timeline);

#endif
