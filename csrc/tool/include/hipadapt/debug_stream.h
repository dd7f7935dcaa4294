/* SPDX-License-Identifier: MIT */
/* hipadapt's debug stream, for C and C++: what kernels and programs send while they
 * run, above all the values of tensors, as events that a client reads.
 *
 *     hipadapt_debug_stream_connect         to the stream of a device: a descriptor
 *     poll, select, epoll                   readable exactly while an event is there
 *     hipadapt_debug_stream_read_one_event  takes it
 *     hipadapt_debug_stream_close
 *
 * The contract is that of the Neuron runtime's debug stream, with names and numbers of
 * statuses and the layout of its structs:
 *
 * - A device has one client at a time, in the process whose device it is.
 * - What is sent before there is a client is dropped.
 * - At most HIPADAPT_DEBUG_STREAM_BUFFER_SIZE events (65,536) wait for the client, of
 *   HIPADAPT_DEBUG_STREAM_BUFFER_BYTES payload (128 MiB) together.  What finds no room
 * is dropped, the new one and not an old one, and who sends never waits.  What is
 * dropped is counted (hipadapt_debug_stream_counts).
 * - With the descriptor a client polls, and nothing else.  It may duplicate it for
 * that.
 *
 * Threads: every function may be called by any thread, for the same stream too.
 * After fork the child has no streams: its calls answer INVALID, and the parent misses
 * nothing.  It can connect to streams of its own.
 * Ownership: who has read an event calls free() on its payload. */
#ifndef HIPADAPT_DEBUG_STREAM_H
#define HIPADAPT_DEBUG_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hipadapt_debug_stream_status {
    HIPADAPT_DEBUG_STREAM_SUCCESS = 0,
    HIPADAPT_DEBUG_STREAM_INVALID = 2,        /* an argument; a second client */
    HIPADAPT_DEBUG_STREAM_INVALID_HANDLE = 3, /* no descriptor of a stream */
    HIPADAPT_DEBUG_STREAM_RESOURCE = 4,       /* no memory, no descriptor left */
    HIPADAPT_DEBUG_STREAM_QUEUE_EMPTY = 15,   /* nothing is there now */
    /* Ours. */
    HIPADAPT_DEBUG_STREAM_NOT_SUPPORTED = 0x1000, /* no device has such events */
} hipadapt_debug_stream_status_t;

typedef enum hipadapt_debug_stream_event_type {
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_INVALID = 0,
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ = 1,
    /* Kinds of ours, for who asks for them. */
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_PRINT = 0x1000,
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_BEGIN = 0x1001,
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_END = 0x1002,
    HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_ERROR = 0x1003,
} hipadapt_debug_stream_event_type_t;

typedef struct hipadapt_debug_stream_event_header {
    uint64_t data_size; /* bytes of the payload */
    uint32_t type;      /* hipadapt_debug_stream_event_type_t */
    char reserved[52];  /* 0 */
} hipadapt_debug_stream_event_header_t;

/* Texts end with a 0. */
typedef struct hipadapt_debug_stream_payload_debug_tensor_read {
    char prefix[512];
    uint32_t device;
    uint32_t pipe;            /* 1 stdout, 2 stderr, as the sender says */
    char tensor_dtype[16];    /* numpy's name: "float32" */
    uint64_t tensor_shape[8]; /* ends with a 0 where it is shorter */
    uint64_t tensor_data_size;
    char reserved0[416]; /* 0 */
    char tensor_data[];  /* C order */
} hipadapt_debug_stream_payload_debug_tensor_read_t;

/* The payload of types from 0x1000: what a launch of a kernel tells.  BEGIN comes
 * before what its blocks send; END or ERROR after that, and before a host that waits
 * for the launch goes on.  Numbers that a type doesn't have are 0. */
typedef struct hipadapt_debug_stream_payload_kernel {
    char kernel[256]; /* its name in the module, cut where it is longer */
    uint32_t device;
    uint32_t pipe;        /* of PRINT: 1, stdout, where the text goes too */
    uint64_t launch;      /* the same number in all events of a launch */
    uint64_t begin_ns;    /* CLOCK_MONOTONIC: it began; of PRINT, the call */
    uint64_t end_ns;      /* of END and ERROR */
    uint32_t grid[3];     /* blocks */
    uint32_t block[3];    /* threads */
    uint32_t at_block[3]; /* of PRINT: who called; UINT32_MAX where nobody knows */
    uint32_t at_thread[3];
    int32_t status; /* of ERROR: hipError_t */
    uint32_t reserved0;
    uint64_t text_size;  /* without the 0 that follows */
    char reserved1[160]; /* 0 */
    char text[];         /* of PRINT; of ERROR: what happened.  Ends with a 0 */
} hipadapt_debug_stream_payload_kernel_t;

/* Connects to the stream of a device; `stream_fd` gets the descriptor. */
hipadapt_debug_stream_status_t hipadapt_debug_stream_connect(int device,
                                                             int *stream_fd);

/* The same for who wants further kinds of events: `types` are `count` numbers from
 * 0x1000.  NOT_SUPPORTED where no device that is loaded sends them: only those of the
 * CPU device do. */
hipadapt_debug_stream_status_t
hipadapt_debug_stream_connect_types(int device, const uint32_t *types, size_t count,
                                    int *stream_fd);

/* Takes the oldest event, or answers QUEUE_EMPTY. */
hipadapt_debug_stream_status_t hipadapt_debug_stream_read_one_event(
    int stream_fd, hipadapt_debug_stream_event_header_t *header, void **payload);

/* Closes the connection and the descriptor; events that wait are gone.  Who polls wakes
 * up.  A number that is no descriptor of a stream is left alone. */
void hipadapt_debug_stream_close(int stream_fd);

/* Events of a device's stream since the process began. */
typedef struct hipadapt_debug_stream_counts {
    size_t size;     /* set by the caller: sizeof this */
    uint64_t queued; /* that wait now */
    uint64_t bytes;  /* of their payload */
    uint64_t read;   /* that a client took */
    uint64_t full;   /* dropped: no room, or none on its way from the device */
    uint64_t large;  /* dropped: larger than all the room */
    uint64_t closed; /* dropped: no client, or gone with its connection */
    uint64_t failed; /* dropped: no memory, or the device was reset before */
} hipadapt_debug_stream_counts_t;

hipadapt_debug_stream_status_t
hipadapt_debug_stream_count(int device, hipadapt_debug_stream_counts_t *counts);

#ifdef __cplusplus
}
#endif

#endif
