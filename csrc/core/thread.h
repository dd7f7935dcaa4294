/* SPDX-License-Identifier: MIT */
/* Threads of ours.  They run with every signal blocked but the faults (SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL, SIGTRAP, SIGABRT), so that the program's handlers run on the
 * program's threads. */
#ifndef HA_CORE_THREAD_H
#define HA_CORE_THREAD_H

#include <pthread.h>

#include "core/status.h"

/* Starts a joinable thread named `name` (15 characters at most are kept). */
enum ha_status ha_thread_start(pthread_t *thread, const char *name,
                               void *(*body)(void *), void *context);

#endif
