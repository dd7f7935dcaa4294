/* SPDX-License-Identifier: MIT */
/* HIP entry points: memory pools and stream-ordered allocation. */
#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/location.h"
#include "cpu/base/shared_file.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/submit/memory.h"

static hipError_t
device_of(const char *argument, int id, hipError_t missing, struct ha_device **device)
{
    *device = ha_device_get(id);
    if (*device == NULL) {
        return ha_cpu_fail(missing,
                           "argument '%s': there is no device %d (there are %d)",
                           argument, id, ha_config()->device_count);
    }
    return hipSuccess;
}

/* Enters a call about a pool, which `pointer` names or takes the answer. */
static hipError_t
enter(const char *function, const char *argument, const void *pointer)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    return code == hipSuccess && pointer == NULL ? ha_cpu_fail_null(argument) : code;
}

/* ---- allocation ---- */

HA_EXPORT hipError_t
hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipMallocAsync", "dev_ptr", dev_ptr, &device);
    return code == hipSuccess ? ha_submit_alloc(NULL, stream, device, size, dev_ptr)
                              : code;
}

HA_EXPORT hipError_t
hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool,
                       hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMallocFromPoolAsync", &device);
    if (code == hipSuccess) {
        code = ha_need_both("dev_ptr", dev_ptr, "mem_pool", mem_pool);
    }
    return code == hipSuccess ? ha_submit_alloc(mem_pool, stream, device, size, dev_ptr)
                              : code;
}

HA_EXPORT hipError_t
hipFreeAsync(void *dev_ptr, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipFreeAsync", &device);
    return code != hipSuccess ? code : ha_submit_free_async(dev_ptr, stream, device);
}

/* ---- life ---- */

HA_EXPORT hipError_t
hipMemPoolCreate(hipMemPool_t *mem_pool, const hipMemPoolProps *pool_props)
{
    const unsigned known = (unsigned)hipMemHandleTypePosixFileDescriptor;
    struct ha_device *device = NULL;
    hipError_t code = enter("hipMemPoolCreate", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_need("pool_props", pool_props);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (pool_props->allocType != hipMemAllocationTypePinned) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pool_props': its allocType is %d; it must be "
                           "hipMemAllocationTypePinned",
                           (int)pool_props->allocType);
    }
    if (((unsigned)pool_props->handleTypes & ~known) != 0) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "argument 'pool_props': handles of type %d; there are file "
                           "descriptors only",
                           (int)pool_props->handleTypes);
    }
    code = ha_location_device("pool_props", &pool_props->location, hipErrorInvalidValue,
                              &device);
    return code == hipSuccess ? ha_memory_pool_create(device, pool_props, mem_pool)
                              : code;
}

HA_EXPORT hipError_t
hipMemPoolDestroy(hipMemPool_t mem_pool)
{
    hipError_t code = enter("hipMemPoolDestroy", "mem_pool", mem_pool);
    return code == hipSuccess ? ha_memory_pool_destroy(mem_pool) : code;
}

HA_EXPORT hipError_t
hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold)
{
    hipError_t code = enter("hipMemPoolTrimTo", "mem_pool", mem_pool);
    return code == hipSuccess ? ha_memory_pool_trim(mem_pool, min_bytes_to_hold) : code;
}

/* ---- the pool of a device ---- */

HA_EXPORT hipError_t
hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int device)
{
    struct ha_device *found;
    hipError_t code = enter("hipDeviceGetDefaultMemPool", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = device_of("device", device, hipErrorInvalidDevice, &found);
    }
    return code == hipSuccess ? ha_memory_pool_default(found, mem_pool) : code;
}

HA_EXPORT hipError_t
hipDeviceGetMemPool(hipMemPool_t *mem_pool, int device)
{
    struct ha_device *found;
    hipError_t code = enter("hipDeviceGetMemPool", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = device_of("device", device, hipErrorInvalidValue, &found);
    }
    return code == hipSuccess ? ha_memory_pool_current(found, mem_pool) : code;
}

HA_EXPORT hipError_t
hipDeviceSetMemPool(int device, hipMemPool_t mem_pool)
{
    struct ha_device *found;
    hipError_t code = enter("hipDeviceSetMemPool", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = device_of("device", device, hipErrorInvalidValue, &found);
    }
    return code == hipSuccess ? ha_memory_pool_set_current(found, mem_pool) : code;
}

/* The device of a place and a type of memory that has pools. */
static hipError_t
place_of(const hipMemLocation *location, hipMemAllocationType type,
         struct ha_device **device)
{
    if (location == NULL) {
        return ha_cpu_fail_null("location");
    }
    if (type != hipMemAllocationTypePinned) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'type' is %d; only hipMemAllocationTypePinned has "
                           "pools",
                           (int)type);
    }
    return ha_location_device("location", location, hipErrorInvalidValue, device);
}

HA_EXPORT hipError_t
hipMemGetDefaultMemPool(hipMemPool_t *memPool, hipMemLocation *location,
                        hipMemAllocationType type)
{
    struct ha_device *device;
    hipError_t code = enter("hipMemGetDefaultMemPool", "memPool", memPool);
    if (code == hipSuccess) {
        code = place_of(location, type, &device);
    }
    return code == hipSuccess ? ha_memory_pool_default(device, memPool) : code;
}

