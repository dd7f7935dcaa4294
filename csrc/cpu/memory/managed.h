/* SPDX-License-Identifier: MIT */
/* Advice and prefetches that the program gave for managed memory.
 *
 * All managed memory is the same to host and devices, so advice moves nothing and is
 * only kept.  A *segment* is a piece of an allocation whose pages all have the same
 * advice; pages without advice have no segment.  Advice goes for whole pages, as far as
 * they belong to the allocation.
 *
 * Locks: one lock inside managed.c guards everything; it is taken after that of
 * cpu/memory/memory.c is given back, and that one may be taken while it is held. */
#ifndef HA_CPU_MEMORY_MANAGED_H
#define HA_CPU_MEMORY_MANAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

/* Places are numbers of devices, HA_HOST_ID or HA_NOWHERE_ID (cpu/base/location.h). */
struct ha_advice {
    bool read_mostly;
    bool coarse;          /* hipMemAdviseSetCoarseGrain */
    int preferred;        /* place, or nowhere */
    int prefetched;       /* where to, the last time; or nowhere */
    uint32_t accessed_by; /* bit 0 the host, bit n + 1 device n */
};

/* hipErrorInvalidValue unless all of it is managed memory of one allocation. */
hipError_t ha_managed_check(const char *argument, const void *ptr, size_t size);

/* Records advice for checked memory; `place` where the advice is about one. */
hipError_t ha_managed_advise(const void *ptr, size_t size, hipMemoryAdvise advice,
                             int place);
/* Records that it was prefetched. */
hipError_t ha_managed_prefetched(const void *ptr, size_t size, int place);

/* The advice that all pages share: members that differ between pages get the value that
 * says "no".  `mixed` gets whether `coarse` differs. */
void ha_managed_read(const void *ptr, size_t size, struct ha_advice *advice,
                     bool *mixed);

/* Forgets allocations that were freed. */
void ha_managed_forget_freed(void);

/* In a forked child. */
void ha_managed_after_fork_child(void);

#endif
