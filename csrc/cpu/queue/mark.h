/* SPDX-License-Identifier: MIT */
/* Ranges of roctx over what takes long without being work of a stream: compilations,
 * and modules that are loaded.  They are made only where a profiler's tool asks for
 * marks of programs; else they cost a load.
 *
 * A range is named "call: subject".  Within it, before its end, a mark of that name
 * says how it went: "call: subject (compiled)".
 *
 * Locks: none is held, since the profiler's tools run here; those for loading a
 * module may be. */
#ifndef HA_CPU_QUEUE_MARK_H
#define HA_CPU_QUEUE_MARK_H

#include <stdbool.h>

/* Whether a tool asks for them: else what they would say need not be made. */
bool ha_mark_wanted(void);

/* False: no range was begun, and none may be ended. */
bool ha_mark_begin(const char *call, const char *subject);

void ha_mark_end(const char *call, const char *subject, const char *outcome);

#endif
