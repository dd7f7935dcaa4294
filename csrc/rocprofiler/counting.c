/* SPDX-License-Identifier: MIT */
#include "rocprofiler/counting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "rocprofiler/agent.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/buffer_state.h"
#include "rocprofiler/client.h"
#include "rocprofiler/context.h"
#include "rocprofiler/counter_config.h"
#include "rocprofiler/external.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/perf.h"
#include "rocprofiler/sdk.h"

/* ---- services of a context ---- */

struct ha_counting {
    rocprofiler_context_id_t context;
    /* Launches. */
    rocprofiler_dispatch_counting_service_cb_t choose; /* NULL: not these */
    void *choose_data;
    rocprofiler_dispatch_counting_record_cb_t tell; /* NULL: into the buffer */
    void *tell_data;
    struct ha_buffer *buffer;
    /* A device. */
    rocprofiler_device_counting_service_cb_t start; /* NULL: not this */
    void *start_data;
    rocprofiler_agent_id_t agent;
    pthread_mutex_t lock; /* of perf */
    struct ha_perf *perf;
};

struct ha_counts {
    struct ha_counting *counting;
    struct ha_counts *next;
    rocprofiler_dispatch_counting_service_data_t data;
    rocprofiler_user_data_t user;
    struct ha_perf *perf;
};

static _Atomic uint64_t counting_contexts; /* bits: active and counting launches */

bool
ha_counting_active(void)
{
    return atomic_load_explicit(&counting_contexts, memory_order_relaxed) != 0;
}

/* The device service whose context is being started on this thread. */
static _Thread_local struct ha_counting *starting;

