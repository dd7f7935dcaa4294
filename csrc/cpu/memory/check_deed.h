/* SPDX-License-Identifier: MIT */
/* What kernels and calls do with memory, for races between operations
 * (cpu/check/deed.h).
 *
 * Only memory that HIP knows counts: the host's own may have been given back and be
 * other memory since.  So does memory that kernels allocate.
 *
 * Locks: that of `memory.c`. */
#ifndef HA_CPU_MEMORY_CHECK_DEED_H
#define HA_CPU_MEMORY_CHECK_DEED_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/check/deed.h"

struct ha_launch;

/* For ha_deeds_init. */
void ha_deed_describe_memory(uintptr_t at, uint64_t bytes,
                             struct ha_check_memory *memory);

/* The deed of a launch whose grid and kernel are set; NULL: no memory.  `team`: as of
 * struct ha_doer. */
struct ha_deed *ha_deed_of_launch(const struct ha_launch *launch, uint64_t team);
/* Fills it with what the launch has accessed, from launch->checks. */
void ha_deed_fill(struct ha_deed *deed, const struct ha_launch *launch);

/* The deed of the call that this thread is in. */
struct ha_deed *ha_deed_of_call(int device);
/* Its access to `depth` slices of `height` rows of `width` bytes; `bits` are of enum
 * ha_check_access_bits.  At most one that reads, and one that does not. */
struct ha_deed_rows {
    const void *begin;
    size_t pitch, slice, width, height, depth;
};
void ha_deed_add_rows(struct ha_deed *deed, uint32_t bits,
                      const struct ha_deed_rows *rows);

#endif
