/* SPDX-License-Identifier: MIT */
/* HIP contexts, which are thin: each device has one, its *primary* context, and every
 * call that makes one gives that.  The current context is the thread's device
 * (cpu/base/thread.h) under another name.
 *
 * A context is a number that holds the device's, so it lives as long as the process and
 * is never destroyed.  Each thread has a stack of contexts: pushing one makes its
 * device current, popping it restores the device that was current before. */
#ifndef HA_CPU_QUEUE_CONTEXT_H
#define HA_CPU_QUEUE_CONTEXT_H

#include <stdbool.h>

#include "abi/hip.h"

#define HA_CONTEXT_DEPTH 64 /* of the stack of one thread */

struct ha_device;

hipCtx_t ha_context_of(const struct ha_device *device);

/* The device of a context, borrowed; NULL for any other number. */
struct ha_device *ha_context_device(hipCtx_t context);

/* Makes the device current until the matching pop; false if the stack is full. */
bool ha_context_push(struct ha_device *device);

/* Takes the newest context off the stack and makes the device current that was so
 * before it was pushed; gives the device of the popped one, or NULL if the stack is
 * empty. */
struct ha_device *ha_context_pop(void);

/* Makes the device current in the place of the newest context, or as the first one. */
void ha_context_set(struct ha_device *device);

/* Removes the context from this thread's stack, wherever it is. */
void ha_context_forget(const struct ha_device *device);

#endif
