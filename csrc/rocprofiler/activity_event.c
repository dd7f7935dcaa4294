/* SPDX-License-Identifier: MIT */
#include "rocprofiler/activity_event.h"

#include "rocprofiler/agent.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/buffer_state.h"
#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/external.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"
#include "rocprofiler/text.h"
#include "rocprofiler/want.h"

/* Visits the contexts of a kind: `visit` makes the payload and the record. */
struct event {
    int callback_kind;
    int buffer_kind; /* 0: none */
    int operation;
    void *payload;
    rocprofiler_callback_phase_t phases[2]; /* the second may be NONE: only one */
    rocprofiler_external_correlation_id_request_kind_t request;
    const struct ha_scope *scope;
    uint64_t contexts; /* bits: only these; 0: all */
    /* Adds the record; NULL where there is none. */
    void (*add)(const struct event *event, struct ha_buffer *buffer,
                rocprofiler_correlation_id_t id);
    const void *source;
};

static void
report(const struct event *event)
{
    uint64_t mask = ha_kinds_mask(event->callback_kind, event->buffer_kind);
    if (event->contexts != 0) {
        mask &= event->contexts;
    }
    uint64_t internal = event->scope->internal, ancestor = event->scope->ancestor;

    for (; mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        const struct ha_context *context = ha_contexts[number];
        struct ha_watcher watcher = {.context = (uint8_t)number};
        watcher.external =
            ha_external_id(number, event->request, event->operation, internal);
        if (ha_wants_callback(context, event->callback_kind, event->operation)) {
            for (int i = 0; i < 2; i++) {
                if (i == 0 || event->phases[i] != ROCPROFILER_CALLBACK_PHASE_NONE) {
                    ha_tell(&watcher, &watcher.user, internal, ancestor, ha_thread_id(),
                            event->callback_kind, event->operation, event->phases[i],
                            event->payload);
                }
            }
        }
        if (event->add != NULL &&
            ha_wants_buffer(context, event->buffer_kind, event->operation)) {
            event->add(
                event, context->buffers[event->buffer_kind].buffer,
                (rocprofiler_correlation_id_t){internal, watcher.external, ancestor});
        }
    }
}

/* Reports within the call that the thread is in, or within a scope of its own. */
static void
report_here(struct event *event)
{
    struct ha_scope scope;

    /* A replay was asked for by the tool itself. */
    if ((ha_in_tool() > 0 && event->contexts == 0) ||
        ha_kinds_mask(event->callback_kind, event->buffer_kind) == 0) {
        return;
    }
    event->scope = ha_scope_current();
    if (event->scope != NULL) {
        report(event);
        return;
    }
    ha_scope_enter(&scope);
    event->scope = &scope;
    report(event);
    ha_scope_leave(&scope);
}

static void
add_memory(const struct event *event, struct ha_buffer *buffer,
           rocprofiler_correlation_id_t id)
{
    const rocprofiler_callback_tracing_memory_allocation_data_t *data = event->source;
    rocprofiler_buffer_tracing_memory_allocation_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
        .operation = (rocprofiler_memory_allocation_operation_t)event->operation,
        .correlation_id = id,
        .thread_id = ha_thread_id(),
        .start_timestamp = data->start_timestamp,
        .end_timestamp = data->end_timestamp,
        .agent_id = data->agent_id,
        .address = data->address,
        .allocation_size = data->allocation_size,
    };

    ha_buffer_add(buffer, ROCPROFILER_BUFFER_CATEGORY_TRACING, record.kind, &record,
                  sizeof record);
}

void
ha_activity_memory(enum ha_activity_memory operation, int device, const void *address,
                   uint64_t bytes, uint64_t start, uint64_t end)
{
    rocprofiler_callback_tracing_memory_allocation_data_t data = {
        .size = sizeof data,
        .start_timestamp = start,
        .end_timestamp = end,
        .agent_id = ha_agent_of_device(device),
        .address = {.ptr = address},
        .allocation_size = bytes,
    };

    report_here(&(struct event){
        .callback_kind = ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,
        .buffer_kind = ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
        .operation = (int)operation, /* the same numbers */
        .payload = &data,
        .phases = {ROCPROFILER_CALLBACK_PHASE_ENTER, ROCPROFILER_CALLBACK_PHASE_EXIT},
        .request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_ALLOCATION,
        .add = add_memory,
        .source = &data,
    });
}

