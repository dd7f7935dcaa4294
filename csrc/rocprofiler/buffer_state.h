/* SPDX-License-Identifier: MIT */
/* What buffer.c (records and batches) and buffer_service.c (making and ending) share.
 */
#ifndef HA_ROCPROFILER_BUFFER_STATE_H
#define HA_ROCPROFILER_BUFFER_STATE_H

#include "rocprofiler/sdk.h"

enum {
    HA_BUFFERS_MAX = 256,
    HA_RECORD_LEAST_bytes = 32, /* bounds the number of headers */
};

struct ha_buffer_half {
    char *memory;                         /* owned */
    rocprofiler_record_header_t *headers; /* owned */
    size_t used;                          /* bytes */
    size_t count;                         /* records */
};

struct ha_buffer {
    unsigned number;
    rocprofiler_context_id_t context;
    rocprofiler_buffer_policy_t policy;
    rocprofiler_buffer_tracing_cb_t callback;
    void *data;
    size_t bytes; /* of each half */
    size_t watermark;
    size_t headers_max;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct ha_callback_thread *thread;      /* borrowed */
    rocprofiler_record_header_t **pointers; /* owned; of a batch */
    struct ha_buffer_half halves[2];
    int filling;
    bool open;
    bool serves;    /* a service adds records */
    bool sealed;    /* takes no more records */
    bool wanted;    /* its thread was asked for a batch */
    bool giving;    /* a batch is with the tool */
    uint64_t given; /* batches so far */
    uint64_t dropped;
};

/* Added to under HA_LOCK_BUFFERS; entries below the count never change. */
extern struct ha_buffer *ha_buffers[HA_BUFFERS_MAX];
extern _Atomic unsigned ha_buffer_count;

rocprofiler_buffer_id_t ha_buffer_id(const struct ha_buffer *buffer);

/* NULL: none has this identifier. */
struct ha_buffer *ha_buffer_find(rocprofiler_buffer_id_t id);

/* Needs the lock. */
void ha_buffer_free_memory(struct ha_buffer *buffer);

/* Waits until all that is there now is with the tool. */
rocprofiler_status_t ha_buffer_flush(struct ha_buffer *buffer);

#endif
