/* SPDX-License-Identifier: MIT */
/* HIP entry points: surface objects. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/surface.h"

HA_EXPORT hipError_t
hipCreateSurfaceObject(hipSurfaceObject_t *pSurfObject, const hipResourceDesc *pResDesc)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipCreateSurfaceObject", &device);
    if (code == hipSuccess) {
        code = ha_need_both("pSurfObject", pSurfObject, "pResDesc", pResDesc);
    }
    return code == hipSuccess ? ha_surface_create(device, pResDesc, pSurfObject) : code;
}

HA_EXPORT hipError_t
hipDestroySurfaceObject(hipSurfaceObject_t surfaceObject)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipDestroySurfaceObject", &device);
    return code == hipSuccess && surfaceObject != NULL
               ? ha_surface_destroy(surfaceObject)
               : code;
}
