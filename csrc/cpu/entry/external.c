/* SPDX-License-Identifier: MIT */
/* HIP entry points: external memory.  HIP has external semaphores on Windows only. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/external_memory.h"

#define DEDICATED 1u /* hipExternalMemoryDedicated: means nothing for a file */

static hipError_t
check_description(const hipExternalMemoryHandleDesc *description)
{
    int type = (int)description->type;
    if (type < (int)hipExternalMemoryHandleTypeOpaqueFd ||
        type > (int)hipExternalMemoryHandleTypeNvSciBuf) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'memHandleDesc': its type is %d", type);
    }
    if (type != (int)hipExternalMemoryHandleTypeOpaqueFd) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "argument 'memHandleDesc': its type is %d; there are file "
                           "descriptors only",
                           type);
    }
    if ((description->flags & ~DEDICATED) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'memHandleDesc': its flags are 0x%x; they must be "
                           "0 or hipExternalMemoryDedicated",
                           description->flags);
    }
    if (description->size == 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'memHandleDesc': its size is 0");
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipImportExternalMemory(hipExternalMemory_t *extMem_out,
                        const hipExternalMemoryHandleDesc *memHandleDesc)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipImportExternalMemory", &device);
    if (code == hipSuccess) {
        code = ha_need_both("extMem_out", extMem_out, "memHandleDesc", memHandleDesc);
    }
    if (code == hipSuccess) {
        code = check_description(memHandleDesc);
    }
    return code == hipSuccess
               ? ha_external_memory_import(memHandleDesc->handle.fd,
                                           memHandleDesc->size, extMem_out)
               : code;
}

HA_EXPORT hipError_t
hipExternalMemoryGetMappedBuffer(void **devPtr, hipExternalMemory_t extMem,
                                 const hipExternalMemoryBufferDesc *bufferDesc)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipExternalMemoryGetMappedBuffer", &device);
    if (code == hipSuccess) {
        code = ha_need_both("devPtr", devPtr, "bufferDesc", bufferDesc);
    }
    if (code == hipSuccess && (bufferDesc->flags != 0 || bufferDesc->size == 0)) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'bufferDesc': its flags are 0x%x and its size is "
                           "%llu; there must be no flags, and some bytes",
                           bufferDesc->flags, bufferDesc->size);
    }
    return code == hipSuccess
               ? ha_external_memory_map(device, extMem, bufferDesc->offset,
                                        bufferDesc->size, devPtr)
               : code;
}

HA_EXPORT hipError_t
hipDestroyExternalMemory(hipExternalMemory_t extMem)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDestroyExternalMemory", &device);
    return code == hipSuccess ? ha_external_memory_destroy(extMem) : code;
}
