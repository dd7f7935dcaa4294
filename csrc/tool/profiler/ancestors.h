/* SPDX-License-Identifier: MIT */
/* This process and those that it comes from, by which a daemon finds a job's. */
#ifndef HA_TOOL_PROFILER_ANCESTORS_H
#define HA_TOOL_PROFILER_ANCESTORS_H

#include <stddef.h>
#include <stdint.h>

/* This process first, then its parent and so on, as far as /proc tells and process 1,
 * which is none of them.  Returns how many; 1 at least. */
size_t ha_ancestors(int32_t *pids, size_t room);

#endif
