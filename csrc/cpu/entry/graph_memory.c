/* SPDX-License-Identifier: MIT */
/* HIP entry points: the memory that graphs of a device hold. */
#include <stdint.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/entry/graph_node.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_memory.h"
#include "cpu/queue/pool.h"

static hipError_t
device_find(int id, struct ha_device **device)
{
    *device = ha_device_get(id);
    return *device != NULL
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidDevice, "there is no device %d", id);
}

HA_EXPORT hipError_t
hipDeviceGetGraphMemAttribute(int id, hipGraphMemAttributeType attr, void *value)
{
    struct ha_device *device;
    uint64_t number;
    hipError_t code = ha_graph_enter("hipDeviceGetGraphMemAttribute");
    if (code != hipSuccess) {
        return code;
    }
    code = device_find(id, &device);
    if (code == hipSuccess) {
        code = ha_gone_check("value", value, sizeof number);
    }
    if (code == hipSuccess) {
        code = ha_graph_memory_attribute(device, attr, &number);
    }
    if (code == hipSuccess) {
        memcpy(value, &number, sizeof number);
    }
    return ha_graph_leave(code);
}

HA_EXPORT hipError_t
hipDeviceSetGraphMemAttribute(int id, hipGraphMemAttributeType attr, void *value)
{
    struct ha_device *device;
    uint64_t number = 0;
    hipError_t code = ha_graph_enter("hipDeviceSetGraphMemAttribute");
    if (code != hipSuccess) {
        return code;
    }
    code = device_find(id, &device);
    if (code == hipSuccess) {
        code = ha_gone_check("value", value, sizeof number);
    }
    if (code == hipSuccess) {
        memcpy(&number, value, sizeof number);
        code = number == 0 ? ha_graph_memory_reset_high(device, attr)
                           : ha_cpu_fail(hipErrorInvalidValue,
                                         "high marks can be set to 0 only");
    }
    return ha_graph_leave(code);
}

HA_EXPORT hipError_t
hipDeviceGraphMemTrim(int id)
{
    struct ha_device *device;
    struct ha_device *current;
    hipError_t code = ha_enter("hipDeviceGraphMemTrim", &current);
    if (code == hipSuccess) {
        code = device_find(id, &device);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (ha_pool_wait_device(device, 0) != hipSuccess) {
        return ha_cpu_fail(hipErrorNotReady, "interrupted; nothing was trimmed");
    }
    ha_graph_lock();
    ha_graph_memory_trim(device);
    return ha_graph_leave(hipSuccess);
}
