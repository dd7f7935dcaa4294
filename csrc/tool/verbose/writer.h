/* SPDX-License-Identifier: MIT */
/* The thread "hipadapt-lines": it turns events into lines, in the order in which the
 * work has ended, and writes them.
 *
 * Events come from several rings, so those of the last HOLD_MS wait for others that
 * ended before them.  What is not written stays in the rings, which have a bound; what
 * finds no room there is counted as lost.  Nobody but the thread waits for a reader.
 *
 * Locks: `lock` is held by nobody who calls into the profiler's library. */
#ifndef HA_TOOL_VERBOSE_WRITER_H
#define HA_TOOL_VERBOSE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/ring.h"
#include "tool/verbose/line.h"

/* Starts the thread, unless it is there; the collector is its own from now on. */
enum ha_status ha_lines_start(struct ha_collector *collector);

/* Another output from now on, after what is there already; NULL: standard output.
 * `timestamp`: as the first column. */
enum ha_status ha_lines_to(const char *path, bool timestamp);

/* An event was committed.  On any thread: no waiting. */
void ha_lines_come(void);

/* An event has found no room outside of the rings. */
void ha_lines_lose(void);

/* Waits until the lines of all events of before are written, for `ms` at most.  False:
 * they are not. */
bool ha_lines_flush(unsigned ms);

/* The same, and then how many were lost, as the last line of all. */
void ha_lines_end(unsigned ms);

struct ha_lines_counts {
    uint64_t written;
    uint64_t lost;
};

struct ha_lines_counts ha_lines_count(void);

/* Adds a line from the thread's caller: of a tracker. */
void ha_lines_add(const struct ha_line_tracker *tracker);

/* Fork hook of the child. */
void ha_lines_forked(void);

#endif
