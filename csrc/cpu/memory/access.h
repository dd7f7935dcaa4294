/* SPDX-License-Identifier: MIT */
/* Which memory kernels may touch, for images that ask before each access.
 *
 * Kernels that are compiled under HIPADAPT_CPU_GUARD=1 ask for each load, store, atomic
 * and copy of theirs (cpu/compile/rewrite_guard.c).  Allowed is all that HIP knows
 * (cpu/memory/memory.h), each allocation up to its last byte, and what belongs to the
 * kernel: its stacks, shared memory, arguments, heap, constants and variables, and the
 * objects of textures and surfaces.  The rest of the process is not a GPU's to touch.
 *
 * Locks: those of the rooms that are asked, within a busy section. */
#ifndef HA_CPU_MEMORY_ACCESS_H
#define HA_CPU_MEMORY_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* For ha_exec_set_access (cpu/exec/image_runtime.h); only called in kernel code.  Ends
 * the launch with HA_FAULT_ADDRESS if the bytes may not be touched. */
void ha_access_call(const void *address, uint64_t size, uint32_t write);

/* For ha_debug_set_access (cpu/exec/debug.h): whether they may, and, if not, whether
 * they begin in an allocation and run out of it.  Within a busy section. */
bool ha_access_allowed(const void *address, uint64_t size, bool *beside);

#endif
