/* SPDX-License-Identifier: MIT */
/* Lengths of streams: how much work was launched and has not ended.
 *
 * Launches and ends come in batches, in no order; lengths are told in the order of
 * time, a batch later, so that what is kept is a batch.  What comes later still counts
 * from the last time that was told.  One thread at a time. */
#ifndef HA_TOOL_PROFILER_LENGTHS_H
#define HA_TOOL_PROFILER_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

struct ha_lengths;

struct ha_length {
    uint64_t at; /* as it was added, or later */
    int32_t device;
    uint32_t stream; /* small number */
    int64_t length;  /* from then on; not below 0 */
};

typedef void (*ha_length_told)(void *context, const struct ha_length *length);

/* NULL: no memory. */
struct ha_lengths *ha_lengths_new(ha_length_told told, void *context);

/* More work in the stream since `at`, or less; 0 is the newest time that came.  False:
 * no memory. */
bool ha_lengths_add(struct ha_lengths *lengths, uint64_t at, int32_t device,
                    uint32_t stream, int64_t more);

/* A batch is over: tells what is older than its beginning; with `all` everything. */
void ha_lengths_tell(struct ha_lengths *lengths, bool all);

/* NULL is allowed. */
void ha_lengths_free(struct ha_lengths *lengths);

#endif
