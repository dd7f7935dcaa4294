/* SPDX-License-Identifier: MIT */
#include "rocprofiler/marker_call.h"

#include <stdatomic.h>
#include <string.h>

#include "rocprofiler/buffer.h"
#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/external.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"
#include "rocprofiler/want.h"

static void
tell(struct ha_marker_call *call, rocprofiler_callback_phase_t phase)
{
    for (uint64_t mask = call->callbacks; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        struct ha_watcher watcher = {.external = call->seen[number].external,
                                     .context = (uint8_t)number};
        ha_tell(&watcher, &call->seen[number].user, call->scope.internal,
                call->scope.ancestor, ha_thread_id(), call->kinds->callback,
                call->operation, phase, &call->data);
    }
}

/* The contexts of `mask` that want the operation. */
static uint64_t
wanting(uint64_t mask, const struct ha_marker_call *call, bool buffered)
{
    uint64_t wanted = 0;

    for (; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        const struct ha_context *context = ha_contexts[number];
        if (buffered
                ? ha_wants_buffer(context, call->kinds->buffer, call->operation)
                : ha_wants_callback(context, call->kinds->callback, call->operation)) {
            wanted |= UINT64_C(1) << number;
        }
    }
    return wanted;
}

bool
ha_marker_begin(struct ha_marker_call *call, const struct ha_marker_kinds *kinds,
                int operation)
{
    uint64_t callbacks = atomic_load_explicit(
        &ha_callback_kinds_wanted[kinds->callback], memory_order_acquire);
    uint64_t buffers = atomic_load_explicit(&ha_buffer_kinds_wanted[kinds->buffer],
                                            memory_order_acquire);

    if ((callbacks | buffers) == 0 || ha_in_tool() > 0) {
        return false;
    }
    call->kinds = kinds;
    call->operation = operation;
    call->callbacks = wanting(callbacks, call, false);
    call->buffers = wanting(buffers, call, true);
    memset(&call->data, 0, sizeof call->data);
    call->data.size = sizeof call->data;
    return (call->callbacks | call->buffers) != 0;
}

static void
begin(struct ha_marker_call *call)
{
    for (uint64_t mask = call->callbacks | call->buffers; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        call->seen[number].user.value = 0;
        call->seen[number].external = ha_external_id(
            number, call->kinds->request, call->operation, call->scope.internal);
    }
    tell(call, ROCPROFILER_CALLBACK_PHASE_ENTER);
    call->start = ha_timestamp();
}

static void
end(struct ha_marker_call *call)
{
    uint64_t time = ha_timestamp();

    tell(call, ROCPROFILER_CALLBACK_PHASE_EXIT);
    for (uint64_t mask = call->buffers; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        rocprofiler_buffer_tracing_marker_api_record_t record = {
            .size = sizeof record,
            .kind = (rocprofiler_buffer_tracing_kind_t)call->kinds->buffer,
            .operation = call->operation,
            .correlation_id = {call->scope.internal, call->seen[number].external,
                               call->scope.ancestor},
            .start_timestamp = call->start,
            .end_timestamp = time,
            .thread_id = ha_thread_id(),
        };
        ha_buffer_add(ha_contexts[number]->buffers[record.kind].buffer,
                      ROCPROFILER_BUFFER_CATEGORY_TRACING, record.kind, &record,
                      sizeof record);
    }
}

void
ha_marker_enter(struct ha_marker_call *call)
{
    ha_scope_enter(&call->scope);
    begin(call);
}

void
ha_marker_leave(struct ha_marker_call *call)
{
    end(call);
    ha_scope_leave(&call->scope);
}

void
ha_marker_open(struct ha_marker_call *call)
{
    const struct ha_scope *outer = ha_scope_current();

    call->scope = (struct ha_scope){
        .internal = ha_correlation_number(),
        .ancestor = outer != NULL ? outer->internal : 0,
    };
    begin(call);
}

void
ha_marker_close(struct ha_marker_call *call)
{
    end(call);
    ha_correlation_retire(call->scope.internal);
}
