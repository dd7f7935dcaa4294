/* SPDX-License-Identifier: MIT */
/* The recording of a whole process, which HIPADAPT_PROFILE=<url> asks for.
 *
 * It begins when the profiler's library configures its tools, before the first call of
 * HIP, and ends at exit.  A program that records itself before its first call of HIP
 * makes the library configure its tools with locks held that this needs, so it has its
 * own recording alone.  Where SIGTERM, SIGINT or SIGHUP would end the process at
 * once, a handler of ours lets a thread complete the trace first; then the signal ends
 * the process as it would have.  A forked child records nothing, and such a signal ends
 * it at once. */
#ifndef HA_TOOL_PROFILER_WHOLE_H
#define HA_TOOL_PROFILER_WHOLE_H

#include <stdbool.h>

#include "tool/include/hipadapt/profile.h"

/* Within the library's `initialize`, when the recorder is configured.  Without a URL in
 * the environment nothing happens; a failure is told on the log. */
void ha_whole_begin(void);

/* Takes the signals that would end the process meanwhile, and leaves the others. */
void ha_whole_watch_signals(void);

/* Whether that recording is there just now, in this process. */
bool ha_whole_records(void);

/* Waits for work on its way, for a moment, and completes the trace, once.  Failures are
 * told on the log: nobody else is there at exit. */
enum hipadapt_profile_result ha_whole_end(void);

#endif
