/* SPDX-License-Identifier: MIT */
/* HIP entry point: how much dynamic shared memory leaves room for a number of blocks.
 */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/work/launch.h"

HA_EXPORT hipError_t
hipOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *f,
                                         int numBlocks, int blockSize)
{
    struct ha_device *device;
    struct ha_function *function;
    hipError_t code = ha_enter_out("hipOccupancyAvailableDynamicSMemPerBlock",
                                   "dynamicSmemSize", dynamicSmemSize, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (numBlocks <= 0 || blockSize <= 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument '%s' is %d",
                           numBlocks <= 0 ? "numBlocks" : "blockSize",
                           numBlocks <= 0 ? numBlocks : blockSize);
    }
    code = ha_function_resolve(f, device, hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
    }
    size_t fixed = function->kernel->shared_static;
    size_t each = HA_MAX_SHARED_BYTES / (size_t)numBlocks;
    uint32_t most = ha_launch_blocks_per_processor(function, (uint32_t)blockSize, 0);
    ha_function_leave(function);
    if (most < (uint32_t)numBlocks) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%d blocks of %d threads don't fit into a compute unit; %u "
                           "do",
                           numBlocks, blockSize, most);
    }
    *dynamicSmemSize = each - fixed;
    return hipSuccess;
}
