/* SPDX-License-Identifier: MIT */
/* Which processor kernels are compiled for.
 *
 * On x86-64 it is a micro-architecture level of the psABI, "x86-64" to "x86-64-v4": the
 * highest that this processor and the operating system have, or a lower one that
 * HIPADAPT_CPU_TARGET names.  Elsewhere there is one, "generic".  Names are constants.
 * Any thread may call; the processor is asked once. */
#ifndef HA_CPU_COMPILE_TARGET_CPU_H
#define HA_CPU_COMPILE_TARGET_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* HA_ERROR_INVALID with a text that lists the levels, if HIPADAPT_CPU_TARGET names none
 * or one that this processor does not have. */
enum ha_status ha_target_cpu_find(const char **name);

/* Whether the compiler may call forms of libmvec.  It takes forms for AVX2 whether the
 * level has it or not, and wrong numbers come back from such calls on an older one. */
bool ha_target_cpu_has_vector_math(const char *name);

/* Whether it has an instruction for a product and a sum that rounds once. */
bool ha_target_cpu_fuses(const char *name);

/* Lanes of a gang: floats in one of its vectors, and at least 8. */
uint32_t ha_target_cpu_gang_width(const char *name);

#endif
