/* SPDX-License-Identifier: MIT */
/* HIP entry points: allocation, host memory, and questions about addresses. */
#include <stdbool.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/reclaim.h"
#include "cpu/runtime.h"
#include "cpu/stream.h"

#define PITCH_ALIGN ((size_t)256)
#define INVALID_DEVICE (-2) /* hipInvalidDeviceId */
#define HOST_MALLOC_FLAGS                                                              \
    (0x7u /* portable, mapped, write-combined */ | 0x10000000u /* uncached */ |        \
     (unsigned)hipHostMallocNumaUser | (unsigned)hipHostMallocCoherent |               \
     (unsigned)hipHostMallocNonCoherent)
#define HOST_REGISTER_FLAGS                                                            \
    0x8000000fu                 /* portable, mapped, io, read-only, uncached           \
                                 */
#define EXT_MALLOC_FLAGS_MAX 4u /* hipDeviceMallocContiguous */

#define DEVICE_KINDS (1u << HA_MEMORY_DEVICE | 1u << HA_MEMORY_MANAGED)
#define ALL_KINDS (DEVICE_KINDS | 1u << HA_MEMORY_HOST)

/* ---- allocation ---- */

static hipError_t
allocate(const char *function, enum ha_memory_kind kind, unsigned flags, size_t size,
         void **ptr)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (ptr == NULL) {
        return ha_cpu_fail_null("ptr");
    }
    if (size == 0) {
        *ptr = NULL;
        return hipSuccess;
    }
    return ha_memory_alloc(device, kind, flags, size, ptr);
}

HA_EXPORT hipError_t
hipMalloc(void **ptr, size_t size)
{
    return allocate("hipMalloc", HA_MEMORY_DEVICE, 0, size, ptr);
}

/* All memory of the CPU device is coherent and cached: the flags change nothing. */
HA_EXPORT hipError_t
hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipExtMallocWithFlags", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags > EXT_MALLOC_FLAGS_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    return allocate("hipExtMallocWithFlags", HA_MEMORY_DEVICE, flags, sizeBytes, ptr);
}

HA_EXPORT hipError_t
hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMallocManaged", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (size == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'size' is 0");
    }
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x; it must be hipMemAttachGlobal or "
                           "hipMemAttachHost",
                           flags);
    }
    return allocate("hipMallocManaged", HA_MEMORY_MANAGED, flags, size, dev_ptr);
}

static hipError_t
allocate_host(const char *function, void **ptr, size_t size, unsigned flags)
{
    const unsigned both =
        (unsigned)hipHostMallocCoherent | (unsigned)hipHostMallocNonCoherent;
    hipError_t code = ha_enter_query(function);
    if (code != hipSuccess) {
        return code;
    }
    if ((flags & ~HOST_MALLOC_FLAGS) != 0 || (flags & both) == both) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x, which is no set of hipHostMalloc "
                           "flags",
                           flags);
    }
    return allocate(function, HA_MEMORY_HOST, flags, size, ptr);
}

HA_EXPORT hipError_t
hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
    return allocate_host("hipHostMalloc", ptr, size, flags);
}

HA_EXPORT hipError_t
hipHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return allocate_host("hipHostAlloc", ptr, size, flags);
}

HA_EXPORT hipError_t
hipMallocHost(void **ptr, size_t size)
{
    return allocate_host("hipMallocHost", ptr, size, hipHostMallocDefault);
}

HA_EXPORT hipError_t
hipMemAllocHost(void **ptr, size_t size)
{
    return allocate_host("hipMemAllocHost", ptr, size, hipHostMallocDefault);
}

static hipError_t
allocate_pitch(const char *function, void **ptr, size_t *pitch, size_t width,
               size_t height)
{
    size_t bytes;
    hipError_t code = ha_enter_query(function);
    if (code != hipSuccess) {
        return code;
    }
    if (ptr == NULL || pitch == NULL) {
        return ha_cpu_fail_null(ptr == NULL ? "ptr" : "pitch");
    }
    size_t rounded = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (rounded < width || __builtin_mul_overflow(rounded, height, &bytes)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu rows of %zu bytes are more than there can be", height,
                           width);
    }
    void *address;
    code = allocate(function, HA_MEMORY_DEVICE, 0, bytes, &address);
    if (code != hipSuccess) {
        return code;
    }
    *ptr = address;
    *pitch = rounded;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
    return allocate_pitch("hipMallocPitch", ptr, pitch, width, height);
}

HA_EXPORT hipError_t
hipMemAllocPitch(hipDeviceptr_t *dptr, size_t *pitch, size_t widthInBytes,
                 size_t height, unsigned int elementSizeBytes)
{
    hipError_t code = ha_enter_query("hipMemAllocPitch");
    if (code != hipSuccess) {
        return code;
    }
    if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'elementSizeBytes' is %u; it must be 4, 8 or 16",
                           elementSizeBytes);
    }
    return allocate_pitch("hipMemAllocPitch", dptr, pitch, widthInBytes, height);
}

HA_EXPORT hipError_t
hipMallocAsync(void **dev_ptr, size_t size, hipStream_t handle)
{
    struct ha_device *device;
    struct ha_stream *stream;
    hipError_t code = ha_enter("hipMallocAsync", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (dev_ptr == NULL) {
        return ha_cpu_fail_null("dev_ptr");
    }
    code = ha_stream_lock(handle, device, &stream);
    if (code != hipSuccess) {
        return code;
    }
    device = stream->queue.device;
    ha_pool_unlock();
    /* Nobody else has the address yet, so it is in time for the stream. */
    if (size == 0) {
        *dev_ptr = NULL;
        return hipSuccess;
    }
    return ha_memory_alloc(device, HA_MEMORY_DEVICE, 0, size, dev_ptr);
}

/* ---- freeing ---- */

static hipError_t
release(const char *function, void *ptr, unsigned kinds)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    return code != hipSuccess ? code : ha_reclaim(ptr, kinds);
}

