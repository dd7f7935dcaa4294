/* SPDX-License-Identifier: MIT */
/* Threads of ours, and what happens to them at fork.
 *
 * Threads run with every signal blocked but the faults (SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGTRAP, SIGABRT), so that the program's handlers run on the program's
 * threads. */
#ifndef HA_CORE_THREAD_H
#define HA_CORE_THREAD_H

#include <pthread.h>

#include "core/status.h"

#define HA_FORK_HOOKS_MAX 16

/* Starts a joinable thread named `name` (15 characters at most are kept). */
enum ha_status ha_thread_start(pthread_t *thread, const char *name,
                               void *(*body)(void *), void *context);

/* `child` runs in the forked child, in the order of registration, before fork returns.
 * HA_ERROR_MEMORY when HA_FORK_HOOKS_MAX are there already; the same hook counts once.
 */
enum ha_status ha_fork_register(void (*child)(void));

#endif
