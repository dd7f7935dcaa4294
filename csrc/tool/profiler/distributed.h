/* SPDX-License-Identifier: MIT */
/* Which of several processes this is, by the variables that their launchers set. */
#ifndef HA_TOOL_PROFILER_DISTRIBUTED_H
#define HA_TOOL_PROFILER_DISTRIBUTED_H

#include <stdbool.h>

enum { HA_DISTRIBUTED_BYTES = 128 };

/* JSON of "distributedInfo", of the first pair of variables that both have a number.
 * False: there is none. */
bool ha_distributed_text(char text[HA_DISTRIBUTED_BYTES]);

#endif
