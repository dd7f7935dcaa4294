/* SPDX-License-Identifier: MIT */
/* Properties and attributes of the CPU device.
 *
 * Numbers are those of this machine or of this implementation; features that a CPU
 * lacks (ECC, PCI) are 0, and so are facts that the system does not give (speed and
 * width of memory). Each attribute is a row of one table that points at the property
 * behind it, so the two can't differ, or of a second one where there is no property.
 * docs/device_attributes.md has all of them. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"

#define CONSTANT_BYTES (64u * 1024u)
#define CLOCK_KHZ_OF_NS 1000000 /* device clocks count nanoseconds */
#define CPU_MODEL_BYTES 128

static struct {
    pthread_once_t once;
    char model[CPU_MODEL_BYTES];
    int cache_bytes; /* of the last cache, which cores share */
    int numa_node;   /* the first one; -1: the system knows none */
} machine = {.once = PTHREAD_ONCE_INIT};

static int
first_numa_node(void)
{
    int node = -1;
    FILE *file = fopen("/sys/devices/system/node/online", "re");
    if (file != NULL) {
        if (fscanf(file, "%d", &node) != 1) {
            node = -1;
        }
        fclose(file);
    }
    return node;
}

static void
machine_read(void)
{
    char line[512];
    snprintf(machine.model, sizeof machine.model, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file != NULL) {
        bool named = false;
        while (!named && fgets(line, sizeof line, file) != NULL) {
            char *value = strchr(line, ':');
            if (value == NULL) {
                continue;
            }
            value += strspn(value, ": \t");
            value[strcspn(value, "\n")] = '\0';
            if (!named && strncmp(line, "model name", 10) == 0) {
                snprintf(machine.model, sizeof machine.model, "%.*s",
                         CPU_MODEL_BYTES - 1, value);
                named = true;
            }
        }
        fclose(file);
    }
    machine.numa_node = first_numa_node();
    long cache = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0) {
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    }
#endif
    machine.cache_bytes = cache > 0 && cache <= INT_MAX ? (int)cache : 0;
}

static void
fill_identity(const struct ha_device *device, hipDeviceProp_t *properties)
{
    snprintf(properties->name, sizeof properties->name, "hipadapt CPU device (%s)",
             machine.model);
    snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s",
             HA_ARCH_NAME);
    memcpy(properties->uuid.bytes, "hipadapt-cpu", 12);
    properties->uuid.bytes[15] = (char)device->ordinal;
    properties->pciBusID = device->ordinal;
    /* Both are what kernels divide their clocks by. */
    properties->clockRate = CLOCK_KHZ_OF_NS;
    properties->clockInstructionRate = CLOCK_KHZ_OF_NS;
    properties->l2CacheSize = machine.cache_bytes;
    properties->multiProcessorCount = (int)ha_config()->thread_count;
    properties->warpSize = (int)ha_config()->warp_size;
}

static void
fill_limits(const struct ha_device *device, hipDeviceProp_t *properties)
{
    properties->totalGlobalMem = device->memory_bytes;
    properties->sharedMemPerBlock = HA_MAX_SHARED_BYTES;
    properties->sharedMemPerBlockOptin = HA_MAX_SHARED_BYTES;
    properties->sharedMemPerMultiprocessor = HA_MAX_SHARED_BYTES;
    properties->maxSharedMemoryPerMultiProcessor = HA_MAX_SHARED_BYTES;
    properties->totalConstMem = CONSTANT_BYTES;
    properties->regsPerBlock = (int)HA_REGISTERS_PER_PROCESSOR;
    properties->regsPerMultiprocessor = (int)HA_REGISTERS_PER_PROCESSOR;
    properties->memPitch = INT_MAX;
    properties->maxThreadsPerBlock = (int)HA_MAX_BLOCK_THREADS;
    properties->maxThreadsDim[0] = (int)HA_MAX_BLOCK_X;
    properties->maxThreadsDim[1] = (int)HA_MAX_BLOCK_Y;
    properties->maxThreadsDim[2] = (int)HA_MAX_BLOCK_Z;
    properties->maxGridSize[0] = (int)HA_MAX_GRID_X;
    properties->maxGridSize[1] = (int)HA_MAX_GRID_Y;
    properties->maxGridSize[2] = (int)HA_MAX_GRID_Z;
    properties->maxThreadsPerMultiProcessor = (int)HA_MAX_THREADS_PER_PROCESSOR;
    properties->maxBlocksPerMultiProcessor = (int)HA_MAX_BLOCKS_PER_PROCESSOR;
    properties->textureAlignment = 256;
    properties->texturePitchAlignment = 256;
    properties->surfaceAlignment = 256;
    properties->kernelExecTimeoutEnabled = ha_config()->kernel_timeout_ns != 0;
}

