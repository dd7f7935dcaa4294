/* SPDX-License-Identifier: MIT */
/* HIP entry points: texture objects in the records of the driver interface, which are
 * turned into those of the runtime and back. */
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/mipmap.h"
#include "cpu/memory/texture.h"

#define DRIVER_FLAGS                                                                   \
    ((unsigned)HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES |            \
     HIP_TRSF_SRGB)

static hipError_t
resource_from_driver(const HIP_RESOURCE_DESC *driver, hipResourceDesc *resource)
{
    struct ha_texel texel;
    hipError_t code = hipSuccess;
    memset(resource, 0, sizeof *resource);
    resource->resType = (hipResourceType)driver->resType;
    if (driver->flags != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': flags are 0x%x, must be 0",
                           driver->flags);
    }
    switch ((int)driver->resType) {
    case HIP_RESOURCE_TYPE_ARRAY:
        resource->res.array.array = driver->res.array.hArray;
        break;
    case HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        resource->res.mipmap.mipmap = driver->res.mipmap.hMipmappedArray;
        break;
    case HIP_RESOURCE_TYPE_LINEAR:
        code = ha_texel_of_format("pResDesc", driver->res.linear.format,
                                  driver->res.linear.numChannels, &texel);
        if (code == hipSuccess) {
            resource->res.linear.desc = ha_texel_channels(&texel);
        }
        resource->res.linear.devPtr = driver->res.linear.devPtr;
        resource->res.linear.sizeInBytes = driver->res.linear.sizeInBytes;
        break;
    case HIP_RESOURCE_TYPE_PITCH2D:
        code = ha_texel_of_format("pResDesc", driver->res.pitch2D.format,
                                  driver->res.pitch2D.numChannels, &texel);
        if (code == hipSuccess) {
            resource->res.pitch2D.desc = ha_texel_channels(&texel);
        }
        resource->res.pitch2D.devPtr = driver->res.pitch2D.devPtr;
        resource->res.pitch2D.width = driver->res.pitch2D.width;
        resource->res.pitch2D.height = driver->res.pitch2D.height;
        resource->res.pitch2D.pitchInBytes = driver->res.pitch2D.pitchInBytes;
        break;
    default:
        break; /* refused with all other bad resources, by ha_texture_create */
    }
    return code;
}

/* Descriptions of living textures are valid, so nothing here can fail. */
static void
resource_to_driver(const hipResourceDesc *resource, HIP_RESOURCE_DESC *driver)
{
    struct ha_texel texel = {1, 32, hipChannelFormatKindFloat};
    memset(driver, 0, sizeof *driver);
    driver->resType = (HIPresourcetype)resource->resType;
    switch ((int)resource->resType) {
    case hipResourceTypeArray:
        driver->res.array.hArray = resource->res.array.array;
        break;
    case hipResourceTypeMipmappedArray:
        driver->res.mipmap.hMipmappedArray = resource->res.mipmap.mipmap;
        break;
    case hipResourceTypeLinear:
        (void)ha_texel_of_channels("pResDesc", &resource->res.linear.desc, &texel);
        driver->res.linear.devPtr = resource->res.linear.devPtr;
        driver->res.linear.format = ha_texel_format(&texel);
        driver->res.linear.numChannels = texel.channels;
        driver->res.linear.sizeInBytes = resource->res.linear.sizeInBytes;
        break;
    default:
        (void)ha_texel_of_channels("pResDesc", &resource->res.pitch2D.desc, &texel);
        driver->res.pitch2D.devPtr = resource->res.pitch2D.devPtr;
        driver->res.pitch2D.format = ha_texel_format(&texel);
        driver->res.pitch2D.numChannels = texel.channels;
        driver->res.pitch2D.width = resource->res.pitch2D.width;
        driver->res.pitch2D.height = resource->res.pitch2D.height;
        driver->res.pitch2D.pitchInBytes = resource->res.pitch2D.pitchInBytes;
        break;
    }
}

