/* SPDX-License-Identifier: MIT */
/* HIP entry points: kernel launches and occupancy. */
#include "abi/hip.h"
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/event.h"
#include "cpu/launch.h"
#include "cpu/module.h"
#include "cpu/runtime.h"

static hipError_t
launch(struct ha_device *device, const void *address, hipError_t unknown,
       const struct ha_launch_request *request)
{
    struct ha_function *function = ha_function_acquire((uint64_t)(uintptr_t)address);
    if (function == NULL) {
        return ha_cpu_fail(unknown, "%p is not a function of a loaded module", address);
    }
    hipError_t code = ha_launch_kernel(device, function, request);
    ha_function_leave(function);
    return code;
}

HA_EXPORT hipError_t
hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                      unsigned int gridDimZ, unsigned int blockDimX,
                      unsigned int blockDimY, unsigned int blockDimZ,
                      unsigned int sharedMemBytes, hipStream_t stream,
                      void **kernelParams, void **extra)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleLaunchKernel", &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_request request = {
        .grid = {gridDimX, gridDimY, gridDimZ},
        .block = {blockDimX, blockDimY, blockDimZ},
        .shared_bytes = sharedMemBytes,
        .stream = stream,
        .params = kernelParams,
        .extra = extra,
    };
    return launch(device, f, hipErrorInvalidResourceHandle, &request);
}

/* Host stubs are not registered yet: the address has to be a hipFunction_t. */
HA_EXPORT hipError_t
hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                void **args, size_t sharedMemBytes, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLaunchKernel", &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_launch_request request = {
        .grid = {numBlocks.x, numBlocks.y, numBlocks.z},
        .block = {dimBlocks.x, dimBlocks.y, dimBlocks.z},
        .shared_bytes = sharedMemBytes,
        .stream = stream,
        .params = args,
    };
    return launch(device, function_address, hipErrorInvalidDeviceFunction, &request);
}

HA_EXPORT hipError_t
hipExtLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                   void **args, size_t sharedMemBytes, hipStream_t stream,
                   hipEvent_t startEvent, hipEvent_t stopEvent, int flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipExtLaunchKernel", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (flags != 0 && flags != 1) { /* hipExtAnyOrderLaunch */
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x",
                           (unsigned)flags);
    }
    const struct ha_launch_request request = {
        .grid = {numBlocks.x, numBlocks.y, numBlocks.z},
        .block = {dimBlocks.x, dimBlocks.y, dimBlocks.z},
        .shared_bytes = sharedMemBytes,
        .stream = stream,
        .params = args,
    };
    if (startEvent != NULL) {
        code = ha_event_record(startEvent, stream, device);
    }
    if (code == hipSuccess) {
        code =
            launch(device, function_address, hipErrorInvalidDeviceFunction, &request);
    }
    if (code == hipSuccess && stopEvent != NULL) {
        code = ha_event_record(stopEvent, stream, device);
    }
    return code;
}

/* ---- occupancy ---- */

static hipError_t
active_blocks(const char *name, int *blocks, const void *address, int block_size,
              size_t shared_bytes, unsigned flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter(name, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (blocks == NULL) {
        return ha_cpu_fail_null("numBlocks");
    }
    if (block_size <= 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'blockSize' is %d",
                           block_size);
    }
    if (flags > 1) { /* hipOccupancyDefault, hipOccupancyDisableCachingOverride */
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    struct ha_function *function = ha_function_acquire((uint64_t)(uintptr_t)address);
    if (function == NULL) {
        return ha_cpu_fail(hipErrorInvalidDeviceFunction,
                           "%p is not a function of a loaded module", address);
    }
    *blocks = (int)ha_launch_blocks_per_processor(function, (uint32_t)block_size,
                                                  shared_bytes);
    ha_function_leave(function);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f,
                                                   int blockSize,
                                                   size_t dynSharedMemPerBlk)
{
    return active_blocks("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
                         numBlocks, f, blockSize, dynSharedMemPerBlk, 0);
}

HA_EXPORT hipError_t
hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                            hipFunction_t f,
                                                            int blockSize,
                                                            size_t dynSharedMemPerBlk,
                                                            unsigned int flags)
{
    return active_blocks("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                         numBlocks, f, blockSize, dynSharedMemPerBlk, flags);
}

HA_EXPORT hipError_t
hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *f,
                                             int blockSize, size_t dynSharedMemPerBlk)
{
    return active_blocks("hipOccupancyMaxActiveBlocksPerMultiprocessor", numBlocks, f,
                         blockSize, dynSharedMemPerBlk, 0);
}

HA_EXPORT hipError_t
hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *f,
                                                      int blockSize,
                                                      size_t dynSharedMemPerBlk,
                                                      unsigned int flags)
{
    return active_blocks("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                         numBlocks, f, blockSize, dynSharedMemPerBlk, flags);
}

static hipError_t
potential_block(const char *name, int *grid_size, int *block_size, const void *address,
                size_t shared_bytes, int limit)
{
    struct ha_device *device;
    hipError_t code = ha_enter(name, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (grid_size == NULL || block_size == NULL) {
        return ha_cpu_fail_null(grid_size == NULL ? "gridSize" : "blockSize");
    }
    struct ha_function *function = ha_function_acquire((uint64_t)(uintptr_t)address);
    if (function == NULL) {
        return ha_cpu_fail(hipErrorInvalidDeviceFunction,
                           "%p is not a function of a loaded module", address);
    }
    uint32_t best =
        ha_launch_best_block(function, shared_bytes, limit > 0 ? (uint32_t)limit : 0);
    uint32_t blocks =
        best > 0 ? ha_launch_blocks_per_processor(function, best, shared_bytes) : 0;
    ha_function_leave(function);
    *block_size = (int)best;
    *grid_size = (int)(blocks * ha_config()->thread_count);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, const void *f,
                                  size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    return potential_block("hipOccupancyMaxPotentialBlockSize", gridSize, blockSize, f,
                           dynSharedMemPerBlk, blockSizeLimit);
}

HA_EXPORT hipError_t
hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, hipFunction_t f,
                                        size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    return potential_block("hipModuleOccupancyMaxPotentialBlockSize", gridSize,
                           blockSize, f, dynSharedMemPerBlk, blockSizeLimit);
}

HA_EXPORT hipError_t
hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize,
                                                 hipFunction_t f,
                                                 size_t dynSharedMemPerBlk,
                                                 int blockSizeLimit, unsigned int flags)
{
    hipError_t code =
        ha_enter_query("hipModuleOccupancyMaxPotentialBlockSizeWithFlags");
    if (code != hipSuccess) {
        return code;
    }
    if (flags > 1) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    return potential_block("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", gridSize,
                           blockSize, f, dynSharedMemPerBlk, blockSizeLimit);
}
