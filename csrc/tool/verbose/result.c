/* SPDX-License-Identifier: MIT */
#include "tool/verbose/result.h"

#include <stddef.h>

#include "abi/hip.h"
#include "tool/generated/hip_results.h"
#include "tool/sdk.h"

const char *
ha_result_name(int32_t result)
{
    switch (result) {
#define NAME(value, name)                                                              \
    case value:                                                                        \
        return #name;
        HA_HIP_RESULTS(NAME)
#undef NAME
    default:
        return NULL;
    }
}

bool
ha_result_is_failure(int32_t operation, int32_t result)
{
    switch (operation) {
#define NONE(name) case ROCPROFILER_HIP_RUNTIME_API_ID_##name:
        HA_CALLS_WITHOUT_RESULT(NONE)
#undef NONE
        return false;
    default:
        return result != hipSuccess && result != hipErrorNotReady &&
               result != hipErrorDeinitialized;
    }
}

bool
ha_result_is_refusal(int32_t result)
{
    switch ((hipError_t)result) {
    case hipErrorInvalidValue:
    case hipErrorInvalidConfiguration:
    case hipErrorInvalidPitchValue:
    case hipErrorInvalidSymbol:
    case hipErrorInvalidDevicePointer:
    case hipErrorInvalidMemcpyDirection:
    case hipErrorInvalidDeviceFunction:
    case hipErrorInvalidDevice:
    case hipErrorInvalidImage:
    case hipErrorInvalidContext:
    case hipErrorInvalidKernelFile:
    case hipErrorInvalidSource:
    case hipErrorFileNotFound:
    case hipErrorInvalidHandle:
    case hipErrorContextIsDestroyed: /* a stream that is none */
    case hipErrorNotFound:
    case hipErrorHostMemoryAlreadyRegistered:
    case hipErrorHostMemoryNotRegistered:
        return true;
    default:
        return false;
    }
}
