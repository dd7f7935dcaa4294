/* SPDX-License-Identifier: MIT */
/* Activities: what a trace can show, by libkineto's names. */
#ifndef HA_TOOL_PROFILER_ACTIVITIES_H
#define HA_TOOL_PROFILER_ACTIVITIES_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum ha_activities {
    HA_ACTIVITIES_CPU_OP = 1 << 0,
    HA_ACTIVITIES_USER_ANNOTATION = 1 << 1,
    HA_ACTIVITIES_GPU_ANNOTATION = 1 << 2,
    HA_ACTIVITIES_MEMCPY = 1 << 3,
    HA_ACTIVITIES_MEMSET = 1 << 4,
    HA_ACTIVITIES_KERNEL = 1 << 5,
    HA_ACTIVITIES_EXTERNAL = 1 << 6, /* "External id" of calls and work */
    HA_ACTIVITIES_RUNTIME = 1 << 7,
    HA_ACTIVITIES_INSTANT = 1 << 8,
    HA_ACTIVITIES_PYTHON = 1 << 9,
    HA_ACTIVITIES_OVERHEAD = 1 << 10,
    HA_ACTIVITIES_SYNC = 1 << 11,
    HA_ACTIVITIES_MEMORY = 1 << 12, /* counters of memory in use; not by default */
    HA_ACTIVITIES_STACKS = 1 << 13, /* of Python at launches; not by default */
    HA_ACTIVITIES_QUEUE = 1 << 14,  /* lengths of streams; not by default */

    HA_ACTIVITIES_ALL = (1 << 15) - 1,
    HA_ACTIVITIES_DEFAULT =
        HA_ACTIVITIES_ALL &
        ~(HA_ACTIVITIES_MEMORY | HA_ACTIVITIES_STACKS | HA_ACTIVITIES_QUEUE),
    HA_ACTIVITIES_WORK =
        HA_ACTIVITIES_MEMCPY | HA_ACTIVITIES_MEMSET | HA_ACTIVITIES_KERNEL,
};

/* The set of the names between commas, in any case.  Names of other vendors' devices
 * that libkineto knows mean nothing here.  HA_ERROR_INVALID, with the list of right
 * ones, for any other name and for an empty list. */
enum ha_status ha_activities_from(const char *list, uint32_t *set);

/* The names of a set between commas, one for each activity. */
void ha_activities_list(uint32_t set, char *list, size_t bytes);

#endif
