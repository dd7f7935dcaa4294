/* SPDX-License-Identifier: MIT */
/* Running one kernel launch: blocks are handed out to the threads that take part, in
 * order, but for fast kernels, whose lanes can't wait for one another.
 *
 * A *launch* belongs to the stream operation that made it.  Any number of threads call
 * ha_exec_run on it; each takes chunks of blocks until none is left.  A fault (bad
 * access, stack overflow, division by zero, trap, assert, divergent barrier, time-out)
 * ends the launch, not the process: the first one is recorded in the launch, later ones
 * are dropped. No lock is held while kernel code runs. */
#ifndef HA_CPU_EXEC_EXEC_H
#define HA_CPU_EXEC_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"

struct ha_cooperative;

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
    bool fast; /* run kernel->fast; the launcher checked that it applies */
    uint64_t block_count;
    uint64_t chunk;              /* blocks a thread takes at a time */
    _Atomic uint64_t next_block; /* how many were handed out, in whole chunks */
    uint32_t part_count;         /* 1: chunks go out in order; see exec.c */
    _Atomic uint32_t next_chunk[HA_PART_MAX]; /* of each part; unused if there is one */
    _Atomic uint64_t blocks_done;             /* finished or dropped blocks */
    _Atomic int fault; /* enum ha_fault_kind; also set to stop early */
    char fault_text[HA_FAULT_TEXT_BYTES]; /* written once, by who set `fault` */
    _Atomic uint32_t fault_ready;         /* fault_text may be read */
    _Atomic uint64_t print_bytes; /* printf text that the launch has in the buffer */
    _Atomic uint64_t print_lost;  /* calls of printf whose text found no room */
    _Atomic uint32_t inside;      /* threads between the entry and the exit of run */
    atomic_bool finished;         /* one of them has returned true */
};

/* Once per process, before the first launch: signal handlers are installed lazily at
 * each launch, the interrupt signal here.  Returns 0 or -1. */
int ha_exec_init(void);

/* What images ask before each access that are compiled for that (`access` of struct
 * ha_image_runtime).  Called in kernel code; must be set before the first launch. */
void ha_exec_set_access(void (*question)(const void *address, uint64_t size,
                                         uint32_t write));

/* Fills the fields from next_block on, and `chunk` for `threads` threads. */
void ha_exec_prepare(struct ha_launch *launch, unsigned threads);

/* Takes part in the launch until no block is left; safe from any thread, and reentrant
 * per thread only outside kernel code.  Returns true for exactly one caller: the last
 * one to leave after every block was finished or dropped.  From then on nobody touches
 * kernel, arguments or image any more; the launch itself must stay until every call has
 * returned. */
bool ha_exec_run(struct ha_launch *launch);

/* Between these two the calling thread runs nothing but launches, so that what each of
 * them needs of it (signal handlers, signal stack, signal mask) is looked after once.
 * ha_exec_hold may be called again to look at the handlers anew. */
void ha_exec_hold(void);
void ha_exec_release(void);

/* Ends the launch with HA_FAULT_TIMEOUT and `text`: threads inside its kernel code
 * leave it within milliseconds.  Safe from any thread, also when the launch has just
 * ended. */
void ha_exec_cancel(struct ha_launch *launch, const char *text);

/* Between these two the calling thread waits for what it runs.  `question` (see
 * cpu/exec/fault.h) is asked whenever ha_exec_ask is called while it is in kernel code.
 */
void ha_exec_wait_begin(bool (*question)(void));
void ha_exec_wait_end(void);

/* Asks all threads that wait for what they run. */
void ha_exec_ask(void);

/* True while the calling thread is inside a launch: it answers such a question, and can
 * run no other launch. */
bool ha_exec_is_inside(void);

/* Frees stacks and buffers of the calling thread; call before a worker thread ends. */
void ha_exec_thread_exit(void);

/* After fork, in the child: forget the parent's threads. */
void ha_exec_after_fork_child(void);

/* The table that images get; constant. */
extern const struct ha_image_runtime ha_exec_runtime;

/* Writes what kernels printed so far to stdout; called at synchronisation points. */
void ha_exec_flush_print(void);

#endif
