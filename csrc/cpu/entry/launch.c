/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches of functions of modules, and occupancy.  Launches by the
 * address of a kernel in the program are in cpu/entry/launch_host.c. */
#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/submit/launch.h"

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
    return ha_submit_launch_address(device, f, hipErrorInvalidResourceHandle, &request);
}

/* ---- occupancy ---- */

static hipError_t
active_blocks(const char *name, int *blocks, const void *address, int block_size,
              size_t shared_bytes, unsigned flags)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(name, "numBlocks", blocks, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (block_size <= 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'blockSize' is %d",
                           block_size);
    }
    if (flags > 1) { /* hipOccupancyDefault, hipOccupancyDisableCachingOverride */
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags);
    }
    struct ha_function *function;
    code =
        ha_function_resolve(address, device, hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
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
    if (code == hipSuccess) {
        code = ha_need_both("gridSize", grid_size, "blockSize", block_size);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_function *function;
    code =
        ha_function_resolve(address, device, hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
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
