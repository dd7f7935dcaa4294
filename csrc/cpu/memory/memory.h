/* SPDX-License-Identifier: MIT */
/* All memory that the device knows: what it allocated itself (cpu/base/span.h); mapped
 * memory (cpu/memory/virtual.h); and foreign ranges, which are host memory that the
 * program registered, variables of modules, and memory of other processes.
 *
 * A *range* describes one allocation or foreign range. Freeing has two steps, so that
 * an address is freed once however many threads try: ha_memory_claim takes it out of
 * the program's hands, ha_memory_release gives it back to the machine when the work
 * that may still use it is over.
 *
 * Locks: one lock inside memory.c guards everything; it may be taken while the pool
 * lock is held, and only that of cpu/memory/virtual.h is taken while it is. */
#ifndef HA_CPU_MEMORY_MEMORY_H
#define HA_CPU_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;
struct ha_shared_part;

enum ha_memory_kind {
    HA_MEMORY_DEVICE = 0, /* hipMalloc */
    HA_MEMORY_MANAGED,    /* hipMallocManaged */
    HA_MEMORY_HOST,       /* hipHostMalloc */
    HA_MEMORY_GRAPH,      /* of an allocation node of a graph */
    HA_MEMORY_ARRAY,      /* of an array (cpu/memory/array.h), which frees it itself */
    HA_MEMORY_POOL,       /* of a memory pool (cpu/memory/memory_pool.h), its owner */
    HA_MEMORY_REGISTERED, /* hipHostRegister; foreign */
    HA_MEMORY_VARIABLE,   /* __device__ variable of a module; foreign */
    HA_MEMORY_OPENED,     /* hipIpcOpenMemHandle; foreign */
    HA_MEMORY_IMPORTED,   /* hipMemPoolImportPointer; foreign */
    HA_MEMORY_EXTERNAL,   /* hipExternalMemoryGetMappedBuffer; foreign */
    HA_MEMORY_MAPPED,     /* hipMemMap (cpu/memory/virtual.h) */
    HA_MEMORY_RESERVED,   /* hipMemAddressReserve, with nothing mapped */
    HA_MEMORY_KIND_COUNT,
};

/* Allowed access; the values of hipMemAccessFlags. */
enum ha_access { HA_ACCESS_NONE = 0, HA_ACCESS_READ = 1, HA_ACCESS_WRITE = 3 };

struct ha_range {
    void *base;
    size_t size;
    uint64_t id;
    uint32_t flags;
    enum ha_memory_kind kind;
    int device;
    enum ha_access access;
    bool owned;  /* by the device: not foreign, not mapped */
    bool sync;   /* HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    void *owner; /* borrowed; struct ha_pool_block of a pool, else NULL */
};

struct ha_heap;

/* `guard`: allocations are guarded (cpu/base/span.h). */
hipError_t ha_memory_init(bool guard);

/* Allocates size > 0 bytes, aligned to 256.  Under check (cpu/memory/check_memory.h)
 * the allocation stands apart, and its memory is kept for a while when it is released.
 * Fails with hipErrorOutOfMemory and a text.
 */
hipError_t ha_memory_alloc(struct ha_device *device, enum ha_memory_kind kind,
                           uint32_t flags, size_t size, void **ptr);

/* The same in a heap of the caller's (cpu/base/span.h) or, if that is NULL, in the
 * device's heap of the kind; with an owner. Without a text. */
hipError_t ha_memory_alloc_in(struct ha_heap *heap, struct ha_device *device,
                              enum ha_memory_kind kind, uint32_t flags, size_t size,
                              void *owner, void **ptr);
/* The text for that. */
hipError_t ha_memory_full(const struct ha_device *device, enum ha_memory_kind kind,
                          size_t size);

/* Adds to the bytes that are in use on the device; false if that would pass its limit.
 */
bool ha_memory_account_add(struct ha_device *device, size_t bytes);
void ha_memory_account_remove(struct ha_device *device, size_t bytes);

/* Takes the allocation that begins at `ptr` out of use if its kind is in the bit set
 * `kinds`; false if there is none. */
bool ha_memory_claim(void *ptr, unsigned kinds, struct ha_range *range);
/* Undoes ha_memory_claim. */
void ha_memory_unclaim(void *ptr);
/* Frees what was claimed; false if its red zone was written to.  No lock held but the
 * pool lock. */
bool ha_memory_release(void *ptr);

/* Whether the allocation that begins there was made under check.  A pool does not give
 * such a one out again. */
bool ha_memory_is_apart(void *ptr);

/* The allocation of the device's that the address is in or right behind. */
bool ha_memory_near(const void *ptr, struct ha_range *range);

/* Whether all of the bytes are where allocations are: in one, or beside it where
 * nothing else is. */
bool ha_memory_owns(const void *ptr, size_t size);

/* Looks for writes past the ends of all allocations that were made under check and are
 * not freed, and to those that were. */
void ha_memory_look_for_damage(void);

/* Keeps what was claimed for later; to everybody but its owner it is no memory any
 * more. False if its red zone was written to. */
bool ha_memory_cache(void *ptr);
/* Gives claimed or cached memory out again, as a new allocation with a size of the same
 * or a smaller footprint (ha_span_footprint). Work may still use what was claimed. */
void ha_memory_reuse(void *ptr, size_t size);

/* Differs from before if ranges have gone or become shorter since, but for mapped
 * memory; never 0. Needs no lock. */
uint64_t ha_memory_changes(void);

/* The range that holds the address; false if it is not known. */
bool ha_memory_find(const void *ptr, struct ha_range *range);

/* Checks that [ptr, ptr + size) does not run past the range that holds ptr, if any;
 * fails with hipErrorInvalidValue and a text that names `argument`. If `required`,
 * memory that is not known is refused too. `known` says whether the range is known; may
 * be NULL. */
hipError_t ha_memory_check(const char *argument, const void *ptr, size_t size,
                           bool required, bool *known);

/* The same for memory that is going to be written to. */
hipError_t ha_memory_check_write(const char *argument, const void *ptr, size_t size,
                                 bool required, bool *known);

/* HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS of the range that holds the address; false if it is
 * not known. */
bool ha_memory_set_sync(const void *ptr, bool sync);

/* Makes the pages of the allocation that holds `ptr`, of hipMalloc or of a pool that
 * can be shared, a file that other processes can map.  `*file` (borrowed, lives as long
 * as the allocation) has the allocation as `*part`, until it is freed.  0, or the
 * number of an error; EINVAL if there is no such memory. Needs: no work runs, the pool
 * lock. */
int ha_memory_share(const void *ptr, int *file, struct ha_shared_part *part);

/* Frees all memory of a heap of the caller's. Pool lock held. */
void ha_memory_empty(struct ha_heap *heap);

/* Adds and removes a foreign range. Adding fails with
 * hipErrorHostMemoryAlreadyRegistered if part of it is known already. */
hipError_t ha_memory_add_foreign(int device, enum ha_memory_kind kind, uint32_t flags,
                                 void *ptr, size_t size);
bool ha_memory_remove_foreign(void *ptr, enum ha_memory_kind kind);

/* Frees all device, managed and pool memory of the device; pinned host memory stays,
 * because the host may be using it.  Managed memory is no memory of HIP afterwards, but
 * its addresses can still be read, as zeros, until they are freed once. */
void ha_memory_reset(struct ha_device *device);

/* In a forked child: forgets everything. */
void ha_memory_after_fork_child(void);

#endif
