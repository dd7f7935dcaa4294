/* SPDX-License-Identifier: MIT */
/* Buffers of records.
 *
 * A buffer has two halves: records go into one while a batch of the other is given.
 * Buffers live as long as the process, without their memory once they are closed: a
 * record on its way to a closed one is dropped. */
#ifndef HA_ROCPROFILER_BUFFER_H
#define HA_ROCPROFILER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocprofiler/buffer_state.h"
#include "rocprofiler/client.h"
#include "rocprofiler/sdk.h"

struct ha_callback_thread;

/* Copies the record.  Where the buffer is full: waits, or counts it as dropped, as the
 * buffer's policy says; a lossless buffer drops it too on its own thread, where waiting
 * would have no end. */
void ha_buffer_add(struct ha_buffer *buffer, uint32_t category, uint32_t kind,
                   const void *record, size_t bytes);

/* For a service of the context: its buffer, or NULL where it has none of this number,
 * or has destroyed it. */
struct ha_buffer *ha_buffer_of(rocprofiler_context_id_t context,
                               rocprofiler_buffer_id_t id);

/* Whether the buffers of the context's services are all there. */
bool ha_buffers_there(rocprofiler_context_id_t context);

/* Starts the threads of all open buffers. */
void ha_buffers_start(void);

/* Gives what was asked for, on this thread, which is the buffers' own. */
void ha_buffers_serve(const struct ha_callback_thread *thread);

/* A client's buffers take no more records; what is in them is given, and waited for. */
void ha_buffers_seal(const struct ha_client *client);

/* Closes a client's buffers, with what is in them. */
void ha_buffers_close(const struct ha_client *client);

/* Closes all buffers and ends the threads. */
void ha_buffers_end(void);

/* In a forked child: no thread is there, and no record is given. */
void ha_buffers_forked(void);

#endif