static _Thread_local uint64_t replayed;

void
ha_activity_replay(uint64_t contexts)
{
    replayed = contexts;
}

void
ha_activity_code_object(const struct ha_activity_code_object *source, int loaded)
{
    rocprofiler_callback_tracing_code_object_load_data_t data = {
        .size = sizeof data,
        .code_object_id = source->id,
        .agent_id = ha_agent_of_device(source->device),
        .hsa_agent = ha_agent_of_device(source->device),
        .uri = ha_text_keep(source->uri),
        .load_base = source->load_base,
        .load_size = source->load_size,
        .load_delta = (int64_t)source->load_base,
        .storage_type = ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
        .memory_base = source->memory_base,
        .memory_size = source->memory_size,
    };

    report_here(&(struct event){
        .callback_kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
        .operation = ROCPROFILER_CODE_OBJECT_LOAD,
        .payload = &data,
        .phases = {loaded ? ROCPROFILER_CALLBACK_PHASE_LOAD
                          : ROCPROFILER_CALLBACK_PHASE_UNLOAD},
        .contexts = replayed,
    });
}

void
ha_activity_kernel(const struct ha_activity_kernel *source, int loaded)
{
    rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t data = {
        .size = sizeof data,
        .kernel_id = source->id,
        .code_object_id = source->code_object,
        .kernel_name = ha_text_keep(source->name),
        .kernel_object = source->address,
        .kernarg_segment_size = (source->argument_bytes + 15) / 16 * 16,
        .kernarg_segment_alignment = source->argument_align,
        .group_segment_size = source->shared_bytes,
        .private_segment_size = source->local_bytes,
        .kernel_address = {.value = source->address},
    };

    report_here(&(struct event){
        .callback_kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
        .operation = ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
        .payload = &data,
        .phases = {loaded ? ROCPROFILER_CALLBACK_PHASE_LOAD
                          : ROCPROFILER_CALLBACK_PHASE_UNLOAD},
        .contexts = replayed,
    });
}

void
ha_activity_stream(enum ha_activity_stream operation, uint64_t queue,
                   const void *handle)
{
    rocprofiler_callback_tracing_hip_stream_data_t data = {
        .size = sizeof data,
        .stream_id = {queue},
        .stream_value = {.ptr = handle},
    };

    report_here(&(struct event){
        .callback_kind = ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,
        .operation = (int)operation, /* the same numbers */
        .payload = &data,
        .phases = {ROCPROFILER_CALLBACK_PHASE_NONE},
    });
}

static void
add_runtime(const struct event *event, struct ha_buffer *buffer,
            rocprofiler_correlation_id_t id)
{
    const rocprofiler_callback_tracing_runtime_initialization_data_t *data =
        event->source;
    rocprofiler_buffer_tracing_runtime_initialization_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
        .operation = (rocprofiler_runtime_initialization_operation_t)event->operation,
        .correlation_id = id,
        .thread_id = ha_thread_id(),
        .timestamp = ha_timestamp(),
        .version = data->version,
        .instance = data->instance,
    };

    ha_buffer_add(buffer, ROCPROFILER_BUFFER_CATEGORY_TRACING, record.kind, &record,
                  sizeof record);
}

void
ha_activity_runtime(int operation, uint64_t version, uint64_t instance, unsigned first)
{
    rocprofiler_callback_tracing_runtime_initialization_data_t data = {
        .size = sizeof data,
        .version = version,
        .instance = instance,
    };

    report_here(&(struct event){
        .callback_kind = ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION,
        .buffer_kind = ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
        .operation = operation,
        .payload = &data,
        .phases = {ROCPROFILER_CALLBACK_PHASE_NONE},
        .contexts = ~((UINT64_C(1) << first) - 1),
        .add = add_runtime,
        .source = &data,
    });
}
