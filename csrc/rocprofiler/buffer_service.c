/* SPDX-License-Identifier: MIT */
/* Buffers, as tools make and end them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "rocprofiler/buffer_state.h"
#include "rocprofiler/callback_thread.h"
#include "rocprofiler/client.h"
#include "rocprofiler/context.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

static struct ha_buffer *
buffer_make(size_t bytes)
{
    struct ha_buffer *buffer = calloc(1, sizeof *buffer);
    bool good = buffer != NULL;

    if (!good) {
        return NULL;
    }
    buffer->bytes = bytes;
    buffer->headers_max = bytes / HA_RECORD_LEAST_bytes + 1;
    buffer->pointers = calloc(buffer->headers_max, sizeof *buffer->pointers);
    good = buffer->pointers != NULL;
    for (int i = 0; i < 2; i++) {
        buffer->halves[i].memory = malloc(bytes);
        buffer->halves[i].headers =
            calloc(buffer->headers_max, sizeof *buffer->halves[i].headers);
        good = good && buffer->halves[i].memory != NULL &&
               buffer->halves[i].headers != NULL;
    }
    if (good && pthread_mutex_init(&buffer->lock, NULL) == 0) {
        if (pthread_cond_init(&buffer->changed, NULL) == 0) {
            return buffer;
        }
        pthread_mutex_destroy(&buffer->lock);
    }
    ha_buffer_free_memory(buffer);
    free(buffer);
    return NULL;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
                          size_t watermark, rocprofiler_buffer_policy_t policy,
                          rocprofiler_buffer_tracing_cb_t callback, void *callback_data,
                          rocprofiler_buffer_id_t *buffer_id)
{
    struct ha_context *found;
    rocprofiler_status_t status = ha_context_configurable(context, &found);

    if (status != ROCPROFILER_STATUS_SUCCESS) {
        return status;
    }
    if (size == 0 || callback == NULL || buffer_id == NULL ||
        policy <= ROCPROFILER_BUFFER_POLICY_NONE ||
        policy >= ROCPROFILER_BUFFER_POLICY_LAST) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    struct ha_buffer *buffer = buffer_make(size);
    if (buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    buffer->context = context;
    buffer->policy = policy;
    buffer->callback = callback;
    buffer->data = callback_data;
    buffer->watermark = watermark == 0 || watermark > size ? size : watermark;
    buffer->thread = ha_callback_thread_shared();
    buffer->open = true;
    ha_lock(HA_LOCK_BUFFERS);
    unsigned number = atomic_load(&ha_buffer_count);
    if (number < HA_BUFFERS_MAX) {
        buffer->number = number;
        ha_buffers[number] = buffer;
        atomic_store(&ha_buffer_count, number + 1);
        *buffer_id = ha_buffer_id(buffer);
    }
    ha_unlock(HA_LOCK_BUFFERS);
    if (number == HA_BUFFERS_MAX) {
        ha_buffer_free_memory(buffer);
        free(buffer);
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id)
{
    struct ha_buffer *buffer = ha_buffer_find(buffer_id);

    if (buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    /* Records that come while its context is active would be lost without a word. */
    bool used = atomic_load(&ha_context_find(buffer->context)->active);
    pthread_mutex_lock(&buffer->lock);
    bool open = buffer->open, busy = buffer->giving || used;
    if (open && !busy) {
        buffer->open = false;
        ha_buffer_free_memory(buffer);
        pthread_cond_broadcast(&buffer->changed);
    }
    pthread_mutex_unlock(&buffer->lock);
    if (!open) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    return busy ? ROCPROFILER_STATUS_ERROR_BUFFER_BUSY : ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id)
{
    struct ha_buffer *buffer = ha_buffer_find(buffer_id);

    return buffer == NULL ? ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND
                          : ha_buffer_flush(buffer);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_assign_callback_thread(rocprofiler_buffer_id_t buffer_id,
                                   rocprofiler_callback_thread_t cb_thread_id)
{
    struct ha_buffer *buffer = ha_buffer_find(buffer_id);
    struct ha_callback_thread *thread = ha_callback_thread_find(cb_thread_id);

    if (!ha_client_in_window()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if (buffer == NULL) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    if (thread == NULL) {
        return ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND;
    }
    pthread_mutex_lock(&buffer->lock);
    buffer->thread = thread;
    pthread_mutex_unlock(&buffer->lock);
    return ROCPROFILER_STATUS_SUCCESS;
}
