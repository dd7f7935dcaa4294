/* SPDX-License-Identifier: MIT */
/* One kernel launch, as the threads that run it share it.
 *
 * A *launch* belongs to the stream operation that made it: that fills the fields up to
 * `block_count`, and ha_exec_prepare (cpu/exec/exec.h) the rest.  Fields are constant
 * while threads run it, but for the atomic ones and `fault_text`. */
#ifndef HA_CPU_EXEC_LAUNCH_H
#define HA_CPU_EXEC_LAUNCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"

struct ha_multi;

#define HA_FAULT_TEXT_BYTES 256

enum ha_fault_kind {
    HA_FAULT_NONE = 0,
    HA_FAULT_ADDRESS,     /* hipErrorIllegalAddress */
    HA_FAULT_STACK,       /* hipErrorLaunchFailure */
    HA_FAULT_MATH,        /* hipErrorLaunchFailure: SIGFPE */
    HA_FAULT_TRAP,        /* hipErrorLaunchFailure: SIGILL, __builtin_trap, abort */
    HA_FAULT_ASSERT,      /* hipErrorAssert */
    HA_FAULT_DIVERGED,    /* hipErrorLaunchFailure: lanes wait at different barriers, or
                             blocks at one that others have ended without */
    HA_FAULT_TIMEOUT,     /* hipErrorLaunchTimeOut */
    HA_FAULT_RESOURCE,    /* hipErrorOutOfMemory: no stacks or shared memory */
    HA_FAULT_INTERRUPTED, /* hipErrorLaunchTimeOut: it ran in a thread whose wait the
                             program ended */
    HA_FAULT_PEER,        /* the code of another grid that was launched with this one */
};

#define HA_PART_MAX 8u

/* What the threads of a cooperative launch share (cpu/exec/cooperative.h). */
struct ha_cooperative {
    pthread_mutex_t lock;   /* guards these: */
    uint64_t waiting;       /* blocks at the barrier */
    uint64_t ended;         /* blocks that are over */
    bool at_multi;          /* that barrier is a multi-grid barrier */
    uint64_t first_waiting; /* for messages: a block at the barrier, its line, */
    uint32_t line;
    uint64_t first_ended;   /* and a block that is over */
    _Atomic uint32_t round; /* barriers that have opened; changed under the lock */
    unsigned threads;       /* that are expected to take part; constant */
    struct ha_multi *multi; /* launches on several devices: what the grids share, kept
                               until the grid is over; constant, as is the next */
    uint32_t rank;          /* of this grid */
};

struct ha_launch {
    const struct ha_image_kernel *kernel; /* borrowed: the module outlives the launch */
    struct ha_grid grid;
    void *const
        *args; /* borrowed from the operation: one address per kernel argument */
    uint32_t shared_dynamic_bytes;
    uint32_t warp_size;
    uint32_t stack_bytes; /* per lane, hipLimitStackSize */
    uint32_t device;      /* number of the device: its heap, its room for printf */
    struct ha_cooperative *cooperative; /* borrowed from the operation; NULL: blocks
                                           run one after the other */
    bool checked; /* the blocks run one after the other, in one thread */
    void *checks; /* borrowed from the operation: who is told what is checked
                     (cpu/exec/checks.h), or NULL */
    struct ha_numbers *numbers; /* borrowed from the operation: cpu/exec/numbers.h;
                                   NULL: the launch is not watched */
    uint64_t accesses;          /* that a checked launch has told of */
    uint64_t frees;             /* calls of hipFreeAsync before its own
                                   (cpu/memory/check_memory.h) */
    bool shadowed;              /* the kernel keeps shadow memory (cpu/base/image.h) */
    bool fast; /* run kernel->fast; the launcher checked that it applies */
    uint64_t block_count;
    uint64_t chunk;              /* blocks a thread takes at a time */
    _Atomic uint64_t next_block; /* how many were handed out, in whole chunks */
    uint32_t part_count;         /* see cpu/exec/blocks.h; 1: chunks go out in order */
    _Atomic uint32_t next_chunk[HA_PART_MAX]; /* of each part; unused if there is one */
    _Atomic uint64_t blocks_left; /* that a fast function left to the reference one */
    _Atomic uint64_t blocks_done; /* finished or dropped blocks */
    _Atomic int fault;            /* enum ha_fault_kind; also set to stop early */
    char fault_text[HA_FAULT_TEXT_BYTES]; /* written once, by the thread that set
                                             `fault` */
    _Atomic uint32_t fault_ready;         /* fault_text may be read */
    _Atomic uint64_t print_bytes;  /* printf text that the launch has in the buffer */
    _Atomic uint64_t print_lost;   /* calls of printf whose text found no room */
    atomic_bool debug_told;        /* why a tensor of it was refused */
    _Atomic uint64_t debug_number; /* of its events; 0: it has none yet */
    _Atomic int debug_begun;       /* values in cpu/exec/debug_event.c */
    _Atomic uint32_t inside;       /* threads between the entry and the exit of run */
    atomic_bool finished;          /* one of them has returned true */
};

#endif
