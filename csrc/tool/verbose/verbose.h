/* SPDX-License-Identifier: MIT */
/* Verbose lines of a process: what the environment asks for, and their end.
 *
 *   HIPADAPT_VERBOSE            words (words.h)
 *   HIPADAPT_VERBOSE_FILE       where lines go; unset: standard output
 *   HIPADAPT_VERBOSE_TIMESTAMP  1: with the time of the start */
#ifndef HA_TOOL_VERBOSE_VERBOSE_H
#define HA_TOOL_VERBOSE_VERBOSE_H

#include <stdbool.h>

#include "core/status.h"

/* Within the library's `initialize`, when the contexts are made: begins what the
 * environment asks for.  Failures are told on the log. */
void ha_verbose_begin(void);

/* Starts the thread of the lines, unless it is there; they end with the process. */
enum ha_status ha_verbose_use(void);

/* HA_VERBOSE_* (words.h) from now on, where the contexts are there. */
enum ha_status ha_verbose_switch(unsigned wanted);

unsigned ha_verbose_wanted(void);

/* Whether this is a child of a process that had lines. */
bool ha_verbose_is_forked(void);

/* The process ends: waits for work on its way and for readers, for a moment, and writes
 * the last lines. */
void ha_verbose_end(void);

/* Fork hook of the child. */
void ha_verbose_forked(void);

#endif
