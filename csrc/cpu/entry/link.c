/* SPDX-License-Identifier: MIT */
/* hiprtcLink* and hipLink* of the C ABI: two spellings of cpu/compile/link.h.  Linking
 * needs no device; the HIP functions start the runtime all the same, as all of HIP do.
 */
#include "abi/hip.h"
#include "abi/hiprtc.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/compile/link.h"
#include "cpu/compile/rtc.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/register.h"

#include "core/status.h"

static uint64_t
rtc_handle(hiprtcLinkState state)
{
    return (uint64_t)(uintptr_t)state;
}

static uint64_t
hip_handle(hipLinkState_t state)
{
    return (uint64_t)(uintptr_t)state;
}

static hiprtcResult
rtc_answer(enum ha_link_answer answer, const char *function)
{
    static const hiprtcResult results[] = {
        [HA_LINK_OK] = HIPRTC_SUCCESS,
        [HA_LINK_HANDLE] = HIPRTC_ERROR_INVALID_INPUT,
        [HA_LINK_ARGUMENT] = HIPRTC_ERROR_INVALID_INPUT,
        [HA_LINK_OPTION] = HIPRTC_ERROR_INVALID_OPTION,
        [HA_LINK_KIND] = HIPRTC_ERROR_INVALID_INPUT,
        [HA_LINK_CONTENT] = HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
        [HA_LINK_FILE] = HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
        [HA_LINK_FAILED] = HIPRTC_ERROR_LINKING,
        [HA_LINK_MEMORY] = HIPRTC_ERROR_OUT_OF_MEMORY,
        [HA_LINK_SYSTEM] = HIPRTC_ERROR_INTERNAL_ERROR,
    };
    return answer == HA_LINK_OK
               ? HIPRTC_SUCCESS
               : ha_rtc_fail(results[answer], function, "%s", ha_error_text());
}

static hipError_t
hip_answer(enum ha_link_answer answer)
{
    static const hipError_t results[] = {
        [HA_LINK_OK] = hipSuccess,
        [HA_LINK_HANDLE] = hipErrorInvalidHandle,
        [HA_LINK_ARGUMENT] = hipErrorInvalidValue,
        [HA_LINK_OPTION] = hipErrorInvalidValue,
        [HA_LINK_KIND] = hipErrorInvalidValue,
        [HA_LINK_CONTENT] = hipErrorInvalidImage,
        [HA_LINK_FILE] = hipErrorFileNotFound,
        [HA_LINK_FAILED] = hipErrorInvalidImage,
        [HA_LINK_MEMORY] = hipErrorOutOfMemory,
        [HA_LINK_SYSTEM] = hipErrorUnknown,
    };
    return answer == HA_LINK_OK ? hipSuccess
                                : ha_cpu_fail(results[answer], "%s", ha_error_text());
}

static struct ha_link_options
options_of(unsigned count, const hipJitOption *names, void *const *values)
{
    return (struct ha_link_options){count, names, values, ha_warp_size()};
}

/* ---- hiprtc ---- */

HA_EXPORT hiprtcResult
hiprtcLinkCreate(unsigned int num_options, hipJitOption *option_ptr,
                 void **option_vals_pptr, hiprtcLinkState *hip_link_state_ptr)
{
    static const char function[] = "hiprtcLinkCreate";
    const struct ha_link_options options =
        options_of(num_options, option_ptr, option_vals_pptr);
    uint64_t state = 0;
    if (hip_link_state_ptr == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument 'hip_link_state_ptr' is NULL");
    }
    hiprtcResult result = rtc_answer(ha_link_create(&options, &state), function);
    if (result == HIPRTC_SUCCESS) {
        *hip_link_state_ptr = (hiprtcLinkState)(uintptr_t)state;
    }
    return result;
}

