/* SPDX-License-Identifier: MIT */
/* HIP entry points: questions about addresses. */
#include <stdbool.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/base/location.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/queue/context.h"

static bool
is_host_kind(enum ha_memory_kind kind)
{
    return kind == HA_MEMORY_HOST || kind == HA_MEMORY_REGISTERED;
}

static hipMemoryType
type_of(enum ha_memory_kind kind)
{
    if (kind == HA_MEMORY_MANAGED) {
        return hipMemoryTypeManaged;
    }
    return is_host_kind(kind) ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

/* Reserved addresses with nothing behind them are no memory. */
static bool
find(const void *ptr, struct ha_range *range)
{
    return ha_memory_find(ptr, range) && range->kind != HA_MEMORY_RESERVED;
}

/* Plain host memory is no error, though HIP does not know it. */
HA_EXPORT hipError_t
hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipPointerGetAttributes", &device);
    if (code == hipSuccess) {
        code = ha_need_both("attributes", attributes, "ptr", ptr);
    }
    if (code != hipSuccess) {
        return code;
    }
    memset(attributes, 0, sizeof *attributes);
    if (!find(ptr, &range)) {
        attributes->type = hipMemoryTypeUnregistered;
        attributes->device = HA_NOWHERE_ID;
        attributes->hostPointer = (void *)(uintptr_t)ptr;
        return hipSuccess;
    }
    attributes->type = type_of(range.kind);
    attributes->device = range.device;
    attributes->devicePointer = (void *)(uintptr_t)ptr;
    attributes->isManaged = range.kind == HA_MEMORY_MANAGED;
    attributes->allocationFlags = range.flags;
    if (is_host_kind(range.kind) || range.kind == HA_MEMORY_MANAGED) {
        attributes->hostPointer = (void *)(uintptr_t)ptr;
    }
    return hipSuccess;
}

/* ---- one by one ---- */

static void
write_flag(void *data, bool value)
{
    memcpy(data, &value, sizeof value);
}

static void
write_int(void *data, int value)
{
    memcpy(data, &value, sizeof value);
}

static void
write_number(void *data, uint64_t value)
{
    memcpy(data, &value, sizeof value);
}

static void
write_pointer(void *data, const void *value)
{
    memcpy(data, &value, sizeof value);
}

/* The attributes that are addresses or handles. */
static bool
address_write(void *data, hipPointer_attribute attribute, void *ptr,
              const struct ha_range *range)
{
    bool known = range != NULL;
    switch ((int)attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT:
        write_pointer(data, known ? ha_context_of(ha_device_get(range->device)) : NULL);
        return true;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        write_pointer(data, known ? ptr : NULL);
        return true;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        write_pointer(data, !known || is_host_kind(range->kind) ||
                                    range->kind == HA_MEMORY_MANAGED
                                ? ptr
                                : NULL);
        return true;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        write_pointer(data, known ? range->base : NULL);
        return true;
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        write_pointer(data, known ? ha_memory_pool_of(ptr) : NULL);
        return true;
    default:
        return false;
    }
}

/* Writes one attribute of an address; `range` is NULL for memory that HIP does not
 * know. False if there is no such attribute. */
static bool
attribute_write(void *data, hipPointer_attribute attribute, void *ptr,
                const struct ha_range *range)
{
    bool known = range != NULL;
    bool managed = known && range->kind == HA_MEMORY_MANAGED;
    switch ((int)attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        write_int(data, known ? (int)type_of(range->kind) : hipMemoryTypeUnregistered);
        return true;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        write_flag(data, known && range->sync);
        return true;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        write_number(data, known ? range->id : 0);
        return true;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
        write_flag(data, managed);
        return true;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        write_int(data, known ? range->device : HA_NOWHERE_ID);
        return true;
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
        write_int(data, known && range->kind == HA_MEMORY_DEVICE);
        return true;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        write_number(data, known ? range->size : 0);
        return true;
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        write_flag(data, known);
        return true;
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        write_number(data, known && range->kind == HA_MEMORY_MAPPED
                               ? hipMemHandleTypePosixFileDescriptor
                               : hipMemHandleTypeNone);
        return true;
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        write_int(data, false);
        return true;
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        write_int(data, known ? (int)range->access : 0);
        return true;
    default:
        return address_write(data, attribute, ptr, range);
    }
}

static hipError_t
no_attribute(hipPointer_attribute attribute)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "argument 'attribute': %d is not supported", (int)attribute);
}

HA_EXPORT hipError_t
hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipPointerGetAttribute", &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ptr == NULL ? ha_cpu_fail_null("ptr")
                       : ha_gone_check("data", data, sizeof(int));
    if (code != hipSuccess) {
        return code;
    }
    if (!find(ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p) is not memory that HIP knows", ptr);
    }
    return attribute_write(data, attribute, ptr, &range) ? hipSuccess
                                                         : no_attribute(attribute);
}

/* An address that HIP does not know is no failure here. */
HA_EXPORT hipError_t
hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute *attributes,
                           void **data, hipDeviceptr_t ptr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipDrvPointerGetAttributes", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (numAttributes == 0 || attributes == NULL || data == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "%u attributes in lists at %p and %p",
                           numAttributes, (void *)attributes, (void *)data);
    }
    if (ptr == NULL) {
        return ha_cpu_fail_null("ptr");
    }
    bool known = find(ptr, &range);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (data[i] == NULL) {
            return ha_cpu_fail_null("data");
        }
        if (!attribute_write(data[i], attributes[i], ptr, known ? &range : NULL)) {
            return no_attribute(attributes[i]);
        }
    }
    return hipSuccess;
}

/* Synchronous copies and fills of the CPU device always return when they are done, so
 * the attribute is only kept. */
HA_EXPORT hipError_t
hipPointerSetAttribute(const void *value, hipPointer_attribute attribute,
                       hipDeviceptr_t ptr)
{
    struct ha_device *device;
    unsigned char given;
    hipError_t code = ha_enter("hipPointerSetAttribute", &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ptr == NULL ? ha_cpu_fail_null("ptr") : ha_gone_check("value", value, 1);
    if (code != hipSuccess) {
        return code;
    }
    if (attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attribute' is %d; only "
                           "HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set",
                           (int)attribute);
    }
    memcpy(&given, value, sizeof given);
    if (!ha_memory_set_sync(ptr, given != 0)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p) is not memory that HIP knows", ptr);
    }
    return hipSuccess;
}

/* ---- allocations ---- */

HA_EXPORT hipError_t
hipMemPtrGetInfo(void *ptr, size_t *size)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipMemPtrGetInfo", &device);
    if (code == hipSuccess) {
        code = ha_need_both("ptr", ptr, "size", size);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (!find(ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p) is not memory that HIP knows", ptr);
    }
    *size = range.size;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipMemGetAddressRange", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (!find(dptr, &range)) {
        return ha_cpu_fail(hipErrorNotFound,
                           "argument 'dptr' (%p) is not memory that HIP knows", dptr);
    }
    if (pbase != NULL) {
        *pbase = range.base;
    }
    if (psize != NULL) {
        *psize = range.size;
    }
    return hipSuccess;
}
