/* SPDX-License-Identifier: MIT */
/* The rule of sampling, for all shapes of textures.  docs/textures.md says it in words.
 *
 * A coordinate is placed on an axis: two neighbouring texels and the weight of the
 * second one, a multiple of 1/256.  Texels outside of a border axis have the border's
 * colour. Sums are taken x first, then y, then z, without fused operations, so that
 * they are the same everywhere. */
#pragma once
#pragma GCC system_header

#include "hipadapt/texel.h"

struct __ha_axis {
    int low, high; /* outside of the image only if the mode is border */
    float weight;  /* of `high` */
};

__HA_FN__ float
__ha_weight(float fraction)
{
    __HA_EXACT__
    return __builtin_floorf(fraction * 256.0f + 0.5f) * 0.00390625f;
}

__HA_FN__ int
__ha_clamp(int i, int size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

__HA_FN__ __ha_axis
__ha_axis_at(const __hip_texture *t, uint32_t mode, float x, uint32_t texels,
             bool between)
{
    __HA_EXACT__
    const int size = (int)texels;
    if (t->normalized) {
        if (mode == hipAddressModeWrap) {
            x = x - __builtin_floorf(x);
        } else if (mode == hipAddressModeMirror && between) {
            x = __builtin_fabsf(x - 2.0f * __builtin_rintf(0.5f * x));
        } else if (mode == hipAddressModeMirror) {
            x = x - 2.0f * __builtin_floorf(0.5f * x);
        }
        x = x * (float)size;
        /* A single texel is mirrored by its number: the edge between two belongs to the
         * same one of them on both sides of the mirror. */
        if (mode == hipAddressModeMirror && !between && x >= (float)size) {
            x = (float)(2 * size - 1) - __builtin_floorf(x);
        }
    }
    /* Numbers that are no index, and what is no number, are far outside. */
    x = x > -2.0f ? x : -2.0f;
    x = x < (float)size + 2.0f ? x : (float)size + 2.0f;
    if (between) {
        x = x - 0.5f;
    }
    float floor = __builtin_floorf(x);
    __ha_axis axis = {(int)floor, (int)floor + 1,
                      between ? __ha_weight(x - floor) : 0.0f};
    if (mode == hipAddressModeBorder) {
        return axis;
    }
    if (mode == hipAddressModeWrap) {
        axis.low += axis.low < 0 ? size : 0;
        axis.low -= axis.low >= size ? size : 0;
        axis.high += axis.high < 0 ? size : 0;
        axis.high -= axis.high >= size ? size : 0;
    }
    axis.low = __ha_clamp(axis.low, size);
    axis.high = __ha_clamp(axis.high, size);
    return axis;
}

__HA_FN__ const unsigned char *
__ha_texel_at(const __hip_texture *t, const __ha_image *image, int x, int y, int z)
{
    if ((uint32_t)x >= image->width || (uint32_t)y >= image->height ||
        (uint32_t)z >= image->depth) {
        return nullptr;
    }
    return image->data + (uint64_t)z * image->slice + (uint64_t)y * image->pitch +
           (uint64_t)x * (t->channels * (t->bits / 8));
}

__HA_FN__ __ha_floats
__ha_float_at(const __hip_texture *t, const __ha_image *image, int x, int y, int z)
{
    const unsigned char *p = __ha_texel_at(t, image, x, y, z);
    if (p != nullptr) {
        return __ha_values(p, t);
    }
    __ha_floats r = {0, 0, 0, 1};
    for (uint32_t i = 0; i < t->channels; i++) {
        r[i] = t->border[i];
    }
    return r;
}

/* The border's colour for integers: cut to what a channel can hold. */
__HA_FN__ uint32_t
__ha_border_integer(const __hip_texture *t, float value)
{
    __HA_EXACT__
    float least = t->kind == 1 ? 0.0f : -(float)(1u << (t->bits - 1));
    float most = t->kind == 1 ? (float)(((uint64_t)1 << t->bits) - 1)
                              : (float)((1u << (t->bits - 1)) - 1);
    if (!(value > least)) {
        return value <= least ? (uint32_t)(int32_t)least : 0;
    }
    if (value >= most) {
        return t->kind == 1 ? (uint32_t)(((uint64_t)1 << t->bits) - 1)
                            : (uint32_t)((1u << (t->bits - 1)) - 1);
    }
    return t->kind == 1 ? (uint32_t)value : (uint32_t)(int32_t)value;
}

__HA_FN__ __ha_words
__ha_integer_at(const __hip_texture *t, const __ha_image *image, int x, int y, int z)
{
    const unsigned char *p = __ha_texel_at(t, image, x, y, z);
    if (p != nullptr) {
        return __ha_integers(p, t->channels, t->bits, t->kind);
    }
    __ha_words r = {0, 0, 0, 1};
    for (uint32_t i = 0; i < t->channels; i++) {
        r[i] = __ha_border_integer(t, t->border[i]);
    }
    return r;
}

/* ---- one level ---- */

struct __ha_point {
    __ha_axis axes[3]; /* those that the shape does not have are {0, 0, 0} */
};

/* Coordinates of a level: z is a third axis, or the number of a slice. */
__HA_FN__ __ha_point
__ha_locate(const __hip_texture *t, const __ha_image *image, float x, float y, float z,
            int slice, bool between)
{
    __ha_point r = {};
    const bool flat =
        t->shape == __HA_1D || t->shape == __HA_1D_LAYERED || t->shape == __HA_LINEAR;
    const bool cube = t->shape == __HA_CUBE || t->shape == __HA_CUBE_LAYERED;
    r.axes[0] = __ha_axis_at(t, cube ? hipAddressModeClamp : t->address[0], x,
                             image->width, between);
    if (!flat) {
        r.axes[1] = __ha_axis_at(t, cube ? hipAddressModeClamp : t->address[1], y,
                                 image->height, between);
    }
    if (t->shape == __HA_3D) {
        r.axes[2] = __ha_axis_at(t, t->address[2], z, image->depth, between);
    } else {
        r.axes[2].low = __ha_clamp(slice, (int)image->depth);
    }
    return r;
}

/* The weighted sum; a texel of weight 0 does not take part, whatever it is. */
__HA_FN__ __ha_floats
__ha_filtered(const __hip_texture *t, const __ha_image *image, const __ha_point &at)
{
    __HA_EXACT__
    __ha_floats sum = {0, 0, 0, 0};
    for (int corner = 0; corner < 8; corner++) {
        int texel[3];
        float weight = 1.0f;
        for (int i = 0; i < 3; i++) {
            const __ha_axis &axis = at.axes[i];
            bool second = (corner >> i & 1) != 0;
            texel[i] = second ? axis.high : axis.low;
            weight = weight * (second ? axis.weight : 1.0f - axis.weight);
        }
        if (weight != 0.0f) {
            sum = sum + __ha_float_at(t, image, texel[0], texel[1], texel[2]) * weight;
        }
    }
    return sum;
}

__HA_FN__ __ha_floats
__ha_level(const __hip_texture *t, uint32_t level, float x, float y, float z, int slice)
{
    const __ha_image *image = &t->levels[level];
    __ha_point at = __ha_locate(t, image, x, y, z, slice, t->linear != 0);
    if (t->linear) {
        return __ha_filtered(t, image, at);
    }
    return __ha_float_at(t, image, at.axes[0].low, at.axes[1].low, at.axes[2].low);
}

/* ---- all levels ---- */

__HA_FN__ float
__ha_level_of(const __hip_texture *t, float level)
{
    __HA_EXACT__
    float last = (float)(t->level_count - 1);
    level = level + t->level_bias;
    level = level < t->level_most ? level : t->level_most;
    level = level > t->level_least ? level : t->level_least;
    level = level < last ? level : last;
    return level > 0.0f ? level : 0.0f;
}

/* Objects that are no textures (any more) or have another shape end the launch.  Linear
 * memory is one-dimensional. */
__HA_FN__ void
__ha_need(const __hip_texture *t, uint32_t shape)
{
    if (t->live != __HA_TEXTURE_LIVE ||
        (t->shape != shape && !(t->shape == __HA_LINEAR && shape == __HA_1D))) {
        __builtin_trap();
    }
}

__HA_CORE__ __ha_words
__ha_sample(const __hip_texture *t, uint32_t shape, float x, float y, float z,
            int slice, float level)
{
    __HA_EXACT__
    __ha_need(t, shape);
    level = t->level_count > 1 ? __ha_level_of(t, level) : 0.0f;
    if (!t->as_float) {
        const __ha_image *image = &t->levels[(uint32_t)(level + 0.5f)];
        __ha_point at = __ha_locate(t, image, x, y, z, slice, false);
        return __ha_integer_at(t, image, at.axes[0].low, at.axes[1].low,
                               at.axes[2].low);
    }
    __ha_floats value;
    if (!t->mip_linear) {
        value = __ha_level(t, (uint32_t)(level + 0.5f), x, y, z, slice);
    } else {
        uint32_t near = (uint32_t)level;
        float weight = __ha_weight(level - (float)near);
        value = __ha_level(t, weight == 1.0f ? near + 1 : near, x, y, z, slice);
        if (weight != 0.0f && weight != 1.0f) {
            value = value * (1.0f - weight) +
                    __ha_level(t, near + 1, x, y, z, slice) * weight;
        }
    }
    return __builtin_bit_cast(__ha_words, value);
}

/* Texel number i of linear memory; zeros outside of it. */
__HA_CORE__ __ha_words
__ha_fetch(const __hip_texture *t, int i)
{
    if (t->live != __HA_TEXTURE_LIVE ||
        (t->shape != __HA_LINEAR && t->shape != __HA_1D)) {
        __builtin_trap();
    }
    const __ha_image *image = &t->levels[0];
    const __ha_words none = {0, 0, 0, 0};
    if ((uint32_t)i >= image->width) {
        return none;
    }
    if (!t->as_float) {
        return __ha_integer_at(t, image, i, 0, 0);
    }
    return __builtin_bit_cast(__ha_words, __ha_float_at(t, image, i, 0, 0));
}

/* Two neighbours that are mirrored by their numbers: where the mirror turns the image
 * around, the second one has the smaller number.  A filter does not tell them apart. */
__HA_FN__ void
__ha_mirror_pair(__ha_axis &axis, float x, uint32_t texels)
{
    __HA_EXACT__
    const int size = (int)texels;
    x = (x - 2.0f * __builtin_floorf(0.5f * x)) * (float)size;
    x = x > 0.0f ? x : 0.0f; /* what is no number, too */
    const int low = (int)__builtin_floorf(x - 0.5f), high = low + 1;
    axis.low = __ha_clamp(low < size ? low : 2 * size - 1 - low, size);
    axis.high = __ha_clamp(high < size ? high : 2 * size - 1 - high, size);
}

/* One channel of the four texels that a linear filter would take, counterclockwise from
 * the lower left one. */
__HA_CORE__ __ha_words
__ha_gather(const __hip_texture *t, float x, float y, int channel)
{
    __ha_need(t, __HA_2D);
    const __ha_image *image = &t->levels[0];
    __ha_point at = __ha_locate(t, image, x, y, 0, 0, true);
    __ha_axis &a = at.axes[0], &b = at.axes[1];
    if (t->normalized && t->address[0] == hipAddressModeMirror) {
        __ha_mirror_pair(a, x, image->width);
    }
    if (t->normalized && t->address[1] == hipAddressModeMirror) {
        __ha_mirror_pair(b, y, image->height);
    }
    const int xs[4] = {a.low, a.high, a.high, a.low};
    const int ys[4] = {b.high, b.high, b.low, b.low};
    __ha_words r = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        __ha_words texel =
            t->as_float ? __builtin_bit_cast(__ha_words,
                                             __ha_float_at(t, image, xs[i], ys[i], 0))
                        : __ha_integer_at(t, image, xs[i], ys[i], 0);
        r[i] = texel[channel & 3];
    }
    return r;
}

