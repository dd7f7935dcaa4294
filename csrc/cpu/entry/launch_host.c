/* SPDX-License-Identifier: MIT */
/* HIP entry points: launches of kernels by the address that they have in the program
 * (cpu/module/register.h), with attributes, and in several steps.  A hipFunction_t is
 * accepted wherever the address of a kernel is. */
#include <stdlib.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/gone.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/queue/stream.h"
#include "cpu/submit/event.h"
#include "cpu/submit/launch.h"
#include "cpu/work/call_config.h"

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
    return ha_submit_launch_address(device, function_address,
                                    hipErrorInvalidDeviceFunction, &request);
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
        code = ha_submit_record(startEvent, stream, device, HA_EVENT_INTERNAL);
    }
    if (code == hipSuccess) {
        code = ha_submit_launch_address(device, function_address,
                                        hipErrorInvalidDeviceFunction, &request);
    }
    if (code == hipSuccess && stopEvent != NULL) {
        code = ha_submit_record(stopEvent, stream, device, HA_EVENT_INTERNAL);
    }
    return code;
}

/* ---- attributes ---- */

/* Attributes that cannot be honoured are refused. Those that only advise a GPU are
 * accepted, because they change no result here. */
static hipError_t
attribute_apply(const hipLaunchAttribute *attribute, unsigned index,
                struct ha_launch_request *request)
{
    const hipLaunchAttributeValue *value = &attribute->value;
    switch ((int)attribute->id) {
    case hipLaunchAttributeIgnore:
    case hipLaunchAttributeAccessPolicyWindow:
    case hipLaunchAttributeSynchronizationPolicy:
    case hipLaunchAttributeClusterSchedulingPolicyPreference:
    case hipLaunchAttributePriority:
    case hipLaunchAttributeMemSyncDomainMap:
    case hipLaunchAttributeMemSyncDomain:
        return hipSuccess;
    case hipLaunchAttributeCooperative:
        request->cooperative = value->cooperative != 0;
        return hipSuccess;
    case hipLaunchAttributeClusterDimension:
        if (value->clusterDim.x <= 1 && value->clusterDim.y <= 1 &&
            value->clusterDim.z <= 1) {
            return hipSuccess;
        }
        break;
    case hipLaunchAttributeExtDynDataPrefetch:
        break;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "launch attribute %u: there is no attribute %d", index,
                           (int)attribute->id);
    }
    return ha_cpu_fail(hipErrorNotSupported,
                       "launch attribute %u: the CPU device does not support attribute "
                       "%d with this value",
                       index, (int)attribute->id);
}

static hipError_t
attributes_apply(const hipLaunchAttribute *attributes, unsigned count,
                 struct ha_launch_request *request)
{
    if (count > 0 && attributes == NULL) {
        return ha_cpu_fail_null("config->attrs");
    }
    hipError_t code = hipSuccess;
    for (unsigned i = 0; i < count && code == hipSuccess; i++) {
        code = attribute_apply(&attributes[i], i, request);
    }
    return code;
}

HA_EXPORT hipError_t
hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *fPtr, void **args)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLaunchKernelExC", &device);
    if (code == hipSuccess) {
        code = ha_need_both("config", config, "fPtr", fPtr);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_launch_request request = {
        .grid = {config->gridDim.x, config->gridDim.y, config->gridDim.z},
        .block = {config->blockDim.x, config->blockDim.y, config->blockDim.z},
        .shared_bytes = config->dynamicSmemBytes,
        .stream = config->stream,
        .params = args,
    };
    code = attributes_apply(config->attrs, config->numAttrs, &request);
    return code == hipSuccess
               ? ha_submit_launch_address(device, fPtr, hipErrorInvalidDeviceFunction,
                                          &request)
               : code;
}

HA_EXPORT hipError_t
hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params,
                     void **extra)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipDrvLaunchKernelEx", &device);
    if (code == hipSuccess) {
        code = ha_need_both("config", config, "f", f);
    }
    if (code != hipSuccess) {
        return code;
    }
    struct ha_launch_request request = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .stream = config->hStream,
        .params = params,
        .extra = extra,
    };
    code = attributes_apply(config->attrs, config->numAttrs, &request);
    return code == hipSuccess ? ha_submit_launch_address(
                                    device, f, hipErrorInvalidResourceHandle, &request)
                              : code;
}

/* ---- in several steps ---- */

HA_EXPORT hipError_t
hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipConfigureCall", &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_call_config config = {.grid = gridDim,
                                          .block = blockDim,
                                          .shared_bytes = sharedMem,
                                          .stream = stream};
    return ha_call_config_push(&config);
}

HA_EXPORT hipError_t
hipSetupArgument(const void *arg, size_t size, size_t offset)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipSetupArgument", &device);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_gone_check("arg", arg, size);
    return code == hipSuccess ? ha_call_config_argument(arg, size, offset) : code;
}

HA_EXPORT hipError_t
hipLaunchByPtr(const void *func)
{
    struct ha_device *device;
    struct ha_call_config config;
    hipError_t code = ha_enter("hipLaunchByPtr", &device);
    if (code == hipSuccess) {
        code = ha_call_config_pop(&config);
    }
    if (code != hipSuccess) {
        return code;
    }
    void *extra[] = {
        (void *)HIP_LAUNCH_PARAM_BUFFER_POINTER,
        config.arguments,
        (void *)HIP_LAUNCH_PARAM_BUFFER_SIZE,
        &config.argument_bytes,
        (void *)HIP_LAUNCH_PARAM_END,
    };
    const struct ha_launch_request request = {
        .grid = {config.grid.x, config.grid.y, config.grid.z},
        .block = {config.block.x, config.block.y, config.block.z},
        .shared_bytes = config.shared_bytes,
        .stream = config.stream,
        .extra = config.arguments != NULL ? extra : NULL,
    };
    code =
        ha_submit_launch_address(device, func, hipErrorInvalidDeviceFunction, &request);
    free(config.arguments);
    return code;
}
