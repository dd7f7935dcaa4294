/* SPDX-License-Identifier: MIT */
/* What the events of verbose lines are of.  They differ from tool/event.h in what these
 * kinds have no use for:
 *
 *   kernel  result: ha_sdk_work_status; bytes: that it fills; address: text of the
 *           arguments
 *   copy    result: ha_sdk_work_status
 *   call    that failed; address: what the library says about it
 *   create  operation: HA_CREATE_*; result: HA_CREATED_*; name: of what
 *   host    a host function; address: the function
 *   tracker of registered work: operation: HA_TRACKED_*; phase: not 0 where the times
 *           are the device's; result as that of a kernel; address: what is said of it
 *
 * A text is owned by the event, NULL: none.  `start` and `end` are equal where work
 * was cancelled: it never ran. */
#ifndef HA_TOOL_VERBOSE_KINDS_H
#define HA_TOOL_VERBOSE_KINDS_H

#include <stdbool.h>

#include "tool/event.h"
#include "tool/sdk.h"

/* Besides the SDK's numbers of callback tracing. */
enum {
    HA_VERBOSE_CALL = ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
    HA_VERBOSE_KERNEL = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
    HA_VERBOSE_COPY = ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
    HA_VERBOSE_CREATION = 0x9000,
    HA_VERBOSE_HOST,
    HA_VERBOSE_TRACKER,
};

enum { HA_VERBOSE_CANCELLED = 3 }; /* as ha_sdk_work_status says it */

enum { HA_CREATE_PROGRAM, HA_CREATE_MODULE };

enum { HA_CREATED_HIT, HA_CREATED_MISS, HA_CREATED_FAILED };

enum { HA_TRACKED_ASYNC, HA_TRACKED_SYNC };

static inline bool
ha_verbose_has_text(const struct ha_trace_event *event)
{
    return event->kind == HA_VERBOSE_KERNEL || event->kind == HA_VERBOSE_CALL ||
           event->kind == HA_VERBOSE_TRACKER;
}

static inline char *
ha_verbose_text(const struct ha_trace_event *event)
{
    return (char *)(uintptr_t)event->address;
}

#endif
