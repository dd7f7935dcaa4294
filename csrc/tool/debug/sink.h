/* SPDX-License-Identifier: MIT */
/* The sink of CPU devices (abi/debug_sink.h): tensors of kernels become events. */
#ifndef HA_TOOL_DEBUG_SINK_H
#define HA_TOOL_DEBUG_SINK_H

/* Gives the sink to the devices' libraries that are loaded, once each. */
void ha_debug_sink_give(void);

#endif
