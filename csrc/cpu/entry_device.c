/* SPDX-License-Identifier: MIT */
/* HIP entry points: start, versions, devices and their settings. */
#include <stdio.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/heap.h"
#include "cpu/print.h"
#include "cpu/exec.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/runtime.h"

#define HIP_VERSION_NUMBER 70125424 /* the ABI of HIP 7.1 */
#define PCI_ID_BYTES 13             /* "0000:00:00.0" and the NUL */
#define DEVICE_FLAGS 0x1fu          /* schedule bits, map host, resize to max */
#define HEAP_BYTES_MAX ((size_t)1 << 40)

/* Begins an entry point that asks about the device with this number. */
static hipError_t
enter_for_device(const char *function, int id, struct ha_device **device)
{
    hipError_t code = ha_enter_query(function);
    if (code != hipSuccess) {
        return code;
    }
    *device = ha_device_get(id);
    if (*device == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "there is no device %d (there are %d)", id,
                           ha_config()->device_count);
    }
    return hipSuccess;
}

/* Begins an entry point that asks about the current device. */
static hipError_t
enter_for_current(const char *function, struct ha_device **device)
{
    return enter_for_device(function, ha_thread_self()->device, device);
}

HA_EXPORT hipError_t
hipInit(unsigned int flags)
{
    ha_thread_self()->function = "hipInit";
    if (flags != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is %u, must be 0",
                           flags);
    }
    ha_thread_self()->last_call = hipSuccess;
    return ha_runtime_init();
}

HA_EXPORT hipError_t
hipDriverGetVersion(int *driverVersion)
{
    hipError_t code = ha_enter_query("hipDriverGetVersion");
    if (code != hipSuccess) {
        return code;
    }
    if (driverVersion == NULL) {
        return ha_cpu_fail_null("driverVersion");
    }
    *driverVersion = HIP_VERSION_NUMBER;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipRuntimeGetVersion(int *runtimeVersion)
{
    hipError_t code = ha_enter_query("hipRuntimeGetVersion");
    if (code != hipSuccess) {
        return code;
    }
    if (runtimeVersion == NULL) {
        return ha_cpu_fail_null("runtimeVersion");
    }
    *runtimeVersion = HIP_VERSION_NUMBER;
    return hipSuccess;
}

/* ---- which device ---- */

HA_EXPORT hipError_t
hipGetDeviceCount(int *count)
{
    hipError_t code = ha_enter_query("hipGetDeviceCount");
    if (code != hipSuccess) {
        return code;
    }
    if (count == NULL) {
        return ha_cpu_fail_null("count");
    }
    *count = ha_config()->device_count;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGet(hipDevice_t *device, int ordinal)
{
    struct ha_device *found;
    hipError_t code = enter_for_device("hipDeviceGet", ordinal, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (device == NULL) {
        return ha_cpu_fail_null("device");
    }
    *device = (hipDevice_t)found->id;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipSetDevice(int deviceId)
{
    struct ha_device *device;
    hipError_t code = enter_for_device("hipSetDevice", deviceId, &device);
    if (code == hipSuccess) {
        ha_thread_self()->device = deviceId;
    }
    return code;
}

HA_EXPORT hipError_t
hipGetDevice(int *deviceId)
{
    hipError_t code = ha_enter_query("hipGetDevice");
    if (code != hipSuccess) {
        return code;
    }
    if (deviceId == NULL) {
        return ha_cpu_fail_null("deviceId");
    }
    *deviceId = ha_thread_self()->device;
    return hipSuccess;
}

/* All devices are alike: the first one that the wishes do not rule out. */
HA_EXPORT hipError_t
hipChooseDeviceR0600(int *device, const hipDeviceProp_t *prop)
{
    hipError_t code = ha_enter_query("hipChooseDevice");
    if (code != hipSuccess) {
        return code;
    }
    if (device == NULL) {
        return ha_cpu_fail_null("device");
    }
    if (prop == NULL) {
        return ha_cpu_fail_null("prop");
    }
    *device = 0;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    unsigned domain = 0;
    unsigned bus;
    unsigned slot;
    hipError_t code = ha_enter_query("hipDeviceGetByPCIBusId");
    if (code != hipSuccess) {
        return code;
    }
    if (device == NULL) {
        return ha_cpu_fail_null("device");
    }
    if (pciBusId == NULL) {
        return ha_cpu_fail_null("pciBusId");
    }
    if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(pciBusId, "%x:%x", &bus, &slot) != 2) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'pciBusId': '%.32s' is not "
                               "domain:bus:device.function",
                               pciBusId);
        }
    }
    if (domain != 0 || slot != 0 || bus >= (unsigned)ha_config()->device_count) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "argument 'pciBusId': there is no device '%.32s'", pciBusId);
    }
    *device = (int)bus;
    return hipSuccess;
}

/* ---- what it is ---- */

