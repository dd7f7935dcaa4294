/* SPDX-License-Identifier: MIT */
/* The kernels that fill memory, as a profiler sees them.
 *
 * The device fills memory without a kernel.  AMD's has a code object with kernels for
 * that, which tools know by their names, so a profiler is told of the same ones: a code
 * object a device, from its first fill that is seen.  Their numbers are no handles:
 * those are greater.
 *
 * Locks: none is held, since the profiler's tools run here. */
#ifndef HA_CPU_MODULE_FILL_KERNEL_H
#define HA_CPU_MODULE_FILL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the kernel that fills a line, or rows, on this device; a profiler that
 * wants code objects was told of it. */
uint64_t ha_fill_kernel(int device, bool rows);

/* Tells the profiler once more of all that it was told of. */
void ha_fill_kernels_report(void);

/* In a forked child: what a thread of the parent was telling is told anew. */
void ha_fill_kernel_after_fork_child(void);

#endif
