/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches whose grid is given in work items, with events before and
 * behind the kernel.  Programs import them under C++ names (cpu/entry/table_thunk.c).
 */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/runtime.h"
#include "cpu/submit/event.h"
#include "cpu/submit/launch.h"

#define ANY_ORDER 1u /* hipExtAnyOrderLaunch: allows more than the device does */

/* What these launches have beyond a request. */
struct extra {
    const char *function; /* HIP's name of the entry point */
    uint32_t items[3];    /* of the whole grid */
    hipEvent_t start;     /* recorded before the kernel; NULL: none */
    hipEvent_t stop;      /* recorded behind it */
    uint32_t flags;
};

static hipError_t
launch(const struct extra *extra, hipFunction_t f, struct ha_launch_request *request)
{
    struct ha_device *device;
    hipError_t code = ha_enter(extra->function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if ((extra->flags & ~ANY_ORDER) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x",
                           extra->flags);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t lanes = request->block[i];
        if (lanes == 0 || extra->items[i] % lanes != 0) {
            return ha_cpu_fail(
                hipErrorInvalidConfiguration,
                "%u work items in direction %c are not a multiple of the "
                "%u of a block",
                extra->items[i], "xyz"[i], lanes);
        }
        request->grid[i] = extra->items[i] / lanes;
    }
    if (extra->start != NULL) {
        code =
            ha_submit_record(extra->start, request->stream, device, HA_EVENT_INTERNAL);
    }
    if (code == hipSuccess) {
        code =
            ha_submit_launch_address(device, f, hipErrorInvalidResourceHandle, request);
    }
    if (code == hipSuccess && extra->stop != NULL) {
        code =
            ha_submit_record(extra->stop, request->stream, device, HA_EVENT_INTERNAL);
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
    const struct extra more = {
        .function = "hipExtModuleLaunchKernel",
        .items = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ},
        .start = startEvent,
        .stop = stopEvent,
        .flags = flags,
    };
    struct ha_launch_request request = {
        .block = {localWorkSizeX, localWorkSizeY, localWorkSizeZ},
        .shared_bytes = sharedMemBytes,
        .stream = hStream,
        .params = kernelParams,
        .extra = extra,
    };
    return launch(&more, f, &request);
}

HA_EXPORT hipError_t
hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                         uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                         uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                         uint32_t localWorkSizeZ, size_t sharedMemBytes,
                         hipStream_t hStream, void **kernelParams, void **extra,
                         hipEvent_t startEvent, hipEvent_t stopEvent)
{
    const struct extra more = {
        .function = "hipHccModuleLaunchKernel",
        .items = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ},
        .start = startEvent,
        .stop = stopEvent,
    };
    struct ha_launch_request request = {
        .block = {localWorkSizeX, localWorkSizeY, localWorkSizeZ},
        .shared_bytes = sharedMemBytes,
        .stream = hStream,
        .params = kernelParams,
        .extra = extra,
    };
    return launch(&more, f, &request);
}