HA_EXPORT hiprtcResult
hiprtcLinkAddFile(hiprtcLinkState hip_link_state, hipJitInputType input_type,
                  const char *file_path, unsigned int num_options,
                  hipJitOption *options_ptr, void **option_values)
{
    const struct ha_link_options options =
        options_of(num_options, options_ptr, option_values);
    return rtc_answer(
        ha_link_add_file(rtc_handle(hip_link_state), input_type, file_path, &options),
        "hiprtcLinkAddFile");
}

HA_EXPORT hiprtcResult
hiprtcLinkAddData(hiprtcLinkState hip_link_state, hipJitInputType input_type,
                  void *image, size_t image_size, const char *name,
                  unsigned int num_options, hipJitOption *options_ptr,
                  void **option_values)
{
    const struct ha_link_options options =
        options_of(num_options, options_ptr, option_values);
    return rtc_answer(ha_link_add_data(rtc_handle(hip_link_state), input_type, image,
                                       image_size, name, &options),
                      "hiprtcLinkAddData");
}

HA_EXPORT hiprtcResult
hiprtcLinkComplete(hiprtcLinkState hip_link_state, void **bin_out, size_t *size_out)
{
    static const char function[] = "hiprtcLinkComplete";
    if (bin_out == NULL || size_out == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument '%s' is NULL",
                           bin_out == NULL ? "bin_out" : "size_out");
    }
    return rtc_answer(
        ha_link_complete(rtc_handle(hip_link_state), ha_warp_size(), bin_out, size_out),
        function);
}

HA_EXPORT hiprtcResult
hiprtcLinkDestroy(hiprtcLinkState hip_link_state)
{
    return rtc_answer(ha_link_destroy(rtc_handle(hip_link_state)), "hiprtcLinkDestroy");
}

/* ---- HIP ---- */

HA_EXPORT hipError_t
hipLinkCreate(unsigned int numOptions, hipJitOption *options, void **optionValues,
              hipLinkState_t *stateOut)
{
    const struct ha_link_options given = options_of(numOptions, options, optionValues);
    struct ha_device *device;
    uint64_t state = 0;
    hipError_t code = ha_enter_out("hipLinkCreate", "stateOut", stateOut, &device);
    if (code != hipSuccess) {
        return code;
    }
    code = hip_answer(ha_link_create(&given, &state));
    if (code == hipSuccess) {
        *stateOut = (hipLinkState_t)(uintptr_t)state;
    }
    return code;
}

HA_EXPORT hipError_t
hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char *path,
               unsigned int numOptions, hipJitOption *options, void **optionValues)
{
    const struct ha_link_options given = options_of(numOptions, options, optionValues);
    struct ha_device *device;
    hipError_t code = ha_enter("hipLinkAddFile", &device);
    return code != hipSuccess
               ? code
               : hip_answer(ha_link_add_file(hip_handle(state), type, path, &given));
}

HA_EXPORT hipError_t
hipLinkAddData(hipLinkState_t state, hipJitInputType type, void *data, size_t size,
               const char *name, unsigned int numOptions, hipJitOption *options,
               void **optionValues)
{
    const struct ha_link_options given = options_of(numOptions, options, optionValues);
    struct ha_device *device;
    hipError_t code = ha_enter("hipLinkAddData", &device);
    return code != hipSuccess ? code
                              : hip_answer(ha_link_add_data(hip_handle(state), type,
                                                            data, size, name, &given));
}

HA_EXPORT hipError_t
hipLinkComplete(hipLinkState_t state, void **hipBinOut, size_t *sizeOut)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLinkComplete", &device);
    if (code == hipSuccess) {
        code = ha_need_both("hipBinOut", hipBinOut, "sizeOut", sizeOut);
    }
    return code == hipSuccess
               ? hip_answer(ha_link_complete(hip_handle(state), ha_warp_size(),
                                             hipBinOut, sizeOut))
               : code;
}

HA_EXPORT hipError_t
hipLinkDestroy(hipLinkState_t state)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipLinkDestroy", &device);
    return code != hipSuccess ? code : hip_answer(ha_link_destroy(hip_handle(state)));
}
