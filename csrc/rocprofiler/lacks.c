/* SPDX-License-Identifier: MIT */
/* What no agent here has: samples of program counters, thread traces, streaming
 * counters. */
#include "rocprofiler/state.h"

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

/* Parameters are there for who calls. */
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

/* ---- the decoder of thread traces: a library that isn't here */

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
