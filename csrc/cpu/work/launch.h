/* SPDX-License-Identifier: MIT */
/* Kernel launches: checks, a copy of the arguments, and the operation that runs blocks.
 *
 * Arguments are copied into the operation before the call returns, so the caller's
 * memory is its own again.  How a launch is spread over threads comes from what a block
 * of the function took last time; a launch that is known to be short may run in the
 * thread that waits for it.
 *
 * Locks: none of its own. */
#ifndef HA_CPU_WORK_LAUNCH_H
#define HA_CPU_WORK_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_function;
struct ha_multi;
struct ha_op;
struct ha_ticket;

struct ha_launch_request {
    uint32_t grid[3];
    uint32_t block[3];
    size_t shared_bytes;    /* dynamic */
    bool cooperative;       /* all blocks are alive together */
    struct ha_multi *multi; /* borrowed: cooperative, with grids of other devices, as */
    uint32_t rank;          /* number `rank` of them; NULL: alone */
    hipStream_t stream;
    const void *address; /* what the program named the function by; NULL = its handle */
    void **params;       /* one address an argument, or NULL */
    void **extra;        /* HIP_LAUNCH_PARAM_... list, or NULL */
};

/* Checks shape, shared memory and the presence of arguments. */
hipError_t ha_launch_check(const struct ha_function *function,
                           const struct ha_launch_request *request);

/* The operation of a launch that was checked, with its own reference to the function
 * and its own copy of the arguments; NULL without memory. Pool lock held. */
struct ha_op *ha_launch_op(struct ha_function *function,
                           const struct ha_launch_request *request);

/* A profiler's ticket (cpu/queue/ticket.h) for a launch that is about to be submitted;
 * NULL where none is wanted.  No lock held: tools run in it. */
struct ha_ticket *ha_launch_ticket(const struct ha_function *function,
                                   const struct ha_launch_request *request);

/* The packed arguments in an `extra` list that was checked; borrowed. */
const unsigned char *ha_launch_packed(void **extra);

/* Blocks of the function that one processor holds at once, by threads and shared
 * memory; 0 if not even one fits. */
uint32_t ha_launch_blocks_per_processor(const struct ha_function *function,
                                        uint32_t threads, size_t shared_bytes);

/* The block size with which most threads are busy; 0 if the function fits nowhere. */
uint32_t ha_launch_best_block(const struct ha_function *function, size_t shared_bytes,
                              uint32_t limit);

#endif
