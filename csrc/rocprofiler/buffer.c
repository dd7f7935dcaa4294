/* SPDX-License-Identifier: MIT */
#include "rocprofiler/buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "rocprofiler/buffer_state.h"
#include "rocprofiler/callback_thread.h"
#include "rocprofiler/client.h"
#include "rocprofiler/context.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/sdk.h"

enum { ALIGNMENT_bytes = 16 };

struct ha_buffer *ha_buffers[HA_BUFFERS_MAX];
_Atomic unsigned ha_buffer_count;

/* Handles are not small numbers. */
#define BUFFER_HANDLE UINT64_C(0x726f626600000000)

rocprofiler_buffer_id_t
ha_buffer_id(const struct ha_buffer *buffer)
{
    return (rocprofiler_buffer_id_t){BUFFER_HANDLE + buffer->number + 1};
}

struct ha_buffer *
ha_buffer_find(rocprofiler_buffer_id_t id)
{
    uint64_t number = id.handle - BUFFER_HANDLE - 1;

    return number < atomic_load(&ha_buffer_count) ? ha_buffers[number] : NULL;
}

struct ha_buffer *
ha_buffer_of(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id)
{
    struct ha_buffer *buffer = ha_buffer_find(id);

    if (buffer == NULL || buffer->context.handle != context.handle) {
        return NULL;
    }
    pthread_mutex_lock(&buffer->lock);
    bool open = buffer->open;
    buffer->serves = open;
    pthread_mutex_unlock(&buffer->lock);
    return open ? buffer : NULL;
}

bool
ha_buffers_there(rocprofiler_context_id_t context)
{
    unsigned count = atomic_load(&ha_buffer_count);
    bool there = true;

    for (unsigned i = 0; i < count && there; i++) {
        if (ha_buffers[i]->context.handle == context.handle) {
            pthread_mutex_lock(&ha_buffers[i]->lock);
            there = ha_buffers[i]->open || !ha_buffers[i]->serves;
            pthread_mutex_unlock(&ha_buffers[i]->lock);
        }
    }
    return there;
}

void
ha_buffer_free_memory(struct ha_buffer *buffer)
{
    for (int i = 0; i < 2; i++) {
        free(buffer->halves[i].memory);
        free(buffer->halves[i].headers);
        buffer->halves[i] = (struct ha_buffer_half){0};
    }
    free(buffer->pointers);
    buffer->pointers = NULL;
}

/* ---- batches ---- */

/* Gives one batch, if there is one.  Runs on the buffer's thread, or in its stead where
 * there is none. */
static void
give(struct ha_buffer *buffer)
{
    pthread_mutex_lock(&buffer->lock);
    struct ha_buffer_half *half = &buffer->halves[buffer->filling];
    uint64_t dropped = buffer->dropped;
    buffer->wanted = false;
    if (!buffer->open || buffer->giving || (half->count == 0 && dropped == 0)) {
        pthread_cond_broadcast(&buffer->changed);
        pthread_mutex_unlock(&buffer->lock);
        return;
    }
    buffer->giving = true;
    buffer->dropped = 0;
    buffer->filling = !buffer->filling;
    pthread_cond_broadcast(&buffer->changed);
    pthread_mutex_unlock(&buffer->lock);

    for (size_t i = 0; i < half->count; i++) {
        buffer->pointers[i] = &half->headers[i];
    }
    ha_in_tool_enter();
    buffer->callback(buffer->context, ha_buffer_id(buffer), buffer->pointers,
                     half->count, buffer->data, dropped);
    ha_in_tool_leave();

    pthread_mutex_lock(&buffer->lock);
    half->count = 0;
    half->used = 0;
    buffer->giving = false;
    buffer->given++;
    if (!buffer->open) {
        ha_buffer_free_memory(buffer); /* closed meanwhile */
    }
    pthread_cond_broadcast(&buffer->changed);
    pthread_mutex_unlock(&buffer->lock);
}

void
ha_buffers_serve(const struct ha_callback_thread *thread)
{
    unsigned count = atomic_load(&ha_buffer_count);

    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_lock(&ha_buffers[i]->lock);
        bool wanted = ha_buffers[i]->thread == thread && ha_buffers[i]->wanted;
        pthread_mutex_unlock(&ha_buffers[i]->lock);
        if (wanted) {
            give(ha_buffers[i]);
        }
    }
}

/* Asks for a batch, unless one was asked for; false where no thread can be had.  Needs
 * the lock, which is let go meanwhile. */
static bool
ask(struct ha_buffer *buffer)
{
    if (buffer->wanted) {
        return true;
    }
    struct ha_callback_thread *thread = buffer->thread;
    buffer->wanted = true;
    pthread_mutex_unlock(&buffer->lock);
    bool there = ha_callback_thread_wake(thread);
    pthread_mutex_lock(&buffer->lock);
    if (!there) {
        buffer->wanted = false;
        pthread_cond_broadcast(&buffer->changed); /* others wait for this batch */
    }
    return there;
}

static bool
is_full(const struct ha_buffer *buffer, size_t room)
{
    const struct ha_buffer_half *half = &buffer->halves[buffer->filling];

    return half->used + room > buffer->bytes || half->count == buffer->headers_max;
}

