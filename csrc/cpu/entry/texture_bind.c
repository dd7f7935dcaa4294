/* SPDX-License-Identifier: MIT */
/* HIP entry points: binding of texture references.  Bound memory begins at the texture
 * alignment, so that offsets are always 0. */
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/array.h"
#include "cpu/memory/mipmap.h"
#include "cpu/memory/texture_reference.h"

static hipError_t
begin(const char *function, const textureReference *reference,
      struct ha_device **device)
{
    hipError_t code = ha_enter_unsafe(function, device);
    if (code == hipSuccess) {
        code = ha_need("texref", reference);
    }
    return code;
}

/* ---- memory ---- */

static hipResourceDesc
linear(const void *memory, const struct ha_texel *texel, size_t size)
{
    hipResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = (void *)(uintptr_t)memory;
    resource.res.linear.desc = ha_texel_channels(texel);
    resource.res.linear.sizeInBytes = size;
    return resource;
}

static hipResourceDesc
pitched(const void *memory, const struct ha_texel *texel, size_t width, size_t height,
        size_t pitch)
{
    hipResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = hipResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)(uintptr_t)memory;
    resource.res.pitch2D.desc = ha_texel_channels(texel);
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

static hipError_t
bind_memory(struct ha_device *device, const textureReference *reference,
            const hipResourceDesc *resource, const struct ha_texel *texel,
            size_t *offset)
{
    hipError_t code = ha_texture_reference_bind(device, reference, resource, texel);
    if (code == hipSuccess && offset != NULL) {
        *offset = 0;
    }
    return code;
}

/* The element that the call names, or else the record. */
static hipError_t
texel_of(const hipChannelFormatDesc *desc, const textureReference *reference,
         struct ha_texel *texel)
{
    return ha_texel_of_channels("desc", desc != NULL ? desc : &reference->channelDesc,
                                texel);
}

HA_EXPORT hipError_t
hipBindTexture(size_t *offset, const textureReference *tex, const void *devPtr,
               const hipChannelFormatDesc *desc, size_t size)
{
    struct ha_device *device;
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    hipError_t code = begin("hipBindTexture", tex, &device);
    if (code == hipSuccess) {
        code = texel_of(desc, tex, &texel);
    }
    if (code != hipSuccess) {
        return code;
    }
    const hipResourceDesc resource = linear(devPtr, &texel, size);
    return bind_memory(device, tex, &resource, &texel, offset);
}

HA_EXPORT hipError_t
hipTexRefSetAddress(size_t *ByteOffset, textureReference *texRef, hipDeviceptr_t dptr,
                    size_t bytes)
{
    struct ha_device *device;
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    hipError_t code = begin("hipTexRefSetAddress", texRef, &device);
    if (code == hipSuccess) {
        code = texel_of(NULL, texRef, &texel);
    }
    if (code != hipSuccess) {
        return code;
    }
    const hipResourceDesc resource = linear(dptr, &texel, bytes);
    return bind_memory(device, texRef, &resource, &texel, ByteOffset);
}

HA_EXPORT hipError_t
hipBindTexture2D(size_t *offset, const textureReference *tex, const void *devPtr,
                 const hipChannelFormatDesc *desc, size_t width, size_t height,
                 size_t pitch)
{
    struct ha_device *device;
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    hipError_t code = begin("hipBindTexture2D", tex, &device);
    if (code == hipSuccess) {
        code = texel_of(desc, tex, &texel);
    }
    if (code != hipSuccess) {
        return code;
    }
    const hipResourceDesc resource = pitched(devPtr, &texel, width, height, pitch);
    return bind_memory(device, tex, &resource, &texel, offset);
}

HA_EXPORT hipError_t
hipTexRefSetAddress2D(textureReference *texRef, const HIP_ARRAY_DESCRIPTOR *desc,
                      hipDeviceptr_t dptr, size_t Pitch)
{
    struct ha_device *device;
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    hipError_t code = begin("hipTexRefSetAddress2D", texRef, &device);
    if (code == hipSuccess) {
        code = ha_need("desc", desc);
    }
    if (code == hipSuccess) {
        code = ha_texel_of_format("desc", desc->Format, desc->NumChannels, &texel);
    }
    if (code != hipSuccess) {
        return code;
    }
    const hipResourceDesc resource =
        pitched(dptr, &texel, desc->Width, desc->Height, Pitch);
    return bind_memory(device, texRef, &resource, &texel, NULL);
}

/* ---- arrays ---- */

/* `desc` may be NULL; else it must be the array's element. */
static hipError_t
check_desc(const hipChannelFormatDesc *desc, const struct ha_texel *texel)
{
    struct ha_texel asked = *texel;
    hipError_t code =
        desc != NULL ? ha_texel_of_channels("desc", desc, &asked) : hipSuccess;
    if (code == hipSuccess &&
        (asked.channels != texel->channels || asked.bits != texel->bits ||
         asked.kind != texel->kind)) {
        code = ha_cpu_fail(hipErrorInvalidChannelDescriptor,
                           "argument 'desc' is not the element of the array");
    }
    return code;
}

static hipError_t
bind_array(struct ha_device *device, const textureReference *reference,
           hipArray_const_t handle, const hipChannelFormatDesc *desc)
{
    hipResourceDesc resource;
    struct ha_array *array = NULL;
    memset(&resource, 0, sizeof resource);
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = (hipArray_t)(uintptr_t)handle;
    hipError_t code = ha_array_acquire("array", handle, &array);
    if (code != hipSuccess) {
        return code;
    }
    code = check_desc(desc, &array->texel);
    if (code == hipSuccess) {
        code = ha_texture_reference_bind(device, reference, &resource, &array->texel);
    }
    ha_array_release(array);
    return code;
}

