/* SPDX-License-Identifier: MIT */
/* libhipadapt_tool.so, which the profiler's Python half is a face of.  It is opened at
 * the first need, from the folder of this module, and never closed.  Its failures are
 * exceptions from here on.  Needs the GIL. */
#ifndef HA_MODULE_PROFILER_TOOL_H
#define HA_MODULE_PROFILER_TOOL_H

#include <Python.h>

#include <stdbool.h>

#include "tool/tool.h"

/* NULL until one of the functions below was true; published. */
extern const struct ha_tool *ha_tool;

/* Whether anything in the process has loaded that library. */
bool ha_profiler_is_loaded(void);

/* True where that library is there; else RuntimeError says why not. */
bool ha_profiler_need_tool(void);

/* True where the profiler's library is there too; else it is looked for, and
 * RuntimeError says where. */
bool ha_profiler_need(void);

#endif
