/* SPDX-License-Identifier: MIT */
#include "tool/events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/device.h"
#include "tool/name.h"
#include "tool/ring.h"

/* What the beginning of something leaves for its end; times are greater. */
enum { USER_NONE = 0, USER_MUTED = 1, USER_SEEN = 2 };

static _Thread_local unsigned muted; /* how many times */

void
ha_events_mute(bool on)
{
    muted += on ? 1U : -1U;
}

bool
ha_events_muted(void)
{
    return muted > 0;
}

uint64_t
ha_events_now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_BOOTTIME, &time); /* can't fail for this clock */
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* ---- arguments of calls ---- */

struct text {
    char *at;
    size_t used;
    size_t room;
};

static bool
text_add(struct text *text, const char *word)
{
    size_t bytes = strlen(word) + 1;

    if (text->used + bytes > text->room) {
        size_t room = 2 * (text->used + bytes) + 128;
        char *more = realloc(text->at, room);
        if (more == NULL) {
            return false;
        }
        text->at = more;
        text->room = room;
    }
    memcpy(text->at + text->used, word, bytes);
    text->used += bytes;
    return true;
}

static int
text_argument(rocprofiler_callback_tracing_kind_t kind,
              rocprofiler_tracing_operation_t operation, uint32_t number,
              const void *const address, int32_t stars, const char *type,
              const char *name, const char *value, int32_t followed, void *data)
{
    (void)kind;
    (void)operation;
    (void)number;
    (void)address;
    (void)stars;
    (void)type;
    (void)followed;
    return text_add(data, name) && text_add(data, value != NULL ? value : "") ? 0 : 1;
}

/* Name and value of each argument, each ending in 0, and an empty name; NULL: none. */
static char *
arguments_text(rocprofiler_callback_tracing_record_t record)
{
    struct text text = {NULL, 0, 0};
    rocprofiler_status_t status = ha_sdk.iterate_callback_tracing_kind_operation_args(
        record, text_argument, 0, &text);

    if (status != ROCPROFILER_STATUS_SUCCESS || !text_add(&text, "")) {
        free(text.at);
        return NULL;
    }
    return text.at;
}

/* ---- what happens at once ---- */

void
ha_event_begin(struct ha_trace_event *event,
               const rocprofiler_callback_tracing_record_t *record)
{
    *event = (struct ha_trace_event){
        .kind = (uint16_t)record->kind,
        .phase = (uint16_t)record->phase,
        .operation = record->operation,
        .thread = (uint32_t)record->thread_id,
        .correlation = record->correlation_id.internal,
        .ancestor = record->correlation_id.ancestor,
        .external = record->correlation_id.external.value,
        .device = HA_DEVICE_NONE,
        .source_device = HA_DEVICE_NONE,
    };
}

void
ha_event_set_shape(struct ha_trace_event *event,
                   const rocprofiler_kernel_dispatch_info_t *info)
{
    const rocprofiler_dim3_t *block = &info->workgroup_size;

    event->device = ha_device_of_agent(info->agent_id);
    event->stream = info->queue_id.handle;
    event->object = info->kernel_id;
    event->shared = info->group_segment_size;
    event->grid[0] = info->grid_size.x;
    event->grid[1] = info->grid_size.y;
    event->grid[2] = info->grid_size.z;
    event->block[0] = (uint16_t)block->x;
    event->block[1] = (uint16_t)block->y;
    event->block[2] = (uint16_t)block->z;
}

void
ha_event_set_dispatch(struct ha_trace_event *event,
                      const rocprofiler_kernel_dispatch_info_t *info)
{
    ha_event_set_shape(event, info);
    event->name = ha_kernel_name_get(info->kernel_id);
}

void
ha_event_set_copy(struct ha_trace_event *event,
                  const rocprofiler_callback_tracing_memory_copy_data_t *copy)
{
    event->start = copy->start_timestamp;
    event->end = copy->end_timestamp;
    event->device = ha_device_of_agent(copy->dst_agent_id);
    event->source_device = (int16_t)ha_device_of_agent(copy->src_agent_id);
    event->bytes = copy->bytes;
    event->address = copy->dst_address.value;
    event->source = copy->src_address.value;
    event->stream = ha_sdk_copy_stream(copy);
}

void
ha_event_set_memory(struct ha_trace_event *event,
                    const rocprofiler_callback_tracing_memory_allocation_data_t *memory)
{
    event->start = memory->start_timestamp;
    event->end = memory->end_timestamp;
    event->device = ha_device_of_agent(memory->agent_id);
    event->bytes = memory->allocation_size;
    event->address = memory->address.value;
}

static void
set_code_object(struct ha_trace_event *event,
                const rocprofiler_callback_tracing_record_t *record)
{
    const rocprofiler_callback_tracing_code_object_load_data_t *load = record->payload;
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t
        *kernel = record->payload;
    const rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t
        *host = record->payload;

    switch (record->operation) {
    case ROCPROFILER_CODE_OBJECT_LOAD:
        event->object = load->code_object_id;
        event->name = ha_name_of(load->uri);
        event->device = ha_device_of_agent(load->agent_id);
        event->address = load->load_base;
        event->bytes = load->load_size;
        break;
    case ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER:
        event->object = kernel->kernel_id;
        event->source = kernel->code_object_id;
        event->name = ha_name_of(kernel->kernel_name);
        event->address = kernel->kernel_object;
        event->shared = kernel->group_segment_size;
        break;
    case ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER:
        event->object = host->kernel_id;
        event->source = host->code_object_id;
        event->name = ha_name_of(host->device_function);
        event->address = host->host_function.value;
        break;
    default:
        break;
    }
}

