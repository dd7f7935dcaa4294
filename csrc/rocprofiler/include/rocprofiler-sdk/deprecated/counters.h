/* SPDX-License-Identifier: MIT */
/* Older ways to ask for what rocprofiler_query_counter_info tells. */
#ifndef ROCPROFILER_SDK_DEPRECATED_COUNTERS_H
#define ROCPROFILER_SDK_DEPRECATED_COUNTERS_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef rocprofiler_status_t (*rocprofiler_available_dimensions_cb_t)(
    rocprofiler_counter_id_t id,
    const rocprofiler_counter_record_dimension_info_t *dim_info, size_t num_dims,
    void *user_data);

/* No counter here has dimensions: ..._DIM_NOT_FOUND. */
rocprofiler_status_t
rocprofiler_iterate_counter_dimensions(rocprofiler_counter_id_t id,
                                       rocprofiler_available_dimensions_cb_t info_cb,
                                       void *user_data) ROCPROFILER_API;

/* How many records one reading of the counter gives: 1. */
rocprofiler_status_t rocprofiler_query_counter_instance_count(
    rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t counter_id,
    size_t *instance_count) ROCPROFILER_API ROCPROFILER_NONNULL(3);

ROCPROFILER_EXTERN_C_FINI

#endif
