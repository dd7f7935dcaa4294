/* SPDX-License-Identifier: MIT */
/* Agents: number 0 is the host, the others are the devices. */
#ifndef HA_ROCPROFILER_AGENT_H
#define HA_ROCPROFILER_AGENT_H

#include <stdbool.h>

#include "rocprofiler/sdk.h"

enum { HA_AGENTS_MAX = 65 };

/* -1: the host. */
rocprofiler_agent_id_t ha_agent_of_device(int device);

bool ha_agent_exists(rocprofiler_agent_id_t id);

/* All that are known, borrowed for good; returns how many. */
unsigned ha_agents_all(const void *known[HA_AGENTS_MAX]);

#endif
