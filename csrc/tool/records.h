/* SPDX-License-Identifier: MIT */
/* Records that the profiler's library gives in batches become events of a collector. */
#ifndef HA_TOOL_RECORDS_H
#define HA_TOOL_RECORDS_H

#include "tool/sdk.h"

/* The records of this thread, as gettid() calls it, are left out: it gives events to
 * Python and does nothing else.  0: of none. */
void ha_records_leave_out(uint32_t thread);

/* The callback of a buffer; `data` is the struct ha_collector.  On any thread: no
 * waiting. */
void ha_records_on_buffer(rocprofiler_context_id_t context,
                          rocprofiler_buffer_id_t buffer,
                          rocprofiler_record_header_t **headers, size_t count,
                          void *data, uint64_t dropped);

#endif