/* The face of a cube that a direction meets, and where. */
struct __ha_face {
    int number;
    float x, y; /* 0 to 1 */
};
__HA_FN__ __ha_face
__ha_face_of(float x, float y, float z)
{
    __HA_EXACT__
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    float s, t, m;
    int number;
    if (az >= ax && az >= ay) {
        number = z < 0 ? 5 : 4;
        s = z < 0 ? -x : x;
        t = -y;
        m = az;
    } else if (ay >= ax) {
        number = y < 0 ? 3 : 2;
        s = x;
        t = y < 0 ? -z : z;
        m = ay;
    } else {
        number = x < 0 ? 1 : 0;
        s = x < 0 ? z : -z;
        t = -y;
        m = ax;
    }
    return {number, (s / m + 1.0f) * 0.5f, (t / m + 1.0f) * 0.5f};
}
__HA_CORE__ __ha_words
__ha_sample_cube(const __hip_texture *t, uint32_t shape, float x, float y, float z,
                 int layer, float level)
{
    __HA_EXACT__
    __ha_need(t, shape);
    __ha_face face = __ha_face_of(x, y, z);
    layer = __ha_clamp(layer, (int)t->levels[0].depth / 6);
    return __ha_sample(t, shape, face.x, face.y, 0, layer * 6 + face.number, level);
}

/* The level whose texels are as far apart as neighbouring samples are. */
__HA_FN__ float
__ha_gradient_level(const __hip_texture *t, const float *dx, const float *dy)
{
    __HA_EXACT__
    const __ha_image *image = &t->levels[0];
    const float size[3] = {(float)image->width, (float)image->height,
                           (float)image->depth};
    float a = 0.0f, b = 0.0f;
    for (int i = 0; i < 3; i++) {
        a = a + dx[i] * size[i] * (dx[i] * size[i]);
        b = b + dy[i] * size[i] * (dy[i] * size[i]);
    }
    float most = a > b ? a : b;
    return most > 0.0f ? 0.5f * __builtin_log2f(most) : -126.0f;
}
