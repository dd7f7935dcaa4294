/* SPDX-License-Identifier: MIT */
/* Handing tables of functions to a profiler, for the libraries that have such tables.
 *
 * AMD's librocprofiler-register is used where it is and can find a librocprofiler-sdk
 * (without one it would end the process); else our own librocprofiler-sdk.so.1, which
 * stands beside the calling library and is loaded only when a tool asks for it: by
 * ROCP_TOOL_LIBRARIES, by a variable of our own tool, by a rocprofiler_configure that
 * the process has, or by having loaded the library itself. */
#ifndef HA_CORE_PROFILER_H
#define HA_CORE_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

/* True if a variable asks for our own tool, which nobody has to name. */
bool ha_profiler_own_wanted(void);

/* True if some tool asks for the tables. */
bool ha_profiler_wanted(void);

/* As rocprofiler_register_library_api_table, whose code it returns; 1 (no tools) where
 * nobody asks. */
int ha_profiler_register(const char *name, uint32_t (*import)(void), uint32_t version,
                         void **tables, uint64_t count);

#endif
