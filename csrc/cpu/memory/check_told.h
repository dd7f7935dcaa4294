/* SPDX-License-Identifier: MIT */
/* An access that a checked kernel tells of (check_access.h): what its bounds, its races
 * and its findings go by.  Everything here is for the thread that runs the lane. */
#ifndef HA_CPU_MEMORY_CHECK_TOLD_H
#define HA_CPU_MEMORY_CHECK_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/check.h"
#include "cpu/base/image.h"
#include "cpu/exec/workgroup.h"

#define HA_TOLD_RANGES 8u /* a power of two */
#define HA_TOLD_VARIABLES 64u

/* A variable in shared memory. */
struct ha_told_variable {
    uintptr_t begin;
    uint64_t bytes;
    const char *name; /* borrowed from the image */
};

struct ha_told_range {
    uintptr_t begin, end;
};

/* What a thread remembers: allocations that addresses were found to begin in, and
 * variables that a kernel has touched by name. */
struct ha_told_known {
    const struct ha_image_kernel *kernel;
    const char *shared; /* of the block; both: for which the variables hold */
    uint32_t variable_count;
    struct ha_told_variable variables[HA_TOLD_VARIABLES];

    uint64_t changes;      /* ha_checked_changes when they were found */
    bool by_bounds;        /* they are allocations, to the byte */
    uint32_t next, newest; /* that is written next, and that was right last */
    struct ha_told_range ranges[HA_TOLD_RANGES];
};

/* An access that a kernel tells of before it makes it. */
struct ha_told {
    struct ha_runner *runner;
    struct ha_told_known *known;
    uintptr_t at;
    uint64_t size;
    const struct ha_check_site *site;
    uintptr_t root;
    uint64_t value;
};

static inline bool
ha_told_in(const struct ha_told *access, uintptr_t begin, uint64_t bytes)
{
    uintptr_t offset = access->at - begin;

    return access->at >= begin && offset <= bytes && access->size <= bytes - offset;
}

static inline bool
ha_told_writes(const struct ha_told *access)
{
    return (access->site->what & HA_SITE_WRITE) != 0;
}

static inline bool
ha_told_is_aligned(const struct ha_told *access)
{
    uint64_t align = (uint64_t)1 << (access->site->what >> HA_SITE_ALIGN_SHIFT);

    return (access->at & (align - 1)) == 0;
}

/* By an address that was computed from no variable. */
static inline bool
ha_told_by_pointer(const struct ha_told *access)
{
    return access->site->root == HA_ROOT_POINTER ||
           access->site->root == HA_ROOT_UNKNOWN;
}

static inline bool
ha_told_on_stack(const struct ha_told *access)
{
    const struct ha_fiber *fiber = access->runner->fiber;

    return access->at >= (uintptr_t)fiber->low && access->at < (uintptr_t)fiber->high;
}

/* In the shared memory of the lane's block. */
bool ha_told_in_block(const struct ha_told *access);

/* ---- findings ---- */

/* "atomic read", "write" and so on, of the bits of a site. */
const char *ha_told_word(uint32_t what);
struct ha_check_side ha_told_side(const struct ha_told *access);
/* What it is in. */
struct ha_check_memory ha_told_memory(const struct ha_told *access);
/* Words, and the rest of the finding. */
void ha_told_report(const struct ha_told *access, enum ha_check_what what,
                    const char *words, struct ha_check_memory memory);

/* Ends the launch: the access would hit what is not the kernel's. */
__attribute__((noreturn)) void ha_told_quit(const struct ha_told *access,
                                            const char *detail);
__attribute__((noreturn)) void ha_told_quit_wild(const struct ha_told *access);

#endif
