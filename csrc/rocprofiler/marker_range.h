/* SPDX-License-Identifier: MIT */
/* Ranges of roctx, as one thing each: a thread's (push and pop) and the process's
 * (start and stop).  A range is kept only if some context wants it when it begins. */
#ifndef HA_ROCPROFILER_MARKER_RANGE_H
#define HA_ROCPROFILER_MARKER_RANGE_H

#include "rocprofiler/sdk.h"

void ha_range_mark(const char *message);
/* `level` is what push and pop answered. */
void ha_range_push(const char *message, int level);
void ha_range_pop(int level);
void ha_range_start(const char *message, roctx_range_id_t id);
void ha_range_stop(roctx_range_id_t id);
void ha_range_thread_id(roctx_thread_id_t *tid);

#endif
