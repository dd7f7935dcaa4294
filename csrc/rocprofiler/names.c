/* SPDX-License-Identifier: MIT */
/* Names of kinds and operations, and the functions that tell them. */
#include "rocprofiler/names.h"

#include <string.h>

#include "rocprofiler/context.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/sdk.h"

rocprofiler_status_t
ha_name_answer(const char *found, rocprofiler_status_t missing, const char **name,
               uint64_t *name_len)
{
    if (name != NULL) {
        *name = found;
    }
    if (name_len != NULL) {
        *name_len = found != NULL ? strlen(found) : 0;
    }
    return found != NULL ? ROCPROFILER_STATUS_SUCCESS : missing;
}

#define CALLBACK(name) [ROCPROFILER_CALLBACK_TRACING_##name] = #name
#define BUFFER(name) [ROCPROFILER_BUFFER_TRACING_##name] = #name
#define REQUEST(name) [ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_##name] = #name

static const char *const callback_kinds[] = {
    CALLBACK(HSA_CORE_API),
    CALLBACK(HSA_AMD_EXT_API),
    CALLBACK(HSA_IMAGE_EXT_API),
    CALLBACK(HSA_FINALIZE_EXT_API),
    CALLBACK(HIP_RUNTIME_API),
    CALLBACK(HIP_COMPILER_API),
    CALLBACK(MARKER_CORE_API),
    CALLBACK(MARKER_CONTROL_API),
    CALLBACK(MARKER_NAME_API),
    CALLBACK(CODE_OBJECT),
    CALLBACK(SCRATCH_MEMORY),
    CALLBACK(KERNEL_DISPATCH),
    CALLBACK(MEMORY_COPY),
    CALLBACK(RCCL_API),
    CALLBACK(OMPT),
    CALLBACK(MEMORY_ALLOCATION),
    CALLBACK(RUNTIME_INITIALIZATION),
    CALLBACK(ROCDECODE_API),
    CALLBACK(ROCJPEG_API),
    CALLBACK(HIP_STREAM),
    CALLBACK(MARKER_CORE_RANGE_API),
    [HA_CALLBACK_KINDS] = NULL,
};

static const char *const buffer_kinds[] = {
    BUFFER(HSA_CORE_API),
    BUFFER(HSA_AMD_EXT_API),
    BUFFER(HSA_IMAGE_EXT_API),
    BUFFER(HSA_FINALIZE_EXT_API),
    BUFFER(HIP_RUNTIME_API),
    BUFFER(HIP_COMPILER_API),
    BUFFER(MARKER_CORE_API),
    BUFFER(MARKER_CONTROL_API),
    BUFFER(MARKER_NAME_API),
    BUFFER(MEMORY_COPY),
    BUFFER(KERNEL_DISPATCH),
    BUFFER(SCRATCH_MEMORY),
    BUFFER(CORRELATION_ID_RETIREMENT),
    BUFFER(RCCL_API),
    BUFFER(OMPT),
    BUFFER(MEMORY_ALLOCATION),
    BUFFER(RUNTIME_INITIALIZATION),
    BUFFER(ROCDECODE_API),
    BUFFER(ROCJPEG_API),
    BUFFER(HIP_STREAM),
    BUFFER(HIP_RUNTIME_API_EXT),
    BUFFER(HIP_COMPILER_API_EXT),
    BUFFER(ROCDECODE_API_EXT),
    BUFFER(KFD_EVENT_PAGE_MIGRATE),
    BUFFER(KFD_EVENT_PAGE_FAULT),
    BUFFER(KFD_EVENT_QUEUE),
    BUFFER(KFD_EVENT_UNMAP_FROM_GPU),
    BUFFER(KFD_EVENT_DROPPED_EVENTS),
    BUFFER(KFD_PAGE_MIGRATE),
    BUFFER(KFD_PAGE_FAULT),
    BUFFER(KFD_QUEUE),
    BUFFER(MARKER_CORE_RANGE_API),
    [HA_BUFFER_KINDS] = NULL,
};

static const char *const request_kinds[] = {
    REQUEST(HSA_CORE_API),
    REQUEST(HSA_AMD_EXT_API),
    REQUEST(HSA_IMAGE_EXT_API),
    REQUEST(HSA_FINALIZE_EXT_API),
    REQUEST(HIP_RUNTIME_API),
    REQUEST(HIP_COMPILER_API),
    REQUEST(MARKER_CORE_API),
    REQUEST(MARKER_CONTROL_API),
    REQUEST(MARKER_NAME_API),
    REQUEST(MEMORY_COPY),
    REQUEST(KERNEL_DISPATCH),
    REQUEST(SCRATCH_MEMORY),
    REQUEST(RCCL_API),
    REQUEST(OMPT),
    REQUEST(MEMORY_ALLOCATION),
    REQUEST(ROCDECODE_API),
    REQUEST(ROCJPEG_API),
    REQUEST(MARKER_CORE_RANGE_API),
    [ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST] = NULL,
};

