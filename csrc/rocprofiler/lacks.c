/* SPDX-License-Identifier: MIT */
/* What no agent here has: samples of program counters, thread traces, streaming
 * counters, counters that a tool defines, OpenMP's events. */
#include "rocprofiler/sdk.h"

#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/spm.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>

/* A function of the interface that only answers. */
#define LACKS(type, name, parameters, answer)                                          \
    HA_SDK_EXPORT type name parameters                                                 \
    {                                                                                  \
        return answer;                                                                 \
    }

#define NOT_IMPLEMENTED(name, ...)                                                     \
    LACKS(rocprofiler_status_t, name, (__VA_ARGS__),                                   \
          ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED)

/* Unused parameters: kept for the ABI. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

NOT_IMPLEMENTED(rocprofiler_configure_pc_sampling_service,
                rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
                rocprofiler_pc_sampling_method_t method,
                rocprofiler_pc_sampling_unit_t unit, uint64_t interval,
                rocprofiler_buffer_id_t buffer_id, int flags)

NOT_IMPLEMENTED(rocprofiler_query_pc_sampling_agent_configurations,
                rocprofiler_agent_id_t agent_id,
                rocprofiler_available_pc_sampling_configurations_cb_t cb,
                void *user_data)

HA_SDK_EXPORT const char *
rocprofiler_get_pc_sampling_instruction_type_name(
    rocprofiler_pc_sampling_instruction_type_t instruction_type)
{
#define TYPE(name)                                                                     \
    [ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_##name] =                                \
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" #name
    static const char *const names[ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST] = {
        TYPE(NONE),         TYPE(VALU),    TYPE(MATRIX),     TYPE(SCALAR),
        TYPE(TEX),          TYPE(LDS),     TYPE(LDS_DIRECT), TYPE(FLAT),
        TYPE(EXPORT),       TYPE(MESSAGE), TYPE(BARRIER),    TYPE(BRANCH_NOT_TAKEN),
        TYPE(BRANCH_TAKEN), TYPE(JUMP),    TYPE(OTHER),      TYPE(NO_INST),
        TYPE(DUAL_VALU),
    };

    return (unsigned)instruction_type < ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST
               ? names[instruction_type]
               : NULL;
}

HA_SDK_EXPORT const char *
rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
    rocprofiler_pc_sampling_instruction_not_issued_reason_t not_issued_reason)
{
    enum { COUNT = ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST };
#define REASON(name)                                                                   \
    [ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_##name] =                   \
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" #name
    static const char *const names[COUNT] = {
        REASON(NONE),
        REASON(NO_INSTRUCTION_AVAILABLE),
        REASON(ALU_DEPENDENCY),
        REASON(WAITCNT),
        REASON(INTERNAL_INSTRUCTION),
        REASON(BARRIER_WAIT),
        REASON(ARBITER_NOT_WIN),
        REASON(ARBITER_WIN_EX_STALL),
        REASON(OTHER_WAIT),
        REASON(SLEEP_WAIT),
    };

    return (unsigned)not_issued_reason < COUNT ? names[not_issued_reason] : NULL;
}

NOT_IMPLEMENTED(rocprofiler_load_counter_definition, const char *yaml, size_t size,
                rocprofiler_counter_flag_t flags)

NOT_IMPLEMENTED(rocprofiler_configure_device_thread_trace_service,
                rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
                rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
                rocprofiler_thread_trace_shader_data_callback_t shader_callback,
                rocprofiler_user_data_t callback_userdata)

NOT_IMPLEMENTED(rocprofiler_configure_dispatch_thread_trace_service,
                rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
                rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
                rocprofiler_thread_trace_dispatch_callback_t dispatch_callback,
                rocprofiler_thread_trace_shader_data_callback_t shader_callback,
                void *callback_userdata)

NOT_IMPLEMENTED(rocprofiler_spm_query_agent_configurations,
                rocprofiler_agent_id_t agent_id,
                rocprofiler_spm_available_configurations_cb_t cb, void *user_data)

NOT_IMPLEMENTED(rocprofiler_spm_iterate_agent_supported_counters,
                rocprofiler_agent_id_t agent_id, rocprofiler_available_counters_cb_t cb,
                void *user_data)

NOT_IMPLEMENTED(rocprofiler_spm_create_counter_config, rocprofiler_agent_id_t agent_id,
                rocprofiler_counter_id_t *counters_list, size_t counters_count,
                rocprofiler_spm_parameters_t **parameters, size_t parameters_count,
                rocprofiler_counter_config_id_t *config_id)

NOT_IMPLEMENTED(rocprofiler_spm_destroy_counter_config,
                rocprofiler_counter_config_id_t config_id)

NOT_IMPLEMENTED(rocprofiler_spm_configure_callback_dispatch_service,
                rocprofiler_context_id_t context_id,
                rocprofiler_spm_dispatch_counting_service_cb_t dispatch_callback,
                void *dispatch_callback_args,
                rocprofiler_spm_dispatch_counting_record_cb_t record_callback,
                void *record_callback_args)

NOT_IMPLEMENTED(rocprofiler_spm_configure_buffer_dispatch_service,
                rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
                rocprofiler_spm_dispatch_counting_service_cb_t callback,
                void *callback_data_args)

NOT_IMPLEMENTED(rocprofiler_configure_spm_device_counting_service,
                rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
                rocprofiler_agent_id_t agent_id,
                rocprofiler_device_counting_service_cb_t cb, void *user_data)

/* ---- OpenMP's events ---- */

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_ompt_is_initialized(int *status)
{
    *status = 0;
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_ompt_is_finalized(int *status)
{
    *status = 0;
    return ROCPROFILER_STATUS_SUCCESS;
}

LACKS(struct ompt_start_tool_result_t *, rocprofiler_ompt_start_tool,
      (unsigned int omp_version, const char *runtime_version), NULL)

/* ---- the decoder of thread traces: a library that isn't here ---- */

LACKS(rocprofiler_status_t, rocprofiler_thread_trace_decoder_create,
      (rocprofiler_thread_trace_decoder_handle_t * handle, const char *path),
      ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE)

HA_SDK_EXPORT void
rocprofiler_thread_trace_decoder_destroy(
    rocprofiler_thread_trace_decoder_handle_t handle)
{
}

LACKS(rocprofiler_status_t, rocprofiler_thread_trace_decoder_codeobj_load,
      (rocprofiler_thread_trace_decoder_handle_t handle, uint64_t load_id,
       uint64_t load_addr, uint64_t load_size, const void *data, uint64_t size),
      ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT)

LACKS(rocprofiler_status_t, rocprofiler_thread_trace_decoder_codeobj_unload,
      (rocprofiler_thread_trace_decoder_handle_t handle, uint64_t load_id),
      ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT)

LACKS(rocprofiler_status_t, rocprofiler_trace_decode,
      (rocprofiler_thread_trace_decoder_handle_t handle,
       rocprofiler_thread_trace_decoder_callback_t callback, void *data, uint64_t size,
       void *userdata),
      ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT)

LACKS(const char *, rocprofiler_thread_trace_decoder_info_string,
      (rocprofiler_thread_trace_decoder_handle_t handle,
       rocprofiler_thread_trace_decoder_info_t info),
      NULL)
