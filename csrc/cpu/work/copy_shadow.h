/* SPDX-License-Identifier: MIT */
/* What copies and fills mean for shadow memory (cpu/memory/shadow.h): what is copied
 * has a value where its source has one, and what the host gets should have one. */
#ifndef HA_CPU_WORK_COPY_SHADOW_H
#define HA_CPU_WORK_COPY_SHADOW_H

#include "cpu/work/copy.h"

struct ha_check_stack;

/* The call that a copy is of; both for the life of the process, or NULL. */
struct ha_copy_origin {
    const char *call;
    const struct ha_check_stack *stack;
};

/* That of this thread, if anybody is going to ask. */
struct ha_copy_origin ha_copy_origin(void);

/* The copy, or the fill if it has no source, is done now. */
void ha_copy_shadow(const struct ha_copy *copy, const struct ha_copy_origin *origin);

#endif