/* The element of the resource; `found` is false for a resource without one. */
static hipError_t
texel_of(const hipResourceDesc *resource, struct ha_texel *texel, bool *found)
{
    hipArray_t handle = NULL;
    struct ha_array *array = NULL;
    *found = true;
    switch ((int)resource->resType) {
    case hipResourceTypeLinear:
        return ha_texel_of_channels("pResDesc", &resource->res.linear.desc, texel);
    case hipResourceTypePitch2D:
        return ha_texel_of_channels("pResDesc", &resource->res.pitch2D.desc, texel);
    case hipResourceTypeArray:
        handle = resource->res.array.array;
        break;
    default:
        *found = false;
        return hipSuccess;
    }
    hipError_t code = ha_array_acquire("pResDesc->res.array", handle, &array);
    if (code == hipSuccess) {
        *texel = array->texel;
        ha_array_release(array);
    }
    return code;
}

/* Without HIP_TRSF_READ_AS_INTEGER, integers of 8 and 16 bits become floats; those of
 * 32 bits stay what they are. */
static hipError_t
read_mode(const hipResourceDesc *resource, unsigned flags, hipTextureReadMode *mode)
{
    struct ha_texel texel = {1, 8, hipChannelFormatKindUnsigned};
    struct ha_array *levels[HA_MIPMAP_LEVELS_MAX];
    uint32_t count = 0;
    bool found;
    hipError_t code = texel_of(resource, &texel, &found);
    if (code == hipSuccess && !found &&
        resource->resType == hipResourceTypeMipmappedArray) {
        code = ha_mipmap_acquire("pResDesc->res.mipmap", resource->res.mipmap.mipmap,
                                 levels, &count);
        for (uint32_t i = 0; i < count; i++) {
            texel = levels[i]->texel;
            ha_array_release(levels[i]);
        }
    }
    bool wide = texel.bits == 32 && texel.kind != hipChannelFormatKindFloat;
    *mode = (flags & HIP_TRSF_READ_AS_INTEGER) != 0 || wide
                ? hipReadModeElementType
                : hipReadModeNormalizedFloat;
    return code;
}

static hipError_t
texture_from_driver(const HIP_TEXTURE_DESC *driver, const hipResourceDesc *resource,
                    hipTextureDesc *texture)
{
    memset(texture, 0, sizeof *texture);
    if ((driver->flags & ~DRIVER_FLAGS) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'pTexDesc': flags 0x%x",
                           driver->flags);
    }
    for (int i = 0; i < 3; i++) {
        texture->addressMode[i] = (hipTextureAddressMode)driver->addressMode[i];
    }
    texture->filterMode = (hipTextureFilterMode)driver->filterMode;
    texture->sRGB = (driver->flags & HIP_TRSF_SRGB) != 0;
    memcpy(texture->borderColor, driver->borderColor, sizeof texture->borderColor);
    texture->normalizedCoords = (driver->flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
    texture->maxAnisotropy = driver->maxAnisotropy;
    texture->mipmapFilterMode = (hipTextureFilterMode)driver->mipmapFilterMode;
    texture->mipmapLevelBias = driver->mipmapLevelBias;
    texture->minMipmapLevelClamp = driver->minMipmapLevelClamp;
    texture->maxMipmapLevelClamp = driver->maxMipmapLevelClamp;
    return read_mode(resource, driver->flags, &texture->readMode);
}

static void
texture_to_driver(const hipTextureDesc *texture, HIP_TEXTURE_DESC *driver)
{
    memset(driver, 0, sizeof *driver);
    for (int i = 0; i < 3; i++) {
        driver->addressMode[i] = (HIPaddress_mode)texture->addressMode[i];
    }
    driver->filterMode = (HIPfilter_mode)texture->filterMode;
    driver->flags =
        (texture->readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0u) |
        (texture->normalizedCoords != 0 ? HIP_TRSF_NORMALIZED_COORDINATES : 0u) |
        (texture->sRGB != 0 ? HIP_TRSF_SRGB : 0u);
    memcpy(driver->borderColor, texture->borderColor, sizeof driver->borderColor);
    driver->maxAnisotropy = texture->maxAnisotropy;
    driver->mipmapFilterMode = (HIPfilter_mode)texture->mipmapFilterMode;
    driver->mipmapLevelBias = texture->mipmapLevelBias;
    driver->minMipmapLevelClamp = texture->minMipmapLevelClamp;
    driver->maxMipmapLevelClamp = texture->maxMipmapLevelClamp;
}

