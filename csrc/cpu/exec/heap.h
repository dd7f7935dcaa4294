/* SPDX-License-Identifier: MIT */
/* The device heap: malloc and free of kernels.
 *
 * A buddy allocator over one reserved range a device.  Its tables lie outside of that
 * range, so a kernel that writes past its blocks or frees what is not its own cannot
 * break the host's heap or this one.  Blocks live until they are freed or the heap is
 * reset, also across launches; what a killed kernel held stays allocated.
 *
 * Lock: heap_lock, a leaf; kernel code holds it only inside a busy section. */
#ifndef HA_CPU_EXEC_HEAP_H
#define HA_CPU_EXEC_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define HA_HEAP_LIMIT_BYTES ((uint64_t)256 << 20)

/* Table entries for images; only called in kernel code.  Blocks are aligned to 64
 * bytes. NULL if the heap is full; a bad pointer given to free ends the launch. */
void *ha_heap_call_alloc(uint64_t size);
void ha_heap_call_release(void *ptr);

/* The same without a kernel around; release returns false for a pointer that alloc did
 * not return. `device` is the number of one, below HA_DEVICE_MAX. */
void *ha_heap_alloc(uint32_t device, uint64_t size);
bool ha_heap_release(uint32_t device, void *ptr);

/* Whether the bytes lie in the heap; they need not be allocated. */
bool ha_heap_holds(uint32_t device, const void *address, uint64_t size);

/* Where the heap lies; NULL before its first use. */
void *ha_heap_range(uint32_t device, uint64_t *bytes);

/* Size of the heap (hipLimitMallocHeapSize), rounded up to a power of two.  False once
 * a kernel has allocated: as with HIP, the limit is set before that. */
bool ha_heap_set_limit(uint32_t device, uint64_t bytes);
uint64_t ha_heap_limit(uint32_t device);

/* Forgets all blocks, and the limit.  Needs: no kernel of the device runs. */
void ha_heap_reset(uint32_t device);

/* Forgets all heaps. */
void ha_heap_after_fork_child(void);

#endif
