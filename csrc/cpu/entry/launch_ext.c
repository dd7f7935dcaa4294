/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches whose grid is given in work items, with events before and
 * behind the kernel.  Programs import them under C++ names (cpu/entry/table_thunk.c).
 */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/event.h"
#include "cpu/submit/launch.h"

#define ANY_ORDER 1u /* hipExtAnyOrderLaunch: allows more than the device does */

static hipError_t
launch(const char *function, hipFunction_t f, const uint32_t items[3],
       struct ha_launch_request *request, hipEvent_t start, hipEvent_t stop,
       uint32_t flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((flags & ~ANY_ORDER) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t lanes = request->block[i];
        if (lanes == 0 || items[i] % lanes != 0) {
            return ha_cpu_fail(hipErrorInvalidConfiguration,
                               "%u work items in direction %c are no multiple of the "
                               "%u of a block",
                               items[i], "xyz"[i], lanes);
        }
        request->grid[i] = items[i] / lanes;
    }
    if (start != NULL) {
        code = ha_event_record(start, request->stream, device, false);
    }
    if (code == hipSuccess) {
        code =
            ha_submit_launch_address(device, f, hipErrorInvalidResourceHandle, request);
    }
    if (code == hipSuccess && stop != NULL) {
        code = ha_event_record(stop, request->stream, device, false);
    }
    return code;
}

HA_EXPORT hipError_t
hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                         uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                         uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                         uint32_t localWorkSizeZ, size_t sharedMemBytes,
                         hipStream_t hStream, void **kernelParams, void **extra,
                         hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
    const uint32_t items[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
    struct ha_launch_request request = {
        .block = {localWorkSizeX, localWorkSizeY, localWorkSizeZ},
        .shared_bytes = sharedMemBytes,
        .stream = hStream,
        .params = kernelParams,
        .extra = extra,
    };
    return launch("hipExtModuleLaunchKernel", f, items, &request, startEvent, stopEvent,
                  flags);
}

HA_EXPORT hipError_t
hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                         uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                         uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                         uint32_t localWorkSizeZ, size_t sharedMemBytes,
                         hipStream_t hStream, void **kernelParams, void **extra,
                         hipEvent_t startEvent, hipEvent_t stopEvent)
{
    const uint32_t items[] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
    struct ha_launch_request request = {
        .block = {localWorkSizeX, localWorkSizeY, localWorkSizeZ},
        .shared_bytes = sharedMemBytes,
        .stream = hStream,
        .params = kernelParams,
        .extra = extra,
    };
    return launch("hipHccModuleLaunchKernel", f, items, &request, startEvent, stopEvent,
                  0);
}
