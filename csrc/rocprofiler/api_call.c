/* SPDX-License-Identifier: MIT */
#include "rocprofiler/api_call.h"

#include <errno.h>
#include <stdatomic.h>

#include "rocprofiler/buffer.h"
#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/external.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"
#include "rocprofiler/stream_set.h"
#include "rocprofiler/want.h"

bool
ha_api_begin(struct ha_api_call *call, uint32_t op)
{
    if (!ha_api_wanted(op) || ha_in_tool() > 0) {
        return false;
    }
    call->op = op;
    call->data.size = sizeof call->data;
    call->data.retval.uint64_t_retval = 0;
    return true;
}

struct place {
    rocprofiler_callback_tracing_kind_t callback;
    rocprofiler_buffer_tracing_kind_t buffer;
    rocprofiler_buffer_tracing_kind_t extended;
    rocprofiler_external_correlation_id_request_kind_t request;
    unsigned number; /* of the operation, among those of its kind */
};

static struct place
place_of(uint32_t op)
{
    if (op < HA_OP_RUNTIME_COUNT) {
        return (struct place){ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
                              ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
                              ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT,
                              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_RUNTIME_API,
                              op};
    }
    return (struct place){ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
                          ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API,
                          ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT,
                          ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_COMPILER_API,
                          op - HA_OP_RUNTIME_COUNT};
}

static void
tell(struct ha_api_call *call, const struct place *place,
     rocprofiler_callback_phase_t phase)
{
    for (uint32_t i = 0; i < call->seen_count; i++) {
        struct ha_watcher *watcher = &call->seen[i].watcher;
        if (watcher->callback) {
            ha_tell(watcher, &watcher->user, call->scope.internal, call->scope.ancestor,
                    ha_thread_id(), (int)place->callback, (int)place->number, phase,
                    &call->data);
        }
    }
}

void
ha_api_enter(struct ha_api_call *call)
{
    struct place place = place_of(call->op);
    uint64_t mask = atomic_load_explicit(&ha_op_wanted[call->op], memory_order_acquire);
    bool timed = false;

    ha_scope_enter(&call->scope);
    call->seen_count = 0;
    call->streamed =
        (mask & atomic_load_explicit(&ha_stream_set_wanted, memory_order_relaxed)) != 0;
    for (; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        const struct ha_context *context = ha_contexts[number];
        struct ha_watcher *seen = &call->seen[call->seen_count].watcher;
        call->seen[call->seen_count++].stream_user.value = 0;
        seen->context = (uint8_t)number;
        seen->user.value = 0;
        seen->callback =
            ha_wants_callback(context, (int)place.callback, (int)place.number);
        seen->buffer = ha_wants_buffer(context, (int)place.buffer, (int)place.number) ||
                       ha_wants_buffer(context, (int)place.extended, (int)place.number);
        seen->external = ha_external_id(
            number,
            seen->callback || seen->buffer
                ? place.request
                : ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE, /* only its stream */
            (int)place.number, call->scope.internal);
        timed = timed || seen->buffer;
    }
    if (call->streamed) {
        ha_stream_set(call, ROCPROFILER_CALLBACK_PHASE_ENTER);
    }
    tell(call, &place, ROCPROFILER_CALLBACK_PHASE_ENTER);
    call->start = timed ? ha_timestamp() : 0;
}

/* The record, with or without arguments. */
static void
add(const struct ha_api_call *call, const struct ha_watcher *seen,
    const struct place *place, uint64_t end)
{
    const struct ha_context *context = ha_contexts[seen->context];
    rocprofiler_buffer_tracing_hip_api_record_t record = {
        .size = sizeof record,
        .kind = place->buffer,
        .operation = (rocprofiler_tracing_operation_t)place->number,
        .correlation_id = {call->scope.internal, seen->external, call->scope.ancestor},
        .start_timestamp = call->start,
        .end_timestamp = end,
        .thread_id = ha_thread_id(),
    };

    if (ha_wants_buffer(context, (int)place->buffer, (int)place->number)) {
        ha_buffer_add(context->buffers[place->buffer].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, place->buffer, &record,
                      sizeof record);
    }
    if (ha_wants_buffer(context, (int)place->extended, (int)place->number)) {
        rocprofiler_buffer_tracing_hip_api_ext_record_t extended = {
            .size = sizeof extended,
            .kind = place->extended,
            .operation = record.operation,
            .correlation_id = record.correlation_id,
            .start_timestamp = record.start_timestamp,
            .end_timestamp = record.end_timestamp,
            .thread_id = record.thread_id,
            .args = call->data.args,
            .retval = call->data.retval,
        };
        ha_buffer_add(context->buffers[place->extended].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, place->extended, &extended,
                      sizeof extended);
    }
}

void
ha_api_exit(struct ha_api_call *call)
{
    struct place place = place_of(call->op);
    int kept = errno;
    uint64_t end = call->start != 0 ? ha_timestamp() : 0;

    tell(call, &place, ROCPROFILER_CALLBACK_PHASE_EXIT);
    if (call->streamed) {
        ha_stream_set(call, ROCPROFILER_CALLBACK_PHASE_EXIT);
    }
    for (uint32_t i = 0; i < call->seen_count; i++) {
        if (call->seen[i].watcher.buffer) {
            add(call, &call->seen[i].watcher, &place, end);
        }
    }
    ha_scope_leave(&call->scope);
    errno = kept;
}
