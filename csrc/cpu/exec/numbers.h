/* SPDX-License-Identifier: MIT */
/* Operations of a kernel that give the first NaN or infinity of their lane, found by
 * the processor.
 *
 * While the lanes of a launch with `numbers` run, the exceptions for invalid
 * operations, divisions by zero and overflow are not masked, so that such an operation
 * stops at its instruction.  The signal's handler looks at that: an arithmetic
 * instruction of the image is noted, with its lane, and the lane goes on with its
 * exceptions masked, since what follows from the first one is no news.  A comparison, a
 * conversion to an integer, a signalling NaN that came with the input and what the C
 * library does on its way are none: the handler lets the instruction run alone with
 * exceptions masked.  Results of the C library are looked at behind the call.
 *
 * All lanes have the same control words until one of them makes a NaN; from then on the
 * lanes of the block have their own, as those of kernels with HA_KERNEL_CONTROL. Blocks
 * of such launches run in one thread, one after the other.  After HA_NUMBERS_TRAPS
 * exceptions the launch is watched no more.
 *
 * Elsewhere than on x86-64 there is nothing of this: processors need not be able to. */
#ifndef HA_CPU_EXEC_NUMBERS_H
#define HA_CPU_EXEC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/base/image.h"

#define HA_NUMBERS_MOST 64u     /* places that are kept of a launch */
#define HA_NUMBERS_TRAPS 20000u /* exceptions, at some microseconds each */

#if defined(__x86_64__)
#define HA_NUMBERS_WATCHED 1
#else
#define HA_NUMBERS_WATCHED 0
#endif

struct ha_launch;
struct ha_runner;

/* A place that gives them, and the first lane that came there. */
struct ha_made {
    uintptr_t at;                     /* the instruction, or 0 ... */
    const struct ha_check_site *site; /* ... a call of the C library */
    bool infinity;
    uint64_t count;
    uint32_t block[3];
    uint32_t thread[3];
};

/* Of one launch; the launcher zeroes it and sets the first two. */
struct ha_numbers {
    /* Whether the instruction is one of the program's; called in handlers. */
    bool (*knows)(const void *context, uintptr_t at);
    const void *context;
    uint32_t count; /* of `made` */
    uint32_t traps;
    bool over;            /* too many traps */
    bool muted;           /* the lane that runs has its exceptions masked */
    bool steps;           /* one instruction runs with exceptions masked ... */
    bool judges;          /* ... after which the handler looks at its result ... */
    uint32_t destination; /* ... in this register */
    bool wide;            /* doubles */
    uintptr_t at;         /* the instruction */
    struct ha_made made[HA_NUMBERS_MOST];
};

/* The calling thread's exceptions are as a lane that begins needs them. */
void ha_numbers_watch(struct ha_numbers *numbers);
/* The same for a lane whose context has not run yet (cpu/exec/lane_call.h). */
void ha_numbers_watch_in(const struct ha_numbers *numbers, void *context);

/* In a handler: true if the signal was for a launch that is watched, and is dealt with.
 */
bool ha_numbers_take_signal(struct ha_runner *runner, int signal, void *ucontext);

/* As `made` of struct ha_image_runtime. */
void ha_numbers_call_made(const struct ha_check_site *site, uint64_t result,
                          uint64_t first, uint64_t second, uint32_t bits);

#endif
