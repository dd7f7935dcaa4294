/* SPDX-License-Identifier: MIT */
/* What virtual.c (addresses) and physical.c (memory) share; see cpu/memory/virtual.h.
 * All of it is guarded by the lock. */
#ifndef HA_CPU_MEMORY_VIRTUAL_STATE_H
#define HA_CPU_MEMORY_VIRTUAL_STATE_H

#include "cpu/base/config.h"
#include "cpu/memory/virtual.h"

struct ha_physical {
    struct ha_physical *next, *previous; /* of all */
    uint64_t handle;                     /* 0 = the program has none */
    uint32_t handle_count;               /* how often it has it */
    uint32_t mapping_count;
    int file; /* owned */
    size_t size;
    hipMemAllocationProp prop;
    struct ha_device *device; /* borrowed */
    bool counted;             /* in the device's account: not if imported */
};

struct ha_mapping {
    unsigned char *base;
    size_t size;
    uint64_t id;
    struct ha_physical *physical;  /* counted */
    size_t offset;                 /* in it */
    uint8_t access[HA_DEVICE_MAX]; /* enum ha_access, by device */
    uint8_t access_of_host;
    uint8_t pages; /* the sum: how the pages are protected */
    bool sync;
};

void ha_virtual_lock(void);
void ha_virtual_unlock(void);

/* The mapping that holds the address, or NULL. */
struct ha_mapping *ha_mapping_find(const void *ptr);

/* The living allocation, or NULL. */
struct ha_physical *ha_physical_find(hipMemGenericAllocationHandle_t handle);
/* Frees it if neither the program nor a mapping has it. */
void ha_physical_drop(struct ha_physical *physical);
/* Takes the handles of the device's allocations out of use. */
void ha_physical_reset(const struct ha_device *device);
void ha_physical_after_fork_child(void);

#endif