/* Operations that aren't HIP's, by group; the first entry of a group is number 0. */
enum group {
    GROUP_NONE,
    GROUP_HIP_RUNTIME,
    GROUP_HIP_COMPILER,
    GROUP_MARKER_CORE,
    GROUP_MARKER_CONTROL,
    GROUP_MARKER_NAME,
    GROUP_MARKER_RANGE,
    GROUP_CODE_OBJECT,
    GROUP_DISPATCH,
    GROUP_COPY,
    GROUP_ALLOCATION,
    GROUP_RUNTIME,
    GROUP_STREAM,
};

static const char *const marker_core[] = {
    "roctxMarkA",       "roctxRangePushA", "roctxRangePop",
    "roctxRangeStartA", "roctxRangeStop",  "roctxGetThreadId",
};
static const char *const marker_control[] = {"roctxProfilerPause",
                                             "roctxProfilerResume"};
static const char *const marker_name[] = {"roctxNameOsThread", "roctxNameHsaAgent",
                                          "roctxNameHipDevice", "roctxNameHipStream"};
static const char *const marker_range[] = {"roctxMarkA", "roctxThreadRangeA",
                                           "roctxProcessRangeA", "roctxGetThreadId"};
static const char *const code_object[] = {"CODE_OBJECT_NONE", "CODE_OBJECT_LOAD",
                                          "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
                                          "CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER"};
static const char *const dispatch[] = {
    "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"};
