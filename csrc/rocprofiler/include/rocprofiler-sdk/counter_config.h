/* SPDX-License-Identifier: MIT */
/* Sets of counters that are read together. */
#ifndef ROCPROFILER_SDK_COUNTER_CONFIG_H
#define ROCPROFILER_SDK_COUNTER_CONFIG_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* A `config_id` that is not 0 is an older set whose counters come in too. */
rocprofiler_status_t rocprofiler_create_counter_config(
    rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t *counters_list,
    size_t counters_count, rocprofiler_counter_config_id_t *config_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(4);

rocprofiler_status_t rocprofiler_destroy_counter_config(
    rocprofiler_counter_config_id_t config_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
