/* SPDX-License-Identifier: MIT */
/* Counters and sets of them.  A counter is an event of perf.h. */
#ifndef HA_ROCPROFILER_COUNTER_CONFIG_H
#define HA_ROCPROFILER_COUNTER_CONFIG_H

#include <stdbool.h>

#include "rocprofiler/sdk.h"

struct ha_counter_config {
    bool there;
    rocprofiler_agent_id_t agent;
    unsigned events; /* bits */
};

bool ha_counter_config_find(rocprofiler_counter_config_id_t id,
                            struct ha_counter_config *found);

rocprofiler_counter_id_t ha_counter_of(unsigned event);

#endif
