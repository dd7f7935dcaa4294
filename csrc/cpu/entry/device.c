/* SPDX-License-Identifier: MIT */
/* HIP entry points: start, versions, devices and their settings. */
#include "cpu/entry/device.h"

#include <stdio.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/thread.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/exec/exec.h"
#include "cpu/exec/heap.h"
#include "cpu/exec/print.h"
#include "cpu/graph/capture.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/pool.h"

#define DEVICE_FLAGS 0x1fu /* schedule bits, map host, resize to max */
#define HEAP_BYTES_MAX ((size_t)1 << 40)

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
    hipError_t code =
        ha_enter_query_out("hipDriverGetVersion", "driverVersion", driverVersion);
    if (code == hipSuccess) {
        *driverVersion = HIP_VERSION_NUMBER;
    }
    return code;
}

HA_EXPORT hipError_t
hipRuntimeGetVersion(int *runtimeVersion)
{
    hipError_t code =
        ha_enter_query_out("hipRuntimeGetVersion", "runtimeVersion", runtimeVersion);
    if (code == hipSuccess) {
        *runtimeVersion = HIP_VERSION_NUMBER;
    }
    return code;
}

/* ---- which device ---- */

HA_EXPORT hipError_t
hipGetDeviceCount(int *count)
{
    hipError_t code = ha_enter_query("hipGetDeviceCount");
    if (code == hipErrorNoDevice && count != NULL) {
        *count = 0;
    }
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
    hipError_t code =
        ha_enter_for_device_out("hipDeviceGet", ordinal, "device", device, &found);
    if (code == hipSuccess) {
        *device = (hipDevice_t)found->id;
    }
    return code;
}

HA_EXPORT hipError_t
hipSetDevice(int deviceId)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_device("hipSetDevice", deviceId, &device);
    if (code == hipSuccess) {
        ha_thread_self()->device = deviceId;
    }
    return code;
}

/* The first device of the list becomes the thread's, unless the list has its device. An
 * empty list changes nothing. */
HA_EXPORT hipError_t
hipSetValidDevices(int *device_arr, int len)
{
    hipError_t code = ha_enter_query("hipSetValidDevices");
    if (code != hipSuccess) {
        return code;
    }
    if (device_arr == NULL && len != 0) {
        return ha_cpu_fail_null("device_arr");
    }
    if (len < 0 || len > ha_config()->device_count) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'len' is %d of %d devices",
                           len, ha_config()->device_count);
    }
    bool listed = len == 0;
    for (int i = 0; i < len; i++) {
        if (ha_device_get(device_arr[i]) == NULL) {
            return ha_cpu_fail(hipErrorInvalidDevice,
                               "argument 'device_arr': there is no device %d",
                               device_arr[i]);
        }
        listed = listed || device_arr[i] == ha_thread_self()->device;
    }
    if (!listed) {
        ha_thread_self()->device = device_arr[0];
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipGetDevice(int *deviceId)
{
    hipError_t code = ha_enter_query_out("hipGetDevice", "deviceId", deviceId);
    if (code == hipSuccess) {
        *deviceId = ha_thread_self()->device;
    }
    return code;
}

/* All devices are alike, so the first one fits any request. */
static hipError_t
choose(int *device, const void *wishes)
{
    hipError_t code = ha_enter_query_out("hipChooseDevice", "device", device);
    if (code != hipSuccess) {
        return code;
    }
    if (wishes == NULL) {
        return ha_cpu_fail_null("prop");
    }
    *device = 0;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipChooseDeviceR0600(int *device, const hipDeviceProp_t *prop)
{
    return choose(device, prop);
}

HA_EXPORT hipError_t
hipChooseDeviceR0000(int *device, const struct hipDeviceProp_tR0000 *properties)
{
    return choose(device, properties);
}

HA_EXPORT hipError_t
hipDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    unsigned domain = 0;
    unsigned bus;
    unsigned slot;
    hipError_t code = ha_enter_query_out("hipDeviceGetByPCIBusId", "device", device);
    if (code != hipSuccess) {
        return code;
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
    for (int id = 0; id < ha_config()->device_count; id++) {
        if (domain == 0 && slot == 0 && bus == (unsigned)ha_config()->ordinals[id]) {
            *device = id;
            return hipSuccess;
        }
    }
    return ha_cpu_fail(hipErrorInvalidDevice,
                       "argument 'pciBusId': there is no device '%.32s'", pciBusId);
}

/* ---- all of its work ---- */

hipError_t
ha_device_synchronize(struct ha_device *device)
{
    hipError_t code = ha_capture_permit_device(device);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_pool_wait_device(device, 0) != hipSuccess) {
        return ha_cpu_fail(hipErrorNotReady, "interrupted; work of the device goes on");
    }
    ha_memory_pools_settle(device, true);
    ha_exec_flush_print();
    if (atomic_load_explicit(&device->fault, memory_order_acquire) != 0) {
        return ha_device_fail(device);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceSynchronize(void)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDeviceSynchronize", &device);
    return code != hipSuccess ? code : ha_device_synchronize(device);
}

hipError_t
ha_device_reset(struct ha_device *device)
{
    if (ha_thread_self()->in_host_function) {
        return ha_cpu_fail(HA_ERROR_IN_HOST_FUNCTION,
                           "a host function of a stream may not call it");
    }
    return ha_runtime_reset_device(device);
}

HA_EXPORT hipError_t
hipDeviceReset(void)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current("hipDeviceReset", &device);
    return code == hipSuccess ? ha_device_reset(device) : code;
}

/* ---- settings ---- */

/* Numbers that HIP does not know are wrong arguments; the limits of other devices are
 * not supported. */
static hipError_t
no_limit(hipLimit_t limit)
{
    return ha_cpu_fail((unsigned)limit < (unsigned)hipLimitRange
                           ? hipErrorUnsupportedLimit
                           : hipErrorInvalidValue,
                       "argument 'limit': the device has no limit %d", (int)limit);
}

HA_EXPORT hipError_t
hipDeviceGetLimit(size_t *pValue, hipLimit_t limit)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_for_current_out("hipDeviceGetLimit", "pValue", pValue, &device);
    if (code != hipSuccess) {
        return code;
    }
    switch ((int)limit) {
    case hipLimitStackSize:
        *pValue = atomic_load(&device->stack_bytes);
        return hipSuccess;
    case hipLimitMallocHeapSize:
        *pValue = ha_heap_limit((uint32_t)device->id);
        return hipSuccess;
    case hipLimitPrintfFifoSize:
        *pValue = ha_print_limit((uint32_t)device->id);
        return hipSuccess;
    default:
        return no_limit(limit);
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
            ha_print_set_limit((uint32_t)device->id, value);
        } else if (!ha_heap_set_limit((uint32_t)device->id, value)) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'limit': a kernel has allocated memory already");
        }
        return hipSuccess;
    default:
        return no_limit(limit);
    }
}

