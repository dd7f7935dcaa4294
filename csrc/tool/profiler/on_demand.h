/* SPDX-License-Identifier: MIT */
/* A recording as a request's configuration asks for it. */
#ifndef HA_TOOL_PROFILER_ON_DEMAND_H
#define HA_TOOL_PROFILER_ON_DEMAND_H

#include <stdint.h>

#include "core/status.h"
#include "tool/profiler/config.h"
#include "tool/profiler/recording.h"

/* Opens it, as ha_recording_new does, with what the configuration says as metadata.
 * `request` is its number. */
enum ha_status ha_on_demand_open(const struct ha_config *config, uint64_t request,
                                 struct ha_recording **recording);

#endif
