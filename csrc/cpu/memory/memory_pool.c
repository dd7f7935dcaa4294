/* SPDX-License-Identifier: MIT */
/* Pools as a whole: their life, attributes and access. */
#include "cpu/memory/memory_pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/shared_file.h"
#include "cpu/memory/memory_pool_state.h"

struct ha_memory_pool *ha_memory_pools;
struct ha_memory_pool *ha_memory_pool_defaults[HA_DEVICE_MAX];
struct ha_memory_pool *ha_memory_pool_currents[HA_DEVICE_MAX];

static hipMemPool_t
handle_of(const struct ha_memory_pool *pool)
{
    return (hipMemPool_t)(uintptr_t)pool->handle;
}

hipMemPool_t
ha_memory_pool_of(const void *ptr)
{
    struct ha_range range;
    hipMemPool_t handle = NULL;
    ha_pool_lock();
    /* Blocks and their memory go together, under this lock. */
    if (ha_memory_find(ptr, &range) && range.kind == HA_MEMORY_POOL) {
        handle = handle_of(((const struct ha_pool_block *)range.owner)->pool);
    }
    ha_pool_unlock();
    return handle;
}

struct ha_memory_pool *
ha_memory_pool_find(hipMemPool_t handle)
{
    struct ha_memory_pool *pool =
        ha_handle_peek(HA_HANDLE_POOL, (uint64_t)(uintptr_t)handle);
    if (pool == NULL) {
        ha_pool_unlock();
        (void)ha_cpu_fail(hipErrorInvalidValue,
                          "argument 'mem_pool' (%p) is not a living memory pool",
                          (void *)handle);
    }
    return pool;
}

/* ---- life ---- */

struct ha_memory_pool *
ha_memory_pool_new(struct ha_device *device, const hipMemPoolProps *props, int file)
{
    struct ha_memory_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return NULL;
    }
    pool->handle = ha_handle_create(HA_HANDLE_POOL, pool);
    if (pool->handle == 0) {
        free(pool);
        return NULL;
    }
    pool->device = device;
    pool->props = *props;
    pool->file = file;
    pool->heap.device = device->id;
    pool->heap.kind = HA_MEMORY_POOL;
    pool->heap.shared = file >= 0;
    pool->heap.file = file;
    pool->access[device->id] = HA_ACCESS_WRITE;
    pool->reuse_follow_events = 1;
    pool->reuse_opportunistic = 1;
    pool->reuse_internal = 1;
    pool->next = ha_memory_pools;
    if (ha_memory_pools != NULL) {
        ha_memory_pools->previous = pool;
    }
    ha_memory_pools = pool;
    return pool;
}

void
ha_memory_pool_drop(struct ha_memory_pool *pool)
{
    if (pool->handle != 0 || pool->in_use_count > 0 || pool->imports != NULL) {
        return;
    }
    ha_memory_pool_clear(pool);
    if (pool->previous != NULL) {
        pool->previous->next = pool->next;
    } else {
        ha_memory_pools = pool->next;
    }
    if (pool->next != NULL) {
        pool->next->previous = pool->previous;
    }
    if (pool->file >= 0) {
        close(pool->file);
    }
    free(pool);
}

/* Takes the handle out of use; what is allocated stays until it is freed. */
static void
pool_retire(struct ha_memory_pool *pool)
{
    if (ha_memory_pool_currents[pool->device->id] == pool) {
        ha_memory_pool_currents[pool->device->id] = NULL;
    }
    if (ha_handle_retire(HA_HANDLE_POOL, pool->handle) != NULL) {
        ha_handle_release(pool->handle);
    }
    pool->handle = 0;
    ha_memory_pool_shrink(pool, 0);
    ha_memory_pool_drop(pool);
}

hipError_t
ha_memory_pool_create(struct ha_device *device, const hipMemPoolProps *props,
                      hipMemPool_t *handle)
{
    int file = -1;
    bool shared = ((unsigned)props->handleTypes &
                   (unsigned)hipMemHandleTypePosixFileDescriptor) != 0;
    if (shared && ha_shared_file_create(HA_SHARED_POOL, 0, &file) != 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no file for another pool");
    }
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_new(device, props, file);
    if (pool != NULL) {
        *handle = handle_of(pool);
    }
    ha_pool_unlock();
    if (pool == NULL) {
        if (file >= 0) {
            close(file);
        }
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another pool");
    }
    return hipSuccess;
}

