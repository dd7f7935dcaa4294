/* SPDX-License-Identifier: MIT */
/* HIP entry points: error state and error names. They work in every state of the
 * runtime. */
#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/base/thread.h"
#include "cpu/entry/runtime.h"

HA_EXPORT hipError_t
hipGetLastError(void)
{
    struct ha_thread *thread = ha_thread_self();
    hipError_t code = thread->last_error;
    thread->last_error = hipSuccess;
    return code;
}

HA_EXPORT hipError_t
hipPeekAtLastError(void)
{
    return ha_thread_self()->last_error;
}

HA_EXPORT hipError_t
hipExtGetLastError(void)
{
    struct ha_thread *thread = ha_thread_self();
    hipError_t code = thread->last_call;
    thread->last_call = hipSuccess;
    return code;
}

HA_EXPORT const char *
hipGetErrorName(hipError_t hip_error)
{
    const char *name = ha_error_code_name(hip_error);
    return name != NULL ? name : "hipErrorUnknown";
}

HA_EXPORT const char *
hipGetErrorString(hipError_t hipError)
{
    const char *text = ha_error_code_text(hipError);
    return text != NULL ? text : "unknown error";
}

HA_EXPORT hipError_t
hipDrvGetErrorName(hipError_t hipError, const char **errorString)
{
    ha_thread_self()->function = "hipDrvGetErrorName";
    if (errorString == NULL) {
        return ha_cpu_fail_null("errorString");
    }
    *errorString = ha_error_code_name(hipError);
    if (*errorString == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'hipError': %d is not an error code",
                           (int)hipError);
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipDrvGetErrorString(hipError_t hipError, const char **errorString)
{
    ha_thread_self()->function = "hipDrvGetErrorString";
    if (errorString == NULL) {
        return ha_cpu_fail_null("errorString");
    }
    *errorString = ha_error_code_text(hipError);
    if (*errorString == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'hipError': %d is not an error code",
                           (int)hipError);
    }
    return hipSuccess;
}

HA_EXPORT const char *
hipadaptGetErrorText(void)
{
    return ha_thread_self()->text;
}
