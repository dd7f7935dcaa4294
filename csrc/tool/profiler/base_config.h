/* SPDX-License-Identifier: MIT */
/* The base configuration: the file of KINETO_CONFIG, or /etc/libkineto.conf.  A
 * request's text is applied over it.
 *
 * The name is taken from the environment once.  The file is read whenever it is asked
 * for, so that it can be changed while the program runs.  Any thread may call these. */
#ifndef HA_TOOL_PROFILER_BASE_CONFIG_H
#define HA_TOOL_PROFILER_BASE_CONFIG_H

#include "tool/profiler/config.h"

/* Takes the name from the environment; a thread of ours doesn't look there, so a thread
 * of the program calls this before one of ours asks for the file. */
void ha_base_config_note(void);

/* The defaults, and what the file says.  A file with a mistake is told of on the log
 * and left out. */
void ha_base_config_read(struct ha_config *config);

#endif
