/* SPDX-License-Identifier: MIT */
/* What the CPU device tells the profiler's library of: the one private table between
 * them.
 *
 * AMD's library sees kernels, copies and memory below HIP, where HSA is.  There is no
 * such place here, so the device calls a *sink* instead.  The table `struct
 * ha_activity` is handed over as the library "hipadapt_activity" in the way that HIP's
 * own tables are (rocprofiler_register_library_api_table).
 *
 * Times are nanoseconds of CLOCK_BOOTTIME.  Numbers of devices are those of HIP, in the
 * whole process; -1 is the host. */
#ifndef HA_ABI_ACTIVITY_H
#define HA_ABI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#define HA_ACTIVITY_NAME "hipadapt_activity"
#define HA_ACTIVITY_VERSION 4

struct ha_activity_kernel {
    uint64_t id;          /* never used again */
    uint64_t code_object; /* its code object's */
    const char *name;
    uint64_t address;
    uint32_t argument_bytes;
    uint32_t argument_align;
    uint32_t shared_bytes; /* a block, static */
    uint32_t local_bytes;  /* a thread */
};

struct ha_activity_code_object {
    uint64_t id; /* never used again */
    int device;
    const char *uri;
    uint64_t load_base;
    uint64_t load_size;
    uint64_t memory_base; /* the image as it was given */
    uint64_t memory_size;
};

struct ha_activity_dispatch {
    int device;
    uint64_t queue; /* number of the stream, unique in the process */
    uint64_t kernel;
    uint32_t grid[3];  /* blocks */
    uint32_t block[3]; /* threads */
    uint32_t shared_bytes;
    uint32_t local_bytes;
    uint64_t filled_bytes; /* of a kernel that fills memory */
};

struct ha_activity_copy {
    uint64_t queue; /* as that of a dispatch */
    int source_device;
    int target_device;
    uint64_t bytes;
    const void *source;
    const void *target;
};

/* A function of the host that a stream runs. */
struct ha_activity_host {
    int device;
    uint64_t queue; /* as that of a dispatch */
    uint64_t function;
};

/* How work has ended. */
enum ha_activity_status {
    HA_ACTIVITY_DONE,
    HA_ACTIVITY_FAULT,     /* it failed while it ran */
    HA_ACTIVITY_TIMEOUT,   /* it ran too long, or its wait was interrupted */
    HA_ACTIVITY_CANCELLED, /* it never began */
};

/* How the lanes of a launch ran, in one number: one of these in the low byte, the lanes
 * of a gang in the next two, and in the rest the blocks that ran in the reference form
 * all the same.  0: not known. */
enum ha_activity_form {
    HA_ACTIVITY_REFERENCE = 1,
    HA_ACTIVITY_ROWS,
    HA_ACTIVITY_GANGS,
};
#define HA_ACTIVITY_WIDTH_SHIFT 8
#define HA_ACTIVITY_BLOCKS_SHIFT 24

enum ha_activity_memory {
    HA_ACTIVITY_ALLOCATE = 1,
    HA_ACTIVITY_VMEM_ALLOCATE,
    HA_ACTIVITY_FREE,
    HA_ACTIVITY_VMEM_FREE,
};

enum ha_activity_stream {
    HA_ACTIVITY_STREAM_CREATE = 1,
    HA_ACTIVITY_STREAM_DESTROY,
};

/* Any thread; members are never NULL.  `begin` functions run on the thread that
 * enqueues, before the work can start; a ticket that is not NULL is given to `end`
 * exactly once, on whatever thread finishes the work, or with both times 0 where it
 * never ran. */
struct ha_activity_sink {
    size_t size;
    void *(*dispatch_begin)(const struct ha_activity_dispatch *dispatch);
    void (*dispatch_end)(void *ticket, uint64_t start, uint64_t end,
                         enum ha_activity_status status);
    void *(*copy_begin)(const struct ha_activity_copy *copy);
    void (*copy_end)(void *ticket, uint64_t start, uint64_t end,
                     enum ha_activity_status status);
    void (*memory)(enum ha_activity_memory operation, int device, const void *address,
                   uint64_t bytes, uint64_t start, uint64_t end);
    void (*code_object)(const struct ha_activity_code_object *code_object, int loaded);
    void (*kernel)(const struct ha_activity_kernel *kernel, int loaded);
    void (*stream)(enum ha_activity_stream operation, uint64_t queue,
                   const void *handle);
    void *(*host_begin)(const struct ha_activity_host *host);
    void (*host_end)(void *ticket, uint64_t start, uint64_t end,
                     enum ha_activity_status status);
    /* What begins on this thread between the two belongs to one call. */
    void (*together)(int begins);
    /* Before the `end` of a dispatch: an enum ha_activity_form and what goes with it.
     */
    void (*dispatch_form)(void *ticket, uint64_t form);
};

/* Describes one device. */
struct ha_activity_agent {
    size_t size;
    int device;
    const char *name; /* gcnArchName, and so on: live as long as the process */
    const char *product;
    unsigned workers;
    unsigned warp_size;
    unsigned max_threads_per_block;
    unsigned max_block[3];
    unsigned max_grid[3];
    unsigned shared_kib;
    uint64_t memory_bytes;
    uint8_t uuid[16];
};

/* `size` is that of the struct: what is behind it isn't there. */
struct ha_activity {
    size_t size;
    /* Calls the sink, which lives as long as the process, from now on, where `wanted`
     * has a bit for it (below); first for all code objects and kernels that are loaded,
     * if these are newly wanted. */
    void (*subscribe)(const struct ha_activity_sink *sink, unsigned wanted);
    /* Waits, for two seconds at most, until no work is left; then every `end` was
     * called. */
    void (*drain)(void);
    int (*device_count)(void);
    /* 0, or -1 for no such device. */
    int (*agent)(int device, struct ha_activity_agent *agent);
    /* Waits, for limit_ns at most, until every `end` was called of work that has ended
     * by now: who waits for work may be ahead of it. */
    void (*settle)(uint64_t limit_ns);
};

enum {
    HA_WANT_DISPATCH = 1,
    HA_WANT_COPY = 2,
    HA_WANT_MEMORY = 4,
    HA_WANT_CODE = 8,
    HA_WANT_STREAM = 16,
    HA_WANT_HOST = 128,
    HA_WANT_MARK = 64,       /* the device marks what it compiles and loads, by roctx */
    HA_WANT_CODE_AGAIN = 32, /* tell of code objects that are there once more */
};

#endif
