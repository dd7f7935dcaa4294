/* SPDX-License-Identifier: MIT */
/* HIP entry points: texture objects. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/texture.h"

HA_EXPORT hipError_t
hipCreateTextureObject(hipTextureObject_t *pTexObject, const hipResourceDesc *pResDesc,
                       const hipTextureDesc *pTexDesc,
                       const hipResourceViewDesc *pResViewDesc)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipCreateTextureObject", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL) {
        return ha_cpu_fail_null(pTexObject == NULL ? "pTexObject"
                                : pResDesc == NULL ? "pResDesc"
                                                   : "pTexDesc");
    }
    struct ha_texture_request request = {.resource = *pResDesc, .texture = *pTexDesc};
    if (pResViewDesc != NULL) {
        request.view = *pResViewDesc;
        request.has_view = true;
    }
    return ha_texture_create(device, &request, pTexObject);
}

HA_EXPORT hipError_t
hipDestroyTextureObject(hipTextureObject_t textureObject)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipDestroyTextureObject", &device);
    return code == hipSuccess && textureObject != NULL
               ? ha_texture_destroy("textureObject", textureObject)
               : code;
}

static hipError_t
get(const char *function, const char *output, const void *out,
    hipTextureObject_t object, struct ha_texture_request *request)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, output, out, &device);
    return code == hipSuccess ? ha_texture_get("textureObject", object, request) : code;
}

HA_EXPORT hipError_t
hipGetTextureObjectResourceDesc(hipResourceDesc *pResDesc,
                                hipTextureObject_t textureObject)
{
    struct ha_texture_request request;
    hipError_t code = get("hipGetTextureObjectResourceDesc", "pResDesc", pResDesc,
                          textureObject, &request);
    if (code == hipSuccess) {
        *pResDesc = request.resource;
    }
    return code;
}

HA_EXPORT hipError_t
hipGetTextureObjectTextureDesc(hipTextureDesc *pTexDesc,
                               hipTextureObject_t textureObject)
{
    struct ha_texture_request request;
    hipError_t code = get("hipGetTextureObjectTextureDesc", "pTexDesc", pTexDesc,
                          textureObject, &request);
    if (code == hipSuccess) {
        *pTexDesc = request.texture;
    }
    return code;
}

HA_EXPORT hipError_t
hipGetTextureObjectResourceViewDesc(hipResourceViewDesc *pResViewDesc,
                                    hipTextureObject_t textureObject)
{
    struct ha_texture_request request;
    hipError_t code = get("hipGetTextureObjectResourceViewDesc", "pResViewDesc",
                          pResViewDesc, textureObject, &request);
    if (code == hipSuccess && !request.has_view) {
        code = ha_cpu_fail(hipErrorInvalidValue, "the texture was made without a view");
    }
    if (code == hipSuccess) {
        *pResViewDesc = request.view;
    }
    return code;
}

HA_EXPORT hipError_t
hipDeviceGetTexture1DLinearMaxWidth(size_t *max_width, const hipChannelFormatDesc *desc,
                                    int device)
{
    struct ha_texel texel;
    hipError_t code = ha_enter_query("hipDeviceGetTexture1DLinearMaxWidth");
    if (code == hipSuccess) {
        code = ha_need_both("max_width", max_width, "desc", desc);
    }
    if (code == hipSuccess && ha_device_get(device) == NULL) {
        code = ha_cpu_fail(hipErrorInvalidDevice, "there is no device %d", device);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_channels("desc", desc, &texel);
    }
    if (code == hipSuccess) {
        *max_width = HA_LINEAR_TEXTURE_MAX;
    }
    return code;
}
