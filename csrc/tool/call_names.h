/* SPDX-License-Identifier: MIT */
/* Names of HIP's calls, by the number that the profiler's library has for them. */
#ifndef HA_TOOL_CALL_NAMES_H
#define HA_TOOL_CALL_NAMES_H

#include <stdint.h>

/* Lives as long as the process; "unknown call" for a number of another library. */
const char *ha_call_name(int32_t operation);

#endif
