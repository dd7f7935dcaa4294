/* SPDX-License-Identifier: MIT */
/* The debug streams of the process's devices, as senders see them.  Clients have
 * hipadapt/debug_stream.h.
 *
 * A stream has an eventfd, the *bell*, which is readable exactly while events wait. The
 * client has an epoll descriptor that watches it: it can be polled and nothing else, so
 * neither the client nor a forked child can take a wake-up away by reading it.  A
 * closed one watches what is always readable, for who polls it or a duplicate.
 *
 * Locks: each stream has one, which is held for the few steps of an event and is the
 * last of its thread. */
#ifndef HA_TOOL_DEBUG_STREAM_H
#define HA_TOOL_DEBUG_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/include/hipadapt/debug_stream.h"

enum { HA_DEBUG_DEVICES_MAX = 64 };

/* A client's connection: hipadapt_debug_stream_connect_types, whose arguments are
 * there. */
hipadapt_debug_stream_status_t
ha_debug_stream_connect(int device, const uint32_t *types, size_t type_count, int *fd);

/* Senders of tensors ask `claim` where a device has no client; true: it has one now. */
void ha_debug_streams_claimed_by(bool (*claim)(int device));

/* Whether an event of so many bytes has a chance now.  If not, it is counted as
 * dropped, where the client has asked for its type, and need not be made. */
bool ha_debug_stream_admits(int device, uint32_t type, uint64_t bytes);

/* Which of the types from 0x1000 the device's client has asked for: bit 0 is the first.
 */
unsigned ha_debug_stream_wants(int device);

/* Sends an event: `payload` is a block of malloc that is taken over, or NULL where
 * there was no memory for it, which is counted. */
void ha_debug_stream_send(int device, uint32_t type, void *payload, uint64_t bytes);

/* Counts an event that was to be sent and never will be: there was no room on its way
 * (`full`), or its device was reset before. */
void ha_debug_stream_drop(int device, bool full);

/* Fork hook of the child. */
void ha_debug_streams_forked(void);

#endif
