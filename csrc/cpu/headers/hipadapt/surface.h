/* SPDX-License-Identifier: MIT */
/* surf1Dread and its relations: texels of an array by position.  x is counted in bytes.
 * Outside of the surface reads give zeros and writes do nothing, unless the boundary
 * mode says otherwise. */
#pragma once
#pragma GCC system_header

#include "hipadapt/texture_types.h"
#include "hipadapt/texel.h"

/* Whether the index lies inside of [0, size), or can be moved there. */
__HA_FN__ bool
__ha_bound(int &at, uint32_t size, int mode)
{
    if ((uint32_t)at < size) {
        return true;
    }
    if (mode == hipBoundaryModeTrap) {
        __builtin_trap();
    }
    at = at < 0 ? 0 : (int)size - 1;
    return mode == hipBoundaryModeClamp;
}

/* Whether calls for `shape` reach a surface of another one: to the calls for layers and
 * faces an array without them is the first one of them. */
__HA_FN__ bool
__ha_surface_fits(uint32_t own, uint32_t shape)
{
    return own == shape || (own == __HA_1D && shape == __HA_1D_LAYERED) ||
           (own == __HA_2D && (shape == __HA_2D_LAYERED || shape == __HA_CUBE ||
                               shape == __HA_CUBE_LAYERED));
}

/* Address of a texel, or NULL.  Objects that are no surfaces (any more) or have another
 * shape end the launch. */
__HA_CORE__ unsigned char *
__ha_surface_at(const __hip_surface *s, uint32_t shape, int x, int y, int z, int mode)
{
    if (s->live != __HA_SURFACE_LIVE || !__ha_surface_fits(s->shape, shape)) {
        __builtin_trap();
    }
    const int bytes = (int)(s->channels * (s->bits / 8));
    int column = x < 0 ? -1 : x / bytes;
    bool inside = __ha_bound(column, s->image.width, mode);
    inside = __ha_bound(y, s->image.height, mode) && inside;
    inside = __ha_bound(z, s->image.depth, mode) && inside;
    return inside
               ? s->image.data + (uint64_t)z * s->image.slice +
                     (uint64_t)y * s->image.pitch + (uint64_t)column * (uint64_t)bytes
               : nullptr;
}

/* A value of the texel's size is its bytes.  Others go channel by channel: halves as
 * floats, integers cut or extended; anything else ends the launch. */
template <class _Tp>
__HA_FN_T__ bool
__ha_same_size(const __hip_surface *s)
{
    return sizeof(_Tp) == s->channels * (s->bits / 8);
}
template <class _Tp>
__HA_FN_T__ bool
__ha_channels_fit(const __hip_surface *s)
{
    typedef typename __ha_texel_type<_Tp>::channel channel;
    constexpr bool floating = !__is_integral(channel);
    return floating ? s->kind == 2 && s->bits == 16 : s->kind != 2;
}
template <class _Tp>
__HA_FN_T__ _Tp
__ha_surface_read(const __hip_surface *s, uint32_t shape, int x, int y, int z, int mode)
{
    const unsigned char *p = __ha_surface_at(s, shape, x, y, z, mode);
    _Tp value = {};
    if (p == nullptr) {
        return value;
    }
    if (__ha_same_size<_Tp>(s)) {
        __builtin_memcpy(&value, p, sizeof(_Tp));
        return value;
    }
    if (!__ha_channels_fit<_Tp>(s)) {
        __builtin_trap();
    }
    __ha_words words = __ha_integers(p, s->channels, s->bits, s->kind);
    for (uint32_t i = 0; i < s->channels && s->kind == 2; i++) {
        words[i] = __builtin_bit_cast(uint32_t, __ha_half_value(words[i]));
    }
    if (s->kind == 2 && s->channels < 4) {
        words[3] = 0x3f800000u;
    }
    return __ha_from_words<_Tp>(words);
}
template <class _Tp>
__HA_FN_T__ void
__ha_surface_write(const _Tp &value, const __hip_surface *s, uint32_t shape, int x, int y,
                   int z, int mode)
{
    unsigned char *p = __ha_surface_at(s, shape, x, y, z, mode);
    if (p == nullptr) {
        return;
    }
    if (__ha_same_size<_Tp>(s)) {
        __builtin_memcpy(p, &value, sizeof(_Tp));
        return;
    }
    if (!__ha_channels_fit<_Tp>(s)) {
        __builtin_trap();
    }
    __ha_words words = __ha_to_words(value);
    for (uint32_t i = 0; i < s->channels; i++) {
        uint32_t word =
            s->kind == 2 ? __ha_half_bits(__builtin_bit_cast(float, (uint32_t)words[i]))
                         : words[i];
        if (s->bits == 8) {
            p[i] = (unsigned char)word;
        } else if (s->bits == 16) {
            ((uint16_t *)p)[i] = (uint16_t)word;
        } else {
            ((uint32_t *)p)[i] = word;
        }
    }
}

#define __HA_LIST__(...) __VA_ARGS__
#define __HA_SURFACE__(name, shape, params, index)                                     \
    template <class _Tp, class = __ha_if_texel<_Tp>>                                   \
    __HA_FN_T__ void name##read(_Tp *data, hipSurfaceObject_t object,                  \
                                __HA_LIST__ params,                                    \
                                int boundaryMode = hipBoundaryModeZero)                \
    {                                                                                  \
        *data = __ha_surface_read<_Tp>(object, shape, __HA_LIST__ index, boundaryMode); \
    }                                                                                  \
    template <class _Tp, class = __ha_if_texel<_Tp>>                                   \
    __HA_FN_T__ _Tp name##read(hipSurfaceObject_t object, __HA_LIST__ params,          \
                             int boundaryMode = hipBoundaryModeZero)                   \
    {                                                                                  \
        return __ha_surface_read<_Tp>(object, shape, __HA_LIST__ index, boundaryMode); \
    }                                                                                  \
    template <class _Tp, class = __ha_if_texel<_Tp>>                                   \
    __HA_FN_T__ void name##write(_Tp data, hipSurfaceObject_t object,                  \
                                 __HA_LIST__ params,                                   \
                                 int boundaryMode = hipBoundaryModeZero)               \
    {                                                                                  \
        __ha_surface_write(data, object, shape, __HA_LIST__ index, boundaryMode);      \
    }
__HA_SURFACE__(surf1D, __HA_1D, (int x), (x, 0, 0))
__HA_SURFACE__(surf2D, __HA_2D, (int x, int y), (x, y, 0))
__HA_SURFACE__(surf3D, __HA_3D, (int x, int y, int z), (x, y, z))
__HA_SURFACE__(surf1DLayered, __HA_1D_LAYERED, (int x, int layer), (x, 0, layer))
__HA_SURFACE__(surf2DLayered, __HA_2D_LAYERED, (int x, int y, int layer), (x, y, layer))
__HA_SURFACE__(surfCubemap, __HA_CUBE, (int x, int y, int face), (x, y, face))
__HA_SURFACE__(surfCubemapLayered, __HA_CUBE_LAYERED,
               (int x, int y, int face, int layer), (x, y, face + 6 * layer))
#undef __HA_SURFACE__
/* HIP declares this one with an address. */
template <class _Tp, class = __ha_if_texel<_Tp>>
__HA_FN_T__ void
surfCubemapLayeredwrite(_Tp *data, hipSurfaceObject_t object, int x, int y, int face,
                        int layer)
{
    surfCubemapLayeredwrite(*data, object, x, y, face, layer);
}
#undef __HA_LIST__
