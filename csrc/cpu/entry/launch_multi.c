/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches on several devices, cooperative (cpu/exec/multi_grid.h) or
 * not. */
#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/runtime.h"
#include "cpu/submit/launch_multi.h"

#define KNOWN_FLAGS                                                                    \
    (hipCooperativeLaunchMultiDeviceNoPreSync |                                        \
     hipCooperativeLaunchMultiDeviceNoPostSync)

/* The launches of a list.  The kernels' arguments are not read yet. */
static struct ha_launch_list
list_of(const hipLaunchParams *launches, uint32_t count, unsigned flags,
        bool cooperative)
{
    struct ha_launch_list list = {.count = count, .flags = flags};
    for (uint32_t i = 0; i < count; i++) {
        const hipLaunchParams *one = &launches[i];
        list.requests[i] = (struct ha_launch_request){
            .grid = {one->gridDim.x, one->gridDim.y, one->gridDim.z},
            .block = {one->blockDim.x, one->blockDim.y, one->blockDim.z},
            .shared_bytes = one->sharedMem,
            .cooperative = cooperative,
            .stream = one->stream,
            .address = one->func,
            .params = one->args,
        };
    }
    return list;
}

static hipError_t
list_check(const void *list, unsigned count, unsigned flags)
{
    if (list == NULL) {
        return ha_cpu_fail_null("launchParamsList");
    }
    if (count == 0 || count > (unsigned)ha_config()->device_count) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'numDevices' is %u; it must be 1 to %d", count,
                           ha_config()->device_count);
    }
    if ((flags & ~(unsigned)KNOWN_FLAGS) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'flags' is 0x%x; it has bits that mean nothing",
                           flags);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                      unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLaunchCooperativeKernelMultiDevice", &device);
    if (code == hipSuccess) {
        code = list_check(launchParamsList, (unsigned)numDevices, flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_list list =
        list_of(launchParamsList, (uint32_t)numDevices, flags, true);
    return ha_submit_together(device, &list, hipErrorInvalidDeviceFunction);
}

HA_EXPORT hipError_t
hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *launchParamsList,
                                            unsigned int numDevices, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleLaunchCooperativeKernelMultiDevice", &device);
    if (code == hipSuccess) {
        code = list_check(launchParamsList, numDevices, flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_launch_list list = {.count = numDevices, .flags = flags};
    for (uint32_t i = 0; i < list.count; i++) {
        const hipFunctionLaunchParams *one = &launchParamsList[i];
        list.requests[i] = (struct ha_launch_request){
            .grid = {one->gridDimX, one->gridDimY, one->gridDimZ},
            .block = {one->blockDimX, one->blockDimY, one->blockDimZ},
            .shared_bytes = one->sharedMemBytes,
            .cooperative = true,
            .stream = one->hStream,
            .address = one->function,
            .params = one->kernelParams,
        };
    }
    return ha_submit_together(device, &list, hipErrorInvalidResourceHandle);
}

HA_EXPORT hipError_t
hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                   unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipExtLaunchMultiKernelMultiDevice", &device);
    if (code == hipSuccess) {
        code = list_check(launchParamsList, (unsigned)numDevices, flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_list list =
        list_of(launchParamsList, (uint32_t)numDevices, flags, false);
    return ha_submit_apart(device, &list);
}