HA_EXPORT hipError_t
hipGetDevicePropertiesR0600(hipDeviceProp_t *prop, int deviceId)
{
    struct ha_device *device;
    hipError_t code = enter_for_device("hipGetDeviceProperties", deviceId, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (prop == NULL) {
        return ha_cpu_fail_null("prop");
    }
    ha_device_properties(device, prop);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId)
{
    struct ha_device *device;
    hipError_t code = enter_for_device("hipDeviceGetAttribute", deviceId, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (pi == NULL) {
        return ha_cpu_fail_null("pi");
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
    hipError_t code = enter_for_device("hipDeviceGetName", (int)device, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (name == NULL) {
        return ha_cpu_fail_null("name");
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
    hipError_t code = enter_for_device("hipDeviceGetUuid", (int)device, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (uuid == NULL) {
        return ha_cpu_fail_null("uuid");
    }
    ha_device_properties(found, &properties);
    *uuid = properties.uuid;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    struct ha_device *found;
    hipError_t code = enter_for_device("hipDeviceGetPCIBusId", device, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (pciBusId == NULL) {
        return ha_cpu_fail_null("pciBusId");
    }
    if (len < PCI_ID_BYTES) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'len' is %d; the name takes %d bytes", len,
                           PCI_ID_BYTES);
    }
    snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", (unsigned)found->id & 0xffu);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    struct ha_device *found;
    hipError_t code = enter_for_device("hipDeviceTotalMem", (int)device, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (bytes == NULL) {
        return ha_cpu_fail_null("bytes");
    }
    *bytes = found->memory_bytes;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
    struct ha_device *found;
    hipDeviceProp_t properties;
    hipError_t code =
        enter_for_device("hipDeviceComputeCapability", (int)device, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (major == NULL || minor == NULL) {
        return ha_cpu_fail_null(major == NULL ? "major" : "minor");
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

/* ---- all of its work ---- */

HA_EXPORT hipError_t
hipDeviceSynchronize(void)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDeviceSynchronize", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_pool_wait_device(device, 0) != hipSuccess) {
        return ha_cpu_fail(hipErrorNotReady, "interrupted; work of the device goes on");
    }
    ha_exec_flush_print();
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceReset(void)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceReset", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_thread_self()->in_host_function) {
        return ha_cpu_fail(HA_ERROR_IN_HOST_FUNCTION,
                           "a host function of a stream may not call it");
    }
    return ha_runtime_reset_device(device);
}

/* ---- settings ---- */

HA_EXPORT hipError_t
hipDeviceGetLimit(size_t *pValue, hipLimit_t limit)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceGetLimit", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (pValue == NULL) {
        return ha_cpu_fail_null("pValue");
    }
    switch ((int)limit) {
    case hipLimitStackSize:
        *pValue = atomic_load(&device->stack_bytes);
        return hipSuccess;
    case hipLimitMallocHeapSize:
        *pValue = ha_heap_limit();
        return hipSuccess;
    case hipLimitPrintfFifoSize:
        *pValue = ha_print_limit();
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorUnsupportedLimit,
                           "argument 'limit': the device has no limit %d", (int)limit);
    }
}

HA_EXPORT hipError_t
hipDeviceSetLimit(hipLimit_t limit, size_t value)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDeviceSetLimit", &device);
    if (code != hipSuccess) {
        return code;
    }
    switch ((int)limit) {
    case hipLimitStackSize:
        if (value > HA_STACK_BYTES_MAX) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'value' is %zu; a stack may have %u bytes",
                               value, HA_STACK_BYTES_MAX);
        }
        atomic_store(&device->stack_bytes,
                     value < HA_STACK_BYTES_MIN ? HA_STACK_BYTES_MIN : (uint32_t)value);
        return hipSuccess;
    case hipLimitMallocHeapSize:
    case hipLimitPrintfFifoSize:
        if (value > HEAP_BYTES_MAX) {
            return ha_cpu_fail(hipErrorInvalidValue, "argument 'value' is %zu", value);
        }
        if (limit == hipLimitPrintfFifoSize) {
            ha_print_set_limit(value);
        } else if (!ha_heap_set_limit(value)) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'limit': a kernel has allocated memory already");
        }
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorUnsupportedLimit,
                           "argument 'limit': the device has no limit %d", (int)limit);
    }
}

HA_EXPORT hipError_t
hipGetDeviceFlags(unsigned int *flags)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipGetDeviceFlags", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags == NULL) {
        return ha_cpu_fail_null("flags");
    }
    *flags = atomic_load(&device->flags);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipSetDeviceFlags(unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipSetDeviceFlags", &device);
    if (code != hipSuccess) {
        return code;
    }
    unsigned schedule = flags & hipDeviceScheduleMask;
    if ((flags & ~DEVICE_FLAGS) != 0 || (schedule & (schedule - 1)) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x, which is no set of device flags",
                           flags);
    }
    atomic_store(&device->flags, flags);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceGetCacheConfig", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (cacheConfig == NULL) {
        return ha_cpu_fail_null("cacheConfig");
    }
    *cacheConfig = (hipFuncCache_t)atomic_load(&device->cache_config);
    return hipSuccess;
}

/* The device has no such choice: the wish is kept and changes nothing, as in HIP. */
HA_EXPORT hipError_t
hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceSetCacheConfig", &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((int)cacheConfig < hipFuncCachePreferNone ||
        (int)cacheConfig > hipFuncCachePreferEqual) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'cacheConfig' is %d",
                           (int)cacheConfig);
    }
    atomic_store(&device->cache_config, (int)cacheConfig);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceGetSharedMemConfig", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (pConfig == NULL) {
        return ha_cpu_fail_null("pConfig");
    }
    *pConfig = (hipSharedMemConfig)atomic_load(&device->shared_config);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
    struct ha_device *device;
    hipError_t code = enter_for_current("hipDeviceSetSharedMemConfig", &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((int)config < hipSharedMemBankSizeDefault ||
        (int)config > hipSharedMemBankSizeEightByte) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'config' is %d",
                           (int)config);
    }
    atomic_store(&device->shared_config, (int)config);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int *flags, int *active)
{
    struct ha_device *device;
    hipError_t code =
        enter_for_device("hipDevicePrimaryCtxGetState", (int)dev, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags == NULL || active == NULL) {
        return ha_cpu_fail_null(flags == NULL ? "flags" : "active");
    }
    *flags = atomic_load(&device->flags);
    *active = device->id == ha_thread_self()->device;
    return hipSuccess;
}
