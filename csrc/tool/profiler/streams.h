/* SPDX-License-Identifier: MIT */
/* The streams of a trace: handles of the program become small numbers, which each
 * device counts from 1, and events are known by the stream that they were recorded in.
 *
 * `stream` is a handle everywhere; up to 1 it is the default stream, whose number is 0.
 * One thread at a time. */
#ifndef HA_TOOL_PROFILER_STREAMS_H
#define HA_TOOL_PROFILER_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "tool/table.h"

enum { HA_STREAMS_DEVICES = 128 }; /* further ones count together */

/* Zero is an empty one. */
struct ha_streams {
    struct ha_table numbers; /* by device and stream */
    struct ha_table devices; /* by stream: device plus 1 */
    struct ha_table events;  /* by event: stream plus 1 */
    uint32_t counts[HA_STREAMS_DEVICES + 1];
};

/* The number of a stream that has work; the handle itself without memory. */
uint64_t ha_streams_number(struct ha_streams *streams, int32_t device, uint64_t stream);

/* Device and number of a stream that has had work, as members of JSON; "" for others.
 */
void ha_streams_args(struct ha_streams *streams, char *to, size_t bytes,
                     uint64_t stream);

/* An event was recorded in the stream; 0 is no event. */
void ha_streams_record(struct ha_streams *streams, uint64_t event, uint64_t stream);

/* Where it was recorded last; UINT64_MAX: not known. */
uint64_t ha_streams_recorded(const struct ha_streams *streams, uint64_t event);

void ha_streams_free(struct ha_streams *streams);

#endif
