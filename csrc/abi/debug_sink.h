/* SPDX-License-Identifier: MIT */
/* Who gets what kernels send while they run: the table between the CPU device and a
 * debug stream.  Anybody may set it; libhipadapt_tool.so does when a client connects.
 *
 * A *sink* is a table of functions that kernels call through the device, on whatever
 * threads run them, many at a time.  They must not wait, call HIP, or fault.  A sink
 * that was set once is never freed: a kernel may be about to call it. */
#ifndef HA_ABI_DEBUG_SINK_H
#define HA_ABI_DEBUG_SINK_H

#include <stddef.h>
#include <stdint.h>

enum { HA_DEBUG_DIMENSIONS = 8, HA_DEBUG_TEXT_BYTES = 512, HA_DEBUG_DTYPE_BYTES = 16 };

/* A tensor in C order.  It is borrowed for the call. */
struct ha_debug_tensor {
    size_t size; /* sizeof this */
    int device;
    uint32_t pipe;                       /* the sender's word: 1 stdout, 2 stderr */
    const char *prefix;                  /* below HA_DEBUG_TEXT_BYTES */
    const char *dtype;                   /* numpy's name */
    uint64_t shape[HA_DEBUG_DIMENSIONS]; /* at least one; ends with a 0 if shorter */
    uint64_t bytes;
};

struct ha_debug_sink {
    size_t size; /* sizeof this */
    /* Memory for the tensor's bytes in `data`, and a ticket; NULL: nobody wants it. */
    void *(*tensor_begin)(const struct ha_debug_tensor *tensor, void **data);
    /* Once for each ticket: the bytes are there, or `sent` is 0 and they never come. */
    void (*tensor_end)(void *ticket, int sent);
};

/* Exported by libhipadapt_cpu.so as `hipadaptDebugSink`: from now on kernels send to
 * this sink, to none with NULL.  -1: the sink is of another version. */
typedef int (*ha_debug_sink_set)(const struct ha_debug_sink *sink);

#endif