/* Textures and surfaces are read by code, so that all of them have one limit. */
static void
fill_images(hipDeviceProp_t *properties)
{
    const int side = (int)HA_ARRAY_SIDE_MAX;
    const int depth = (int)HA_ARRAY_DEPTH_MAX;
    int *const sides[] = {
        &properties->maxTexture1D,
        &properties->maxTexture1DMipmap,
        &properties->maxTexture2D[0],
        &properties->maxTexture2D[1],
        &properties->maxTexture2DMipmap[0],
        &properties->maxTexture2DMipmap[1],
        &properties->maxTexture2DLinear[0],
        &properties->maxTexture2DLinear[1],
        &properties->maxTexture2DGather[0],
        &properties->maxTexture2DGather[1],
        &properties->maxTexture3D[0],
        &properties->maxTexture3D[1],
        &properties->maxTexture3DAlt[0],
        &properties->maxTexture3DAlt[1],
        &properties->maxTexture1DLayered[0],
        &properties->maxTexture2DLayered[0],
        &properties->maxTexture2DLayered[1],
        &properties->maxTextureCubemap,
        &properties->maxSurface1D,
        &properties->maxSurface2D[0],
        &properties->maxSurface2D[1],
        &properties->maxSurface3D[0],
        &properties->maxSurface3D[1],
        &properties->maxSurface1DLayered[0],
        &properties->maxSurface2DLayered[0],
        &properties->maxSurface2DLayered[1],
        &properties->maxSurfaceCubemap,
        &properties->maxTextureCubemapLayered[0],
        &properties->maxSurfaceCubemapLayered[0],
    };
    int *const depths[] = {
        &properties->maxTexture3D[2],        &properties->maxTexture3DAlt[2],
        &properties->maxTexture1DLayered[1], &properties->maxTexture2DLayered[2],
        &properties->maxSurface3D[2],        &properties->maxSurface1DLayered[1],
        &properties->maxSurface2DLayered[2],
    };
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        *sides[i] = side;
    }
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        *depths[i] = depth;
    }
    properties->maxTextureCubemapLayered[1] = depth / 6; /* faces */
    properties->maxSurfaceCubemapLayered[1] = depth / 6;
    properties->maxTexture1DLinear = (int)HA_LINEAR_TEXTURE_MAX;
    properties->maxTexture2DLinear[2] = INT_MAX;
}

/* One thread runs one piece of work after the other. */
static void
fill_concurrency(hipDeviceProp_t *properties)
{
    unsigned others = ha_config()->thread_count - 1;
    properties->concurrentKernels = others > 0;
    properties->deviceOverlap = others > 0;
    /* Copies beside a kernel: 2 stands for both directions at once. */
    properties->asyncEngineCount = others < 2 ? (int)others : 2;
    properties->computePreemptionSupported =
        1; /* kernels run on threads of the system */
}