static bool
takes(const struct ha_buffer *buffer)
{
    return buffer->open && !buffer->sealed;
}

/* Waits for room as the policy says.  True: there is room.  Needs the lock. */
static bool
make_room(struct ha_buffer *buffer, size_t room)
{
    bool waits = buffer->policy == ROCPROFILER_BUFFER_POLICY_LOSSLESS &&
                 room <= buffer->bytes && !ha_callback_thread_here(buffer->thread);

    while (takes(buffer) && is_full(buffer, room)) {
        bool there = ask(buffer);
        if (takes(buffer) && is_full(buffer, room)) {
            if (!waits || !there) {
                buffer->dropped++;
                return false;
            }
            pthread_cond_wait(&buffer->changed, &buffer->lock);
        }
    }
    return takes(buffer);
}

void
ha_buffer_add(struct ha_buffer *buffer, uint32_t category, uint32_t kind,
              const void *record, size_t bytes)
{
    size_t room = (bytes + ALIGNMENT_bytes - 1) / ALIGNMENT_bytes * ALIGNMENT_bytes;

    if (buffer == NULL) {
        return;
    }
    pthread_mutex_lock(&buffer->lock);
    if (make_room(buffer, room)) {
        struct ha_buffer_half *half = &buffer->halves[buffer->filling];
        rocprofiler_record_header_t *header = &half->headers[half->count++];
        header->category = category;
        header->kind = kind;
        header->payload = half->memory + half->used;
        memcpy(header->payload, record, bytes);
        half->used += room;
        if (half->used >= buffer->watermark) {
            (void)ask(buffer);
        }
    }
    pthread_mutex_unlock(&buffer->lock);
}

rocprofiler_status_t
ha_buffer_flush(struct ha_buffer *buffer)
{
    bool there = true;

    pthread_mutex_lock(&buffer->lock);
    bool here = ha_callback_thread_here(buffer->thread);
    if (!buffer->open || (buffer->giving && here)) {
        bool open = buffer->open;
        pthread_mutex_unlock(&buffer->lock);
        return open ? ROCPROFILER_STATUS_ERROR_BUFFER_BUSY
                    : ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    bool filled = buffer->halves[buffer->filling].count > 0 || buffer->dropped > 0;
    uint64_t goal = buffer->given + (buffer->giving ? 1 : 0) + (filled ? 1 : 0);
    while (!here && there && buffer->open && buffer->given < goal) {
        if (!buffer->giving) {
            there = ask(buffer);
        }
        if (there && buffer->open && buffer->given < goal) {
            pthread_cond_wait(&buffer->changed, &buffer->lock);
        }
    }
    bool left = buffer->given < goal;
    pthread_mutex_unlock(&buffer->lock);
    if (left) {
        give(buffer);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Nothing is collected any more, and what was not given is gone. */
static void
close_buffer(struct ha_buffer *buffer)
{
    pthread_mutex_lock(&buffer->lock);
    if (buffer->open) {
        buffer->open = false;
        if (!buffer->giving) {
            ha_buffer_free_memory(buffer);
        }
        pthread_cond_broadcast(&buffer->changed);
    }
    pthread_mutex_unlock(&buffer->lock);
}

/* ---- all buffers of a tool ---- */

static bool
is_of(const struct ha_buffer *buffer, const struct ha_client *client)
{
    return client == NULL || ha_context_find(buffer->context)->client == client;
}

void
ha_buffers_start(void)
{
    unsigned count = atomic_load(&ha_buffer_count);

    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_lock(&ha_buffers[i]->lock);
        struct ha_callback_thread *thread =
            ha_buffers[i]->open ? ha_buffers[i]->thread : NULL;
        pthread_mutex_unlock(&ha_buffers[i]->lock);
        if (thread != NULL) {
            (void)ha_callback_thread_start(thread);
        }
    }
}

void
ha_buffers_seal(const struct ha_client *client)
{
    unsigned count = atomic_load(&ha_buffer_count);

    for (unsigned i = 0; i < count; i++) {
        if (is_of(ha_buffers[i], client)) {
            pthread_mutex_lock(&ha_buffers[i]->lock);
            ha_buffers[i]->sealed = true;
            pthread_cond_broadcast(&ha_buffers[i]->changed);
            pthread_mutex_unlock(&ha_buffers[i]->lock);
            (void)ha_buffer_flush(ha_buffers[i]);
        }
    }
}

void
ha_buffers_close(const struct ha_client *client)
{
    unsigned count = atomic_load(&ha_buffer_count);

    for (unsigned i = 0; i < count; i++) {
        if (is_of(ha_buffers[i], client)) {
            close_buffer(ha_buffers[i]);
        }
    }
}

void
ha_buffers_end(void)
{
    ha_buffers_close(NULL);
    ha_callback_threads_end();
}

void
ha_buffers_forked(void)
{
    unsigned count = atomic_load(&ha_buffer_count);

    ha_callback_threads_forked();
    for (unsigned i = 0; i < count; i++) {
        (void)pthread_mutex_init(&ha_buffers[i]->lock, NULL);
        (void)pthread_cond_init(&ha_buffers[i]->changed, NULL);
        ha_buffers[i]->open = false;
        ha_buffers[i]->giving = false;
    }
}
