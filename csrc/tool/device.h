/* SPDX-License-Identifier: MIT */
/* Agents of the profiler's library as HIP's numbers of devices. */
#ifndef HA_TOOL_DEVICE_H
#define HA_TOOL_DEVICE_H

#include "tool/sdk.h"

/* HIP's number of an agent; HA_DEVICE_NONE: the host, or none.  From any thread, once
 * the library is there. */
int ha_device_of_agent(rocprofiler_agent_id_t agent);

#endif
