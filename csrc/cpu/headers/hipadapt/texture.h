/* SPDX-License-Identifier: MIT */
/* tex1D and its relations.  T is what the kernel wants: a number of up to 32 bits, or a
 * vector of such. */
#pragma once
#pragma GCC system_header

#include "hipadapt/texture_types.h"
#include "hipadapt/sample.h"

/* Each function has a form that returns the texel and one that stores it. */
#define __HA_TEXTURE__(name, params, names, call)                                      \
    template <class _Tp, class = __ha_if_texel<_Tp>>                                   \
    __HA_FN_T__ _Tp name(hipTextureObject_t object, __HA_LIST__ params)                \
    {                                                                                  \
        return __ha_from_words<_Tp>(call);                                             \
    }                                                                                  \
    template <class _Tp, class = __ha_if_texel<_Tp>>                                   \
    __HA_FN_T__ void name(_Tp *ptr, hipTextureObject_t object, __HA_LIST__ params)     \
    {                                                                                  \
        *ptr = name<_Tp>(object, __HA_LIST__ names);                                   \
    }
#define __HA_LIST__(...) __VA_ARGS__

__HA_TEXTURE__(tex1Dfetch, (int x), (x), __ha_fetch(object, x))
__HA_TEXTURE__(tex1D, (float x), (x), __ha_sample(object, __HA_1D, x, 0, 0, 0, 0))
__HA_TEXTURE__(tex2D, (float x, float y), (x, y),
               __ha_sample(object, __HA_2D, x, y, 0, 0, 0))
__HA_TEXTURE__(tex3D, (float x, float y, float z), (x, y, z),
               __ha_sample(object, __HA_3D, x, y, z, 0, 0))
__HA_TEXTURE__(tex1DLayered, (float x, int layer), (x, layer),
               __ha_sample(object, __HA_1D_LAYERED, x, 0, 0, layer, 0))
__HA_TEXTURE__(tex2DLayered, (float x, float y, int layer), (x, y, layer),
               __ha_sample(object, __HA_2D_LAYERED, x, y, 0, layer, 0))
__HA_TEXTURE__(texCubemap, (float x, float y, float z), (x, y, z),
               __ha_sample_cube(object, __HA_CUBE, x, y, z, 0, 0))
__HA_TEXTURE__(texCubemapLayered, (float x, float y, float z, int layer),
               (x, y, z, layer),
               __ha_sample_cube(object, __HA_CUBE_LAYERED, x, y, z, layer, 0))
__HA_TEXTURE__(tex2Dgather, (float x, float y, int comp = 0), (x, y, comp),
               __ha_gather(object, x, y, comp))

/* With a level. */
__HA_TEXTURE__(tex1DLod, (float x, float level), (x, level),
               __ha_sample(object, __HA_1D, x, 0, 0, 0, level))
__HA_TEXTURE__(tex2DLod, (float x, float y, float level), (x, y, level),
               __ha_sample(object, __HA_2D, x, y, 0, 0, level))
__HA_TEXTURE__(tex3DLod, (float x, float y, float z, float level), (x, y, z, level),
               __ha_sample(object, __HA_3D, x, y, z, 0, level))
__HA_TEXTURE__(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level),
               __ha_sample(object, __HA_1D_LAYERED, x, 0, 0, layer, level))
__HA_TEXTURE__(tex2DLayeredLod, (float x, float y, int layer, float level),
               (x, y, layer, level),
               __ha_sample(object, __HA_2D_LAYERED, x, y, 0, layer, level))
__HA_TEXTURE__(texCubemapLod, (float x, float y, float z, float level),
               (x, y, z, level), __ha_sample_cube(object, __HA_CUBE, x, y, z, 0, level))
__HA_TEXTURE__(texCubemapLayeredLod,
               (float x, float y, float z, int layer, float level),
               (x, y, z, layer, level),
               __ha_sample_cube(object, __HA_CUBE_LAYERED, x, y, z, layer, level))

/* With the change of the coordinates from sample to sample. */
__HA_FN__ float
__ha_gradient(hipTextureObject_t object, float dx, float dy)
{
    const float a[3] = {dx, 0, 0}, b[3] = {dy, 0, 0};
    return __ha_gradient_level(object, a, b);
}
__HA_FN__ float
__ha_gradient(hipTextureObject_t object, float2 dx, float2 dy)
{
    const float a[3] = {dx.x, dx.y, 0}, b[3] = {dy.x, dy.y, 0};
    return __ha_gradient_level(object, a, b);
}
__HA_FN__ float
__ha_gradient(hipTextureObject_t object, float4 dx, float4 dy)
{
    const float a[3] = {dx.x, dx.y, dx.z}, b[3] = {dy.x, dy.y, dy.z};
    return __ha_gradient_level(object, a, b);
}
__HA_TEXTURE__(tex1DGrad, (float x, float dPdx, float dPdy), (x, dPdx, dPdy),
               __ha_sample(object, __HA_1D, x, 0, 0, 0,
                           __ha_gradient(object, dPdx, dPdy)))
__HA_TEXTURE__(tex2DGrad, (float x, float y, float2 dPdx, float2 dPdy),
               (x, y, dPdx, dPdy),
               __ha_sample(object, __HA_2D, x, y, 0, 0,
                           __ha_gradient(object, dPdx, dPdy)))
__HA_TEXTURE__(tex3DGrad, (float x, float y, float z, float4 dPdx, float4 dPdy),
               (x, y, z, dPdx, dPdy),
               __ha_sample(object, __HA_3D, x, y, z, 0,
                           __ha_gradient(object, dPdx, dPdy)))
__HA_TEXTURE__(tex1DLayeredGrad, (float x, int layer, float dPdx, float dPdy),
               (x, layer, dPdx, dPdy),
               __ha_sample(object, __HA_1D_LAYERED, x, 0, 0, layer,
                           __ha_gradient(object, dPdx, dPdy)))
__HA_TEXTURE__(tex2DLayeredGrad,
               (float x, float y, int layer, float2 dPdx, float2 dPdy),
               (x, y, layer, dPdx, dPdy),
               __ha_sample(object, __HA_2D_LAYERED, x, y, 0, layer,
                           __ha_gradient(object, dPdx, dPdy)))
#undef __HA_TEXTURE__
#undef __HA_LIST__