static rocprofiler_status_t
set_config(rocprofiler_context_id_t context_id,
           rocprofiler_counter_config_id_t config_id)
{
    struct ha_counter_config config;

    if (starting == NULL || starting->context.handle != context_id.handle) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if (!ha_counter_config_find(config_id, &config)) {
        return ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
    }
    if (config.agent.handle != starting->agent.handle) {
        return ROCPROFILER_STATUS_ERROR_AGENT_MISMATCH;
    }
    struct ha_perf *perf = ha_perf_open(config.events);
    if (perf == NULL) {
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    pthread_mutex_lock(&starting->lock);
    ha_perf_close(starting->perf);
    starting->perf = perf;
    pthread_mutex_unlock(&starting->lock);
    return ROCPROFILER_STATUS_SUCCESS;
}

void
ha_counting_switch(rocprofiler_context_id_t id, struct ha_context *context, bool active)
{
    struct ha_counting *counting = context->counting;
    uint64_t bit = UINT64_C(1) << ha_context_number(id);

    if (counting->choose != NULL) {
        if (active) {
            atomic_fetch_or(&counting_contexts, bit);
        } else {
            atomic_fetch_and(&counting_contexts, ~bit);
        }
    }
    if (counting->start != NULL && active) {
        starting = counting;
        ha_in_tool_enter();
        counting->start(id, counting->agent, set_config, counting->start_data);
        ha_in_tool_leave();
        starting = NULL;
    }
    if (counting->start != NULL && !active) {
        pthread_mutex_lock(&counting->lock);
        ha_perf_close(counting->perf);
        counting->perf = NULL;
        pthread_mutex_unlock(&counting->lock);
    }
}

struct ha_counts *
ha_counting_begin(const rocprofiler_kernel_dispatch_info_t *dispatch, uint64_t internal)
{
    struct ha_counts *all = NULL;

    for (uint64_t mask = atomic_load(&counting_contexts); mask != 0; mask &= mask - 1) {
        unsigned number = (unsigned)__builtin_ctzll(mask);
        struct ha_counting *counting = ha_contexts[number]->counting;
        rocprofiler_counter_config_id_t chosen = {0};
        struct ha_counter_config config;
        struct ha_counts *counts = calloc(1, sizeof *counts);
        if (counts == NULL) {
            break;
        }
        counts->counting = counting;
        counts->data.size = sizeof counts->data;
        counts->data.correlation_id.internal = internal;
        counts->data.correlation_id.external = ha_external_id(
            number, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
            ROCPROFILER_KERNEL_DISPATCH_COMPLETE, internal);
        counts->data.dispatch_info = *dispatch;
        ha_in_tool_enter();
        if (ha_context_told(ha_contexts[number])) {
            counting->choose(counts->data, &chosen, &counts->user,
                             counting->choose_data);
        }
        ha_in_tool_leave();
        if (ha_counter_config_find(chosen, &config) &&
            config.agent.handle == dispatch->agent_id.handle) {
            counts->perf = ha_perf_open(config.events);
        }
        if (counts->perf == NULL) {
            free(counts);
            continue;
        }
        counts->next = all;
        all = counts;
    }
    return all;
}

/* Records of all counters; returns how many. */
static size_t
make_records(const struct ha_perf *perf,
             rocprofiler_counter_record_t records[HA_PERF_EVENTS],
             rocprofiler_dispatch_id_t dispatch, rocprofiler_user_data_t user,
             rocprofiler_agent_id_t agent)
{
    size_t count = 0;

    for (unsigned event = 0; event < HA_PERF_EVENTS; event++) {
        double value;
        if (ha_perf_read(perf, event, &value)) {
            records[count++] = (rocprofiler_counter_record_t){
                .id = ha_counter_of(event).handle,
                .counter_value = value,
                .dispatch_id = dispatch,
                .user_data = user,
                .agent_id = agent,
            };
        }
    }
    return count;
}

void
ha_counting_end(struct ha_counts *counts, uint64_t start, uint64_t end)
{
    while (counts != NULL) {
        struct ha_counts *next = counts->next;
        const struct ha_counting *counting = counts->counting;
        rocprofiler_counter_record_t records[HA_PERF_EVENTS];
        size_t count =
            make_records(counts->perf, records, counts->data.dispatch_info.dispatch_id,
                         counts->user, counts->data.dispatch_info.agent_id);
        counts->data.start_timestamp = start;
        counts->data.end_timestamp = end;
        if (counting->tell != NULL) {
            ha_in_tool_enter();
            if (ha_context_told(ha_context_find(counting->context))) {
                counting->tell(counts->data, records, count, counts->user,
                               counting->tell_data);
            }
            ha_in_tool_leave();
        } else {
            rocprofiler_dispatch_counting_service_record_t header = {
                .size = sizeof header,
                .num_records = count,
                .correlation_id = counts->data.correlation_id,
                .start_timestamp = start,
                .end_timestamp = end,
                .dispatch_info = counts->data.dispatch_info,
            };
            ha_buffer_add(counting->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                          ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER,
                          &header, sizeof header);
            for (size_t i = 0; i < count; i++) {
                ha_buffer_add(counting->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                              ROCPROFILER_COUNTER_RECORD_VALUE, &records[i],
                              sizeof records[i]);
            }
        }
        ha_perf_close(counts->perf);
        free(counts);
        counts = next;
    }
}

/* ---- functions of the interface ---- */

/* A new counting of the context, of launches or of a device: it has one at most. */
static rocprofiler_status_t
service_new(rocprofiler_context_id_t id, bool launches, struct ha_counting **made)
{
    struct ha_context *context;
    rocprofiler_status_t status = ha_context_configurable(id, &context);

    if (status != ROCPROFILER_STATUS_SUCCESS) {
        return status;
    }
    if (context->counting != NULL) {
        return (context->counting->choose != NULL) == launches
                   ? ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED
                   : ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT;
    }
    struct ha_counting *counting = calloc(1, sizeof *counting);
    if (counting == NULL || pthread_mutex_init(&counting->lock, NULL) != 0) {
        free(counting);
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    counting->context = id;
    context->counting = counting;
    *made = counting;
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_buffer_dispatch_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
    struct ha_buffer *buffer = ha_buffer_of(context_id, buffer_id);
    struct ha_counting *counting;

    if (callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (ha_client_in_window() && buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    rocprofiler_status_t status = service_new(context_id, true, &counting);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        counting->choose = callback;
        counting->choose_data = callback_data_args;
        counting->buffer = buffer;
    }
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_callback_dispatch_counting_service(
    rocprofiler_context_id_t context_id,
    rocprofiler_dispatch_counting_service_cb_t dispatch_callback,
    void *dispatch_callback_args,
    rocprofiler_dispatch_counting_record_cb_t record_callback,
    void *record_callback_args)
{
    struct ha_counting *counting;

    if (dispatch_callback == NULL || record_callback == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    rocprofiler_status_t status = service_new(context_id, true, &counting);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        counting->choose = dispatch_callback;
        counting->choose_data = dispatch_callback_args;
        counting->tell = record_callback;
        counting->tell_data = record_callback_args;
    }
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_configure_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb,
    void *user_data)
{
    struct ha_buffer *buffer = ha_buffer_of(context_id, buffer_id);
    struct ha_counting *counting;

    if (cb == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (ha_client_in_window() && buffer_id.handle != 0 && buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    if (ha_client_in_window() && !ha_agent_exists(agent_id)) {
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    }
    rocprofiler_status_t status = service_new(context_id, false, &counting);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        counting->start = cb;
        counting->start_data = user_data;
        counting->agent = agent_id;
        counting->buffer = buffer;
    }
    return status;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_sample_device_counting_service(rocprofiler_context_id_t context_id,
                                           rocprofiler_user_data_t user_data,
                                           rocprofiler_counter_flag_t flags,
                                           rocprofiler_counter_record_t *output_records,
                                           size_t *rec_count)
{
    const struct ha_context *context = ha_context_find(context_id);
    rocprofiler_counter_record_t records[HA_PERF_EVENTS];

    (void)flags; /* a sample is taken at once */
    if (context == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    struct ha_counting *counting = context->counting;
    if (counting == NULL || counting->start == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    }
    if (!atomic_load(&context->active)) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
    }
    if ((output_records == NULL) != (rec_count == NULL)) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    pthread_mutex_lock(&counting->lock);
    size_t count = counting->perf != NULL ? make_records(counting->perf, records, 0,
                                                         user_data, counting->agent)
                                          : 0;
    pthread_mutex_unlock(&counting->lock);
    if (count == 0) {
        return ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS;
    }
    if (output_records != NULL) {
        size_t room = *rec_count;
        *rec_count = count;
        if (room < count) {
            return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
        }
        memcpy(output_records, records, count * sizeof *records);
    }
    for (size_t i = 0; i < count; i++) {
        ha_buffer_add(counting->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                      ROCPROFILER_COUNTER_RECORD_VALUE, &records[i], sizeof records[i]);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}
