/* SPDX-License-Identifier: MIT */
/* Starting threads of our own, with all signals blocked and with notice to the tools
 * that asked for it. */
#ifndef HA_ROCPROFILER_INTERNAL_THREAD_H
#define HA_ROCPROFILER_INTERNAL_THREAD_H

#include <pthread.h>
#include <stdbool.h>

bool ha_internal_thread_start(pthread_t *thread, void *(*function)(void *),
                              void *argument);

#endif
