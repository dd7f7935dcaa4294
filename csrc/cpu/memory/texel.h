/* SPDX-License-Identifier: MIT */
/* The format of one element of an array, a texture or a surface.
 *
 * HIP has three ways to write it: a channel descriptor (bits of each channel), an array
 * format with a number of channels, and a resource view format.  All of them become a
 * struct ha_texel.  No locks. */
#ifndef HA_CPU_MEMORY_TEXEL_H
#define HA_CPU_MEMORY_TEXEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

/* 1, 2 or 4 channels of 8, 16 or 32 bits; floating point has 16 or 32. */
struct ha_texel {
    uint32_t channels;
    uint32_t bits;
    hipChannelFormatKind kind; /* signed, unsigned or float */
};

/* Fails with hipErrorInvalidChannelDescriptor and a text that names `argument`. */
hipError_t ha_texel_of_channels(const char *argument, const hipChannelFormatDesc *desc,
                                struct ha_texel *texel);

/* The same for an array that is made: fails with hipErrorInvalidValue. */
hipError_t ha_texel_of_array(const char *argument, const hipChannelFormatDesc *desc,
                             struct ha_texel *texel);

/* Fails with hipErrorInvalidValue for formats and numbers that HIP does not have. */
hipError_t ha_texel_of_format(const char *argument, hipArray_Format format,
                              unsigned channels, struct ha_texel *texel);

/* `format` is not hipResViewFormatNone.  Block compressed ones answer
 * hipErrorNotSupported. */
hipError_t ha_texel_of_view(int format, struct ha_texel *texel);

hipChannelFormatDesc ha_texel_channels(const struct ha_texel *texel);
hipArray_Format ha_texel_format(const struct ha_texel *texel);

/* 1 to 16 bytes. */
static inline size_t
ha_texel_bytes(const struct ha_texel *texel)
{
    return (size_t)texel->channels * texel->bits / 8;
}

#endif
