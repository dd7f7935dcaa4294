/* SPDX-License-Identifier: MIT */
/* Virtual memory management: addresses and memory that come together later.
 *
 * A *reservation* is a range of addresses that no allocation gets and no code may
 * touch.  A *physical* allocation is memory without an address: a shared file
 * (cpu/base/shared_file.h), which other processes can have too.  A *mapping* is a part
 * of a physical allocation at an address in a reservation; devices get access to it one
 * by one.
 *
 * All devices are threads of one process, so pages are readable or writable for all of
 * them as soon as they are for one: the access of each device is kept only so that it
 * can be queried, and copies and kernels may do what any device may.
 *
 * Ownership: a physical allocation lives while the program has a handle to it or
 * something is mapped from it.
 *
 * Locks: one lock inside virtual.c guards everything; only those of cpu/base/handle.h
 * are taken under it.  Calls that take pages away wait for all devices first, without
 * it. */
#ifndef HA_CPU_MEMORY_VIRTUAL_H
#define HA_CPU_MEMORY_VIRTUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/memory/memory.h"

struct ha_device;

/* Sizes and offsets of everything here are multiples of the minimum, a page; with the
 * recommended granularity large pages are possible. */
size_t ha_virtual_granularity(bool recommended);

hipError_t ha_virtual_reserve(size_t size, size_t alignment, void *wish, void **ptr);
hipError_t ha_virtual_free(void *ptr, size_t size);

/* A new physical allocation of the device with one handle. */
hipError_t ha_physical_create(struct ha_device *device, size_t size,
                              const hipMemAllocationProp *prop,
                              hipMemGenericAllocationHandle_t *handle);
/* Gives a handle back; `device` is whose memory it was if that was the last, or NULL.
 */
hipError_t ha_physical_release(hipMemGenericAllocationHandle_t handle,
                               const struct ha_device **device);
hipError_t ha_physical_properties(hipMemGenericAllocationHandle_t handle,
                                  hipMemAllocationProp *prop);
/* A descriptor of its file, owned by the caller. */
hipError_t ha_physical_export(hipMemGenericAllocationHandle_t handle, int *file);
/* A physical allocation that is another process's, or this one's, file. */
hipError_t ha_physical_import(struct ha_device *device, int file,
                              hipMemGenericAllocationHandle_t *handle);
/* One more handle to what is mapped at the address. */
hipError_t ha_physical_retain(const void *ptr, hipMemGenericAllocationHandle_t *handle);

hipError_t ha_virtual_map(void *ptr, size_t size, size_t offset,
                          hipMemGenericAllocationHandle_t handle);
/* Whole mappings that fill the range. */
hipError_t ha_virtual_unmap(void *ptr, size_t size);
/* `accessor` is the number of a device, or HA_ACCESS_OF_HOST; the range is one of whole
 * mappings. */
hipError_t ha_virtual_set_access(void *ptr, size_t size, int accessor,
                                 enum ha_access access);
hipError_t ha_virtual_get_access(const void *ptr, int accessor, enum ha_access *access);

#define HA_ACCESS_OF_HOST (-1)

/* ---- for cpu/memory/memory.c ---- */

/* The mapping, or the gap in a reservation, that holds the address. */
bool ha_virtual_find(const void *ptr, struct ha_range *range);
bool ha_virtual_set_sync(const void *ptr, bool sync);
bool ha_virtual_overlaps(const void *ptr, size_t size);

/* Unmaps and forgets the physical allocations of the device; reservations stay. Needs:
 * the device has no work. */
void ha_virtual_reset(struct ha_device *device);

/* In a forked child: forgets everything. */
void ha_virtual_after_fork_child(void);

#endif