HA_EXPORT hipError_t
hipFree(void *ptr)
{
    return release("hipFree", ptr, ALL_KINDS);
}

HA_EXPORT hipError_t
hipHostFree(void *ptr)
{
    return release("hipHostFree", ptr, 1u << HA_MEMORY_HOST);
}

HA_EXPORT hipError_t
hipFreeHost(void *ptr)
{
    return release("hipFreeHost", ptr, 1u << HA_MEMORY_HOST);
}

HA_EXPORT hipError_t
hipFreeAsync(void *dev_ptr, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipFreeAsync", &device);
    return code != hipSuccess ? code : ha_reclaim_async(dev_ptr, stream, device);
}

/* ---- host memory of the program ---- */

HA_EXPORT hipError_t
hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipHostRegister", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (hostPtr == NULL || sizeBytes == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "%zu bytes at %p are no memory",
                           sizeBytes, hostPtr);
    }
    if ((flags & ~HOST_REGISTER_FLAGS) != 0) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x, which is no set of hipHostRegister "
            "flags",
            flags);
    }
    return ha_memory_add_foreign(device->id, HA_MEMORY_REGISTERED, flags, hostPtr,
                                 sizeBytes);
}

HA_EXPORT hipError_t
hipHostUnregister(void *hostPtr)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipHostUnregister", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (hostPtr == NULL) {
        return ha_cpu_fail_null("hostPtr");
    }
    return ha_reclaim_registered(hostPtr);
}

static bool
is_host_kind(enum ha_memory_kind kind)
{
    return kind == HA_MEMORY_HOST || kind == HA_MEMORY_REGISTERED;
}

HA_EXPORT hipError_t
hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipHostGetDevicePointer", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (devPtr == NULL) {
        return ha_cpu_fail_null("devPtr");
    }
    if (flags != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x, must be 0",
                           flags);
    }
    if (hstPtr == NULL || !ha_memory_find(hstPtr, &range) ||
        !(is_host_kind(range.kind) || range.kind == HA_MEMORY_MANAGED)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'hstPtr' (%p) is not pinned or registered host memory", hstPtr);
    }
    *devPtr = hstPtr;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipHostGetFlags", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flagsPtr == NULL) {
        return ha_cpu_fail_null("flagsPtr");
    }
    if (hostPtr == NULL || !ha_memory_find(hostPtr, &range) ||
        !is_host_kind(range.kind)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'hostPtr' (%p) is not pinned or registered host memory", hostPtr);
    }
    *flagsPtr = range.flags;
    return hipSuccess;
}

/* ---- questions ---- */

static hipMemoryType
type_of(enum ha_memory_kind kind)
{
    switch (kind) {
    case HA_MEMORY_MANAGED:
        return hipMemoryTypeManaged;
    case HA_MEMORY_HOST:
    case HA_MEMORY_REGISTERED:
        return hipMemoryTypeHost;
    default:
        return hipMemoryTypeDevice;
    }
}

/* Plain host memory is no error: it is memory that HIP does not know. */
HA_EXPORT hipError_t
hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipPointerGetAttributes", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (attributes == NULL || ptr == NULL) {
        return ha_cpu_fail_null(attributes == NULL ? "attributes" : "ptr");
    }
    memset(attributes, 0, sizeof *attributes);
    if (!ha_memory_find(ptr, &range)) {
        attributes->type = hipMemoryTypeUnregistered;
        attributes->device = INVALID_DEVICE;
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

/* Writes one attribute of an address inside `range`; false if it is not supported. */
static bool
attribute_write(void *data, hipPointer_attribute attribute, void *ptr,
                const struct ha_range *range)
{
    bool host = is_host_kind(range->kind) || range->kind == HA_MEMORY_MANAGED;
    switch ((int)attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = (unsigned)type_of(range->kind);
        return true;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(void **)data = ptr;
        return true;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = host ? ptr : NULL;
        return true;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(bool *)data = false;
        return true;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        *(uint64_t *)data = range->id;
        return true;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
        *(bool *)data = range->kind == HA_MEMORY_MANAGED;
        return true;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = range->device;
        return true;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(void **)data = range->base;
        return true;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range->size;
        return true;
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        *(bool *)data = true;
        return true;
    default:
        return false;
    }
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
    if (data == NULL || ptr == NULL) {
        return ha_cpu_fail_null(data == NULL ? "data" : "ptr");
    }
    if (!ha_memory_find(ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p) is not memory that HIP knows", ptr);
    }
    if (!attribute_write(data, attribute, ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attribute': %d is not supported", (int)attribute);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipMemGetInfo(size_t *free, size_t *total)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemGetInfo", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (free == NULL || total == NULL) {
        return ha_cpu_fail_null(free == NULL ? "free" : "total");
    }
    *free = device->memory_bytes - atomic_load(&device->memory_used);
    *total = device->memory_bytes;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipMemPtrGetInfo(void *ptr, size_t *size)
{
    struct ha_device *device;
    struct ha_range range;
    hipError_t code = ha_enter("hipMemPtrGetInfo", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (ptr == NULL || size == NULL) {
        return ha_cpu_fail_null(ptr == NULL ? "ptr" : "size");
    }
    if (!ha_memory_find(ptr, &range)) {
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
    if (!ha_memory_find(dptr, &range)) {
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
