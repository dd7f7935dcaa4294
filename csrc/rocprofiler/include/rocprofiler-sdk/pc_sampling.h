/* SPDX-License-Identifier: MIT */
/* Samples of program counters: no agent here offers them.  What a tool can be given of
 * GPUs is in pc_sampling_record.h. */
#ifndef ROCPROFILER_SDK_PC_SAMPLING_H
#define ROCPROFILER_SDK_PC_SAMPLING_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/pc_sampling_record.h>

ROCPROFILER_EXTERN_C_INIT

/* What an interval must be. */
typedef enum rocprofiler_pc_sampling_configuration_flags_t {
    ROCPROFILER_PC_SAMPLING_CONFIGURATION_FLAGS_NONE = 0,
    ROCPROFILER_PC_SAMPLING_CONFIGURATION_FLAGS_INTERVAL_POW2,
    ROCPROFILER_PC_SAMPLING_CONFIGURATION_FLAGS_LAST,
} rocprofiler_pc_sampling_configuration_flags_t;

typedef struct rocprofiler_pc_sampling_configuration_t {
    uint64_t size;
    rocprofiler_pc_sampling_method_t method;
    rocprofiler_pc_sampling_unit_t unit;
    size_t min_interval;
    size_t max_interval;
    uint64_t flags; /* rocprofiler_pc_sampling_configuration_flags_t */
} rocprofiler_pc_sampling_configuration_t;

typedef rocprofiler_status_t (*rocprofiler_available_pc_sampling_configurations_cb_t)(
    const rocprofiler_pc_sampling_configuration_t *configs, size_t num_config,
    void *user_data);

/* ..._NOT_IMPLEMENTED. */
rocprofiler_status_t rocprofiler_configure_pc_sampling_service(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_pc_sampling_method_t method, rocprofiler_pc_sampling_unit_t unit,
    uint64_t interval, rocprofiler_buffer_id_t buffer_id, int flags) ROCPROFILER_API;

/* ..._NOT_IMPLEMENTED, without a call of `cb`. */
rocprofiler_status_t rocprofiler_query_pc_sampling_agent_configurations(
    rocprofiler_agent_id_t agent_id,
    rocprofiler_available_pc_sampling_configurations_cb_t cb,
    void *user_data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

/* The name of the value; NULL for a number that is none. */
const char *rocprofiler_get_pc_sampling_instruction_type_name(
    rocprofiler_pc_sampling_instruction_type_t instruction_type) ROCPROFILER_API;
const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
    rocprofiler_pc_sampling_instruction_not_issued_reason_t not_issued_reason)
    ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
