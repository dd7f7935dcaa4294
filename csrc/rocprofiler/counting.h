/* SPDX-License-Identifier: MIT */
/* Counters: what perf_event_open(2) gives this process, around launches and on demand.
 */
#ifndef HA_ROCPROFILER_COUNTING_H
#define HA_ROCPROFILER_COUNTING_H

#include "rocprofiler/context.h"
#include "rocprofiler/sdk.h"

struct ha_counts;

/* A context that counts has been started or stopped. */
void ha_counting_switch(rocprofiler_context_id_t id, struct ha_context *context,
                        bool active);

/* Whether some active context counts launches. */
bool ha_counting_active(void);

/* Asks the contexts that count what to count of a launch; NULL: nothing. */
struct ha_counts *ha_counting_begin(const rocprofiler_kernel_dispatch_info_t *dispatch,
                                    uint64_t internal);

/* Reports, and frees the counts. */
void ha_counting_end(struct ha_counts *counts, uint64_t start, uint64_t end);

#endif
