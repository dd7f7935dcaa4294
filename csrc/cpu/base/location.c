/* SPDX-License-Identifier: MIT */
#include "cpu/base/location.h"

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"

hipError_t
ha_location_id(const char *argument, const hipMemLocation *location, hipError_t absent,
               int *id)
{
    switch ((int)location->type) {
    case hipMemLocationTypeDevice:
        if (ha_device_get(location->id) == NULL) {
            return ha_cpu_fail(absent,
                               "argument '%s': there is no device %d (there are %d)",
                               argument, location->id, ha_config()->device_count);
        }
        *id = location->id;
        return hipSuccess;
    case hipMemLocationTypeHost:
    case hipMemLocationTypeHostNuma:
    case hipMemLocationTypeHostNumaCurrent:
        *id = HA_HOST_ID;
        return hipSuccess;
    default:
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument '%s': its type is %d, which is not a place of memory", argument,
            (int)location->type);
    }
}

hipError_t
ha_location_device(const char *argument, const hipMemLocation *location,
                   hipError_t absent, struct ha_device **device)
{
    int id = HA_HOST_ID;
    hipError_t code = ha_location_id(argument, location, absent, &id);
    if (code != hipSuccess) {
        return code;
    }
    if (id == HA_HOST_ID) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': the host has no such memory", argument);
    }
    *device = ha_device_get(id);
    return hipSuccess;
}
