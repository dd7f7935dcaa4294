/* SPDX-License-Identifier: MIT */
#include "cpu/base/device_properties_old.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/device.h"

/* A field that both records have, where it lies in each. */
struct field {
    size_t old_at;
    size_t now_at;
    size_t bytes;
};

#define OLD(member) sizeof(((struct hipDeviceProp_tR0000 *)0)->member)
#define NOW(member) sizeof(((hipDeviceProp_t *)0)->member)
/* Its bytes, which must be as many in both. */
#define BYTES(member)                                                                  \
    sizeof(struct {                                                                    \
        _Static_assert(OLD(member) == NOW(member), #member);                           \
        char bytes[NOW(member)];                                                       \
    })
#define SAME(member)                                                                   \
    {offsetof(struct hipDeviceProp_tR0000, member), offsetof(hipDeviceProp_t, member), \
     BYTES(member)}

static const struct field fields[] = {
    SAME(name),
    SAME(totalGlobalMem),
    SAME(sharedMemPerBlock),
    SAME(regsPerBlock),
    SAME(warpSize),
    SAME(maxThreadsPerBlock),
    SAME(maxThreadsDim),
    SAME(maxGridSize),
    SAME(clockRate),
    SAME(memoryClockRate),
    SAME(memoryBusWidth),
    SAME(totalConstMem),
    SAME(major),
    SAME(minor),
    SAME(multiProcessorCount),
    SAME(l2CacheSize),
    SAME(maxThreadsPerMultiProcessor),
    SAME(computeMode),
    SAME(clockInstructionRate),
    SAME(arch),
    SAME(concurrentKernels),
    SAME(pciDomainID),
    SAME(pciBusID),
    SAME(pciDeviceID),
    SAME(maxSharedMemoryPerMultiProcessor),
    SAME(isMultiGpuBoard),
    SAME(canMapHostMemory),
    SAME(gcnArchName),
    SAME(integrated),
    SAME(cooperativeLaunch),
    SAME(cooperativeMultiDeviceLaunch),
    SAME(maxTexture1DLinear),
    SAME(maxTexture1D),
    SAME(maxTexture2D),
    SAME(maxTexture3D),
    SAME(hdpMemFlushCntl),
    SAME(hdpRegFlushCntl),
    SAME(memPitch),
    SAME(textureAlignment),
    SAME(texturePitchAlignment),
    SAME(kernelExecTimeoutEnabled),
    SAME(ECCEnabled),
    SAME(tccDriver),
    SAME(cooperativeMultiDeviceUnmatchedFunc),
    SAME(cooperativeMultiDeviceUnmatchedGridDim),
    SAME(cooperativeMultiDeviceUnmatchedBlockDim),
    SAME(cooperativeMultiDeviceUnmatchedSharedMem),
    SAME(isLargeBar),
    SAME(asicRevision),
    SAME(managedMemory),
    SAME(directManagedMemAccessFromHost),
    SAME(concurrentManagedAccess),
    SAME(pageableMemoryAccess),
    SAME(pageableMemoryAccessUsesHostPageTables),
};

void
ha_device_properties_old(const struct ha_device *device,
                         struct hipDeviceProp_tR0000 *old)
{
    hipDeviceProp_t now;
    ha_device_properties(device, &now);
    memset(old, 0, sizeof *old);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        memcpy((char *)old + fields[i].old_at, (const char *)&now + fields[i].now_at,
               fields[i].bytes);
    }
    old->gcnArch = atoi(now.gcnArchName + strcspn(now.gcnArchName, "0123456789"));
}
