/* SPDX-License-Identifier: MIT */
/* HIP entry points: access between devices.
 *
 * All devices work in one address space, so each may reach each other's memory, and
 * only HIP's rules about it are left to keep. */
#include "cpu/entry/peer.h"

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"

#define LINK_HYPERTRANSPORT 0u /* of hsa_amd_link_info_type_t */

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
    hipError_t code =
        ha_enter_query_out("hipDeviceCanAccessPeer", "canAccessPeer", canAccessPeer);
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
    hipError_t code = ha_enter_query_out("hipDeviceGetP2PAttribute", "value", value);
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

static hipError_t
check_peer(const struct ha_device *device, int peer)
{
    hipError_t code = check_device("peerDeviceId", peer);
    if (code == hipSuccess && peer == device->id) {
        code = ha_cpu_fail(hipErrorInvalidDevice,
                           "argument 'peerDeviceId': %d is the current device", peer);
    }
    return code;
}

hipError_t
ha_peer_enable(struct ha_device *device, int peer, unsigned flags)
{
    hipError_t code = check_peer(device, peer);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    uint32_t bit = 1u << peer;
    if ((atomic_fetch_or(&device->peers, bit) & bit) != 0) {
        return ha_cpu_fail(hipErrorPeerAccessAlreadyEnabled,
                           "device %d has access to device %d already", device->id,
                           peer);
    }
    return hipSuccess;
}

hipError_t
ha_peer_disable(struct ha_device *device, int peer)
{
    hipError_t code = check_peer(device, peer);
    if (code != hipSuccess) {
        return code;
    }
    uint32_t bit = 1u << peer;
    if ((atomic_fetch_and(&device->peers, ~bit) & bit) == 0) {
        return ha_cpu_fail(hipErrorPeerAccessNotEnabled,
                           "device %d has no access to device %d enabled", device->id,
                           peer);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDeviceEnablePeerAccess", &device);
    return code != hipSuccess ? code : ha_peer_enable(device, peerDeviceId, flags);
}

HA_EXPORT hipError_t
hipDeviceDisablePeerAccess(int peerDeviceId)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDeviceDisablePeerAccess", &device);
    return code != hipSuccess ? code : ha_peer_disable(device, peerDeviceId);
}

/* Devices are threads of one machine: what lies between two of them is the coherent
 * link between its cores, which HSA counts as HyperTransport. */
HA_EXPORT hipError_t
hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t *linktype,
                             uint32_t *hopcount)
{
    hipError_t code = ha_enter_query("hipExtGetLinkTypeAndHopCount");
    if (code == hipSuccess) {
        code = ha_need_both("linktype", linktype, "hopcount", hopcount);
    }
    if (code == hipSuccess && (device1 == device2 || device1 < 0 || device2 < 0)) {
        code = ha_cpu_fail(
            hipErrorInvalidValue,
            "arguments 'device1' and 'device2' are %d and %d, which are not "
            "two devices",
            device1, device2);
    }
    if (code == hipSuccess) {
        code = check_device("device1", device1);
    }
    if (code == hipSuccess) {
        code = check_device("device2", device2);
    }
    if (code == hipSuccess) {
        *linktype = LINK_HYPERTRANSPORT;
        *hopcount = 1;
    }
    return code;
}