HA_EXPORT hipError_t
hipGetDeviceFlags(unsigned int *flags)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_for_current_out("hipGetDeviceFlags", "flags", flags, &device);
    if (code == hipSuccess) {
        *flags = atomic_load(&device->flags);
    }
    return code;
}

hipError_t
ha_device_set_flags(struct ha_device *device, unsigned flags)
{
    unsigned schedule = flags & hipDeviceScheduleMask;
    if ((flags & ~DEVICE_FLAGS) != 0 || (schedule & (schedule - 1)) != 0) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'flags' is 0x%x, which is not a set of device flags", flags);
    }
    atomic_store(&device->flags, flags);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipSetDeviceFlags(unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current("hipSetDeviceFlags", &device);
    if (code == hipSuccess) {
        code = ha_device_set_flags(device, flags);
    }
    if (code == hipSuccess) {
        /* The other flags ask for what holds anyway; hipGetDeviceFlags does not report
         * them. */
        atomic_store(&device->flags, flags & hipDeviceScheduleMask);
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current_out("hipDeviceGetCacheConfig", "cacheConfig",
                                               cacheConfig, &device);
    if (code == hipSuccess) {
        *cacheConfig = (hipFuncCache_t)atomic_load(&device->cache_config);
    }
    return code;
}

/* The device has no such choice: the setting is kept and changes nothing, as in HIP. */
hipError_t
ha_device_set_cache_config(struct ha_device *device, hipFuncCache_t config)
{
    if ((int)config < hipFuncCachePreferNone || (int)config > hipFuncCachePreferEqual) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'cacheConfig' is %d",
                           (int)config);
    }
    atomic_store(&device->cache_config, (int)config);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current("hipDeviceSetCacheConfig", &device);
    return code != hipSuccess ? code : ha_device_set_cache_config(device, cacheConfig);
}

HA_EXPORT hipError_t
hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current_out("hipDeviceGetSharedMemConfig", "pConfig",
                                               pConfig, &device);
    if (code == hipSuccess) {
        *pConfig = hipSharedMemBankSizeFourByte;
    }
    return code;
}

/* The device has no banks to choose: HIP reports four bytes after any valid setting. */
hipError_t
ha_check_shared_config(hipSharedMemConfig config)
{
    if ((int)config < hipSharedMemBankSizeDefault ||
        (int)config > hipSharedMemBankSizeEightByte) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'config' is %d",
                           (int)config);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
    struct ha_device *device;
    hipError_t code = ha_enter_for_current("hipDeviceSetSharedMemConfig", &device);
    return code != hipSuccess ? code : ha_check_shared_config(config);
}
