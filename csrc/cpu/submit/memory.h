/* SPDX-License-Identifier: MIT */
/* Memory in the order of streams, which is allocated and freed or becomes nodes; and
 * memory that is freed at once.
 *
 * Locks: called with none held. */
#ifndef HA_CPU_SUBMIT_MEMORY_H
#define HA_CPU_SUBMIT_MEMORY_H

#include <stddef.h>

#include "abi/hip.h"

struct ha_device;

/* From the pool; NULL: from the one that allocations of the stream's device take. */
hipError_t ha_submit_alloc(hipMemPool_t pool, hipStream_t stream,
                           struct ha_device *device, size_t size, void **ptr);

/* Frees it when the stream gets there. */
hipError_t ha_submit_free_async(void *ptr, hipStream_t stream,
                                struct ha_device *device);

/* Frees it when the device that owns it has no work (ha_reclaim).  `kinds` is a bit set
 * of enum ha_memory_kind. NULL is a success. */
hipError_t ha_submit_free(void *ptr, unsigned kinds);

#endif
