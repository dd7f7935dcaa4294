/* SPDX-License-Identifier: MIT */
#include "cpu/memory/texture_reference.h"

#include <string.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/texture.h"

/* Integers of 32 bits stay what they are, whatever the record asks for. */
static hipTextureDesc
settings(const textureReference *reference, const struct ha_texel *texel)
{
    hipTextureDesc desc;
    memset(&desc, 0, sizeof desc);
    memcpy(desc.addressMode, reference->addressMode, sizeof desc.addressMode);
    desc.filterMode = reference->filterMode;
    bool wide = texel->bits == 32 && texel->kind != hipChannelFormatKindFloat;
    desc.readMode = wide ? hipReadModeElementType : reference->readMode;
    desc.sRGB = reference->sRGB;
    desc.normalizedCoords = reference->normalized;
    desc.maxAnisotropy = reference->maxAnisotropy;
    desc.mipmapFilterMode = reference->mipmapFilterMode;
    desc.mipmapLevelBias = reference->mipmapLevelBias;
    desc.minMipmapLevelClamp = reference->minMipmapLevelClamp;
    desc.maxMipmapLevelClamp = reference->maxMipmapLevelClamp;
    return desc;
}

hipError_t
ha_texture_reference_unbind(const textureReference *reference)
{
    hipError_t code = hipSuccess;
    textureReference *changed = (textureReference *)(uintptr_t)reference;
    if (ha_texture_is(reference->textureObject)) {
        code = ha_texture_destroy("texref", reference->textureObject);
    }
    if (code == hipSuccess) {
        changed->textureObject = NULL;
    }
    return code;
}

hipError_t
ha_texture_reference_bind(struct ha_device *device, const textureReference *reference,
                          const hipResourceDesc *resource, const struct ha_texel *texel)
{
    hipTextureObject_t object;
    textureReference *changed = (textureReference *)(uintptr_t)reference;
    const struct ha_texture_request request = {.resource = *resource,
                                               .texture = settings(reference, texel)};
    hipError_t code = ha_texture_create(device, &request, &object);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_texture_reference_unbind(reference);
    if (code == hipSuccess) {
        changed->textureObject = object;
        changed->channelDesc = ha_texel_channels(texel);
        changed->format = ha_texel_format(texel);
        changed->numChannels = (int)texel->channels;
    } else {
        (void)ha_texture_destroy("texref", object);
    }
    return code;
}

hipError_t
ha_texture_reference_resource(const textureReference *reference,
                              hipResourceDesc *resource)
{
    struct ha_texture_request request;
    if (!ha_texture_is(reference->textureObject)) {
        return ha_cpu_fail(hipErrorInvalidTexture,
                           "nothing is bound to the texture reference");
    }
    hipError_t code = ha_texture_get("texref", reference->textureObject, &request);
    if (code == hipSuccess) {
        *resource = request.resource;
    }
    return code;
}
