/* SPDX-License-Identifier: MIT */
/* What the two services of thread traces share. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H
#define ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef enum rocprofiler_thread_trace_parameter_type_t {
    ROCPROFILER_THREAD_TRACE_PARAMETER_TARGET_CU = 0,
    ROCPROFILER_THREAD_TRACE_PARAMETER_SHADER_ENGINE_MASK,
    ROCPROFILER_THREAD_TRACE_PARAMETER_BUFFER_SIZE,
    ROCPROFILER_THREAD_TRACE_PARAMETER_SIMD_SELECT,
    ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTERS_CTRL,
    ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTER,
    ROCPROFILER_THREAD_TRACE_PARAMETER_SERIALIZE_ALL,
    ROCPROFILER_THREAD_TRACE_PARAMETER_LAST
} rocprofiler_thread_trace_parameter_type_t;

typedef struct rocprofiler_thread_trace_parameter_t {
    rocprofiler_thread_trace_parameter_type_t type;
    union {
        uint64_t value;
        struct {
            rocprofiler_counter_id_t counter_id;
            uint64_t simd_mask : 4;
        };
    };
} rocprofiler_thread_trace_parameter_t;

/* Would be called with what a shader engine has written. */
typedef void (*rocprofiler_thread_trace_shader_data_callback_t)(
    rocprofiler_agent_id_t agent, int64_t shader_engine_id, void *data,
    size_t data_size, rocprofiler_user_data_t userdata);

ROCPROFILER_EXTERN_C_FINI

#endif
