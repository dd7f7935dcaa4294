/* SPDX-License-Identifier: MIT */
#include "cpu/memory/texel.h"

#include "cpu/base/error.h"

static bool
is_texel(const struct ha_texel *texel)
{
    bool bits = texel->bits == 16 || texel->bits == 32 ||
                (texel->bits == 8 && texel->kind != hipChannelFormatKindFloat);
    bool channels =
        texel->channels == 1 || texel->channels == 2 || texel->channels == 4;
    return bits && channels && (unsigned)texel->kind <= hipChannelFormatKindFloat;
}

static hipError_t
of_channels(const char *argument, const hipChannelFormatDesc *desc, hipError_t refused,
            struct ha_texel *texel)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    uint32_t count = 0;
    bool equal = true;
    while (count < 4 && bits[count] != 0) {
        equal = equal && bits[count] == bits[0];
        count++;
    }
    for (uint32_t i = count; i < 4; i++) {
        equal = equal && bits[i] == 0;
    }
    const struct ha_texel found = {count, (uint32_t)bits[0], desc->f};
    if (!equal || !is_texel(&found)) {
        return ha_cpu_fail(refused,
                           "argument '%s': there are no elements with channels of %d, "
                           "%d, %d and %d bits of kind %d",
                           argument, bits[0], bits[1], bits[2], bits[3], (int)desc->f);
    }
    *texel = found;
    return hipSuccess;
}

hipError_t
ha_texel_of_channels(const char *argument, const hipChannelFormatDesc *desc,
                     struct ha_texel *texel)
{
    return of_channels(argument, desc, hipErrorInvalidChannelDescriptor, texel);
}

hipError_t
ha_texel_of_array(const char *argument, const hipChannelFormatDesc *desc,
                  struct ha_texel *texel)
{
    return of_channels(argument, desc, hipErrorInvalidValue, texel);
}

hipError_t
ha_texel_of_format(const char *argument, hipArray_Format format, unsigned channels,
                   struct ha_texel *texel)
{
    struct ha_texel found = {channels, 0, hipChannelFormatKindNone};
    switch ((int)format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8:
    case HIP_AD_FORMAT_UNSIGNED_INT16:
    case HIP_AD_FORMAT_UNSIGNED_INT32:
        found.bits = 8u << ((unsigned)format - HIP_AD_FORMAT_UNSIGNED_INT8);
        found.kind = hipChannelFormatKindUnsigned;
        break;
    case HIP_AD_FORMAT_SIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT32:
        found.bits = 8u << ((unsigned)format - HIP_AD_FORMAT_SIGNED_INT8);
        found.kind = hipChannelFormatKindSigned;
        break;
    case HIP_AD_FORMAT_HALF:
    case HIP_AD_FORMAT_FLOAT:
        found.bits = (unsigned)format;
        found.kind = hipChannelFormatKindFloat;
        break;
    default:
        break;
    }
    if (!is_texel(&found)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': there are no elements of %u channels of the "
                           "format %d",
                           argument, channels, (int)format);
    }
    *texel = found;
    return hipSuccess;
}

/* The formats come in groups of three: 1, 2 and 4 channels; the groups are 8, 16 and 32
 * bits of unsigned and signed numbers in turn, then half and float. */
hipError_t
ha_texel_of_view(int format, struct ha_texel *texel)
{
    static const struct {
        uint32_t bits;
        hipChannelFormatKind kind;
    } groups[] = {
        {8, hipChannelFormatKindUnsigned},  {8, hipChannelFormatKindSigned},
        {16, hipChannelFormatKindUnsigned}, {16, hipChannelFormatKindSigned},
        {32, hipChannelFormatKindUnsigned}, {32, hipChannelFormatKindSigned},
        {16, hipChannelFormatKindFloat},    {32, hipChannelFormatKindFloat},
    };
    if (format >= hipResViewFormatUnsignedBlockCompressed1 &&
        format <= hipResViewFormatUnsignedBlockCompressed7) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "block compressed views are not supported");
    }
    if (format < hipResViewFormatUnsignedChar1 || format > hipResViewFormatFloat4) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResViewDesc': %d is not a view format", format);
    }
    unsigned group = (unsigned)(format - hipResViewFormatUnsignedChar1) / 3;
    unsigned doubled = (unsigned)(format - hipResViewFormatUnsignedChar1) % 3;
    *texel = (struct ha_texel){1u << doubled, groups[group].bits, groups[group].kind};
    return hipSuccess;
}

hipChannelFormatDesc
ha_texel_channels(const struct ha_texel *texel)
{
    int bits = (int)texel->bits;
    return (hipChannelFormatDesc){
        .x = bits,
        .y = texel->channels > 1 ? bits : 0,
        .z = texel->channels > 2 ? bits : 0,
        .w = texel->channels > 2 ? bits : 0,
        .f = texel->kind,
    };
}

hipArray_Format
ha_texel_format(const struct ha_texel *texel)
{
    unsigned step = texel->bits == 8 ? 0u : texel->bits == 16 ? 1u : 2u;
    if (texel->kind == hipChannelFormatKindFloat) {
        return texel->bits == 16 ? HIP_AD_FORMAT_HALF : HIP_AD_FORMAT_FLOAT;
    }
    return (hipArray_Format)((texel->kind == hipChannelFormatKindSigned
                                  ? (unsigned)HIP_AD_FORMAT_SIGNED_INT8
                                  : (unsigned)HIP_AD_FORMAT_UNSIGNED_INT8) +
                             step);
}
