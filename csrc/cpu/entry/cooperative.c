/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches whose blocks are all alive together, so that they may meet
 * at grid barriers (cpu/exec/cooperative.h). */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/export.h"
#include "cpu/entry/runtime.h"
#include "cpu/submit/launch.h"

HA_EXPORT hipError_t
hipLaunchCooperativeKernel(const void *f, dim3 gridDim, dim3 blockDimX,
                           void **kernelParams, unsigned int sharedMemBytes,
                           hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLaunchCooperativeKernel", &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_request request = {
        .grid = {gridDim.x, gridDim.y, gridDim.z},
        .block = {blockDimX.x, blockDimX.y, blockDimX.z},
        .shared_bytes = sharedMemBytes,
        .cooperative = true,
        .stream = stream,
        .params = kernelParams,
    };
    return ha_submit_launch_address(device, f, hipErrorInvalidDeviceFunction, &request);
}

HA_EXPORT hipError_t
hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX,
                                 unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY,
                                 unsigned int blockDimZ, unsigned int sharedMemBytes,
                                 hipStream_t stream, void **kernelParams)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleLaunchCooperativeKernel", &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_request request = {
        .grid = {gridDimX, gridDimY, gridDimZ},
        .block = {blockDimX, blockDimY, blockDimZ},
        .shared_bytes = sharedMemBytes,
        .cooperative = true,
        .stream = stream,
        .params = kernelParams,
    };
    return ha_submit_launch_address(device, f, hipErrorInvalidResourceHandle, &request);
}
