/* SPDX-License-Identifier: MIT */
/* Giving memory back: after the work that may use it, now or in stream order.
 *
 * Locks: none of its own. */
#ifndef HA_CPU_MEMORY_RECLAIM_H
#define HA_CPU_MEMORY_RECLAIM_H

#include "abi/hip.h"
#include "cpu/memory/memory.h"

struct ha_device;

/* Waits for the device that owns the allocation (for host memory: for all devices) and
 * frees it. `kinds` is a bit set of enum ha_memory_kind. NULL is a success. Fails with
 * hipErrorIllegalAddress, but frees, if somebody wrote past the end. */
hipError_t ha_reclaim(void *ptr, unsigned kinds);

/* Frees it when the stream gets there. */
hipError_t ha_reclaim_async(void *ptr, hipStream_t stream, struct ha_device *device);

/* Forgets registered host memory once no device can be using it. */
hipError_t ha_reclaim_registered(void *ptr);

#endif
