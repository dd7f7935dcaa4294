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
enum ha_status ha_line_writer_start(struct ha_collector *collector);

/* Another output from now on, after what is there already; NULL: standard output.
 * `timestamp`: as the first column. */
enum ha_status ha_line_writer_to(const char *path, bool timestamp);

/* The same, unless it was said before. */
enum ha_status ha_line_writer_first(const char *path, bool timestamp);

/* Puts a copy of an event into this thread's ring, with its text, or counts it as lost.
 * On any thread: no waiting. */
void ha_line_writer_put(const struct ha_trace_event *event);

/* `count` lines are lost that never were events. */
void ha_line_writer_lose(uint64_t count);

/* Asked by the thread before each turn, with no lock held: whether something
 * outside of the rings may still come. */
void ha_line_writer_ask(bool (*more)(void));

/* There is something to ask for. */
void ha_line_writer_wake(void);

/* Waits until the lines of all events of before are written, for `ms` at most.  False:
 * they are not. */
bool ha_line_writer_flush(unsigned ms);

/* The same, and then how many were lost, as the last line of all. */
void ha_line_writer_end(unsigned ms);

struct ha_line_counts {
    uint64_t written;
    uint64_t lost;
};

struct ha_line_counts ha_line_writer_count(void);

/* Fork hook of the child. */
void ha_line_writer_forked(void);

#endif
