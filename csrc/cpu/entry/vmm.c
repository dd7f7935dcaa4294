/* SPDX-License-Identifier: MIT */
/* HIP entry points: virtual memory management. */
#include <stdbool.h>
#include <unistd.h>

#include "abi/hip.h"
#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/location.h"
#include "cpu/base/shared_file.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/virtual.h"
#include "cpu/queue/ticket.h"

/* A size or an address must be a multiple of the granularity. */
static hipError_t
check_multiple(const char *argument, size_t value, bool zero)
{
    size_t unit = ha_virtual_granularity(false);
    if ((value == 0 && !zero) || value % unit != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s' is %zu, which is not a multiple of %zu",
                           argument, value, unit);
    }
    return hipSuccess;
}

static hipError_t
check_range(const char *argument, const void *ptr, size_t size)
{
    if (ptr == NULL) {
        return ha_cpu_fail_null(argument);
    }
    hipError_t code = check_multiple(argument, (size_t)(uintptr_t)ptr, false);
    if (code == hipSuccess) {
        code = check_multiple("size", size, false);
    }
    if (code == hipSuccess && (uintptr_t)ptr > UINTPTR_MAX - size) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "%zu bytes at %p run past the address space", size, ptr);
    }
    return code;
}

/* The device that the memory belongs to: the current one for memory of the host. */
static hipError_t
check_prop(const hipMemAllocationProp *prop, struct ha_device **device)
{
    const unsigned known = (unsigned)hipMemHandleTypePosixFileDescriptor;
    int id;
    if (prop == NULL) {
        return ha_cpu_fail_null("prop");
    }
    if (prop->type != hipMemAllocationTypePinned &&
        prop->type != hipMemAllocationTypeUncached) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'prop': its type is %d; it must be "
                           "hipMemAllocationTypePinned or hipMemAllocationTypeUncached",
                           (int)prop->type);
    }
    if (((unsigned)prop->requestedHandleTypes & ~known) != 0) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "argument 'prop': handles of type %d; there are file "
                           "descriptors only",
                           (int)prop->requestedHandleTypes);
    }
    hipError_t code =
        ha_location_id("prop", &prop->location, hipErrorInvalidValue, &id);
    if (code == hipSuccess && id != HA_HOST_ID) {
        *device = ha_device_get(id);
    }
    return code;
}

HA_EXPORT hipError_t
hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
                               hipMemAllocationGranularity_flags option)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipMemGetAllocationGranularity", "granularity",
                                   granularity, &device);
    if (code == hipSuccess) {
        code = check_prop(prop, &device);
    }
    if (code == hipSuccess && option != hipMemAllocationGranularityMinimum &&
        option != hipMemAllocationGranularityRecommended) {
        code =
            ha_cpu_fail(hipErrorInvalidValue, "argument 'option' is %d", (int)option);
    }
    if (code == hipSuccess) {
        *granularity =
            ha_virtual_granularity(option == hipMemAllocationGranularityRecommended);
    }
    return code;
}

HA_EXPORT hipError_t
hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr,
                     unsigned long long flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipMemAddressReserve", "ptr", ptr, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code == hipSuccess) {
        code = check_multiple("size", size, false);
    }
    if (code == hipSuccess && (alignment & (alignment - 1)) != 0) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'alignment' is %zu, which is not a power of two",
                           alignment);
    }
    return code == hipSuccess ? ha_virtual_reserve(size, alignment, addr, ptr) : code;
}

HA_EXPORT hipError_t
hipMemAddressFree(void *devPtr, size_t size)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemAddressFree", &device);
    if (code == hipSuccess) {
        code = check_range("devPtr", devPtr, size);
    }
    return code == hipSuccess ? ha_virtual_free(devPtr, size) : code;
}

HA_EXPORT hipError_t
hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
             const hipMemAllocationProp *prop, unsigned long long flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipMemCreate", &device);
    if (code == hipSuccess) {
        code = ha_need("handle", handle);
    }
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code == hipSuccess) {
        code = check_prop(prop, &device);
    }
    if (code == hipSuccess) {
        code = check_multiple("size", size, false);
    }
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    if (code == hipSuccess) {
        code = ha_physical_create(device, size, prop, handle);
    }
    if (code == hipSuccess && begin != 0) {
        ha_activity_memory(HA_ACTIVITY_VMEM_ALLOCATE, device->id, *handle, size, begin);
    }
    return code;
}

HA_EXPORT hipError_t
hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemRelease", &device);
    const struct ha_device *freed = NULL; /* whose memory went with its last handle */
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    if (code == hipSuccess) {
        code = ha_physical_release(handle, &freed);
    }
    if (freed != NULL && begin != 0) {
        ha_activity_memory(HA_ACTIVITY_VMEM_FREE, freed->id, handle, 0, begin);
    }
    return code;
}

