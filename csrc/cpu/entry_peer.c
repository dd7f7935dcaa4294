/* SPDX-License-Identifier: MIT */
/* HIP entry points: access between devices, and hints about managed memory.
 *
 * All devices work in one address space, so each may reach each other's memory, hints
 * have nothing to move, and only HIP's rules about them are left to keep. */
#include "abi/hip.h"
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/memory.h"
#include "cpu/runtime.h"
#include "cpu/stream.h"

#define CPU_DEVICE_ID (-1) /* hipCpuDeviceId */

static hipError_t
check_device(const char *argument, int id)
{
    if (ha_device_get(id) == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "argument '%s': there is no device %d (there are %d)",
                           argument, id, ha_config()->device_count);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId)
{
    hipError_t code = ha_enter_query("hipDeviceCanAccessPeer");
    if (code == hipSuccess && canAccessPeer == NULL) {
        code = ha_cpu_fail_null("canAccessPeer");
    }
    if (code == hipSuccess) {
        code = check_device("deviceId", deviceId);
    }
    if (code == hipSuccess) {
        code = check_device("peerDeviceId", peerDeviceId);
    }
    if (code == hipSuccess) {
        *canAccessPeer = deviceId != peerDeviceId;
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attr, int srcDevice,
                         int dstDevice)
{
    hipError_t code = ha_enter_query("hipDeviceGetP2PAttribute");
    if (code == hipSuccess && value == NULL) {
        code = ha_cpu_fail_null("value");
    }
    if (code == hipSuccess) {
        code = check_device("srcDevice", srcDevice);
    }
    if (code == hipSuccess) {
        code = check_device("dstDevice", dstDevice);
    }
    if (code == hipSuccess && srcDevice == dstDevice) {
        code =
            ha_cpu_fail(hipErrorInvalidDevice, "both devices are device %d", srcDevice);
    }
    if (code != hipSuccess) {
        return code;
    }
    switch ((int)attr) {
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return hipSuccess;
    case hipDevP2PAttrPerformanceRank:
    case hipDevP2PAttrHipArrayAccessSupported:
        *value = 0;
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'attr' is %d", (int)attr);
    }
}

/* Begins a call that changes the current device's access to another one. */
static hipError_t
enter_for_peer(const char *function, int peer, struct ha_device **device)
{
    hipError_t code = ha_enter(function, device);
    if (code == hipSuccess) {
        code = check_device("peerDeviceId", peer);
    }
    if (code == hipSuccess && peer == (*device)->id) {
        code = ha_cpu_fail(hipErrorInvalidDevice,
                           "argument 'peerDeviceId': %d is the current device", peer);
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code =
        enter_for_peer("hipDeviceEnablePeerAccess", peerDeviceId, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x, must be 0",
                           flags);
    }
    uint32_t bit = 1u << peerDeviceId;
    if ((atomic_fetch_or(&device->peers, bit) & bit) != 0) {
        return ha_cpu_fail(hipErrorPeerAccessAlreadyEnabled,
                           "device %d has access to device %d already", device->id,
                           peerDeviceId);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceDisablePeerAccess(int peerDeviceId)
{
    struct ha_device *device;
    hipError_t code =
        enter_for_peer("hipDeviceDisablePeerAccess", peerDeviceId, &device);
    if (code != hipSuccess) {
        return code;
    }
    uint32_t bit = 1u << peerDeviceId;
    if ((atomic_fetch_and(&device->peers, ~bit) & bit) == 0) {
        return ha_cpu_fail(hipErrorPeerAccessNotEnabled,
                           "device %d has no access to device %d enabled", device->id,
                           peerDeviceId);
    }
    return hipSuccess;
}

/* ---- managed memory ---- */

static hipError_t
check_managed(const void *ptr, size_t count, int device)
{
    struct ha_range range;
    if (device != CPU_DEVICE_ID && ha_device_get(device) == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "argument 'device': there is no device %d", device);
    }
    if (ptr == NULL || count == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "%zu bytes at %p are no memory", count,
                           ptr);
    }
    if (!ha_memory_find(ptr, &range) || range.kind != HA_MEMORY_MANAGED) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'dev_ptr' (%p) is not managed memory", ptr);
    }
    return ha_memory_check("dev_ptr", ptr, count, true, NULL);
}

HA_EXPORT hipError_t
hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    struct ha_device *current;
    struct ha_stream *found;
    hipError_t code = ha_enter("hipMemPrefetchAsync", &current);
    if (code == hipSuccess) {
        code = check_managed(dev_ptr, count, device);
    }
    if (code == hipSuccess) {
        code = ha_stream_lock(stream, current, &found);
    }
    if (code == hipSuccess) {
        ha_pool_unlock();
    }
    return code;
}

HA_EXPORT hipError_t
hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device)
{
    struct ha_device *current;
    hipError_t code = ha_enter("hipMemAdvise", &current);
    if (code != hipSuccess) {
        return code;
    }
    int number = (int)advice;
    if ((number < hipMemAdviseSetReadMostly || number > hipMemAdviseUnsetAccessedBy) &&
        number != hipMemAdviseSetCoarseGrain &&
        number != hipMemAdviseUnsetCoarseGrain) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'advice' is %d, which is no hipMemoryAdvise",
                           number);
    }
    return check_managed(dev_ptr, count, device);
}
