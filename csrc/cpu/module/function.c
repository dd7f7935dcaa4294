/* SPDX-License-Identifier: MIT */
/* Attributes of a kernel function, by whichever handle it was reached. */
#include <limits.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/module/module.h"

/* What a thread has on the processors that the device is made for: 16 general and 16
 * vector registers, which is its share of what the properties tell. */
#define THREAD_REGISTERS 32

_Static_assert(HA_REGISTERS_PER_PROCESSOR / HA_MAX_THREADS_PER_PROCESSOR ==
                   THREAD_REGISTERS,
               "programs compute one from the others");

uint32_t
ha_kernel_dynamic_room(const struct ha_image_kernel *kernel)
{
    return kernel->shared_static < HA_MAX_SHARED_BYTES
               ? HA_MAX_SHARED_BYTES - kernel->shared_static
               : 0;
}

void
ha_function_attributes(const struct ha_function *function,
                       hipFuncAttributes *attributes)
{
    const struct ha_image_kernel *kernel = function->kernel;
    hipDeviceProp_t properties;
    ha_device_properties(function->device, &properties);
    int version = properties.major * 10 + properties.minor;
    *attributes = (hipFuncAttributes){
        .binaryVersion = version,
        .ptxVersion = version,
        .constSizeBytes = ha_module_constant_bytes(function->module),
        .localSizeBytes = atomic_load(&function->device->stack_bytes),
        .sharedSizeBytes = kernel->shared_static,
        .maxDynamicSharedSizeBytes = atomic_load(&function->dynamic_bytes),
        .preferredShmemCarveout = atomic_load(&function->carveout),
        .maxThreadsPerBlock = (int)kernel->max_threads,
        .numRegs = THREAD_REGISTERS,
    };
}

static int
as_int(size_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

hipError_t
ha_function_attribute(const struct ha_function *function,
                      hipFunction_attribute attribute, int *value)
{
    hipFuncAttributes all;
    ha_function_attributes(function, &all);
    switch ((int)attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = all.maxThreadsPerBlock;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = as_int(all.sharedSizeBytes);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = as_int(all.constSizeBytes);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = as_int(all.localSizeBytes);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        *value = all.numRegs;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = all.ptxVersion;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = all.binaryVersion;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = all.cacheModeCA;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = all.maxDynamicSharedSizeBytes;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = all.preferredShmemCarveout;
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attrib': functions have no attribute %d",
                           (int)attribute);
    }
}

hipError_t
ha_function_set_attribute(struct ha_function *function, int attribute, int value)
{
    uint32_t room = ha_kernel_dynamic_room(function->kernel);
    switch (attribute) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint32_t)value > room) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'value' is %d; the function has room for %u bytes", value,
                room);
        }
        atomic_store(&function->dynamic_bytes, value);
        return hipSuccess;
    case hipFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'value' is %d, which is not a percentage",
                               value);
        }
        atomic_store(&function->carveout, value);
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attr': functions have no attribute %d that can "
                           "be set",
                           attribute);
    }
}
