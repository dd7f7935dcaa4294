/* SPDX-License-Identifier: MIT */
/* Arguments of a call, one by one, with their text. */
#include "rocprofiler/arg_text.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/marker_args.h"
#include "rocprofiler/sdk.h"

struct visit {
    rocprofiler_callback_tracing_operation_args_cb_t callback;
    rocprofiler_buffer_tracing_operation_args_cb_t buffered;
    rocprofiler_callback_tracing_kind_t kind;
    rocprofiler_buffer_tracing_kind_t buffer_kind;
    rocprofiler_tracing_operation_t operation;
    int follow_max;
    void *data;
};

static void
visit_arguments(const struct visit *visit, unsigned op,
                const rocprofiler_hip_api_args_t *args)
{
    char text[HA_ARG_TEXT_BYTES];
    int answer = 0;

    for (unsigned i = 0; i < ha_ops[op].count && answer == 0; i++) {
        const struct ha_op_arg *argument = &ha_op_args(&ha_ops[op])[i];
        const void *at = (const char *)args + argument->offset;
        int followed = ha_arg_print(text, argument, at, visit->follow_max);
        const char *type = ha_op_text(argument->type);
        const char *name = ha_op_text(argument->name);
        if (visit->callback != NULL) {
            answer =
                visit->callback(visit->kind, visit->operation, i, at, argument->stars,
                                type, name, text, followed, visit->data);
        } else {
            answer = visit->buffered(visit->buffer_kind, visit->operation, i, at,
                                     argument->stars, type, name, text, visit->data);
        }
    }
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kind_operation_args(
    rocprofiler_callback_tracing_record_t record,
    rocprofiler_callback_tracing_operation_args_cb_t callback,
    int32_t max_dereference_count, void *user_data)
{
    const rocprofiler_callback_tracing_hip_api_data_t *data = record.payload;
    struct visit visit = {.callback = callback,
                          .kind = record.kind,
                          .operation = record.operation,
                          .follow_max = max_dereference_count,
                          .data = user_data};
    unsigned first, count;

    switch (record.kind) {
    case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
        first = 0;
        count = HA_OP_RUNTIME_COUNT;
        break;
    case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
        first = HA_OP_RUNTIME_COUNT;
        count = HA_OP_COMPILER_COUNT;
        break;
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
        return ha_marker_arguments(&record, callback, max_dereference_count, user_data);
    default:
        return record.kind > ROCPROFILER_CALLBACK_TRACING_NONE &&
                       record.kind < ROCPROFILER_CALLBACK_TRACING_LAST
                   ? ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED
                   : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    if (data == NULL || callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (record.operation < 0 || (unsigned)record.operation >= count) {
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    }
    visit_arguments(&visit, first + (unsigned)record.operation, &data->args);
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_record_args(
    rocprofiler_record_header_t record,
    rocprofiler_buffer_tracing_operation_args_cb_t callback, void *user_data)
{
    const rocprofiler_buffer_tracing_hip_api_ext_record_t *data = record.payload;
    bool runtime = record.kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT;

    if (record.category != ROCPROFILER_BUFFER_CATEGORY_TRACING ||
        (!runtime && record.kind != ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT)) {
        return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
    }
    if (data == NULL || callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    unsigned first = runtime ? 0 : HA_OP_RUNTIME_COUNT;
    unsigned count = runtime ? HA_OP_RUNTIME_COUNT : HA_OP_COMPILER_COUNT;
    if (data->operation < 0 || (unsigned)data->operation >= count) {
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    }
    struct visit visit = {.buffered = callback,
                          .buffer_kind = (rocprofiler_buffer_tracing_kind_t)record.kind,
                          .operation = data->operation,
                          .data = user_data};
    visit_arguments(&visit, first + (unsigned)data->operation, &data->args);
    return ROCPROFILER_STATUS_SUCCESS;
}
