/* SPDX-License-Identifier: MIT */
/* What the event of a kernel or copy says, in the words of traces. */
#ifndef HA_TOOL_PROFILER_WORK_H
#define HA_TOOL_PROFILER_WORK_H

#include <stdint.h>

#include "tool/event.h"
#include "tool/profiler/slice.h"

/* The direction of a copy, as kineto has it. */
struct ha_direction {
    const char *kind; /* "HtoD" */
    const char *name; /* "Memcpy HtoD (Host -> Device)" */
};

const struct ha_direction *ha_work_direction(const struct ha_trace_event *event);

/* The name of a slice; "" for none.  Copies and fills without one get kineto's. */
const char *ha_slice_name(const struct ha_slice *slice);

/* The number of blocks; the event counts threads. */
static inline uint32_t
ha_work_blocks(const struct ha_trace_event *event, int axis)
{
    uint32_t block = event->block[axis] > 0 ? event->block[axis] : 1;

    return event->grid[axis] / block + (event->grid[axis] % block != 0);
}

/* The name of a kernel's form, by ha_sdk_launch_form; NULL: not known.  Then the lanes
 * of a gang, 0 where there is none, and the blocks that ran in the reference form all
 * the same. */
const char *ha_work_form(uint64_t form);
uint32_t ha_work_width(uint64_t form);
uint64_t ha_work_blocks_left(uint64_t form);

/* Whether the slice is work of a device, which a launch flow ends at. */
static inline bool
ha_slice_is_work(const struct ha_slice *slice)
{
    return slice->kind == HA_SLICE_KERNEL || slice->kind == HA_SLICE_MEMCPY ||
           slice->kind == HA_SLICE_MEMSET;
}

#endif
