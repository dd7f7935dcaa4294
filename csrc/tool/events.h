/* SPDX-License-Identifier: MIT */
/* What the profiler's library tells by callbacks becomes events of a collector.
 *
 * The callbacks run on any thread, within calls of HIP too: no waiting. */
#ifndef HA_TOOL_EVENTS_H
#define HA_TOOL_EVENTS_H

#include <stdbool.h>

#include "tool/event.h"
#include "tool/sdk.h"

/* While this thread gives events to their reader, what it does itself makes none.
 * Turned on and off in pairs. */
void ha_events_mute(bool on);

bool ha_events_muted(void);

/* CLOCK_BOOTTIME in nanoseconds, which is the clock of events. */
uint64_t ha_events_now(void);

/* Zero, but for what all kinds have. */
void ha_event_begin(struct ha_trace_event *event,
                    const rocprofiler_callback_tracing_record_t *record);

/* Copies what a record tells.  A kernel's name costs a lock: `set_shape` leaves it out,
 * but its number is in `object`. */
void ha_event_set_shape(struct ha_trace_event *event,
                        const rocprofiler_kernel_dispatch_info_t *info);
void ha_event_set_copy(struct ha_trace_event *event,
                       const rocprofiler_callback_tracing_memory_copy_data_t *copy);
void ha_event_set_memory(
    struct ha_trace_event *event,
    const rocprofiler_callback_tracing_memory_allocation_data_t *memory);

/* Text that a marker carries; borrowed, NULL: none. */
const char *ha_event_marker_text(const rocprofiler_callback_tracing_record_t *record);

/* Copies what callbacks and buffers tell of a kernel. */
void ha_event_set_dispatch(struct ha_trace_event *event,
                           const rocprofiler_kernel_dispatch_info_t *info);

/* The callback of a service; `data` is the struct ha_collector. */
void ha_events_on_callback(rocprofiler_callback_tracing_record_t record,
                           rocprofiler_user_data_t *user, void *data);

#endif
