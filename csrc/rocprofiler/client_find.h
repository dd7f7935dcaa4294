/* SPDX-License-Identifier: MIT */
/* Where tools are: in the files that ROCP_TOOL_LIBRARIES names, beside this library for
 * the one of our own that a variable asks for, and in what the process has loaded. */
#ifndef HA_ROCPROFILER_CLIENT_FIND_H
#define HA_ROCPROFILER_CLIENT_FIND_H

#include <stddef.h>

#include "rocprofiler/sdk.h"

/* Calls `found` for each, in the order in which they are configured; the same one may
 * come twice. */
void ha_tools_find(void (*found)(rocprofiler_configure_func_t configure));

/* Copies the path of the file that the function is in. */
void ha_tool_path(rocprofiler_configure_func_t configure, char *path, size_t bytes);

#endif
