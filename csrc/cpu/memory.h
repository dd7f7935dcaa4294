/* SPDX-License-Identifier: MIT */
/* All memory that the device knows: what it allocated itself (cpu/span.h) and foreign
 * ranges, which are host memory that the program registered and variables of modules.
 *
 * A *range* describes one allocation or foreign range. Freeing has two steps, so that
 * an address is freed once however many threads try: ha_memory_claim takes it out of
 * the program's hands, ha_memory_release gives it back to the machine when the work
 * that may still use it is over.
 *
 * Locks: one lock inside memory.c guards everything; it is a leaf and may be taken
 * while the pool lock is held. */
#ifndef HA_CPU_MEMORY_H
#define HA_CPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;

enum ha_memory_kind {
    HA_MEMORY_DEVICE = 0, /* hipMalloc */
    HA_MEMORY_MANAGED,    /* hipMallocManaged */
    HA_MEMORY_HOST,       /* hipHostMalloc */
    HA_MEMORY_REGISTERED, /* hipHostRegister; foreign */
    HA_MEMORY_VARIABLE,   /* __device__ variable of a module; foreign */
    HA_MEMORY_KIND_COUNT,
};

struct ha_range {
    void *base;
    size_t size;
    uint64_t id;
    uint32_t flags;
    enum ha_memory_kind kind;
    int device;
};

hipError_t ha_memory_init(void);

/* Allocates size > 0 bytes, aligned to 256. Fails with hipErrorOutOfMemory and a text.
 */
hipError_t ha_memory_alloc(struct ha_device *device, enum ha_memory_kind kind,
                           uint32_t flags, size_t size, void **ptr);

/* Takes the allocation that begins at `ptr` out of use if its kind is in the bit set
 * `kinds`; false if there is none. */
bool ha_memory_claim(void *ptr, unsigned kinds, struct ha_range *range);
/* Undoes ha_memory_claim. */
void ha_memory_unclaim(void *ptr);
/* Frees what was claimed; false if its red zone was written to. */
bool ha_memory_release(void *ptr);

/* The range that holds the address; false if it is not known. */
bool ha_memory_find(const void *ptr, struct ha_range *range);

/* Checks that [ptr, ptr + size) does not run past the range that holds ptr, if any;
 * fails with hipErrorInvalidValue and a text that names `argument`. If `required`,
 * memory that is not known is refused too. `known` says whether the range is known; may
 * be NULL. */
hipError_t ha_memory_check(const char *argument, const void *ptr, size_t size,
                           bool required, bool *known);

/* Adds and removes a foreign range. Adding fails with
 * hipErrorHostMemoryAlreadyRegistered if part of it is known already. */
hipError_t ha_memory_add_foreign(int device, enum ha_memory_kind kind, uint32_t flags,
                                 void *ptr, size_t size);
bool ha_memory_remove_foreign(void *ptr, enum ha_memory_kind kind);

/* Frees all device and managed memory of the device; pinned host memory stays, because
 * the host may be using it. */
void ha_memory_reset(struct ha_device *device);

/* In a forked child: forgets everything. */
void ha_memory_after_fork_child(void);

#endif