HA_EXPORT hipError_t
hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                        hipMemGenericAllocationHandle_t handle)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_out("hipMemGetAllocationPropertiesFromHandle", "prop", prop, &device);
    return code == hipSuccess ? ha_physical_properties(handle, prop) : code;
}

HA_EXPORT hipError_t
hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemRetainAllocationHandle", &device);
    if (code == hipSuccess) {
        code = ha_need_both("handle", handle, "addr", addr);
    }
    return code == hipSuccess ? ha_physical_retain(addr, handle) : code;
}

/* ---- to and from other processes ---- */

static hipError_t
check_handle_type(hipMemAllocationHandleType type)
{
    if (type == hipMemHandleTypePosixFileDescriptor) {
        return hipSuccess;
    }
    if (type == hipMemHandleTypeWin32 || type == hipMemHandleTypeWin32Kmt ||
        type == hipMemHandleTypeFabric) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "handles of type %d; there are file descriptors only",
                           (int)type);
    }
    return ha_cpu_fail(hipErrorInvalidValue,
                       "%d is not a type of handles that can be shared", (int)type);
}

HA_EXPORT hipError_t
hipMemExportToShareableHandle(void *shareableHandle,
                              hipMemGenericAllocationHandle_t handle,
                              hipMemAllocationHandleType handleType,
                              unsigned long long flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemExportToShareableHandle", &device);
    if (code == hipSuccess) {
        code = ha_gone_check("shareableHandle", shareableHandle, sizeof(int));
    }
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code == hipSuccess) {
        code = check_handle_type(handleType);
    }
    return code == hipSuccess ? ha_physical_export(handle, shareableHandle) : code;
}

HA_EXPORT hipError_t
hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *osHandle,
                                hipMemAllocationHandleType shHandleType)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_out("hipMemImportFromShareableHandle", "handle", handle, &device);
    if (code == hipSuccess) {
        code = check_handle_type(shHandleType);
    }
    return code == hipSuccess
               ? ha_physical_import(device, ha_shared_file_meant(osHandle), handle)
               : code;
}

/* ---- mapping ---- */

HA_EXPORT hipError_t
hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
          unsigned long long flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemMap", &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code == hipSuccess) {
        code = check_range("ptr", ptr, size);
    }
    if (code == hipSuccess) {
        code = check_multiple("offset", offset, true);
    }
    return code == hipSuccess ? ha_virtual_map(ptr, size, offset, handle) : code;
}

HA_EXPORT hipError_t
hipMemUnmap(void *ptr, size_t size)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemUnmap", &device);
    if (code == hipSuccess) {
        code = check_range("ptr", ptr, size);
    }
    return code == hipSuccess ? ha_virtual_unmap(ptr, size) : code;
}

static hipError_t
check_access(const hipMemAccessDesc *desc, int *accessor)
{
    if (desc->flags != hipMemAccessFlagsProtNone &&
        desc->flags != hipMemAccessFlagsProtRead &&
        desc->flags != hipMemAccessFlagsProtReadWrite) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'desc': its flags are %d, which is not an access",
                           (int)desc->flags);
    }
    return ha_location_id("desc", &desc->location, hipErrorInvalidValue, accessor);
}

HA_EXPORT hipError_t
hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count)
{
    struct ha_device *device;
    int accessor;
    hipError_t code = ha_enter("hipMemSetAccess", &device);
    if (code == hipSuccess) {
        code = check_range("ptr", ptr, size);
    }
    if (code == hipSuccess && (desc == NULL || count == 0)) {
        code = ha_cpu_fail_null("desc");
    }
    for (size_t i = 0; i < count && code == hipSuccess; i++) {
        code = check_access(&desc[i], &accessor);
    }
    for (size_t i = 0; i < count && code == hipSuccess; i++) {
        code = check_access(&desc[i], &accessor);
        if (code == hipSuccess) {
            code = ha_virtual_set_access(ptr, size, accessor,
                                         (enum ha_access)desc[i].flags);
        }
    }
    return code;
}

HA_EXPORT hipError_t
hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr)
{
    struct ha_device *device;
    enum ha_access access = HA_ACCESS_NONE;
    int accessor = HA_HOST_ID;
    hipError_t code = ha_enter("hipMemGetAccess", &device);
    if (code == hipSuccess && (flags == NULL || location == NULL || ptr == NULL)) {
        code = ha_cpu_fail_null(flags == NULL      ? "flags"
                                : location == NULL ? "location"
                                                   : "ptr");
    }
    if (code == hipSuccess) {
        code = ha_location_id("location", location, hipErrorInvalidValue, &accessor);
    }
    if (code == hipSuccess) {
        code = ha_virtual_get_access(ptr, accessor, &access);
    }
    if (code == hipSuccess) {
        *flags = (unsigned long long)access;
    }
    return code;
}