hipError_t
ha_memory_pool_destroy(hipMemPool_t handle)
{
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    if (pool->is_default) {
        ha_pool_unlock();
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'mem_pool' is the default pool of device %d",
                           pool->device->id);
    }
    pool_retire(pool);
    ha_pool_unlock();
    return hipSuccess;
}

static struct ha_memory_pool *
default_of(struct ha_device *device)
{
    struct ha_memory_pool **pool = &ha_memory_pool_defaults[device->id];
    if (*pool == NULL) {
        hipMemPoolProps props;
        memset(&props, 0, sizeof props);
        props.allocType = hipMemAllocationTypePinned;
        props.location.type = hipMemLocationTypeDevice;
        props.location.id = device->id;
        *pool = ha_memory_pool_new(device, &props, -1);
        if (*pool != NULL) {
            (*pool)->is_default = true;
        }
    }
    return *pool;
}

struct ha_memory_pool *
ha_memory_pool_in_force(struct ha_device *device)
{
    struct ha_memory_pool *current = ha_memory_pool_currents[device->id];
    return current != NULL ? current : default_of(device);
}

hipError_t
ha_memory_pool_giver(hipMemPool_t handle, struct ha_device *device,
                     struct ha_memory_pool **pool)
{
    struct ha_memory_pool *found =
        handle != NULL ? ha_memory_pool_find(handle) : ha_memory_pool_in_force(device);
    if (found == NULL && handle != NULL) {
        return hipErrorInvalidValue;
    }
    if (found == NULL || found->imported) {
        ha_pool_unlock();
        return found == NULL ? ha_cpu_fail(hipErrorOutOfMemory, "no memory for a pool")
                             : ha_cpu_fail(hipErrorInvalidValue,
                                           "argument 'mem_pool' is imported: it has no "
                                           "memory to give");
    }
    *pool = found;
    return hipSuccess;
}

struct ha_device *
ha_memory_pool_device(const struct ha_memory_pool *pool)
{
    return pool->device;
}

/* Lock held; given back. */
static hipError_t
give_handle(const struct ha_memory_pool *pool, hipMemPool_t *handle)
{
    if (pool != NULL) {
        *handle = handle_of(pool);
    }
    ha_pool_unlock();
    return pool != NULL
               ? hipSuccess
               : ha_cpu_fail(hipErrorOutOfMemory, "no memory for another pool");
}

hipError_t
ha_memory_pool_default(struct ha_device *device, hipMemPool_t *handle)
{
    ha_pool_lock();
    return give_handle(default_of(device), handle);
}

hipError_t
ha_memory_pool_current(struct ha_device *device, hipMemPool_t *handle)
{
    ha_pool_lock();
    return give_handle(ha_memory_pool_in_force(device), handle);
}

hipError_t
ha_memory_pool_set_current(struct ha_device *device, hipMemPool_t handle)
{
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    bool fits = !pool->imported && pool->device == device;
    if (fits) {
        ha_memory_pool_currents[device->id] = pool->is_default ? NULL : pool;
    }
    ha_pool_unlock();
    return fits
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidValue,
                             "argument 'mem_pool' is imported, or not a pool of device "
                             "%d",
                             device->id);
}

/* ---- attributes ---- */

static int *
flag_of(struct ha_memory_pool *pool, hipMemPoolAttr attribute)
{
    switch ((int)attribute) {
    case hipMemPoolReuseFollowEventDependencies:
        return &pool->reuse_follow_events;
    case hipMemPoolReuseAllowOpportunistic:
        return &pool->reuse_opportunistic;
    case hipMemPoolReuseAllowInternalDependencies:
        return &pool->reuse_internal;
    default:
        return NULL;
    }
}

static uint64_t *
number_of(struct ha_memory_pool *pool, hipMemPoolAttr attribute)
{
    switch ((int)attribute) {
    case hipMemPoolAttrReleaseThreshold:
        return &pool->release_threshold;
    case hipMemPoolAttrReservedMemCurrent:
        return &pool->reserved;
    case hipMemPoolAttrReservedMemHigh:
        return &pool->reserved_high;
    case hipMemPoolAttrUsedMemCurrent:
        return &pool->used;
    case hipMemPoolAttrUsedMemHigh:
        return &pool->used_high;
    default:
        return NULL;
    }
}