HA_EXPORT hipError_t
hipMemGetMemPool(hipMemPool_t *pool, hipMemLocation *location,
                 hipMemAllocationType type)
{
    struct ha_device *device;
    hipError_t code = enter("hipMemGetMemPool", "pool", pool);
    if (code == hipSuccess) {
        code = place_of(location, type, &device);
    }
    return code == hipSuccess ? ha_memory_pool_current(device, pool) : code;
}

HA_EXPORT hipError_t
hipMemSetMemPool(hipMemLocation *location, hipMemAllocationType type, hipMemPool_t pool)
{
    struct ha_device *device;
    hipError_t code = enter("hipMemSetMemPool", "pool", pool);
    if (code == hipSuccess) {
        code = place_of(location, type, &device);
    }
    return code == hipSuccess ? ha_memory_pool_set_current(device, pool) : code;
}

/* ---- attributes and access ---- */

HA_EXPORT hipError_t
hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value)
{
    hipError_t code = enter("hipMemPoolSetAttribute", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_gone_check("value", value, sizeof(int));
    }
    return code == hipSuccess ? ha_memory_pool_set(mem_pool, attr, value) : code;
}

HA_EXPORT hipError_t
hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value)
{
    hipError_t code = enter("hipMemPoolGetAttribute", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_gone_check("value", value, sizeof(int));
    }
    return code == hipSuccess ? ha_memory_pool_get(mem_pool, attr, value) : code;
}

HA_EXPORT hipError_t
hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc *desc_list,
                    size_t count)
{
    struct ha_device *device;
    hipError_t code = enter("hipMemPoolSetAccess", "mem_pool", mem_pool);
    if (code == hipSuccess && (desc_list == NULL || count == 0)) {
        code = ha_cpu_fail_null("desc_list");
    }
    for (size_t i = 0; i < count && code == hipSuccess; i++) {
        hipMemAccessFlags flags = desc_list[i].flags;
        code = ha_location_device("desc_list", &desc_list[i].location,
                                  hipErrorInvalidValue, &device);
        if (code == hipSuccess && flags != hipMemAccessFlagsProtNone &&
            flags != hipMemAccessFlagsProtRead &&
            flags != hipMemAccessFlagsProtReadWrite) {
            code =
                ha_cpu_fail(hipErrorInvalidValue,
                            "argument 'desc_list': its flags are %d, which is not an "
                            "access",
                            (int)flags);
        }
        if (code == hipSuccess) {
            code =
                ha_memory_pool_set_access(mem_pool, device->id, (enum ha_access)flags);
        }
    }
    return code;
}

HA_EXPORT hipError_t
hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t mem_pool,
                    hipMemLocation *location)
{
    struct ha_device *device;
    enum ha_access access = HA_ACCESS_NONE;
    hipError_t code = enter("hipMemPoolGetAccess", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_need_both("flags", flags, "location", location);
    }
    if (code == hipSuccess) {
        code = ha_location_device("location", location, hipErrorInvalidValue, &device);
    }
    if (code == hipSuccess) {
        code = ha_memory_pool_get_access(mem_pool, device->id, &access);
    }
    if (code == hipSuccess) {
        *flags = (hipMemAccessFlags)access;
    }
    return code;
}

/* ---- to and from other processes ---- */

static hipError_t
check_shareable(hipMemAllocationHandleType type, unsigned flags)
{
    hipError_t code = ha_need_no_flags(flags);
    if (code == hipSuccess && type != hipMemHandleTypePosixFileDescriptor) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle_type' is %d; there are file descriptors "
                           "only",
                           (int)type);
    }
    return code;
}

HA_EXPORT hipError_t
hipMemPoolExportToShareableHandle(void *shared_handle, hipMemPool_t mem_pool,
                                  hipMemAllocationHandleType handle_type,
                                  unsigned int flags)
{
    hipError_t code = enter("hipMemPoolExportToShareableHandle", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_gone_check("shared_handle", shared_handle, sizeof(int));
    }
    if (code == hipSuccess) {
        code = check_shareable(handle_type, flags);
    }
    return code == hipSuccess ? ha_memory_pool_export(mem_pool, shared_handle) : code;
}

HA_EXPORT hipError_t
hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool, void *shared_handle,
                                    hipMemAllocationHandleType handle_type,
                                    unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipMemPoolImportFromShareableHandle", "mem_pool",
                                   mem_pool, &device);
    if (code == hipSuccess) {
        code = check_shareable(handle_type, flags);
    }
    return code == hipSuccess
               ? ha_memory_pool_import(device, ha_shared_file_meant(shared_handle),
                                       mem_pool)
               : code;
}

HA_EXPORT hipError_t
hipMemPoolExportPointer(hipMemPoolPtrExportData *export_data, void *dev_ptr)
{
    hipError_t code = enter("hipMemPoolExportPointer", "export_data", export_data);
    if (code == hipSuccess) {
        code = ha_need("dev_ptr", dev_ptr);
    }
    return code == hipSuccess ? ha_memory_pool_export_pointer(dev_ptr, export_data)
                              : code;
}

HA_EXPORT hipError_t
hipMemPoolImportPointer(void **dev_ptr, hipMemPool_t mem_pool,
                        hipMemPoolPtrExportData *export_data)
{
    hipError_t code = enter("hipMemPoolImportPointer", "mem_pool", mem_pool);
    if (code == hipSuccess) {
        code = ha_need_both("dev_ptr", dev_ptr, "export_data", export_data);
    }
    return code == hipSuccess
               ? ha_memory_pool_import_pointer(mem_pool, export_data, dev_ptr)
               : code;
}
