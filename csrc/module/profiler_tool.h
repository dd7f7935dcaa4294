/* SPDX-License-Identifier: MIT */
/* Where the plain C half of the profiler becomes Python's: its failures are exceptions
 * from here on.  Needs the GIL. */
#ifndef HA_MODULE_PROFILER_TOOL_H
#define HA_MODULE_PROFILER_TOOL_H

#include <Python.h>

#include <stdbool.h>

/* True where the profiler's library is there; else it is looked for, and RuntimeError
 * says where. */
bool ha_profiler_need(void);

#endif
