/* SPDX-License-Identifier: MIT */
/* What a texture object and a surface object point at.  The device writes one when the
 * object is made; kernels read it; it does not change as long as the object lives, and
 * is all zeros afterwards.  The same text is compiled into both. */
#pragma once
#if defined(__cplusplus)
#pragma GCC system_header
#else
#include <stdint.h>
#endif

#define __HA_TEXTURE_LIVE 0x7478657468617861u
#define __HA_SURFACE_LIVE 0x6672757368617861u
#define __HA_LEVELS_MAX 15

/* What is sampled.  Layers and faces are slices. */
enum __ha_image_shape {
    __HA_LINEAR = 1, /* memory, by tex1Dfetch only */
    __HA_1D,
    __HA_2D,
    __HA_3D,
    __HA_1D_LAYERED,
    __HA_2D_LAYERED,
    __HA_CUBE,
    __HA_CUBE_LAYERED,
};

struct __ha_image {
    unsigned char *data;
    uint64_t pitch; /* bytes from row to row */
    uint64_t slice; /* bytes from slice to slice */
    uint32_t width;
    uint32_t height;
    uint32_t depth; /* slices */
    uint32_t reserved;
};

struct __hip_texture {
    uint64_t live; /* __HA_TEXTURE_LIVE */
    uint32_t shape;
    uint32_t level_count;
    uint32_t channels;
    uint32_t bits;
    uint32_t kind;       /* of a channel: 0 signed, 1 unsigned, 2 floating point */
    uint32_t as_float;   /* results are floats: float channels, or normalized reads */
    uint32_t linear;     /* filter inside of a level */
    uint32_t mip_linear; /* filter between levels */
    uint32_t normalized; /* coordinates */
    uint32_t address[3]; /* numbers of hipTextureAddressMode; wrap and mirror only with
                            normalized coordinates */
    float level_bias;
    float level_least;
    float level_most;
    float border[4];
    const float *srgb; /* 256 values of the first three channels, or NULL */
    struct __ha_image levels[__HA_LEVELS_MAX];
};

struct __hip_surface {
    uint64_t live; /* __HA_SURFACE_LIVE */
    uint32_t shape;
    uint32_t channels;
    uint32_t bits;
    uint32_t kind;
    struct __ha_image image;
};
