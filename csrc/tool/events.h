/* SPDX-License-Identifier: MIT */
/* What the profiler's library calls: records become events of a collector (`data`).
 *
 * These run on any thread, within calls of HIP too: no Python and no waiting. */
#ifndef HA_TOOL_EVENTS_H
#define HA_TOOL_EVENTS_H

#include "tool/ring.h"
#include "tool/sdk.h"

/* Not 0 while this thread gives events to Python: what it does itself makes none. */
extern _Thread_local unsigned ha_profiler_muted;

/* The thread that does nothing else, as gettid() calls it; 0: none. */
extern _Atomic uint32_t ha_profiler_reader;

/* HIP's number of an agent; -1: the host, or none. */
int ha_profiler_device(rocprofiler_agent_id_t agent);

void ha_event_set_dispatch(struct ha_trace_event *event,
                           const rocprofiler_kernel_dispatch_info_t *info);

void ha_profiler_on_callback(rocprofiler_callback_tracing_record_t record,
                             rocprofiler_user_data_t *user, void *data);

/* Only notes the names of kernels. */
void ha_profiler_on_code_object(rocprofiler_callback_tracing_record_t record,
                                rocprofiler_user_data_t *user, void *data);

void ha_profiler_on_buffer(rocprofiler_context_id_t context,
                           rocprofiler_buffer_id_t buffer,
                           rocprofiler_record_header_t **headers, size_t count,
                           void *data, uint64_t dropped);

#endif
