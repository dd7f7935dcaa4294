/* SPDX-License-Identifier: MIT */
#include "rocprofiler/callback_thread.h"

#include <pthread.h>
#include <stdatomic.h>

#include "rocprofiler/buffer.h"
#include "rocprofiler/client.h"
#include "rocprofiler/internal_thread.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

enum { THREADS_MAX = 64 };

enum stage { NEW, STARTING, RUNNING, STOPPED };

struct ha_callback_thread {
    pthread_t handle;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    enum stage stage;
    bool work;
    bool stop;
};

/* 0 is everybody's. */
static struct ha_callback_thread threads[THREADS_MAX] = {
    [0 ... THREADS_MAX - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER},
};
static _Atomic unsigned thread_count = 1;
static _Thread_local const struct ha_callback_thread *own;

/* Handles are not small numbers. */
#define THREAD_HANDLE UINT64_C(0x726f746800000000)

struct ha_callback_thread *
ha_callback_thread_shared(void)
{
    return &threads[0];
}

struct ha_callback_thread *
ha_callback_thread_find(rocprofiler_callback_thread_t id)
{
    uint64_t number = id.handle - THREAD_HANDLE;

    return number > 0 && number < atomic_load(&thread_count) ? &threads[number] : NULL;
}

bool
ha_callback_thread_here(const struct ha_callback_thread *thread)
{
    return own == thread;
}

static void *
run(void *argument)
{
    struct ha_callback_thread *thread = argument;

    own = thread;
    pthread_mutex_lock(&thread->lock);
    for (;;) {
        while (!thread->work && !thread->stop) {
            pthread_cond_wait(&thread->changed, &thread->lock);
        }
        if (!thread->work) {
            break;
        }
        thread->work = false;
        pthread_mutex_unlock(&thread->lock);
        ha_buffers_serve(thread);
        pthread_mutex_lock(&thread->lock);
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

bool
ha_callback_thread_start(struct ha_callback_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool mine = thread->stage == NEW && !thread->stop;
    if (mine) {
        thread->stage = STARTING;
    }
    while (!mine && thread->stage == STARTING) {
        pthread_cond_wait(&thread->changed, &thread->lock);
    }
    bool running = thread->stage == RUNNING;
    pthread_mutex_unlock(&thread->lock);
    if (!mine) {
        return running;
    }
    /* Tools are called because of it, so no lock is held. */
    running = ha_internal_thread_start(&thread->handle, run, thread);
    pthread_mutex_lock(&thread->lock);
    thread->stage = running ? RUNNING : NEW;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    return running;
}

bool
ha_callback_thread_wake(struct ha_callback_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool running = thread->stage == RUNNING;
    if (running) {
        thread->work = true;
        pthread_cond_signal(&thread->changed);
    }
    pthread_mutex_unlock(&thread->lock);
    if (running) {
        return true;
    }
    return ha_callback_thread_start(thread) && ha_callback_thread_wake(thread);
}

void
ha_callback_threads_end(void)
{
    unsigned count = atomic_load(&thread_count);

    for (unsigned i = 0; i < count; i++) {
        struct ha_callback_thread *thread = &threads[i];
        pthread_mutex_lock(&thread->lock);
        bool running = thread->stage == RUNNING;
        thread->stop = true;
        thread->stage = STOPPED;
        pthread_cond_broadcast(&thread->changed);
        pthread_mutex_unlock(&thread->lock);
        if (running && own != thread) {
            pthread_join(thread->handle, NULL);
        }
    }
}

void
ha_callback_threads_forked(void)
{
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        (void)pthread_mutex_init(&threads[i].lock, NULL);
        (void)pthread_cond_init(&threads[i].changed, NULL);
        threads[i].stage = STOPPED;
        threads[i].stop = true;
    }
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id)
{
    if (cb_thread_id == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (!ha_client_in_window()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    ha_lock(HA_LOCK_THREADS);
    unsigned number = atomic_load(&thread_count);
    if (number < THREADS_MAX) {
        atomic_store(&thread_count, number + 1);
        cb_thread_id->handle = THREAD_HANDLE + number;
    }
    ha_unlock(HA_LOCK_THREADS);
    return number < THREADS_MAX ? ROCPROFILER_STATUS_SUCCESS
                                : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}
