/* SPDX-License-Identifier: MIT */
/* Threads that give batches of records to tools. */
#ifndef HA_ROCPROFILER_CALLBACK_THREAD_H
#define HA_ROCPROFILER_CALLBACK_THREAD_H

#include <stdbool.h>

#include "rocprofiler/sdk.h"

struct ha_callback_thread;

/* The one of all buffers that have none assigned. */
struct ha_callback_thread *ha_callback_thread_shared(void);

/* One of rocprofiler_create_callback_thread, or NULL. */
struct ha_callback_thread *ha_callback_thread_find(rocprofiler_callback_thread_t id);

/* Starts the thread; false where that can't be. */
bool ha_callback_thread_start(struct ha_callback_thread *thread);

/* Lets it look for work (ha_buffers_serve), and starts it if need be; false where there
 * is none. */
bool ha_callback_thread_wake(struct ha_callback_thread *thread);

/* True on that thread. */
bool ha_callback_thread_here(const struct ha_callback_thread *thread);

/* Ends them all, once they have no work. */
void ha_callback_threads_end(void);

/* In a forked child: none is there, and none comes. */
void ha_callback_threads_forked(void);

#endif
