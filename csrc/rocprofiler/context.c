/* SPDX-License-Identifier: MIT */
#include "rocprofiler/context.h"

#include <stdlib.h>

#include "abi/activity.h"
#include "rocprofiler/client.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/hip_op.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

struct ha_context *ha_contexts[HA_CONTEXTS_MAX];
_Atomic unsigned ha_context_count;

_Atomic uint64_t ha_op_wanted[HA_OP_COUNT];
_Atomic uint64_t ha_callback_kinds_wanted[HA_CALLBACK_KINDS];
_Atomic uint64_t ha_buffer_kinds_wanted[HA_BUFFER_KINDS];
_Atomic uint64_t ha_stream_set_wanted;

/* Handles are not small numbers, so that one of another kind isn't taken for one. */
#define CONTEXT_HANDLE UINT64_C(0x726f637800000000)

unsigned
ha_context_number(rocprofiler_context_id_t id)
{
    return (unsigned)(id.handle - CONTEXT_HANDLE) - 1;
}

rocprofiler_context_id_t
ha_context_id(unsigned number)
{
    return (rocprofiler_context_id_t){CONTEXT_HANDLE + number + 1};
}

struct ha_context *
ha_context_find(rocprofiler_context_id_t id)
{
    uint64_t number = id.handle - CONTEXT_HANDLE - 1;

    return number < atomic_load(&ha_context_count) ? ha_contexts[number] : NULL;
}

rocprofiler_status_t
ha_context_configurable(rocprofiler_context_id_t id, struct ha_context **context)
{
    if (!ha_client_in_window()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    *context = ha_context_find(id);
    return *context == NULL || (*context)->client != ha_client_current()
               ? ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND
               : ROCPROFILER_STATUS_SUCCESS;
}

/* ---- what is wanted ---- */

/* Callback and buffer kinds that carry operation numbers of HIP. */
static const struct {
    int callback;
    int buffers[2];
    unsigned first;
    unsigned count;
} hip_kinds[] = {
    {ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
     {ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
      ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT},
     0,
     HA_OP_RUNTIME_COUNT},
    {ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
     {ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API,
      ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT},
     HA_OP_RUNTIME_COUNT,
     HA_OP_COMPILER_COUNT},
};

static bool
wants_op(const struct ha_context *context, size_t kind, unsigned number)
{
    const struct ha_callback_service *callback =
        &context->callbacks[hip_kinds[kind].callback];
    bool wanted = callback->there && ha_operation_in(&callback->operations, number);

    for (int i = 0; i < 2 && !wanted; i++) {
        const struct ha_buffer_service *service =
            &context->buffers[hip_kinds[kind].buffers[i]];
        wanted =
            service->buffer != NULL && ha_operation_in(&service->operations, number);
    }
    return wanted;
}

/* Adds `bit` to what the context has asked for of HIP. */
static void
add_ops(const struct ha_context *context, uint64_t wanted[HA_OP_COUNT], uint64_t bit)
{
    for (size_t kind = 0; kind < sizeof hip_kinds / sizeof *hip_kinds; kind++) {
        for (unsigned number = 0; number < hip_kinds[kind].count; number++) {
            if (wants_op(context, kind, number)) {
                wanted[hip_kinds[kind].first + number] |= bit;
            }
        }
    }
    for (unsigned op = 0; ha_wants_stream_set(context) && op < HA_OP_COUNT; op++) {
        wanted[op] |= ha_ops[op].stream != 0 ? bit : 0;
    }
}

void
ha_contexts_recount_locked(void)
{
    uint64_t ops[HA_OP_COUNT] = {0};
    uint64_t callbacks[HA_CALLBACK_KINDS] = {0}, buffers[HA_BUFFER_KINDS] = {0};
    uint64_t streams = 0;
    unsigned count = atomic_load(&ha_context_count);

    for (unsigned i = 0; i < count; i++) {
        const struct ha_context *context = ha_contexts[i];
        uint64_t bit = UINT64_C(1) << i;
        if (!atomic_load(&context->active)) {
            continue;
        }
        add_ops(context, ops, bit);
        streams |= ha_wants_stream_set(context) ? bit : 0;
        for (int kind = 0; kind < HA_CALLBACK_KINDS; kind++) {
            callbacks[kind] |= context->callbacks[kind].there ? bit : 0;
        }
        for (int kind = 0; kind < HA_BUFFER_KINDS; kind++) {
            buffers[kind] |= context->buffers[kind].buffer != NULL ? bit : 0;
        }
    }
    for (int op = 0; op < HA_OP_COUNT; op++) {
        atomic_store_explicit(&ha_op_wanted[op], ops[op], memory_order_release);
    }
    for (int kind = 0; kind < HA_CALLBACK_KINDS; kind++) {
        atomic_store(&ha_callback_kinds_wanted[kind], callbacks[kind]);
    }
    for (int kind = 0; kind < HA_BUFFER_KINDS; kind++) {
        atomic_store(&ha_buffer_kinds_wanted[kind], buffers[kind]);
    }
    atomic_store(&ha_stream_set_wanted, streams);
}

void
ha_contexts_recount(void)
{
    ha_lock(HA_LOCK_CONTEXTS);
    ha_contexts_recount_locked();
    ha_unlock(HA_LOCK_CONTEXTS);
}

void
ha_ops_configured(bool wanted[HA_OP_COUNT])
{
    uint64_t found[HA_OP_COUNT] = {0};
    unsigned count = atomic_load(&ha_context_count);

    for (unsigned i = 0; i < count; i++) {
        if (ha_context_told(ha_contexts[i])) {
            add_ops(ha_contexts[i], found, 1);
        }
    }
    for (unsigned op = 0; op < HA_OP_COUNT; op++) {
        wanted[op] = found[op] != 0;
    }
}

unsigned
ha_activity_needed(void)
{
    static const struct {
        int callback; /* 0: none */
        int buffer;
        unsigned want;
    } producers[] = {
        {ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
         ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, HA_WANT_DISPATCH},
        {ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
         ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, HA_WANT_COPY},
        {ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,
         ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION, HA_WANT_MEMORY},
        {ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, 0, HA_WANT_CODE},
        {ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, ROCPROFILER_BUFFER_TRACING_HIP_STREAM,
         HA_WANT_STREAM},
        {ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
         ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, HA_WANT_MARK},
        {0, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, HA_WANT_MARK},
    };
    unsigned configured = 0, active = 0, count = atomic_load(&ha_context_count);

    for (unsigned i = 0; i < count; i++) {
        const struct ha_context *context = ha_contexts[i];
        unsigned wanted = context->counting != NULL ? HA_WANT_DISPATCH : 0;
        for (size_t p = 0; p < sizeof producers / sizeof *producers; p++) {
            if (context->callbacks[producers[p].callback].there ||
                context->buffers[producers[p].buffer].buffer != NULL) {
                wanted |= producers[p].want;
            }
        }
        configured |= ha_context_told(context) ? wanted : 0;
        active |= atomic_load(&context->active) ? wanted : 0;
    }
    /* Kernels have names only where their code objects are reported, and those come
     * long before a context is started. */
    return active |
           ((configured & (HA_WANT_DISPATCH | HA_WANT_CODE)) != 0 ? HA_WANT_CODE : 0);
}
