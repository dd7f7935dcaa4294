/* SPDX-License-Identifier: MIT */
/* What launches tell a debug sink beside tensors: their begin and end, what they print,
 * why they failed.  Without a sink each costs one load. */
#ifndef HA_CPU_EXEC_DEBUG_EVENT_H
#define HA_CPU_EXEC_DEBUG_EVENT_H

#include <stddef.h>
#include <stdint.h>

struct ha_launch;
struct ha_runner;

/* A thread is about to run blocks.  The first one tells; when this returns it is told.
 */
void ha_debug_event_begin(struct ha_launch *launch, uint64_t begin_ns);

/* All blocks are over; `status` and `text` say why it failed, 0 and NULL: it has not.
 */
void ha_debug_event_end(struct ha_launch *launch, uint64_t begin_ns, int status,
                        const char *text);

/* printf was called.  In kernel code, in a busy section. */
void ha_debug_event_print(const struct ha_runner *runner, const char *text,
                          size_t length);

#endif