static hipError_t
no_attribute(hipMemPoolAttr attribute)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'attr' is %d, which is not an attribute of a pool",
                       (int)attribute);
}

hipError_t
ha_memory_pool_get(hipMemPool_t handle, hipMemPoolAttr attribute, void *value)
{
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    const int *flag = flag_of(pool, attribute);
    const uint64_t *number = number_of(pool, attribute);
    if (flag != NULL) {
        memcpy(value, flag, sizeof *flag);
    } else if (number != NULL) {
        memcpy(value, number, sizeof *number);
    }
    ha_pool_unlock();
    return flag != NULL || number != NULL ? hipSuccess : no_attribute(attribute);
}

/* High marks can be set back to what is the case now, by setting them to 0. */
static bool
high_reset(struct ha_memory_pool *pool, hipMemPoolAttr attribute, uint64_t number)
{
    if (number != 0) {
        return false;
    }
    if (attribute == hipMemPoolAttrReservedMemHigh) {
        pool->reserved_high = pool->reserved;
    } else if (attribute == hipMemPoolAttrUsedMemHigh) {
        pool->used_high = pool->used;
    } else {
        return false;
    }
    return true;
}

hipError_t
ha_memory_pool_set(hipMemPool_t handle, hipMemPoolAttr attribute, const void *value)
{
    uint64_t number = 0;
    bool done = true;
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    int *flag = flag_of(pool, attribute);
    if (flag != NULL) {
        int given;
        memcpy(&given, value, sizeof given);
        *flag = given != 0;
    } else if (attribute == hipMemPoolAttrReleaseThreshold) {
        memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
    } else if (number_of(pool, attribute) != NULL) {
        memcpy(&number, value, sizeof number);
        done = high_reset(pool, attribute, number);
    } else {
        done = false;
    }
    ha_pool_unlock();
    return done ? hipSuccess
                : ha_cpu_fail(hipErrorInvalidValue,
                              "argument 'attr' is %d, which can't be set to %llu",
                              (int)attribute, (unsigned long long)number);
}

hipError_t
ha_memory_pool_trim(hipMemPool_t handle, size_t keep)
{
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    ha_memory_pool_shrink(pool, keep);
    ha_pool_unlock();
    return hipSuccess;
}

/* ---- access ---- */

hipError_t
ha_memory_pool_set_access(hipMemPool_t handle, int device, enum ha_access access)
{
    ha_pool_lock();
    struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    bool allowed = pool->device->id != device || access == HA_ACCESS_WRITE;
    if (allowed) {
        pool->access[device] = (uint8_t)access;
    }
    ha_pool_unlock();
    return allowed ? hipSuccess
                   : ha_cpu_fail(hipErrorInvalidValue,
                                 "argument 'desc_list': access to its own pool can't "
                                 "be taken from device %d",
                                 device);
}

hipError_t
ha_memory_pool_get_access(hipMemPool_t handle, int device, enum ha_access *access)
{
    ha_pool_lock();
    const struct ha_memory_pool *pool = ha_memory_pool_find(handle);
    if (pool == NULL) {
        return hipErrorInvalidValue;
    }
    *access = (enum ha_access)pool->access[device];
    ha_pool_unlock();
    return hipSuccess;
}

/* ---- the end ---- */

void
ha_memory_pools_reset(struct ha_device *device)
{
    struct ha_memory_pool *next;
    ha_pool_lock();
    for (struct ha_memory_pool *pool = ha_memory_pools; pool != NULL; pool = next) {
        next = pool->next;
        if (pool->device == device) {
            ha_memory_pool_clear(pool);
            ha_memory_pool_clear_imports(pool);
            pool_retire(pool);
        }
    }
    ha_memory_pool_defaults[device->id] = NULL;
    ha_pool_unlock();
}

void
ha_memory_pools_after_fork_child(void)
{
    ha_memory_pools = NULL;
    memset(ha_memory_pool_defaults, 0, sizeof ha_memory_pool_defaults);
    memset(ha_memory_pool_currents, 0, sizeof ha_memory_pool_currents);
}