static void
fill_abilities(hipDeviceProp_t *properties)
{
    properties->integrated = 1;
    properties->canMapHostMemory = 1;
    properties->unifiedAddressing = 1;
    properties->managedMemory = 1;
    properties->memoryPoolsSupported = 1;
    properties->memoryPoolSupportedHandleTypes = hipMemHandleTypePosixFileDescriptor;
    properties->ipcEventSupported = 1;
    properties->concurrentManagedAccess = 1;
    properties->directManagedMemAccessFromHost = 1;
    /* The guard finds what kernels do to it (cpu/memory/access.h). */
    properties->pageableMemoryAccess = !ha_config()->guard;
    properties->pageableMemoryAccessUsesHostPageTables = !ha_config()->guard;
    properties->hostNativeAtomicSupported = 1;
    properties->hostRegisterSupported = 1;
    properties->hostRegisterReadOnlySupported = 1;
    properties->canUseHostPointerForRegisteredMem = 1;
    properties->globalL1CacheSupported = 1;
    properties->localL1CacheSupported = 1;
    properties->cooperativeLaunch = 1;
    properties->cooperativeMultiDeviceLaunch = 1;
    properties->cooperativeMultiDeviceUnmatchedFunc = 1;
    properties->cooperativeMultiDeviceUnmatchedGridDim = 1;
    properties->cooperativeMultiDeviceUnmatchedBlockDim = 1;
    properties->cooperativeMultiDeviceUnmatchedSharedMem = 1;
    properties->streamPrioritiesSupported = 1;
    properties->computeMode = hipComputeModeDefault;
    properties->isLargeBar = 1;
    properties->singleToDoublePrecisionPerfRatio = 2;
    properties->arch.hasGlobalInt32Atomics = 1;
    properties->arch.hasGlobalFloatAtomicExch = 1;
    properties->arch.hasSharedInt32Atomics = 1;
    properties->arch.hasSharedFloatAtomicExch = 1;
    properties->arch.hasFloatAtomicAdd = 1;
    properties->arch.hasGlobalInt64Atomics = 1;
    properties->arch.hasSharedInt64Atomics = 1;
    properties->arch.hasDoubles = 1;
    properties->arch.hasWarpVote = 1;
    properties->arch.hasWarpBallot = 1;
    properties->arch.hasWarpShuffle = 1;
    properties->arch.hasFunnelShift = 1;
    properties->arch.hasThreadFenceSystem = 1;
    properties->arch.hasSyncThreadsExt = 1;
    properties->arch.hasSurfaceFuncs = 1;
    properties->arch.has3dGrid = 1;
}

void
ha_device_properties(const struct ha_device *device, hipDeviceProp_t *properties)
{
    pthread_once(&machine.once, machine_read);
    memset(properties, 0, sizeof *properties);
    fill_identity(device, properties);
    fill_limits(device, properties);
    fill_images(properties);
    fill_abilities(properties);
    fill_concurrency(properties);
}

struct attribute_row {
    hipDeviceAttribute_t attribute;
    uint32_t offset;
    uint32_t bytes;
};

#define ROW(name, member)                                                              \
    {hipDeviceAttribute##name, (uint32_t)offsetof(hipDeviceProp_t, member),            \
     (uint32_t)sizeof(((hipDeviceProp_t *)0)->member)}

