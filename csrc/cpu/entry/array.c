/* SPDX-License-Identifier: MIT */
/* HIP entry points: arrays and mipmapped arrays. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/array.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/mipmap.h"

/* ---- arrays ---- */

static hipError_t
create(struct ha_device *device, const struct ha_texel *texel, hipExtent extent,
       unsigned flags, hipArray_t *handle)
{
    struct ha_array *array = NULL;
    hipError_t code = ha_array_create(device, texel, extent, flags, false, &array);
    if (code == hipSuccess) {
        *handle = ha_array_handle(array);
    }
    return code;
}

static hipError_t
create_of_channels(const char *function, hipArray_t *array,
                   const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags)
{
    struct ha_device *device;
    struct ha_texel texel;
    hipError_t code = ha_enter_unsafe(function, &device);
    if (code == hipSuccess) {
        code = ha_need_both("array", array, "desc", desc);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_array("desc", desc, &texel);
    }
    return code == hipSuccess ? create(device, &texel, extent, flags, array) : code;
}

HA_EXPORT hipError_t
hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width,
               size_t height, unsigned int flags)
{
    return create_of_channels("hipMallocArray", array, desc,
                              (hipExtent){width, height, 0}, flags);
}

HA_EXPORT hipError_t
hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent,
                 unsigned int flags)
{
    return create_of_channels("hipMalloc3DArray", array, desc, extent, flags);
}

static hipError_t
create_of_format(const char *function, hipArray_t *array,
                 const HIP_ARRAY3D_DESCRIPTOR *desc)
{
    struct ha_device *device;
    struct ha_texel texel;
    hipError_t code = ha_enter_unsafe(function, &device);
    if (code == hipSuccess) {
        code = ha_need_both("array", array, "pAllocateArray", desc);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_format("pAllocateArray", desc->Format, desc->NumChannels,
                                  &texel);
    }
    return code == hipSuccess
               ? create(device, &texel,
                        (hipExtent){desc->Width, desc->Height, desc->Depth},
                        desc->Flags, array)
               : code;
}

HA_EXPORT hipError_t
hipArrayCreate(hipArray_t *pHandle, const HIP_ARRAY_DESCRIPTOR *pAllocateArray)
{
    HIP_ARRAY3D_DESCRIPTOR desc = {.Width = 0};
    if (pAllocateArray != NULL) {
        desc.Width = pAllocateArray->Width;
        desc.Height = pAllocateArray->Height;
        desc.Format = pAllocateArray->Format;
        desc.NumChannels = pAllocateArray->NumChannels;
    }
    return create_of_format("hipArrayCreate", pHandle,
                            pAllocateArray != NULL ? &desc : NULL);
}

HA_EXPORT hipError_t
hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return create_of_format("hipArray3DCreate", array, pAllocateArray);
}

HA_EXPORT hipError_t
hipFreeArray(hipArray_t array)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipFreeArray", &device);
    ha_checked_call();
    return code == hipSuccess ? ha_array_free(array) : code;
}

HA_EXPORT hipError_t
hipArrayDestroy(hipArray_t array)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipArrayDestroy", &device);
    ha_checked_call();
    return code == hipSuccess ? ha_array_free(array) : code;
}

/* ---- what an array is ---- */

static hipError_t
ask(const char *function, hipArray_const_t handle, struct ha_array **array)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess && handle == NULL) {
        code = ha_cpu_fail(hipErrorInvalidHandle, "argument 'array' is NULL");
    }
    return code == hipSuccess ? ha_array_acquire("array", handle, array) : code;
}

HA_EXPORT hipError_t
hipArrayGetInfo(hipChannelFormatDesc *desc, hipExtent *extent, unsigned int *flags,
                hipArray_t array)
{
    struct ha_array *found = NULL;
    hipError_t code = ask("hipArrayGetInfo", array, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (desc != NULL) {
        *desc = ha_texel_channels(&found->texel);
    }
    if (extent != NULL) {
        *extent = found->extent;
    }
    if (flags != NULL) {
        *flags = found->flags;
    }
    ha_array_release(found);
    return hipSuccess;
}

HA_EXPORT hipError_t
hipGetChannelDesc(hipChannelFormatDesc *desc, hipArray_const_t array)
{
    struct ha_array *found = NULL;
    hipError_t code = ask("hipGetChannelDesc", array, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (desc != NULL) {
        *desc = ha_texel_channels(&found->texel);
    } else {
        code = ha_cpu_fail_null("desc");
    }
    ha_array_release(found);
    return code;
}

HA_EXPORT hipError_t
hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR *pArrayDescriptor, hipArray_t array)
{
    struct ha_array *found = NULL;
    hipError_t code = ask("hipArrayGetDescriptor", array, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (pArrayDescriptor == NULL) {
        code = ha_cpu_fail_null("pArrayDescriptor");
    } else if (found->extent.depth != 0) {
        code =
            ha_cpu_fail(hipErrorInvalidValue,
                        "the array has a depth; hipArray3DGetDescriptor describes it");
    } else {
        *pArrayDescriptor = (HIP_ARRAY_DESCRIPTOR){
            .Width = found->extent.width,
            .Height = found->extent.height,
            .Format = ha_texel_format(&found->texel),
            .NumChannels = found->texel.channels,
        };
    }
    ha_array_release(found);
    return code;
}

HA_EXPORT hipError_t
hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR *pArrayDescriptor, hipArray_t array)
{
    struct ha_array *found = NULL;
    hipError_t code = ask("hipArray3DGetDescriptor", array, &found);
    if (code != hipSuccess) {
        return code;
    }
    if (pArrayDescriptor == NULL) {
        code = ha_cpu_fail_null("pArrayDescriptor");
    } else {
        *pArrayDescriptor = (HIP_ARRAY3D_DESCRIPTOR){
            .Width = found->extent.width,
            .Height = found->extent.height,
            .Depth = found->extent.depth,
            .Format = ha_texel_format(&found->texel),
            .NumChannels = found->texel.channels,
            .Flags = found->flags,
        };
    }
    ha_array_release(found);
    return code;
}

/* Nothing can be wrong with a description until an array is made of it. */
HA_EXPORT hipChannelFormatDesc
hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f)
{
    return (hipChannelFormatDesc){x, y, z, w, f};
}

