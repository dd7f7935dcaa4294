/* SPDX-License-Identifier: MIT */
/* Tracing services: what a context asks for. */
#include "rocprofiler/activity.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/context.h"
#include "rocprofiler/names.h"
#include "rocprofiler/sdk.h"

/* The operations as bits; none given: all. */
static rocprofiler_status_t
set_operations(struct ha_operations *bits,
               const rocprofiler_tracing_operation_t *operations, size_t count,
               unsigned known, int first)
{
    *bits = (struct ha_operations){{0}};
    if (operations == NULL || count == 0) {
        for (int i = 0; i < HA_OPERATION_WORDS; i++) {
            bits->words[i] = UINT64_MAX;
        }
        return ROCPROFILER_STATUS_SUCCESS;
    }
    for (size_t i = 0; i < count; i++) {
        int number = operations[i];
        /* Kinds without a producer have no list of operations. */
        if (number < 0 || number >= 64 * HA_OPERATION_WORDS ||
            (known > 0 && (number < first || (unsigned)(number - first) >= known))) {
            return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
        }
        bits->words[number / 64] |= UINT64_C(1) << (number % 64);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_callback_tracing_cb_t callback, void *callback_args)
{
    struct ha_context *context;
    rocprofiler_status_t status = ha_context_configurable(context_id, &context);
    struct ha_callback_service service = {true, callback, callback_args, {{0}}};
    int first;

    if (status != ROCPROFILER_STATUS_SUCCESS) {
        return status;
    }
    if (ha_callback_kind_name((int)kind) == NULL) {
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    if (callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (context->callbacks[kind].there) {
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    }
    unsigned known = ha_callback_operations((int)kind, &first);
    status =
        set_operations(&service.operations, operations, operations_count, known, first);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        context->callbacks[kind] = service;
        ha_contexts_recount();
        ha_activity_switched();
    }
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_buffer_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_buffer_id_t buffer_id)
{
    struct ha_context *context;
    rocprofiler_status_t status = ha_context_configurable(context_id, &context);
    struct ha_buffer_service service = {NULL, {{0}}};
    int first;

    if (status != ROCPROFILER_STATUS_SUCCESS) {
        return status;
    }
    if (ha_buffer_kind_name((int)kind) == NULL) {
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    }
    service.buffer = ha_buffer_of(context_id, buffer_id);
    if (service.buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    if (context->buffers[kind].buffer != NULL) {
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    }
    unsigned known = ha_buffer_operations((int)kind, &first);
    status =
        set_operations(&service.operations, operations, operations_count, known, first);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        context->buffers[kind] = service;
        ha_contexts_recount();
        ha_activity_switched();
    }
    return status;
}
