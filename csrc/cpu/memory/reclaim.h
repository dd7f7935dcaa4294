/* SPDX-License-Identifier: MIT */
/* Giving memory back: after the work that may use it, now or in stream order.
 *
 * Locks: none of its own. */
#ifndef HA_CPU_MEMORY_RECLAIM_H
#define HA_CPU_MEMORY_RECLAIM_H

#include "abi/hip.h"
#include "cpu/memory/memory.h"

struct ha_op;

/* Waits for the device that owns the claimed allocation (for host memory: for all
 * devices) and frees it.  Fails with hipErrorIllegalAddress, but frees, if somebody
 * wrote past the end. */
hipError_t ha_reclaim(const struct ha_range *range);

/* Whether mapped memory that the program frees begins there: of an imported pool, or of
 * external memory. */
bool ha_reclaim_is_mapped(const void *ptr, struct ha_range *range);
/* Waits for all devices and unmaps such memory; for any other fails. */
hipError_t ha_reclaim_mapped(void *ptr);

/* The operation that frees claimed, or unmaps mapped memory, or NULL without memory.
 * Pool lock held. */
struct ha_op *ha_reclaim_op(const struct ha_range *range);

/* The failure for an address where no such allocation begins. */
hipError_t ha_reclaim_fail(const void *ptr);

/* Forgets registered host memory once no device can be using it. */
hipError_t ha_reclaim_registered(void *ptr);

#endif