/* ---- mipmapped arrays ---- */

HA_EXPORT hipError_t
hipMallocMipmappedArray(hipMipmappedArray_t *mipmappedArray,
                        const hipChannelFormatDesc *desc, hipExtent extent,
                        unsigned int numLevels, unsigned int flags)
{
    struct ha_device *device;
    struct ha_texel texel;
    hipError_t code = ha_enter_unsafe("hipMallocMipmappedArray", &device);
    if (code == hipSuccess) {
        code = ha_need_both("mipmappedArray", mipmappedArray, "desc", desc);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_array("desc", desc, &texel);
    }
    return code == hipSuccess ? ha_mipmap_create(device, &texel, extent, numLevels,
                                                 flags, mipmappedArray)
                              : code;
}

HA_EXPORT hipError_t
hipMipmappedArrayCreate(hipMipmappedArray_t *pHandle,
                        HIP_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                        unsigned int numMipmapLevels)
{
    struct ha_device *device;
    struct ha_texel texel;
    const HIP_ARRAY3D_DESCRIPTOR *desc = pMipmappedArrayDesc;
    hipError_t code = ha_enter_unsafe("hipMipmappedArrayCreate", &device);
    if (code == hipSuccess) {
        code = ha_need_both("pHandle", pHandle, "pMipmappedArrayDesc", desc);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_format("pMipmappedArrayDesc", desc->Format,
                                  desc->NumChannels, &texel);
    }
    return code == hipSuccess
               ? ha_mipmap_create(device, &texel,
                                  (hipExtent){desc->Width, desc->Height, desc->Depth},
                                  numMipmapLevels, desc->Flags, pHandle)
               : code;
}

HA_EXPORT hipError_t
hipFreeMipmappedArray(hipMipmappedArray_t mipmappedArray)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipFreeMipmappedArray", &device);
    return code == hipSuccess ? ha_mipmap_free(mipmappedArray) : code;
}

HA_EXPORT hipError_t
hipMipmappedArrayDestroy(hipMipmappedArray_t hMipmappedArray)
{
    struct ha_device *device;
    hipError_t code = ha_enter_unsafe("hipMipmappedArrayDestroy", &device);
    return code == hipSuccess ? ha_mipmap_free(hMipmappedArray) : code;
}

static hipError_t
get_level(const char *function, hipArray_t *level_array,
          hipMipmappedArray_const_t mipmap, unsigned level)
{
    struct ha_device *device;
    struct ha_array *levels[HA_MIPMAP_LEVELS_MAX];
    uint32_t count = 0;
    hipError_t code = ha_enter_out(function, "levelArray", level_array, &device);
    if (code == hipSuccess) {
        code = ha_mipmap_acquire("mipmappedArray", mipmap, levels, &count);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (level < count) {
        *level_array = ha_array_handle(levels[level]);
    } else {
        code = ha_cpu_fail(hipErrorInvalidValue, "argument 'level': %u of %u levels",
                           level, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        ha_array_release(levels[i]);
    }
    return code;
}

HA_EXPORT hipError_t
hipGetMipmappedArrayLevel(hipArray_t *levelArray,
                          hipMipmappedArray_const_t mipmappedArray, unsigned int level)
{
    return get_level("hipGetMipmappedArrayLevel", levelArray, mipmappedArray, level);
}

HA_EXPORT hipError_t
hipMipmappedArrayGetLevel(hipArray_t *pLevelArray, hipMipmappedArray_t hMipMappedArray,
                          unsigned int level)
{
    return get_level("hipMipmappedArrayGetLevel", pLevelArray, hMipMappedArray, level);
}

HA_EXPORT hipError_t
hipMipmappedArrayGetMemoryRequirements(hipArrayMemoryRequirements *memoryRequirements,
                                       hipMipmappedArray_t mipmap, hipDevice_t device)
{
    struct ha_device *current;
    struct ha_array *levels[HA_MIPMAP_LEVELS_MAX];
    uint32_t count = 0;
    size_t size = 0;
    hipError_t code = ha_enter_out("hipMipmappedArrayGetMemoryRequirements",
                                   "memoryRequirements", memoryRequirements, &current);
    if (code == hipSuccess && ha_device_get(device) == NULL) {
        code = ha_cpu_fail(hipErrorInvalidDevice, "there is no device %d", device);
    }
    if (code == hipSuccess) {
        code = ha_mipmap_acquire("mipmap", mipmap, levels, &count);
    }
    if (code != hipSuccess) {
        return code;
    }
    for (uint32_t i = 0; i < count; i++) {
        size += levels[i]->pitch * levels[i]->rows * levels[i]->slices;
        ha_array_release(levels[i]);
    }
    *memoryRequirements =
        (hipArrayMemoryRequirements){.alignment = HA_TEXTURE_ALIGN, .size = size};
    return hipSuccess;
}
