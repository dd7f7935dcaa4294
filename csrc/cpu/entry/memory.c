/* SPDX-License-Identifier: MIT */
/* HIP entry points: allocation and host memory; cpu/entry/pool.c has allocation in
 * stream order, cpu/entry/pointer.c questions about addresses. */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/hip.h"
#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/reclaim.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/memory.h"

#define PITCH_ALIGN ((size_t)256)
#define HOST_MALLOC_FLAGS                                                              \
    (0x7u /* portable, mapped, write-combined */ | 0x10000000u /* uncached */ |        \
     (unsigned)hipHostMallocNumaUser | (unsigned)hipHostMallocCoherent |               \
     (unsigned)hipHostMallocNonCoherent)
#define HOST_REGISTER_FLAGS                                                            \
    0x8000000fu                 /* portable, mapped, io, read-only, uncached           \
                                 */
#define EXT_MALLOC_FLAGS_MAX 4u /* hipDeviceMallocContiguous */
#define SIGNAL_BYTES 8u

#define DEVICE_KINDS (1u << HA_MEMORY_DEVICE | 1u << HA_MEMORY_MANAGED)
#define ALL_KINDS (DEVICE_KINDS | 1u << HA_MEMORY_HOST | 1u << HA_MEMORY_POOL)

/* ---- allocation ---- */

static hipError_t
allocate(const char *function, enum ha_memory_kind kind, unsigned flags, size_t size,
         void **ptr)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe(function, &device);
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
    ha_checked_call();
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    code = ha_memory_alloc(device, kind, flags, size, ptr);
    if (code == hipSuccess && begin != 0) {
        int place = kind == HA_MEMORY_HOST ? -1 : device->id;
        ha_activity_memory(HA_ACTIVITY_ALLOCATE, place, *ptr, size, begin);
    }
    return code;
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
    if (flags == hipMallocSignalMemory && sizeBytes != SIGNAL_BYTES) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'sizeBytes' is %zu; a signal has %u bytes",
                           sizeBytes, SIGNAL_BYTES);
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
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x, which is not a set of hipHostMalloc "
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
hipExtHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return allocate_host("hipExtHostAlloc", ptr, size, flags);
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
    if (code == hipSuccess) {
        code = ha_need_both("ptr", ptr, "pitch", pitch);
    }
    if (code != hipSuccess) {
        return code;
    }
    size_t rounded = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (rounded < width || __builtin_mul_overflow(rounded, height, &bytes)) {
        return ha_cpu_fail(hipErrorOutOfMemory,
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

/* ---- freeing ---- */

static hipError_t
release(const char *function, void *ptr, unsigned kinds)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe(function, &device);
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    struct ha_range range;
    bool told = begin != 0 && ha_memory_find(ptr, &range) &&
                (1u << range.kind & (DEVICE_KINDS | 1u << HA_MEMORY_HOST)) != 0;
    code = code != hipSuccess ? code : ha_submit_free(ptr, kinds);
    if (code == hipSuccess && told) {
        ha_activity_memory(HA_ACTIVITY_FREE,
                           range.kind == HA_MEMORY_HOST ? -1 : range.device, ptr, 0,
                           begin);
    }
    return code;
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

/* ---- host memory of the program ---- */

/* Whether the whole range is mapped. */
static bool
is_there(const void *ptr, size_t size)
{
    unsigned char resident[1024];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)ptr / page * page;
    uintptr_t end = (uintptr_t)ptr + size;
    if (end < (uintptr_t)ptr) {
        return false;
    }
    while (at < end) {
        uintptr_t bytes = sizeof resident * page;
        bytes = end - at < bytes ? end - at : bytes;
        if (mincore((void *)at, bytes, resident) != 0 && errno == ENOMEM) {
            return false;
        }
        at += bytes;
    }
    return true;
}

HA_EXPORT hipError_t
hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipHostRegister", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (hostPtr == NULL || sizeBytes == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "%zu bytes at %p are not memory",
                           sizeBytes, hostPtr);
    }
    if ((flags & ~HOST_REGISTER_FLAGS) != 0) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x, which is not a set of hipHostRegister flags",
            flags);
    }
    if (!is_there(hostPtr, sizeBytes)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "not all of the %zu bytes at %p are memory", sizeBytes,
                           hostPtr);
    }
    ha_checked_call();
    return ha_memory_add_foreign(device->id, HA_MEMORY_REGISTERED, flags, hostPtr,
                                 sizeBytes);
}

HA_EXPORT hipError_t
hipHostUnregister(void *hostPtr)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipHostUnregister", "hostPtr", hostPtr, &device);
    ha_checked_call();
    return code == hipSuccess ? ha_reclaim_registered(hostPtr) : code;
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
    hipError_t code =
        ha_enter_out("hipHostGetDevicePointer", "devPtr", devPtr, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code != hipSuccess) {
        return code;
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
    hipError_t code = ha_enter_out("hipHostGetFlags", "flagsPtr", flagsPtr, &device);
    if (code != hipSuccess) {
        return code;
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

HA_EXPORT hipError_t
hipMemGetInfo(size_t *free, size_t *total)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipMemGetInfo", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (free != NULL) {
        *free = device->memory_bytes - atomic_load(&device->memory_used);
    }
    if (total != NULL) {
        *total = device->memory_bytes;
    }
    return hipSuccess;
}
