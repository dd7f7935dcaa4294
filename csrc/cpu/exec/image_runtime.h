/* SPDX-License-Identifier: MIT */
/* The functions of the device that an image calls, as one table (cpu/base/image.h). All
 * of them are called in kernel code, which may be left at any instruction: see
 * cpu/exec/fault.h. */
#ifndef HA_CPU_EXEC_IMAGE_RUNTIME_H
#define HA_CPU_EXEC_IMAGE_RUNTIME_H

#include <stdint.h>

#include "cpu/base/image.h"

/* The table that images get; constant. */
extern const struct ha_image_runtime ha_exec_runtime;

/* What images ask before each access that are compiled for that (`access` of struct
 * ha_image_runtime).  Called in kernel code; must be set before the first launch. */
void ha_exec_set_access(void (*question)(const void *address, uint64_t size,
                                         uint32_t write));

#endif