const char *
ha_event_marker_text(const rocprofiler_callback_tracing_record_t *record)
{
    const rocprofiler_callback_tracing_marker_api_data_t *data = record->payload;

    if (record->kind == ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API) {
        return data->args.roctxNameOsThread.name; /* first argument of all */
    }
    if (record->kind != ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API) {
        return NULL;
    }
    switch (record->operation) {
    case ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA:
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA:
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA:
        return data->args.roctxMarkA.message;
    default:
        return NULL;
    }
}

static void
set_call(struct ha_trace_event *event,
         const rocprofiler_callback_tracing_record_t *record,
         const struct ha_collector *collector)
{
    const rocprofiler_callback_tracing_hip_api_data_t *hip = record->payload;

    switch (record->kind) {
    case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
    case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
        event->result = (int32_t)hip->retval.uint64_t_retval;
        break;
    default:
        event->name = ha_name_of(ha_event_marker_text(record));
        break;
    }
    if (collector->arguments) {
        event->object = (uintptr_t)arguments_text(*record);
    }
}

static void
set_payload(struct ha_trace_event *event,
            const rocprofiler_callback_tracing_record_t *record,
            const struct ha_collector *collector)
{
    union {
        const void *any;
        const rocprofiler_callback_tracing_kernel_dispatch_data_t *dispatch;
        const rocprofiler_callback_tracing_memory_copy_data_t *copy;
        const rocprofiler_callback_tracing_memory_allocation_data_t *memory;
        const rocprofiler_callback_tracing_runtime_initialization_data_t *runtime;
        const rocprofiler_callback_tracing_hip_stream_data_t *stream;
    } payload = {.any = record->payload};

    switch (record->kind) {
    case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
        event->start = payload.dispatch->start_timestamp;
        event->end = payload.dispatch->end_timestamp;
        ha_event_set_dispatch(event, &payload.dispatch->dispatch_info);
        event->address = ha_sdk_launch_form(payload.dispatch);
        break;
    case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
        ha_event_set_copy(event, payload.copy);
        break;
    case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
        ha_event_set_memory(event, payload.memory);
        break;
    case ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT:
        set_code_object(event, record);
        break;
    case ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION:
        event->object = payload.runtime->instance;
        event->bytes = payload.runtime->version;
        break;
    case ROCPROFILER_CALLBACK_TRACING_HIP_STREAM:
        event->stream = payload.stream->stream_id.handle;
        event->address = payload.stream->stream_value.value;
        break;
    default:
        set_call(event, record, collector);
        break;
    }
}

/* Kinds of functions, whose times are taken here. */
static bool
is_call(rocprofiler_callback_tracing_kind_t kind)
{
    switch (kind) {
    case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
    case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
    case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
        return true;
    default:
        return false;
    }
}

/* Kinds whose payloads are those of other libraries, which are passed by. */
static bool
is_known(rocprofiler_callback_tracing_kind_t kind)
{
    switch (kind) {
    case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
    case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
    case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
    case ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT:
    case ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION:
    case ROCPROFILER_CALLBACK_TRACING_HIP_STREAM:
        return true;
    default:
        return is_call(kind);
    }
}

/* Kinds of work that ends later, on other threads. */
static bool
is_work(rocprofiler_callback_tracing_kind_t kind)
{
    return kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH ||
           kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY;
}

/* Whether the record is one that comes before another of the same thing. */
static bool
is_first(const rocprofiler_callback_tracing_record_t *record)
{
    switch (record->kind) {
    case ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT:
        return false; /* the phases are two things: load and unload */
    case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
        return record->operation == ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
    default:
        return record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    }
}

static void
first_phase(struct ha_collector *collector,
            const rocprofiler_callback_tracing_record_t *record,
            rocprofiler_user_data_t *user)
{
    if (muted > 0) {
        user->value = USER_MUTED;
    } else if (is_call(record->kind)) {
        user->value = ha_events_now();
    } else {
        user->value = USER_SEEN;
        if (is_work(record->kind)) {
            atomic_fetch_add(&collector->open, 1);
        }
    }
}

void
ha_events_on_callback(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user, void *data)
{
    struct ha_collector *collector = data;
    struct ha_ring *ring;

    if (is_first(&record)) {
        if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
            first_phase(collector, &record, user);
        }
        return;
    }
    if (user->value == USER_MUTED || !is_known(record.kind) ||
        (user->value == USER_NONE && muted > 0)) {
        return;
    }
    uint64_t end = ha_events_now();
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
    if (event != NULL) {
        ha_event_begin(event, &record);
        event->start = user->value > USER_SEEN ? user->value : end;
        event->end = end;
        set_payload(event, &record, collector);
        ha_ring_commit(ring);
    }
    if (user->value == USER_SEEN && is_work(record.kind)) {
        atomic_fetch_sub(&collector->open, 1);
    }
}
