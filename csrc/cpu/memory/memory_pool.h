/* SPDX-License-Identifier: MIT */
/* HIP memory pools: stream-ordered allocation from memory that is kept.
 *
 * A *block* is one allocation (cpu/memory/memory.h) that a pool has from its device. It
 * is LIVE while the program has it, PENDING from hipFreeAsync until the stream gets
 * there, and then FREE: kept for later.  An allocation takes, in this order,
 *
 * 1. a PENDING block that was freed in the same stream, or a FREE one;
 * 2. new memory of the device;
 * 3. what the device's pools have FREE, given back and allocated anew;
 * 4. a PENDING block of another stream, which the allocating stream then waits for
 *    (hipMemPoolReuseAllowInternalDependencies).
 *
 * A FREE block of another stream is taken in 1 if hipMemPoolReuseAllowOpportunistic
 * allows it, or the device was synchronized since.  When a stream, an event or the
 * device is synchronized, and in hipMemPoolTrimTo, FREE blocks above the release
 * threshold go back to the device.  *Reserved* are all blocks, *used* those that are
 * not FREE.
 *
 * Each device has a default pool, which can't be destroyed, and a current one, which
 * hipMallocAsync takes.  A pool that can be shared has its memory in a shared file
 * (cpu/base/shared_file.h); an imported one has no blocks, only pointers to other
 * processes'.
 *
 * Ownership: a pool counts its handle, its blocks that are not FREE and its imported
 * pointers.  A block counts its pool's list and the operations that free it.
 *
 * Locks: everything here is guarded by the pool lock of cpu/queue/pool.h. */
#ifndef HA_CPU_MEMORY_MEMORY_POOL_H
#define HA_CPU_MEMORY_MEMORY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/memory/memory.h"

struct ha_device;
struct ha_stream;
struct ha_memory_pool;

/* The pool that the memory at the address comes from, or NULL. */
hipMemPool_t ha_memory_pool_of(const void *ptr);

/* ---- whole pools; these take the lock themselves ---- */

hipError_t ha_memory_pool_create(struct ha_device *device, const hipMemPoolProps *props,
                                 hipMemPool_t *handle);
hipError_t ha_memory_pool_destroy(hipMemPool_t handle);
hipError_t ha_memory_pool_default(struct ha_device *device, hipMemPool_t *handle);
hipError_t ha_memory_pool_current(struct ha_device *device, hipMemPool_t *handle);
hipError_t ha_memory_pool_set_current(struct ha_device *device, hipMemPool_t handle);
hipError_t ha_memory_pool_trim(hipMemPool_t handle, size_t keep);
hipError_t ha_memory_pool_get(hipMemPool_t handle, hipMemPoolAttr attribute,
                              void *value);
hipError_t ha_memory_pool_set(hipMemPool_t handle, hipMemPoolAttr attribute,
                              const void *value);
hipError_t ha_memory_pool_set_access(hipMemPool_t handle, int device,
                                     enum ha_access access);
hipError_t ha_memory_pool_get_access(hipMemPool_t handle, int device,
                                     enum ha_access *access);

/* ---- memory ---- */

/* The pool that is meant by the handle; NULL: the one that the device's allocations
 * take.  Borrowed; fails if it has no memory to give.  Pool lock held; on failure given
 * back. */
hipError_t ha_memory_pool_giver(hipMemPool_t handle, struct ha_device *device,
                                struct ha_memory_pool **pool);
struct ha_device *ha_memory_pool_device(const struct ha_memory_pool *pool);

/* Allocates for work of the stream; `size` is not 0.  Pool lock held on entry; given
 * back. */
hipError_t ha_memory_pool_alloc(struct ha_memory_pool *pool, struct ha_stream *stream,
                                size_t size, void **ptr);

/* Frees a claimed block in stream order.  Pool lock held on entry; given back. */
hipError_t ha_memory_pool_free_async(const struct ha_range *range,
                                     struct ha_stream *stream);

/* Frees a claimed block now; false if its red zone was written to. Without the lock. */
bool ha_memory_pool_free(const struct ha_range *range);

/* Frees a pointer of an imported pool now; false if it is none. Without the lock.
 * Needs: no work uses it. */
bool ha_memory_pool_free_imported(void *ptr);

/* At a synchronization, of the whole device or a part of it: gives back what is above
 * the thresholds. Without the lock. */
void ha_memory_pools_settle(struct ha_device *device, bool whole);

/* ---- to and from other processes ---- */

hipError_t ha_memory_pool_export(hipMemPool_t handle, int *file);
hipError_t ha_memory_pool_import(struct ha_device *device, int file,
                                 hipMemPool_t *handle);
hipError_t ha_memory_pool_export_pointer(void *ptr, hipMemPoolPtrExportData *data);
hipError_t ha_memory_pool_import_pointer(hipMemPool_t handle,
                                         const hipMemPoolPtrExportData *data,
                                         void **ptr);

/* ---- the end ---- */

/* Frees the pools of the device and all their memory, and gives it a new default pool
 * on demand. Needs: the device has no work. */
void ha_memory_pools_reset(struct ha_device *device);
void ha_memory_pools_after_fork_child(void);

#endif
