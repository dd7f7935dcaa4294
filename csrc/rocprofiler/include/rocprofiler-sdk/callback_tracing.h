/* SPDX-License-Identifier: MIT */
/* Callbacks at once, on the thread where something happens; and what they are told. */
#ifndef ROCPROFILER_SDK_CALLBACK_TRACING_H
#define ROCPROFILER_SDK_CALLBACK_TRACING_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip/api_args.h>
#include <rocprofiler-sdk/marker/api_args.h>

ROCPROFILER_EXTERN_C_INIT

typedef enum rocprofiler_code_object_storage_type_t {
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_NONE = 0,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE = 1,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY = 2,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_LAST,
} rocprofiler_code_object_storage_type_t;

/* In all of the following, `size` is that of the struct.  Times are 0 before the end.
 */

/* HIP_RUNTIME_API and HIP_COMPILER_API; `retval` is set at the end. */
typedef struct rocprofiler_callback_tracing_hip_api_data_t {
    uint64_t size;
    rocprofiler_hip_api_args_t args;
    rocprofiler_hip_api_retval_t retval;
} rocprofiler_callback_tracing_hip_api_data_t;

/* MARKER_*_API. */
typedef struct rocprofiler_callback_tracing_marker_api_data_t {
    uint64_t size;
    rocprofiler_marker_api_args_t args;
    rocprofiler_marker_api_retval_t retval;
} rocprofiler_callback_tracing_marker_api_data_t;

#define ROCPROFILER_CODE_OBJECT_ID_NONE ROCPROFILER_UINT64_C(0)

/* CODE_OBJECT, ROCPROFILER_CODE_OBJECT_LOAD. */
typedef struct rocprofiler_callback_tracing_code_object_load_data_t {
    uint64_t size;
    uint64_t code_object_id;
    union {
        rocprofiler_agent_id_t rocp_agent; /* its older name */
        rocprofiler_agent_id_t agent_id;
    };
    rocprofiler_agent_id_t hsa_agent;
    const char *uri; /* lives as long as the process */
    uint64_t load_base;
    uint64_t load_size;
    int64_t load_delta; /* load_base minus the address in the file */
    rocprofiler_code_object_storage_type_t storage_type;
    union {
        struct {
            int storage_file;
        };
        struct {
            uint64_t memory_base;
            uint64_t memory_size;
        };
    };
} rocprofiler_callback_tracing_code_object_load_data_t;

/* CODE_OBJECT, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER. */
typedef struct rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t {
    uint64_t size;
    uint64_t kernel_id;
    uint64_t code_object_id;
    const char *kernel_name; /* lives as long as the process */
    uint64_t kernel_object;
    uint32_t kernarg_segment_size; /* bytes */
    uint32_t kernarg_segment_alignment;
    uint32_t group_segment_size;
    uint32_t private_segment_size;
    uint32_t sgpr_count;
    uint32_t arch_vgpr_count;
    uint32_t accum_vgpr_count;
    int64_t kernel_code_entry_byte_offset;
    rocprofiler_address_t kernel_address;
} rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;

/* CODE_OBJECT, ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER. */
typedef struct
    rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t {
    uint64_t size;
    uint64_t host_function_id;
    uint64_t kernel_id;
    uint64_t code_object_id;
    rocprofiler_address_t host_function;
    rocprofiler_address_t modules;
    const char *device_function;
    uint32_t thread_limit;
    rocprofiler_dim3_t thread_ids;
    rocprofiler_dim3_t block_ids;
    rocprofiler_dim3_t block_dims;
    rocprofiler_dim3_t grid_dims;
    uint64_t workgroup_size;
} rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t;

/* KERNEL_DISPATCH. */
typedef struct rocprofiler_callback_tracing_kernel_dispatch_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_kernel_dispatch_info_t dispatch_info;
} rocprofiler_callback_tracing_kernel_dispatch_data_t;

/* MEMORY_COPY. */
typedef struct rocprofiler_callback_tracing_memory_copy_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t dst_agent_id;
    rocprofiler_agent_id_t src_agent_id;
    uint64_t bytes;
    rocprofiler_address_t dst_address;
    rocprofiler_address_t src_address;
} rocprofiler_callback_tracing_memory_copy_data_t;

/* MEMORY_ALLOCATION. */
typedef struct rocprofiler_callback_tracing_memory_allocation_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t address;
    uint64_t allocation_size; /* 0 for a free */
} rocprofiler_callback_tracing_memory_allocation_data_t;

/* RUNTIME_INITIALIZATION. */
typedef struct rocprofiler_callback_tracing_runtime_initialization_data_t {
    uint64_t size;
    uint64_t version;
    uint64_t instance;
} rocprofiler_callback_tracing_runtime_initialization_data_t;

/* HIP_STREAM. */
typedef struct rocprofiler_callback_tracing_hip_stream_data_t {
    uint64_t size;
    rocprofiler_stream_id_t stream_id;
    rocprofiler_address_t stream_value; /* the hipStream_t */
} rocprofiler_callback_tracing_hip_stream_data_t;

/* `user_data` set at the beginning of something is there at its end. */
typedef void (*rocprofiler_callback_tracing_cb_t)(
    rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
    void *callback_data) ROCPROFILER_NONNULL(2);

/* Not 0: ends the iteration. */
typedef int (*rocprofiler_callback_tracing_kind_cb_t)(
    rocprofiler_callback_tracing_kind_t kind, void *data);
typedef int (*rocprofiler_callback_tracing_kind_operation_cb_t)(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    void *data);
typedef int (*rocprofiler_callback_tracing_operation_args_cb_t)(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    uint32_t arg_number, const void *const arg_value_addr,
    int32_t arg_indirection_count, const char *arg_type, const char *arg_name,
    const char *arg_value_str, int32_t arg_dereference_count, void *data);

/* Operations NULL: all.  Only within a tool's `initialize`; a kind once a context
 * (..._SERVICE_ALREADY_CONFIGURED).  Kinds without a producer are taken and report
 * nothing. */
rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_callback_tracing_cb_t callback, void *callback_args) ROCPROFILER_API;

/* Names live as long as the process; either output may be NULL. */
rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_name(rocprofiler_callback_tracing_kind_t kind,
                                             const char **name,
                                             uint64_t *name_len) ROCPROFILER_API;
rocprofiler_status_t rocprofiler_query_callback_tracing_kind_operation_name(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    const char **name, uint64_t *name_len) ROCPROFILER_API;

rocprofiler_status_t rocprofiler_iterate_callback_tracing_kinds(
    rocprofiler_callback_tracing_kind_cb_t callback, void *data) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
    rocprofiler_callback_tracing_kind_t kind,
    rocprofiler_callback_tracing_kind_operation_cb_t callback,
    void *data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

/* Name, C type and text of each argument of a HIP or marker call, within its callback.
 * Pointers are followed `max_dereference_count` times at most. */
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
    rocprofiler_callback_tracing_record_t record,
    rocprofiler_callback_tracing_operation_args_cb_t callback,
    int32_t max_dereference_count, void *user_data) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