static const struct attribute_row attribute_rows[] = {
    ROW(EccEnabled, ECCEnabled),
    ROW(AccessPolicyMaxWindowSize, accessPolicyMaxWindowSize),
    ROW(AsyncEngineCount, asyncEngineCount),
    ROW(CanMapHostMemory, canMapHostMemory),
    ROW(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
    ROW(ClockRate, clockRate),
    ROW(ComputeMode, computeMode),
    ROW(ComputePreemptionSupported, computePreemptionSupported),
    ROW(ConcurrentKernels, concurrentKernels),
    ROW(ConcurrentManagedAccess, concurrentManagedAccess),
    ROW(CooperativeLaunch, cooperativeLaunch),
    ROW(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
    ROW(DeviceOverlap, deviceOverlap),
    ROW(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    ROW(GlobalL1CacheSupported, globalL1CacheSupported),
    ROW(HostNativeAtomicSupported, hostNativeAtomicSupported),
    ROW(Integrated, integrated),
    ROW(IsMultiGpuBoard, isMultiGpuBoard),
    ROW(KernelExecTimeout, kernelExecTimeoutEnabled),
    ROW(L2CacheSize, l2CacheSize),
    ROW(LocalL1CacheSupported, localL1CacheSupported),
    ROW(LuidDeviceNodeMask, luidDeviceNodeMask),
    ROW(ComputeCapabilityMajor, major),
    ROW(ManagedMemory, managedMemory),
    ROW(MaxBlocksPerMultiProcessor, maxBlocksPerMultiProcessor),
    ROW(MaxBlockDimX, maxThreadsDim[0]),
    ROW(MaxBlockDimY, maxThreadsDim[1]),
    ROW(MaxBlockDimZ, maxThreadsDim[2]),
    ROW(MaxGridDimX, maxGridSize[0]),
    ROW(MaxGridDimY, maxGridSize[1]),
    ROW(MaxGridDimZ, maxGridSize[2]),
    ROW(MaxSurface1D, maxSurface1D),
    ROW(MaxSurface1DLayered, maxSurface1DLayered[0]),
    ROW(MaxSurface2D, maxSurface2D[0]),
    ROW(MaxSurface2DLayered, maxSurface2DLayered[0]),
    ROW(MaxSurface3D, maxSurface3D[0]),
    ROW(MaxSurfaceCubemap, maxSurfaceCubemap),
    ROW(MaxSurfaceCubemapLayered, maxSurfaceCubemapLayered[0]),
    ROW(MaxTexture1DWidth, maxTexture1D),
    ROW(MaxTexture1DLayered, maxTexture1DLayered[0]),
    ROW(MaxTexture1DLinear, maxTexture1DLinear),
    ROW(MaxTexture1DMipmap, maxTexture1DMipmap),
    ROW(MaxTexture2DWidth, maxTexture2D[0]),
    ROW(MaxTexture2DHeight, maxTexture2D[1]),
    ROW(MaxTexture2DGather, maxTexture2DGather[0]),
    ROW(MaxTexture2DLayered, maxTexture2DLayered[0]),
    ROW(MaxTexture2DLinear, maxTexture2DLinear[0]),
    ROW(MaxTexture2DMipmap, maxTexture2DMipmap[0]),
    ROW(MaxTexture3DWidth, maxTexture3D[0]),
    ROW(MaxTexture3DHeight, maxTexture3D[1]),
    ROW(MaxTexture3DDepth, maxTexture3D[2]),
    ROW(MaxTexture3DAlt, maxTexture3DAlt[0]),
    ROW(MaxTextureCubemap, maxTextureCubemap),
    ROW(MaxTextureCubemapLayered, maxTextureCubemapLayered[0]),
    ROW(MaxThreadsDim, maxThreadsDim[0]),
    ROW(MaxThreadsPerBlock, maxThreadsPerBlock),
    ROW(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    ROW(MaxPitch, memPitch),
    ROW(MemoryBusWidth, memoryBusWidth),
    ROW(MemoryClockRate, memoryClockRate),
    ROW(ComputeCapabilityMinor, minor),
    ROW(MultiGpuBoardGroupID, multiGpuBoardGroupID),
    ROW(MultiprocessorCount, multiProcessorCount),
    ROW(PageableMemoryAccess, pageableMemoryAccess),
    ROW(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
    ROW(PciBusId, pciBusID),
    ROW(PciDeviceId, pciDeviceID),
    ROW(PciDomainId, pciDomainID),
    ROW(PersistingL2CacheMaxSize, persistingL2CacheMaxSize),
    ROW(MaxRegistersPerBlock, regsPerBlock),
    ROW(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    ROW(ReservedSharedMemPerBlock, reservedSharedMemPerBlock),
    ROW(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    ROW(SharedMemPerBlockOptin, sharedMemPerBlockOptin),
    ROW(SharedMemPerMultiprocessor, sharedMemPerMultiprocessor),
    ROW(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    ROW(StreamPrioritiesSupported, streamPrioritiesSupported),
    ROW(SurfaceAlignment, surfaceAlignment),
    ROW(TccDriver, tccDriver),
    ROW(TextureAlignment, textureAlignment),
    ROW(TexturePitchAlignment, texturePitchAlignment),
    ROW(TotalConstantMemory, totalConstMem),
    ROW(TotalGlobalMem, totalGlobalMem),
    ROW(UnifiedAddressing, unifiedAddressing),
    ROW(WarpSize, warpSize),
    ROW(MemoryPoolsSupported, memoryPoolsSupported),
    ROW(HostRegisterSupported, hostRegisterSupported),
    ROW(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes),
    ROW(ClockInstructionRate, clockInstructionRate),
    ROW(WallClockRate, clockInstructionRate),
    ROW(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
    ROW(CooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedFunc),
    ROW(CooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedGridDim),
    ROW(CooperativeMultiDeviceUnmatchedBlockDim,
        cooperativeMultiDeviceUnmatchedBlockDim),
    ROW(CooperativeMultiDeviceUnmatchedSharedMem,
        cooperativeMultiDeviceUnmatchedSharedMem),
    ROW(IsLargeBar, isLargeBar),
    ROW(AsicRevision, asicRevision),
    ROW(PhysicalMultiProcessorCount, multiProcessorCount),
};

#undef ROW

/* Attributes without a property.  Missing are the LUID and the HDP registers, which
 * don't fit an int and are not there. */
static const struct {
    hipDeviceAttribute_t attribute;
    int value;
} other_rows[] = {
    {hipDeviceAttributeVirtualMemoryManagementSupported, 1},
    {hipDeviceAttributeDmaBufSupported, 0},
    {hipDeviceAttributeGPUDirectRDMAWithHipVMMSupported, 0},
    {hipDeviceAttributeHandleTypeFabricSupported, 0},
    {hipDeviceAttributeCanUseStreamWaitValue, 1},
    {hipDeviceAttributeImageSupport, 1},
    {hipDeviceAttributeFineGrainSupport, 1},
    {hipDeviceAttributeNumberOfXccs, 1},
    {hipDeviceAttributeMaxAvailableVgprsPerThread,
     (int)(HA_REGISTERS_PER_PROCESSOR / HA_MAX_THREADS_PER_PROCESSOR)},
    {hipDeviceAttributePciChipId, 0},
    {hipDeviceAttributeExpertSchedMode, 0},
    {hipDeviceAttributeMaxDynDataPrefetchRegions, 0},
};

bool
ha_device_attribute(const struct ha_device *device, hipDeviceAttribute_t attribute,
                    int *value)
{
    if (attribute == hipDeviceAttributeHostNumaId) {
        pthread_once(&machine.once, machine_read);
        *value = machine.numa_node;
        return true;
    }
    for (size_t i = 0; i < sizeof other_rows / sizeof other_rows[0]; i++) {
        if (other_rows[i].attribute == attribute) {
            *value = other_rows[i].value;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof attribute_rows / sizeof attribute_rows[0]; i++) {
        const struct attribute_row *row = &attribute_rows[i];
        if (row->attribute != attribute) {
            continue;
        }
        hipDeviceProp_t properties;
        ha_device_properties(device, &properties);
        const unsigned char *field = (const unsigned char *)&properties + row->offset;
        if (row->bytes == sizeof(size_t)) {
            size_t wide;
            memcpy(&wide, field, sizeof wide);
            *value = wide > INT_MAX ? INT_MAX : (int)wide;
        } else {
            memcpy(value, field, sizeof *value);
        }
        return true;
    }
    return false;
}
