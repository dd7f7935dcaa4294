/* SPDX-License-Identifier: MIT */
/* HIP entry points: identity, properties and attributes of devices. */
#include <stdio.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/device_properties_old.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/pool.h"

#define PCI_ID_BYTES 13 /* "0000:00:00.0" and the NUL */

HA_EXPORT hipError_t
hipGetDevicePropertiesR0600(hipDeviceProp_t *prop, int deviceId)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device_out("hipGetDeviceProperties", deviceId,
                                              "prop", prop, &device);
    if (code == hipSuccess) {
        ha_device_properties(device, prop);
    }
    return code;
}

/* Programs that were built for HIP 5 know this function as hipGetDeviceProperties. */
HA_EXPORT hipError_t
hipGetDevicePropertiesR0000(struct hipDeviceProp_tR0000 *prop, int device)
{
    struct ha_device *found;
    hipError_t code =
        ha_enter_for_device_out("hipGetDeviceProperties", device, "prop", prop, &found);
    if (code == hipSuccess) {
        ha_device_properties_old(found, prop);
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_for_device_out("hipDeviceGetAttribute", deviceId, "pi", pi, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (!ha_device_attribute(device, attr, pi)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attr': the device has no attribute %d",
                           (int)attr);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetName(char *name, int len, hipDevice_t device)
{
    struct ha_device *found;
    hipDeviceProp_t properties;
    hipError_t code =
        ha_enter_for_device_out("hipDeviceGetName", (int)device, "name", name, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (len <= 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'len' is %d", len);
    }
    ha_device_properties(found, &properties);
    snprintf(name, (size_t)len, "%s", properties.name);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    struct ha_device *found;
    hipDeviceProp_t properties;
    hipError_t code =
        ha_enter_for_device_out("hipDeviceGetUuid", (int)device, "uuid", uuid, &found);
    if (code != hipSuccess) {
        return code;
    }
    ha_device_properties(found, &properties);
    *uuid = properties.uuid;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    struct ha_device *found;
    hipError_t code = ha_enter_for_device_out("hipDeviceGetPCIBusId", device,
                                              "pciBusId", pciBusId, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (len > 0) {
        snprintf(pciBusId, (size_t)len, "0000:%02x:00.0",
                 (unsigned)found->ordinal & 0xffu);
    }
    if (len < PCI_ID_BYTES) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'len' is %d; the name takes %d bytes", len,
                           PCI_ID_BYTES);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    struct ha_device *found;
    hipError_t code = ha_enter_for_device_out("hipDeviceTotalMem", (int)device, "bytes",
                                              bytes, &found);
    if (code == hipSuccess) {
        *bytes = found->memory_bytes;
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
    struct ha_device *found;
    hipDeviceProp_t properties;
    hipError_t code =
        ha_enter_for_device("hipDeviceComputeCapability", (int)device, &found);
    if (code == hipSuccess) {
        code = ha_need_both("major", major, "minor", minor);
    }
    if (code != hipSuccess) {
        return code;
    }
    ha_device_properties(found, &properties);
    *major = properties.major;
    *minor = properties.minor;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    hipError_t code = ha_enter_query("hipDeviceGetStreamPriorityRange");
    if (code != hipSuccess) {
        return code;
    }
    if (leastPriority != NULL) {
        *leastPriority = HA_PRIORITY_LOW;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = HA_PRIORITY_HIGH;
    }
    return hipSuccess;
}
