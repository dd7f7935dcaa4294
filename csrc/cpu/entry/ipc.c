/* SPDX-License-Identifier: MIT */
/* HIP entry points: memory and events of several processes. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/memory/ipc_memory.h"
#include "cpu/queue/event.h"

#define LAZY_PEER_ACCESS 1u /* hipIpcMemLazyEnablePeerAccess */

HA_EXPORT hipError_t
hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *devPtr)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipIpcGetMemHandle", &device);
    if (code == hipSuccess) {
        code = ha_need_both("handle", handle, "devPtr", devPtr);
    }
    return code == hipSuccess ? ha_ipc_memory_get(devPtr, handle) : code;
}

HA_EXPORT hipError_t
hipIpcOpenMemHandle(void **devPtr, hipIpcMemHandle_t handle, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipIpcOpenMemHandle", "devPtr", devPtr, &device);
    if (code == hipSuccess && (flags & ~LAZY_PEER_ACCESS) != 0) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x; it must be 0 or "
                           "hipIpcMemLazyEnablePeerAccess",
                           flags);
    }
    return code == hipSuccess ? ha_ipc_memory_open(device, &handle, devPtr) : code;
}

HA_EXPORT hipError_t
hipIpcCloseMemHandle(void *devPtr)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipIpcCloseMemHandle", &device);
    if (code == hipSuccess) {
        code = ha_need("devPtr", devPtr);
    }
    return code == hipSuccess ? ha_ipc_memory_close(devPtr) : code;
}

HA_EXPORT hipError_t
hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipIpcGetEventHandle", "handle", handle, &device);
    return code == hipSuccess ? ha_event_export(event, handle) : code;
}

HA_EXPORT hipError_t
hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out("hipIpcOpenEventHandle", "event", event, &device);
    return code == hipSuccess ? ha_event_open(device, &handle, event) : code;
}
