/* SPDX-License-Identifier: MIT */
#include "cpu/base/device_properties_old.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/device.h"

void
ha_device_properties_old(const struct ha_device *device,
                         struct hipDeviceProp_tR0000 *old)
{
    hipDeviceProp_t now;
    ha_device_properties(device, &now);
    memset(old, 0, sizeof *old);
#define SAME(member)                                                                   \
    _Static_assert(sizeof old->member == sizeof now.member, #member);                  \
    memcpy(&old->member, &now.member, sizeof old->member)
    SAME(name);
    SAME(totalGlobalMem);
    SAME(sharedMemPerBlock);
    SAME(regsPerBlock);
    SAME(warpSize);
    SAME(maxThreadsPerBlock);
    SAME(maxThreadsDim);
    SAME(maxGridSize);
    SAME(clockRate);
    SAME(memoryClockRate);
    SAME(memoryBusWidth);
    SAME(totalConstMem);
    SAME(major);
    SAME(minor);
    SAME(multiProcessorCount);
    SAME(l2CacheSize);
    SAME(maxThreadsPerMultiProcessor);
    SAME(computeMode);
    SAME(clockInstructionRate);
    SAME(arch);
    SAME(concurrentKernels);
    SAME(pciDomainID);
    SAME(pciBusID);
    SAME(pciDeviceID);
    SAME(maxSharedMemoryPerMultiProcessor);
    SAME(isMultiGpuBoard);
    SAME(canMapHostMemory);
    SAME(gcnArchName);
    SAME(integrated);
    SAME(cooperativeLaunch);
    SAME(cooperativeMultiDeviceLaunch);
    SAME(maxTexture1DLinear);
    SAME(maxTexture1D);
    SAME(maxTexture2D);
    SAME(maxTexture3D);
    SAME(hdpMemFlushCntl);
    SAME(hdpRegFlushCntl);
    SAME(memPitch);
    SAME(textureAlignment);
    SAME(texturePitchAlignment);
    SAME(kernelExecTimeoutEnabled);
    SAME(ECCEnabled);
    SAME(tccDriver);
    SAME(cooperativeMultiDeviceUnmatchedFunc);
    SAME(cooperativeMultiDeviceUnmatchedGridDim);
    SAME(cooperativeMultiDeviceUnmatchedBlockDim);
    SAME(cooperativeMultiDeviceUnmatchedSharedMem);
    SAME(isLargeBar);
    SAME(asicRevision);
    SAME(managedMemory);
    SAME(directManagedMemAccessFromHost);
    SAME(concurrentManagedAccess);
    SAME(pageableMemoryAccess);
    SAME(pageableMemoryAccessUsesHostPageTables);
#undef SAME
    old->gcnArch = atoi(now.gcnArchName + strcspn(now.gcnArchName, "0123456789"));
}
