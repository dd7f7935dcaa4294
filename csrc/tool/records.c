/* SPDX-License-Identifier: MIT */
#include "tool/records.h"

#include "tool/bell.h"
#include "tool/device.h"
#include "tool/events.h"
#include "tool/ring.h"

static _Atomic uint32_t left_out; /* thread */

void
ha_records_leave_out(uint32_t thread)
{
    atomic_store(&left_out, thread);
}

/* What all records of things that last have, each type at places of its own. */
#define SET_COMMON(event, record)                                                      \
    do {                                                                               \
        (event)->operation = (int32_t)(record)->operation;                             \
        (event)->thread = (uint32_t)(record)->thread_id;                               \
        (event)->correlation = (record)->correlation_id.internal;                      \
        (event)->external = (record)->correlation_id.external.value;                   \
        (event)->start = (record)->start_timestamp;                                    \
        (event)->end = (record)->end_timestamp;                                        \
    } while (0)

/* The beginning of the records of calls, which is the same for all libraries. */
static void
set_api_record(struct ha_trace_event *event, const void *payload)
{
    const rocprofiler_buffer_tracing_hip_api_record_t *record = payload;

    SET_COMMON(event, record);
    event->ancestor = record->correlation_id.ancestor;
}

static void
set_copy_record(struct ha_trace_event *event, const void *payload)
{
    const rocprofiler_buffer_tracing_memory_copy_record_t *record = payload;

    SET_COMMON(event, record);
    event->device = ha_device_of_agent(record->dst_agent_id);
    event->source_device = (int16_t)ha_device_of_agent(record->src_agent_id);
    event->bytes = record->bytes;
    event->address = record->dst_address.value;
    event->source = record->src_address.value;
    event->stream = ha_sdk_copy_stream(record);
}

static void
set_memory_record(struct ha_trace_event *event, const void *payload)
{
    const rocprofiler_buffer_tracing_memory_allocation_record_t *record = payload;

    SET_COMMON(event, record);
    event->ancestor = record->correlation_id.ancestor;
    event->device = ha_device_of_agent(record->agent_id);
    event->bytes = record->allocation_size;
    event->address = record->address.value;
}

static void
set_dispatch_record(struct ha_trace_event *event, const void *payload)
{
    const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record = payload;

    SET_COMMON(event, record);
    ha_event_set_dispatch(event, &record->dispatch_info);
    event->address = ha_sdk_launch_form(record);
}

static void
set_other_record(struct ha_trace_event *event,
                 const rocprofiler_record_header_t *header)
{
    const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *retirement =
        header->payload;
    const rocprofiler_buffer_tracing_runtime_initialization_record_t *runtime =
        header->payload;

    if (header->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
        event->correlation = retirement->internal_correlation_id;
        event->start = event->end = retirement->timestamp;
        return;
    }
    event->operation = (int32_t)runtime->operation;
    event->thread = (uint32_t)runtime->thread_id;
    event->correlation = runtime->correlation_id.internal;
    event->start = event->end = runtime->timestamp;
    event->object = runtime->instance;
    event->bytes = runtime->version;
}

/* False for kinds whose records aren't known. */
static bool
set_record(struct ha_trace_event *event, const rocprofiler_record_header_t *header)
{
    switch (header->kind) {
    case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API:
    case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API:
    case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT:
    case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT:
    case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API:
    case ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API:
    case ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API:
    case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API:
        set_api_record(event, header->payload);
        return true;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
        set_copy_record(event, header->payload);
        return true;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
        set_memory_record(event, header->payload);
        return true;
    case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
        set_dispatch_record(event, header->payload);
        return true;
    case ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT:
    case ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION:
        set_other_record(event, header);
        return true;
    default:
        return false;
    }
}

void
ha_records_on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                     rocprofiler_record_header_t **headers, size_t count, void *data,
                     uint64_t dropped)
{
    struct ha_collector *collector = data;

    (void)context;
    (void)buffer;
    atomic_fetch_add(&collector->lost, dropped);
    for (size_t i = 0; i < count; i++) {
        struct ha_ring *ring;
        if (headers[i]->category != ROCPROFILER_BUFFER_CATEGORY_TRACING) {
            continue;
        }
        struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
        if (event == NULL) {
            continue;
        }
        *event = (struct ha_trace_event){.kind = (uint16_t)headers[i]->kind,
                                         .device = HA_DEVICE_NONE,
                                         .source_device = HA_DEVICE_NONE};
        if (set_record(event, headers[i]) &&
            (event->thread == 0 || event->thread != atomic_load(&left_out))) {
            ha_ring_commit(ring);
        }
    }
    ha_bell_wake();
}
