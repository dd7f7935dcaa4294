/* SPDX-License-Identifier: MIT */
/* The code of an image, mapped by the dynamic linker.
 *
 * It is loaded from verified bytes, never from a path that could change.  Each load
 * maps a copy of its own.  No locks but the linker's. */
#ifndef HA_CPU_MODULE_IMAGE_LIBRARY_H
#define HA_CPU_MODULE_IMAGE_LIBRARY_H

#include <stddef.h>

#include "abi/hip.h"

/* Gives the handle of dlopen, which the caller owns until ha_image_library_close. */
hipError_t ha_image_library_open(const void *elf, size_t size, void **library);
void ha_image_library_close(void *library);

/* In a forked child. */
void ha_image_library_after_fork_child(void);

#endif
