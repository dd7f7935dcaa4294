/* SPDX-License-Identifier: MIT */
/* Attributes of a kernel function, by whichever handle it was reached. */
#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/module.h"

hipError_t
ha_function_attribute(const struct ha_function *function,
                      hipFunction_attribute attribute, int *value)
{
    const struct ha_image_kernel *kernel = function->kernel;
    switch ((int)attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)kernel->max_threads;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)kernel->shared_static;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)(HA_MAX_SHARED_BYTES - kernel->shared_static);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)atomic_load(&function->device->stack_bytes);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = 0; /* a CPU has none of these */
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attrib': functions have no attribute %d",
                           (int)attribute);
    }
}

hipError_t
ha_function_set_attribute(const struct ha_function *function, int attribute, int value)
{
    uint32_t room = HA_MAX_SHARED_BYTES - function->kernel->shared_static;
    switch (attribute) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
        /* All of it may be used anyway. */
        if (value < 0 || (uint32_t)value > room) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument 'value' is %d; the function has room for %u bytes", value,
                room);
        }
        return hipSuccess;
    case hipFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'value' is %d, which is no percentage", value);
        }
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'attr': functions have no attribute %d that can "
                           "be set",
                           attribute);
    }
}
