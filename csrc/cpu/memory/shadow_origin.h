/* SPDX-License-Identifier: MIT */
/* Where what has no value comes from: numbers that shadow memory holds (shadow.h).
 *
 * An *origin* is an allocation or a variable that somebody read before anybody wrote
 * it. Numbers are of the process and are not used again; once there are too many, later
 * ones are 0, which says nothing.
 *
 * Lock: one, a leaf. */
#ifndef HA_CPU_MEMORY_SHADOW_ORIGIN_H
#define HA_CPU_MEMORY_SHADOW_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/check.h"

struct ha_check_stack;

enum {
    HA_ORIGIN_UNKNOWN = 1, /* there is no number for it */
    HA_ORIGIN_SHARED,      /* shared memory of a block */
    HA_ORIGIN_HEAP,        /* malloc and new in kernels */
    HA_ORIGIN_FIRST,
};

/* A new one for an allocation; texts are borrowed, for the life of the process. */
uint32_t ha_origin_memory(const struct ha_check_memory *memory);

/* That of a variable of a lane, by its name, which is copied. */
uint32_t ha_origin_variable(const char *name, uint64_t bytes);

/* What it is, with or without HA_SHADOW_COMPUTED_BIT (cpu/base/image.h); `space` is
 * HA_SPACE_UNKNOWN where nothing is known. */
void ha_origin_tell(uint32_t origin, struct ha_check_memory *memory);

void ha_origin_after_fork_child(void);

#endif
