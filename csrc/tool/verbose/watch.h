/* SPDX-License-Identifier: MIT */
/* What verbose lines are made of: contexts of the profiler's library, and the events
 * that their callbacks make (kinds.h).
 *
 * Times are those of the records of work that has ended.  Contexts that no word asks
 * for are stopped and cost nothing.  Any thread may call these. */
#ifndef HA_TOOL_VERBOSE_WATCH_H
#define HA_TOOL_VERBOSE_WATCH_H

#include <stdbool.h>

#include "core/status.h"
#include "tool/ring.h"

/* Within the library's `initialize`: makes the contexts, and starts none. */
enum ha_status ha_verbose_watch_configure(void);

/* Starts and stops contexts for HA_VERBOSE_* (words.h). */
enum ha_status ha_verbose_watch_switch(unsigned wanted);

/* Waits until no work is on its way, for `ms` at most. */
void ha_verbose_watch_wait(unsigned ms);

/* A program that has waited for work may be ahead of what is told of its end: waits for
 * that, for `ms` at most. */
void ha_verbose_watch_settle(unsigned ms);

/* Whether there are contexts. */
bool ha_verbose_watch_is_there(void);

/* Whether all work is watched just now. */
bool ha_verbose_watch_sees_work(void);

/* Borrowed, and made where there is none; NULL: no memory. */
struct ha_collector *ha_verbose_watch_collector(void);

/* Whether a launch's arguments should be told as text. */
bool ha_verbose_watch_wants_arguments(void);

/* The text, which is taken over, of the next launch that this thread makes; NULL: there
 * was none. */
void ha_verbose_watch_arguments(char *text);

/* Fork hook of the child. */
void ha_verbose_watch_forked(void);

#endif
