/* SPDX-License-Identifier: MIT */
/* The sink of CPU devices (abi/debug_sink.h): tensors of kernels become events. */
#ifndef HA_TOOL_DEBUG_SINK_H
#define HA_TOOL_DEBUG_SINK_H

#include <stdbool.h>

/* Gives the sink to the devices' libraries that are loaded; false: none takes it. */
bool ha_debug_sink_give(void);

#endif
