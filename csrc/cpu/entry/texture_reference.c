/* SPDX-License-Identifier: MIT */
/* HIP entry points: sampling settings of texture references. They hold for what is
 * bound afterwards. */
#include <stdbool.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/texel.h"

#define ALL_FLAGS                                                                      \
    ((unsigned)HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES |            \
     HIP_TRSF_SRGB)
#define DIMENSIONS 3

/* Begins a call; both pointers must be there. */
static hipError_t
begin(const char *function, const void *reference, const char *name, const void *other)
{
    hipError_t code = ha_enter_query(function);
    if (code == hipSuccess) {
        code = ha_need_both("texRef", reference, name, other);
    }
    return code;
}

static hipError_t
check_member(const char *argument, int value, int most)
{
    if (value < 0 || value > most) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s' is %d; it goes from 0 to %d", argument, value,
                           most);
    }
    return hipSuccess;
}

/* ---- modes ---- */

HA_EXPORT hipError_t
hipTexRefSetAddressMode(textureReference *texRef, int dim, hipTextureAddressMode am)
{
    hipError_t code = begin("hipTexRefSetAddressMode", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        code = check_member("dim", dim, DIMENSIONS - 1);
    }
    if (code == hipSuccess) {
        code = check_member("am", (int)am, hipAddressModeBorder);
    }
    if (code == hipSuccess) {
        texRef->addressMode[dim] = am;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetAddressMode(hipTextureAddressMode *pam, const textureReference *texRef,
                        int dim)
{
    hipError_t code = begin("hipTexRefGetAddressMode", texRef, "pam", pam);
    if (code == hipSuccess) {
        code = check_member("dim", dim, DIMENSIONS - 1);
    }
    if (code == hipSuccess) {
        *pam = texRef->addressMode[dim];
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefSetFilterMode(textureReference *texRef, hipTextureFilterMode fm)
{
    hipError_t code = begin("hipTexRefSetFilterMode", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        code = check_member("fm", (int)fm, hipFilterModeLinear);
    }
    if (code == hipSuccess) {
        texRef->filterMode = fm;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetFilterMode(hipTextureFilterMode *pfm, const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetFilterMode", texRef, "pfm", pfm);
    if (code == hipSuccess) {
        *pfm = texRef->filterMode;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefSetMipmapFilterMode(textureReference *texRef, hipTextureFilterMode fm)
{
    hipError_t code = begin("hipTexRefSetMipmapFilterMode", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        code = check_member("fm", (int)fm, hipFilterModeLinear);
    }
    if (code == hipSuccess) {
        texRef->mipmapFilterMode = fm;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetMipmapFilterMode(hipTextureFilterMode *pfm, const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetMipmapFilterMode", texRef, "pfm", pfm);
    if (code == hipSuccess) {
        *pfm = texRef->mipmapFilterMode;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefSetFlags(textureReference *texRef, unsigned int Flags)
{
    hipError_t code = begin("hipTexRefSetFlags", texRef, "texRef", texRef);
    if (code == hipSuccess && (Flags & ~ALL_FLAGS) != 0) {
        code = ha_cpu_fail(hipErrorInvalidValue, "argument 'Flags' is 0x%x", Flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    texRef->readMode = (Flags & HIP_TRSF_READ_AS_INTEGER) != 0
                           ? hipReadModeElementType
                           : hipReadModeNormalizedFloat;
    texRef->normalized = (Flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
    texRef->sRGB = (Flags & HIP_TRSF_SRGB) != 0;
    return hipSuccess;
}

HA_EXPORT hipError_t
hipTexRefGetFlags(unsigned int *pFlags, const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetFlags", texRef, "pFlags", pFlags);
    if (code == hipSuccess) {
        *pFlags = (texRef->readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER
                                                              : 0u) |
                  (texRef->normalized != 0 ? HIP_TRSF_NORMALIZED_COORDINATES : 0u) |
                  (texRef->sRGB != 0 ? HIP_TRSF_SRGB : 0u);
    }
    return code;
}

/* ---- the element ---- */

HA_EXPORT hipError_t
hipTexRefSetFormat(textureReference *texRef, hipArray_Format fmt,
                   int NumPackedComponents)
{
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    hipError_t code = begin("hipTexRefSetFormat", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        code = ha_texel_of_format("fmt", fmt, (unsigned)NumPackedComponents, &texel);
    }
    if (code == hipSuccess) {
        texRef->format = fmt;
        texRef->numChannels = NumPackedComponents;
        texRef->channelDesc = ha_texel_channels(&texel);
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetFormat(hipArray_Format *pFormat, int *pNumChannels,
                   const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetFormat", texRef, "pFormat", pFormat);
    if (code == hipSuccess) {
        code = ha_need("pNumChannels", pNumChannels);
    }
    if (code == hipSuccess) {
        *pFormat = texRef->format;
        *pNumChannels = texRef->numChannels;
    }
    return code;
}

/* ---- levels ---- */

HA_EXPORT hipError_t
hipTexRefSetMaxAnisotropy(textureReference *texRef, unsigned int maxAniso)
{
    hipError_t code = begin("hipTexRefSetMaxAnisotropy", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        texRef->maxAnisotropy = maxAniso;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetMaxAnisotropy(int *pmaxAnsio, const textureReference *texRef)
{
    hipError_t code =
        begin("hipTexRefGetMaxAnisotropy", texRef, "pmaxAnsio", pmaxAnsio);
    if (code == hipSuccess) {
        *pmaxAnsio = (int)texRef->maxAnisotropy;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefSetMipmapLevelBias(textureReference *texRef, float bias)
{
    hipError_t code = begin("hipTexRefSetMipmapLevelBias", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        texRef->mipmapLevelBias = bias;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetMipmapLevelBias(float *pbias, const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetMipmapLevelBias", texRef, "pbias", pbias);
    if (code == hipSuccess) {
        *pbias = texRef->mipmapLevelBias;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefSetMipmapLevelClamp(textureReference *texRef, float minMipMapLevelClamp,
                             float maxMipMapLevelClamp)
{
    hipError_t code = begin("hipTexRefSetMipmapLevelClamp", texRef, "texRef", texRef);
    if (code == hipSuccess) {
        texRef->minMipmapLevelClamp = minMipMapLevelClamp;
        texRef->maxMipmapLevelClamp = maxMipMapLevelClamp;
    }
    return code;
}

HA_EXPORT hipError_t
hipTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
                             const textureReference *texRef)
{
    hipError_t code = begin("hipTexRefGetMipmapLevelClamp", texRef,
                            "pminMipmapLevelClamp", pminMipmapLevelClamp);
    if (code == hipSuccess) {
        code = ha_need("pmaxMipmapLevelClamp", pmaxMipmapLevelClamp);
    }
    if (code == hipSuccess) {
        *pminMipmapLevelClamp = texRef->minMipmapLevelClamp;
        *pmaxMipmapLevelClamp = texRef->maxMipmapLevelClamp;
    }
    return code;
}