static hipError_t
bind_mipmap(struct ha_device *device, const textureReference *reference,
            hipMipmappedArray_const_t mipmap, const hipChannelFormatDesc *desc)
{
    hipResourceDesc resource;
    struct ha_array *levels[HA_MIPMAP_LEVELS_MAX];
    uint32_t count = 0;
    memset(&resource, 0, sizeof resource);
    resource.resType = hipResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = (hipMipmappedArray_t)(uintptr_t)mipmap;
    hipError_t code = ha_mipmap_acquire("mipmappedArray", mipmap, levels, &count);
    if (code != hipSuccess) {
        return code;
    }
    code = check_desc(desc, &levels[0]->texel);
    if (code == hipSuccess) {
        code =
            ha_texture_reference_bind(device, reference, &resource, &levels[0]->texel);
    }
    for (uint32_t i = 0; i < count; i++) {
        ha_array_release(levels[i]);
    }
    return code;
}

static hipError_t
check_override(unsigned flags)
{
    return flags == HIP_TRSA_OVERRIDE_FORMAT
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidValue,
                             "argument 'flags' is 0x%x, must be "
                             "HIP_TRSA_OVERRIDE_FORMAT",
                             flags);
}

HA_EXPORT hipError_t
hipBindTextureToArray(const textureReference *tex, hipArray_const_t array,
                      const hipChannelFormatDesc *desc)
{
    struct ha_device *device;
    hipError_t code = begin("hipBindTextureToArray", tex, &device);
    return code == hipSuccess ? bind_array(device, tex, array, desc) : code;
}

HA_EXPORT hipError_t
hipTexRefSetArray(textureReference *tex, hipArray_const_t array, unsigned int flags)
{
    struct ha_device *device;
    hipError_t code = begin("hipTexRefSetArray", tex, &device);
    if (code == hipSuccess) {
        code = check_override(flags);
    }
    return code == hipSuccess ? bind_array(device, tex, array, NULL) : code;
}

HA_EXPORT hipError_t
hipBindTextureToMipmappedArray(const textureReference *tex,
                               hipMipmappedArray_const_t mipmappedArray,
                               const hipChannelFormatDesc *desc)
{
    struct ha_device *device;
    hipError_t code = begin("hipBindTextureToMipmappedArray", tex, &device);
    return code == hipSuccess ? bind_mipmap(device, tex, mipmappedArray, desc) : code;
}

HA_EXPORT hipError_t
hipTexRefSetMipmappedArray(textureReference *texRef, hipMipmappedArray *mipmappedArray,
                           unsigned int Flags)
{
    struct ha_device *device;
    hipError_t code = begin("hipTexRefSetMipmappedArray", texRef, &device);
    if (code == hipSuccess) {
        code = check_override(Flags);
    }
    return code == hipSuccess ? bind_mipmap(device, texRef, mipmappedArray, NULL)
                              : code;
}

HA_EXPORT hipError_t
hipUnbindTexture(const textureReference *tex)
{
    struct ha_device *device;
    hipError_t code = begin("hipUnbindTexture", tex, &device);
    return code == hipSuccess ? ha_texture_reference_unbind(tex) : code;
}

/* ---- what is bound ---- */

static hipError_t
bound(const char *function, const char *name, const void *out,
      const textureReference *reference, hipResourceDesc *resource)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_need_both(name, out, "texRef", reference);
    }
    return code == hipSuccess ? ha_texture_reference_resource(reference, resource)
                              : code;
}

static hipError_t
other_bound(void)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "something else is bound to the reference");
}

HA_EXPORT hipError_t
hipGetTextureAlignmentOffset(size_t *offset, const textureReference *texref)
{
    hipResourceDesc resource;
    hipError_t code =
        bound("hipGetTextureAlignmentOffset", "offset", offset, texref, &resource);
    if (code == hipSuccess) {
        *offset = 0;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetArray(hipArray_t *pArray, const textureReference *texRef)
{
    hipResourceDesc resource;
    hipError_t code = bound("hipTexRefGetArray", "pArray", pArray, texRef, &resource);
    if (code == hipSuccess && resource.resType != hipResourceTypeArray) {
        code = other_bound();
    }
    if (code == hipSuccess) {
        *pArray = resource.res.array.array;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetMipMappedArray(hipMipmappedArray_t *pArray, const textureReference *texRef)
{
    hipResourceDesc resource;
    hipError_t code =
        bound("hipTexRefGetMipMappedArray", "pArray", pArray, texRef, &resource);
    if (code == hipSuccess && resource.resType != hipResourceTypeMipmappedArray) {
        code = other_bound();
    }
    if (code == hipSuccess) {
        *pArray = resource.res.mipmap.mipmap;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetAddress(hipDeviceptr_t *dev_ptr, const textureReference *texRef)
{
    hipResourceDesc resource;
    hipError_t code =
        bound("hipTexRefGetAddress", "dev_ptr", dev_ptr, texRef, &resource);
    if (code != hipSuccess) {
        return code;
    }
    if (resource.resType == hipResourceTypeLinear) {
        *dev_ptr = resource.res.linear.devPtr;
    } else if (resource.resType == hipResourceTypePitch2D) {
        *dev_ptr = resource.res.pitch2D.devPtr;
    } else {
        code = other_bound();
    }
    return code;
}
