/* SPDX-License-Identifier: MIT */
/* Texels in memory and in a kernel's variables.  In between, a texel is four words: the
 * bits of a float, or an integer with its sign. */
#pragma once
#pragma GCC system_header

#include "hipadapt/texture_object.h"

typedef uint32_t __ha_words __attribute__((ext_vector_type(4)));
typedef float __ha_floats __attribute__((ext_vector_type(4)));

/* The core of sampling is a function of its own: a kernel may sample many times. */
#define __HA_CORE__ static __attribute__((device, noinline))

__HA_FN__ float
__ha_half_value(uint32_t bits)
{
    uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) { /* infinite, or no number */
        return __builtin_bit_cast(float, sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    }
    if (rest >= 0x400u) {
        return __builtin_bit_cast(float, sign | ((rest << 13) + (112u << 23)));
    }
    float small = (float)(int)rest * 0x1p-24f;
    return sign != 0 ? -small : small;
}

/* Rounds to the nearest half, ties to even. */
__HA_FN__ uint32_t
__ha_half_bits(float value)
{
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return sign | 0x7e00u;
    }
    if (rest >= 0x477ff000u) { /* from here on it rounds to infinity */
        return sign | 0x7c00u;
    }
    if (rest >= 0x38800000u) {
        return sign | (rest - (112u << 23) + 0xfffu + (rest >> 13 & 1u)) >> 13;
    }
    float scaled = __builtin_rintf(__builtin_bit_cast(float, rest) * 0x1p24f);
    return sign | (uint32_t)scaled;
}

/* One channel as an integer. */
__HA_FN__ uint32_t
__ha_channel(const unsigned char *p, uint32_t bits, uint32_t kind)
{
    if (bits == 8) {
        return kind == 0 ? (uint32_t)(int32_t)*(const int8_t *)p : *p;
    }
    if (bits == 16) {
        return kind == 0 ? (uint32_t)(int32_t)*(const int16_t *)p
                         : *(const uint16_t *)p;
    }
    return *(const uint32_t *)p;
}

/* Channels that the texel does not have: 0, 0 and 1. */
__HA_FN__ __ha_words
__ha_integers(const unsigned char *p, uint32_t channels, uint32_t bits, uint32_t kind)
{
    __ha_words r = {0, 0, 0, 1};
    for (uint32_t i = 0; i < channels; i++) {
        r[i] = __ha_channel(p + i * (bits / 8), bits, kind);
    }
    return r;
}

__HA_FN__ float
__ha_normalized(uint32_t word, uint32_t bits, uint32_t kind)
{
    if (kind == 1) {
        return bits == 8 ? (float)word / 255.0f : (float)word / 65535.0f;
    }
    float value =
        bits == 8 ? (float)(int32_t)word / 127.0f : (float)(int32_t)word / 32767.0f;
    return value < -1.0f ? -1.0f : value;
}

__HA_FN__ __ha_floats
__ha_values(const unsigned char *p, const __hip_texture *t)
{
    __ha_floats r = {0, 0, 0, 1};
    for (uint32_t i = 0; i < t->channels; i++) {
        uint32_t word = __ha_channel(p + i * (t->bits / 8), t->bits, t->kind);
        if (t->kind == 2) {
            r[i] =
                t->bits == 16 ? __ha_half_value(word) : __builtin_bit_cast(float, word);
        } else if (t->srgb != nullptr && i < 3) {
            r[i] = t->srgb[word];
        } else {
            r[i] = __ha_normalized(word, t->bits, t->kind);
        }
    }
    return r;
}

/* The type of a channel and the number of channels of what a kernel asks for. */
template <class _Tp> struct __ha_texel_type {
    typedef _Tp channel;
    static constexpr unsigned count = 1;
    static constexpr bool good = __is_arithmetic(_Tp) && sizeof(_Tp) <= 4;
};
template <class _Tp, unsigned int n> struct __ha_texel_type<HIP_vector_type<_Tp, n>> {
    typedef _Tp channel;
    static constexpr unsigned count = n;
    static constexpr bool good = __is_arithmetic(_Tp) && sizeof(_Tp) <= 4;
};
template <class _Tp> using __ha_if_texel = __ha_if<__ha_texel_type<_Tp>::good>;

/* The bits of words of 32 bits; smaller channels are the lowest bits. */
template <class _Tp>
__HA_FN_T__ _Tp
__ha_from_words(__ha_words words)
{
    typedef typename __ha_texel_type<_Tp>::channel channel;
    channel parts[__ha_texel_type<_Tp>::count];
    for (unsigned i = 0; i < __ha_texel_type<_Tp>::count; i++) {
        if constexpr (sizeof(channel) == 4) {
            parts[i] = __builtin_bit_cast(channel, (uint32_t)words[i]);
        } else {
            parts[i] = static_cast<channel>(words[i]);
        }
    }
    _Tp result;
    __builtin_memcpy(&result, parts, sizeof(_Tp));
    return result;
}

template <class _Tp>
__HA_FN_T__ __ha_words
__ha_to_words(const _Tp &value)
{
    typedef typename __ha_texel_type<_Tp>::channel channel;
    channel parts[__ha_texel_type<_Tp>::count];
    __builtin_memcpy(parts, &value, sizeof(_Tp));
    __ha_words words = {0, 0, 0, 0};
    for (unsigned i = 0; i < __ha_texel_type<_Tp>::count; i++) {
        if constexpr (sizeof(channel) == 4) {
            words[i] = __builtin_bit_cast(uint32_t, parts[i]);
        } else {
            words[i] = static_cast<uint32_t>(static_cast<int32_t>(parts[i]));
        }
    }
    return words;
}
