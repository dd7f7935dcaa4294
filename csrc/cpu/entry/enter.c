/* SPDX-License-Identifier: MIT */
#include "cpu/entry/enter.h"

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/thread.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/capture.h"

hipError_t
ha_need_no_flags(unsigned long long flags)
{
    return flags == 0 ? hipSuccess
                      : ha_cpu_fail(hipErrorInvalidValue,
                                    "argument 'flags' is 0x%llx, must be 0", flags);
}

hipError_t
ha_enter_unsafe(const char *function, struct ha_device **device)
{
    hipError_t code = ha_enter(function, device);
    return code == hipSuccess ? ha_capture_permit() : code;
}

hipError_t
ha_enter_for_device(const char *function, int id, struct ha_device **device)
{
    hipError_t code = ha_enter_query(function);
    if (code != hipSuccess) {
        return code;
    }
    *device = ha_device_get(id);
    if (*device == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "there is no device %d (there are %d)", id,
                           ha_config()->device_count);
    }
    return hipSuccess;
}

hipError_t
ha_enter_for_device_out(const char *function, int id, const char *argument,
                        const void *pointer, struct ha_device **device)
{
    hipError_t code = ha_enter_for_device(function, id, device);
    return code == hipSuccess ? ha_need(argument, pointer) : code;
}

hipError_t
ha_enter_for_current(const char *function, struct ha_device **device)
{
    return ha_enter_for_device(function, ha_thread_self()->device, device);
}

hipError_t
ha_enter_for_current_out(const char *function, const char *argument,
                         const void *pointer, struct ha_device **device)
{
    hipError_t code = ha_enter_for_current(function, device);
    return code == hipSuccess ? ha_need(argument, pointer) : code;
}
