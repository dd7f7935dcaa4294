/* SPDX-License-Identifier: MIT */
/* Trackers: lines of work that a program registers by itself (hipadapt/verbose.h).
 *
 * A stream has a *timing*: of the newest call that gave it work.  A *tracker* is a copy
 * of it from when it was registered, which goes on by itself; its line comes when no
 * piece of that call is left.  Without records of the profiler's library a tracker has
 * an event of HIP instead, which the thread of the lines asks for.
 *
 * Locks: one guards streams and trackers; HIP is never called with it. */
#ifndef HA_TOOL_VERBOSE_TRACKER_H
#define HA_TOOL_VERBOSE_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"
#include "core/status.h"
#include "tool/event.h"
#include "tool/include/hipadapt/verbose.h"

/* A piece of work was enqueued, or has ended as the event says.  On any thread, within
 * calls of HIP too: no waiting. */
void ha_trackers_begin(uint64_t stream, uint64_t correlation);
void ha_trackers_end(const struct ha_trace_event *event);

/* A new tracker of the newest work of the stream.  `records`: they tell of work just
 * now. */
enum ha_status ha_tracker_register(hipStream_t stream, hipEvent_t event,
                                   const char *info, bool records);

/* What hipadapt_verbose_check_async_exec_times does. */
enum hipadapt_verbose_result ha_tracker_check(hipStream_t stream, const char *info,
                                              double *start_ms);

/* What hipadapt_verbose_timing does. */
enum hipadapt_verbose_result ha_tracker_timing(hipStream_t stream,
                                               struct hipadapt_verbose_timing *timing);

/* The process ends: trackers that have not ended are lost. */
void ha_trackers_stop(void);

/* Fork hook of the child. */
void ha_trackers_forked(void);

#endif
