/* SPDX-License-Identifier: MIT */
/* What checked kernels tell of each access (cpu/base/image.h, `check`): is it right?
 *
 * Bounds: an access whose address is computed from a variable, or from an address in an
 * allocation, is right within that variable or allocation only, whatever lies beside
 * it.  Others are right in all memory that the kernel may touch (cpu/memory/access.h).
 *
 * The launch goes on after a finding, so that further ones are found; it ends, as under
 * HIPADAPT_CPU_GUARD, where the access would hit memory that is not HIP's.
 *
 * Locks: those of the rooms that are asked, within a busy section. */
#ifndef HA_CPU_MEMORY_CHECK_ACCESS_H
#define HA_CPU_MEMORY_CHECK_ACCESS_H

#include <stdint.h>

#include "cpu/base/image.h"

/* For ha_exec_set_check (cpu/exec/image_runtime.h); only called in kernel code. */
void ha_check_access_call(const void *address, uint64_t size,
                          const struct ha_check_site *site, const void *root);

#endif