static const char *const copy[] = {
    "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
    "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};
static const char *const allocation[] = {
    "MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",
    "MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE",
    "MEMORY_ALLOCATION_VMEM_FREE"};
static const char *const runtime[] = {
    "RUNTIME_INITIALIZATION_NONE",   "RUNTIME_INITIALIZATION_HSA",
    "RUNTIME_INITIALIZATION_HIP",    "RUNTIME_INITIALIZATION_MARKER",
    "RUNTIME_INITIALIZATION_RCCL",   "RUNTIME_INITIALIZATION_ROCDECODE",
    "RUNTIME_INITIALIZATION_ROCJPEG"};
static const char *const stream[] = {"HIP_STREAM_NONE", "HIP_STREAM_CREATE",
                                     "HIP_STREAM_DESTROY", "HIP_STREAM_SET"};

#define LIST(names) {names, sizeof(names) / sizeof *(names)}

static const struct {
    const char *const *names;
    unsigned count;
} groups[] = {
    [GROUP_NONE] = {NULL, 0},
    [GROUP_HIP_RUNTIME] = {NULL, HA_OP_RUNTIME_COUNT},
    [GROUP_HIP_COMPILER] = {NULL, HA_OP_COMPILER_COUNT},
    [GROUP_MARKER_CORE] = LIST(marker_core),
    [GROUP_MARKER_CONTROL] = LIST(marker_control),
    [GROUP_MARKER_NAME] = LIST(marker_name),
    [GROUP_MARKER_RANGE] = LIST(marker_range),
    [GROUP_CODE_OBJECT] = LIST(code_object),
    [GROUP_DISPATCH] = LIST(dispatch),
    [GROUP_COPY] = LIST(copy),
    [GROUP_ALLOCATION] = LIST(allocation),
    [GROUP_RUNTIME] = LIST(runtime),
    [GROUP_STREAM] = LIST(stream),
};

static const unsigned char callback_groups[HA_CALLBACK_KINDS] = {
    [ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API] = GROUP_HIP_RUNTIME,
    [ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API] = GROUP_HIP_COMPILER,
    [ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API] = GROUP_MARKER_CORE,
    [ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API] = GROUP_MARKER_CONTROL,
    [ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API] = GROUP_MARKER_NAME,
    [ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API] = GROUP_MARKER_RANGE,
    [ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT] = GROUP_CODE_OBJECT,
    [ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH] = GROUP_DISPATCH,
    [ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY] = GROUP_COPY,
    [ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION] = GROUP_ALLOCATION,
    [ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION] = GROUP_RUNTIME,
    [ROCPROFILER_CALLBACK_TRACING_HIP_STREAM] = GROUP_STREAM,
};

static const unsigned char buffer_groups[HA_BUFFER_KINDS] = {
    [ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API] = GROUP_HIP_RUNTIME,
    [ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT] = GROUP_HIP_RUNTIME,
    [ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API] = GROUP_HIP_COMPILER,
    [ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT] = GROUP_HIP_COMPILER,
    [ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API] = GROUP_MARKER_CORE,
    [ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API] = GROUP_MARKER_CONTROL,
    [ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API] = GROUP_MARKER_NAME,
    [ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API] = GROUP_MARKER_RANGE,
    [ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH] = GROUP_DISPATCH,
    [ROCPROFILER_BUFFER_TRACING_MEMORY_COPY] = GROUP_COPY,
    [ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION] = GROUP_ALLOCATION,
    [ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION] = GROUP_RUNTIME,
    [ROCPROFILER_BUFFER_TRACING_HIP_STREAM] = GROUP_STREAM,
};

const char *
ha_callback_kind_name(int kind)
{
    return kind > 0 && kind < HA_CALLBACK_KINDS ? callback_kinds[kind] : NULL;
}

const char *
ha_buffer_kind_name(int kind)
{
    return kind > 0 && kind < HA_BUFFER_KINDS ? buffer_kinds[kind] : NULL;
}

const char *
ha_request_kind_name(int kind)
{
    return kind > 0 && kind < ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST
               ? request_kinds[kind]
               : NULL;
}

static const char *
operation_name(enum group group, int operation)
{
    if (operation < 0 || (unsigned)operation >= groups[group].count) {
        return NULL;
    }
    if (group == GROUP_HIP_RUNTIME) {
        return ha_op_text(ha_ops[operation].name);
    }
    if (group == GROUP_HIP_COMPILER) {
        return ha_op_text(ha_ops[HA_OP_RUNTIME_COUNT + operation].name);
    }
    return groups[group].names[operation];
}

static const char *
callback_operation_name(int kind, int operation)
{
    return ha_callback_kind_name(kind) == NULL
               ? NULL
               : operation_name((enum group)callback_groups[kind], operation);
}

static const char *
buffer_operation_name(int kind, int operation)
{
    return ha_buffer_kind_name(kind) == NULL
               ? NULL
               : operation_name((enum group)buffer_groups[kind], operation);
}

/* Operation 0 of groups that aren't APIs is "none". */
static unsigned
operations(enum group group, int *first)
{
    *first = group >= GROUP_CODE_OBJECT ? 1 : 0;
    return groups[group].count - (unsigned)(groups[group].count > 0 ? *first : 0);
}

unsigned
ha_callback_operations(int kind, int *first)
{
    return operations((enum group)callback_groups[kind], first);
}

unsigned
ha_buffer_operations(int kind, int *first)
{
    return operations((enum group)buffer_groups[kind], first);
}

/* ---- functions of the interface ---- */

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_name(rocprofiler_callback_tracing_kind_t kind,
                                             const char **name, uint64_t *name_len)
{
    return ha_name_answer(ha_callback_kind_name((int)kind),
                          ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND, name, name_len);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_buffer_tracing_kind_name(rocprofiler_buffer_tracing_kind_t kind,
                                           const char **name, uint64_t *name_len)
{
    return ha_name_answer(ha_buffer_kind_name((int)kind),
                          ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND, name, name_len);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_operation_name(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    const char **name, uint64_t *name_len)
{
    return ha_name_answer(callback_operation_name((int)kind, operation),
                          ha_callback_kind_name((int)kind) == NULL
                              ? ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND
                              : ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND,
                          name, name_len);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_query_buffer_tracing_kind_operation_name(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    const char **name, uint64_t *name_len)
{
    return ha_name_answer(buffer_operation_name((int)kind, operation),
                          ha_buffer_kind_name((int)kind) == NULL
                              ? ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND
                              : ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND,
                          name, name_len);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kinds(
    rocprofiler_callback_tracing_kind_cb_t callback, void *data)
{
    for (int kind = 1; kind < HA_CALLBACK_KINDS; kind++) {
        if (callback((rocprofiler_callback_tracing_kind_t)kind, data) != 0) {
            break;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kinds(rocprofiler_buffer_tracing_kind_cb_t callback,
                                         void *data)
{
    for (int kind = 1; kind < HA_BUFFER_KINDS; kind++) {
        if (callback((rocprofiler_buffer_tracing_kind_t)kind, data) != 0) {
            break;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kind_operations(
    rocprofiler_callback_tracing_kind_t kind,
    rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data)
{
    int first;

    if (ha_callback_kind_name((int)kind) == NULL) {
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    unsigned count = ha_callback_operations((int)kind, &first);
    for (unsigned i = 0; i < count; i++) {
        if (callback(kind, first + (int)i, data) != 0) {
            break;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kind_operations(
    rocprofiler_buffer_tracing_kind_t kind,
    rocprofiler_buffer_tracing_kind_operation_cb_t callback, void *data)
{
    int first;

    if (ha_buffer_kind_name((int)kind) == NULL) {
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    unsigned count = ha_buffer_operations((int)kind, &first);
    for (unsigned i = 0; i < count; i++) {
        if (callback(kind, first + (int)i, data) != 0) {
            break;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}
