/* SPDX-License-Identifier: MIT */
/* Who gets what kernels send, and tell, while they run: the table between the CPU
 * device and a debug stream.  Anybody may set it; libhipadapt_tool.so does when a
 * client connects.
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

/* What else a launch tells: numbers of hipadapt/debug_stream.h. */
enum ha_debug_kind {
    HA_DEBUG_KINDS = 0x1000,
    HA_DEBUG_PRINT = HA_DEBUG_KINDS, /* a call of printf */
    HA_DEBUG_BEGIN,                  /* before its first block runs */
    HA_DEBUG_END,                    /* all blocks are over */
    HA_DEBUG_ERROR,                  /* in place of END: it has failed */
};

#define HA_DEBUG_BIT(kind) (1u << ((unsigned)(kind) - HA_DEBUG_KINDS))

/* It is borrowed for the call. */
struct ha_debug_event {
    size_t size; /* sizeof this */
    enum ha_debug_kind kind;
    int device;
    int status;          /* ERROR: hipError_t */
    const char *kernel;  /* its name in the module */
    uint64_t launch;     /* the same number in all events of a launch, never 0 */
    uint64_t begin_ns;   /* CLOCK_MONOTONIC: it began; of a PRINT, the call */
    uint64_t end_ns;     /* END, ERROR */
    uint32_t grid[3];    /* blocks */
    uint32_t block[3];   /* threads */
    uint32_t at[2][3];   /* PRINT: blockIdx and threadIdx; UINT32_MAX: not known */
    const char *text;    /* PRINT, ERROR; else NULL */
    uint64_t text_bytes; /* without an end */
};

struct ha_debug_sink {
    size_t size; /* sizeof this */
    /* Memory for the tensor's bytes in `data`, and a ticket; NULL: nobody wants it. */
    void *(*tensor_begin)(const struct ha_debug_tensor *tensor, void **data);
    /* Once for each ticket: the bytes are there, or `sent` is 0 and they never come. */
    void (*tensor_end)(void *ticket, int sent);
    /* Which kinds of events somebody wants of a device now: HA_DEBUG_BIT of each. */
    unsigned (*wants)(int device);
    /* For events of such kinds. */
    void (*event)(const struct ha_debug_event *event);
};

/* Exported by libhipadapt_cpu.so as `hipadaptDebugSink`: from now on kernels send to
 * this sink, to none with NULL.  -1: the sink is of another version. */
typedef int (*ha_debug_sink_set)(const struct ha_debug_sink *sink);

#endif