HA_EXPORT hipError_t
hipTexObjectCreate(hipTextureObject_t *pTexObject, const HIP_RESOURCE_DESC *pResDesc,
                   const HIP_TEXTURE_DESC *pTexDesc,
                   const HIP_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct ha_device *device;
    struct ha_texture_request request = {.has_view = pResViewDesc != NULL};
    hipError_t code = ha_enter("hipTexObjectCreate", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL) {
        return ha_cpu_fail_null(pTexObject == NULL ? "pTexObject"
                                : pResDesc == NULL ? "pResDesc"
                                                   : "pTexDesc");
    }
    code = resource_from_driver(pResDesc, &request.resource);
    if (code == hipSuccess) {
        code = texture_from_driver(pTexDesc, &request.resource, &request.texture);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (pResViewDesc != NULL) {
        request.view = (hipResourceViewDesc){
            .format = (hipResourceViewFormat)pResViewDesc->format,
            .width = pResViewDesc->width,
            .height = pResViewDesc->height,
            .depth = pResViewDesc->depth,
            .firstMipmapLevel = pResViewDesc->firstMipmapLevel,
            .lastMipmapLevel = pResViewDesc->lastMipmapLevel,
            .firstLayer = pResViewDesc->firstLayer,
            .lastLayer = pResViewDesc->lastLayer,
        };
    }
    return ha_texture_create(device, &request, pTexObject);
}

HA_EXPORT hipError_t
hipTexObjectDestroy(hipTextureObject_t texObject)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipTexObjectDestroy", &device);
    return code == hipSuccess ? ha_texture_destroy("texObject", texObject) : code;
}

static hipError_t
get(const char *function, const char *output, const void *out,
    hipTextureObject_t object, struct ha_texture_request *request)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, output, out, &device);
    return code == hipSuccess ? ha_texture_get("texObject", object, request) : code;
}

HA_EXPORT hipError_t
hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC *pResDesc, hipTextureObject_t texObject)
{
    struct ha_texture_request request;
    hipError_t code =
        get("hipTexObjectGetResourceDesc", "pResDesc", pResDesc, texObject, &request);
    if (code == hipSuccess) {
        resource_to_driver(&request.resource, pResDesc);
    }
    return code;
}

HA_EXPORT hipError_t
hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC *pTexDesc, hipTextureObject_t texObject)
{
    struct ha_texture_request request;
    hipError_t code =
        get("hipTexObjectGetTextureDesc", "pTexDesc", pTexDesc, texObject, &request);
    if (code == hipSuccess) {
        texture_to_driver(&request.texture, pTexDesc);
    }
    return code;
}

HA_EXPORT hipError_t
hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC *pResViewDesc,
                                hipTextureObject_t texObject)
{
    struct ha_texture_request request;
    hipError_t code = get("hipTexObjectGetResourceViewDesc", "pResViewDesc",
                          pResViewDesc, texObject, &request);
    if (code == hipSuccess && !request.has_view) {
        code = ha_cpu_fail(hipErrorInvalidValue, "the texture was made without a view");
    }
    if (code != hipSuccess) {
        return code;
    }
    memset(pResViewDesc, 0, sizeof *pResViewDesc);
    pResViewDesc->format = (HIPresourceViewFormat)request.view.format;
    pResViewDesc->width = request.view.width;
    pResViewDesc->height = request.view.height;
    pResViewDesc->depth = request.view.depth;
    pResViewDesc->firstMipmapLevel = request.view.firstMipmapLevel;
    pResViewDesc->lastMipmapLevel = request.view.lastMipmapLevel;
    pResViewDesc->firstLayer = request.view.firstLayer;
    pResViewDesc->lastLayer = request.view.lastLayer;
    return hipSuccess;
}
