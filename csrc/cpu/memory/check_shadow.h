/* SPDX-License-Identifier: MIT */
/* Shadow memory of kernels that run: which bytes of a lane's stack, of its block's
 * shared memory and of the device's memory have a value (cpu/base/image.h,
 * `shadow_calls` and the next two).
 *
 * Stacks have theirs beside their fibers (cpu/exec/fiber.h), shared memory beside its
 * group, the heap of kernels from its first use on, all else in cpu/memory/shadow.h.
 * Other memory counts as written: it reads as zeros, and what is written there goes to
 * waste.
 *
 * Called in kernel code, by the thread of the lane, but for ha_shadowed_block. */
#ifndef HA_CPU_MEMORY_CHECK_SHADOW_H
#define HA_CPU_MEMORY_CHECK_SHADOW_H

#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/exec/workgroup.h"

/* For struct ha_checks (cpu/exec/checks.h), where these are described. */
struct ha_shadow_calls *ha_shadowed_calls(void);
struct ha_image_shadow ha_shadowed_place(const void *address, uint64_t size,
                                         uint32_t write);
uint64_t ha_shadowed_do(uint32_t op, void *to, const void *from, uint64_t size,
                        uint64_t value);
void ha_shadowed_block(struct ha_group *group);
void ha_shadowed_warp(struct ha_group *group, uint32_t warp, uint64_t lanes);
void ha_shadowed_heap(void *address, uint64_t size);

#endif
