/* SPDX-License-Identifier: MIT */
#include "cpu/memory/sampler.h"

#include <math.h>
#include <pthread.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/texture.h"

static float srgb_table[256];
static pthread_once_t srgb_once = PTHREAD_ONCE_INIT;

/* The transfer function of IEC 61966-2-1. */
static void
srgb_fill(void)
{
    for (int i = 0; i < 256; i++) {
        double c = i / 255.0;
        srgb_table[i] =
            (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
}

/* ---- what is sampled ---- */

void
ha_image_of_array(const struct ha_array *array, uint32_t *shape,
                  struct __ha_image *image)
{
    bool layered = (array->flags & hipArrayLayered) != 0;
    if ((array->flags & hipArrayCubemap) != 0) {
        *shape = layered ? __HA_CUBE_LAYERED : __HA_CUBE;
    } else if (array->extent.height == 0) {
        *shape = layered ? __HA_1D_LAYERED : __HA_1D;
    } else if (layered) {
        *shape = __HA_2D_LAYERED;
    } else {
        *shape = array->extent.depth != 0 ? __HA_3D : __HA_2D;
    }
    *image = (struct __ha_image){
        .data = array->data,
        .pitch = array->pitch,
        .slice = array->pitch * array->rows,
        .width = (uint32_t)array->extent.width,
        .height = (uint32_t)array->rows,
        .depth = (uint32_t)array->slices,
    };
}

static hipError_t
check_memory(const void *address, size_t bytes)
{
    if (address == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': the address is NULL");
    }
    if ((uintptr_t)address % HA_TEXTURE_ALIGN != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': the address %p is not a multiple of "
                           "the texture alignment of %zu bytes",
                           address, HA_TEXTURE_ALIGN);
    }
    return ha_memory_check("pResDesc", address, bytes, true, NULL);
}

static hipError_t
describe_linear(const hipResourceDesc *resource, struct ha_texel *texel,
                struct __hip_texture *object)
{
    void *address = resource->res.linear.devPtr;
    size_t bytes = resource->res.linear.sizeInBytes;
    hipError_t code =
        ha_texel_of_channels("pResDesc", &resource->res.linear.desc, texel);
    if (code == hipSuccess) {
        code = check_memory(address, bytes);
    }
    if (code != hipSuccess) {
        return code;
    }
    size_t count = bytes / ha_texel_bytes(texel);
    if (count == 0 || count > HA_LINEAR_TEXTURE_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': %zu bytes are %zu elements; 1 to %zu "
                           "can be a texture",
                           bytes, count, HA_LINEAR_TEXTURE_MAX);
    }
    object->shape = __HA_LINEAR;
    object->levels[0] = (struct __ha_image){.data = address,
                                            .pitch = bytes,
                                            .slice = bytes,
                                            .width = (uint32_t)count,
                                            .height = 1,
                                            .depth = 1};
    return hipSuccess;
}

static hipError_t
describe_pitched(const hipResourceDesc *resource, struct ha_texel *texel,
                 struct __hip_texture *object)
{
    size_t width = resource->res.pitch2D.width;
    size_t height = resource->res.pitch2D.height;
    size_t pitch = resource->res.pitch2D.pitchInBytes;
    hipError_t code =
        ha_texel_of_channels("pResDesc", &resource->res.pitch2D.desc, texel);
    if (code != hipSuccess) {
        return code;
    }
    if (width == 0 || height == 0 || width > HA_ARRAY_SIDE_MAX ||
        height > HA_ARRAY_SIDE_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': %zu x %zu elements can't be a texture",
                           width, height);
    }
    size_t row = width * ha_texel_bytes(texel);
    if (pitch < row || pitch % HA_TEXTURE_ALIGN != 0 || pitch > INT32_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': the pitch of %zu bytes must be a "
                           "multiple of %zu that holds rows of %zu bytes",
                           pitch, HA_TEXTURE_ALIGN, row);
    }
    code = check_memory(resource->res.pitch2D.devPtr, pitch * (height - 1) + row);
    object->shape = __HA_2D;
    object->levels[0] = (struct __ha_image){.data = resource->res.pitch2D.devPtr,
                                            .pitch = pitch,
                                            .slice = pitch * height,
                                            .width = (uint32_t)width,
                                            .height = (uint32_t)height,
                                            .depth = 1};
    return code;
}

static hipError_t
describe_resource(const hipResourceDesc *resource, struct ha_array *const *arrays,
                  uint32_t array_count, struct ha_texel *texel,
                  struct __hip_texture *object)
{
    object->level_count = 1;
    switch ((int)resource->resType) {
    case hipResourceTypeLinear:
        return describe_linear(resource, texel, object);
    case hipResourceTypePitch2D:
        return describe_pitched(resource, texel, object);
    case hipResourceTypeArray:
    case hipResourceTypeMipmappedArray:
        *texel = arrays[0]->texel;
        object->level_count = array_count;
        for (uint32_t i = 0; i < array_count; i++) {
            ha_image_of_array(arrays[i], &object->shape, &object->levels[i]);
        }
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResDesc': %d is not a resource type",
                           (int)resource->resType);
    }
}

/* ---- views ---- */

static hipError_t
view_format(const hipResourceViewDesc *view, struct ha_texel *texel)
{
    struct ha_texel seen;
    if (view->format == hipResViewFormatNone) {
        return hipSuccess;
    }
    hipError_t code = ha_texel_of_view((int)view->format, &seen);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_texel_bytes(&seen) != ha_texel_bytes(texel)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'pResViewDesc': its elements have %zu bytes, those "
            "of the resource have %zu",
            ha_texel_bytes(&seen), ha_texel_bytes(texel));
    }
    *texel = seen;
    return hipSuccess;
}

static bool
is_layered(uint32_t shape)
{
    return shape == __HA_1D_LAYERED || shape == __HA_2D_LAYERED ||
           shape == __HA_CUBE_LAYERED;
}

/* Sizes are those of the first level that is seen; 0 stands for "the same". */
static hipError_t
view_levels(const hipResourceViewDesc *view, struct __hip_texture *object)
{
    uint32_t first = view->firstMipmapLevel;
    uint32_t last = view->lastMipmapLevel;
    if (first > last || last >= object->level_count) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResViewDesc': levels %u to %u of %u", first,
                           last, object->level_count);
    }
    object->level_count = last - first + 1;
    for (uint32_t i = 0; i < object->level_count; i++) {
        object->levels[i] = object->levels[first + i];
    }
    const struct __ha_image *image = &object->levels[0];
    if ((view->width != 0 && view->width != image->width) ||
        (view->height > 1 && view->height != image->height) ||
        (view->depth > 1 && view->depth != image->depth)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResViewDesc': %zu x %zu x %zu elements are not "
                           "those of the resource, %u x %u x %u",
                           view->width, view->height, view->depth, image->width,
                           image->height, image->depth);
    }
    return hipSuccess;
}

static hipError_t
view_layers(const hipResourceViewDesc *view, struct __hip_texture *object)
{
    uint32_t first = view->firstLayer;
    uint32_t last = view->lastLayer;
    bool cube = object->shape == __HA_CUBE_LAYERED;
    if (first == 0 && last == 0) {
        return hipSuccess;
    }
    if (!is_layered(object->shape) || first > last || last >= object->levels[0].depth ||
        (cube && (first % 6 != 0 || last % 6 != 5))) {
        return ha_cpu_fail(
            hipErrorInvalidValue, "argument 'pResViewDesc': layers %u to %u of %u",
            first, last, is_layered(object->shape) ? object->levels[0].depth : 0);
    }
    for (uint32_t i = 0; i < object->level_count; i++) {
        struct __ha_image *image = &object->levels[i];
        image->data += first * image->slice;
        image->depth = last - first + 1;
    }
    return hipSuccess;
}

static hipError_t
apply_view(const struct ha_texture_request *request, struct ha_texel *texel,
           struct __hip_texture *object)
{
    hipResourceType type = request->resource.resType;
    if (!request->has_view) {
        return hipSuccess;
    }
    if (type != hipResourceTypeArray && type != hipResourceTypeMipmappedArray) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pResViewDesc': only arrays have views");
    }
    hipError_t code = view_format(&request->view, texel);
    if (code == hipSuccess) {
        code = view_levels(&request->view, object);
    }
    return code == hipSuccess ? view_layers(&request->view, object) : code;
}

/* ---- how it is sampled ---- */

static hipError_t
check_modes(const hipTextureDesc *desc)
{
    bool good = (unsigned)desc->filterMode <= hipFilterModeLinear &&
                (unsigned)desc->mipmapFilterMode <= hipFilterModeLinear &&
                (unsigned)desc->readMode <= hipReadModeNormalizedFloat;
    for (int i = 0; i < 3; i++) {
        good = good && (unsigned)desc->addressMode[i] <= hipAddressModeBorder;
    }
    if (!good) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pTexDesc': a mode is none of its enum");
    }
    return hipSuccess;
}

static hipError_t
refuse(const char *why)
{
    return ha_cpu_fail(hipErrorInvalidValue, "argument 'pTexDesc': %s", why);
}

/* Modes that the element, the shape or the levels don't have. */
static hipError_t
check_agreement(const hipTextureDesc *desc, const struct ha_texel *texel,
                const struct __hip_texture *object)
{
    bool is_float = texel->kind == hipChannelFormatKindFloat;
    bool cube = object->shape == __HA_CUBE || object->shape == __HA_CUBE_LAYERED;
    if (desc->readMode == hipReadModeNormalizedFloat && !is_float &&
        texel->bits == 32) {
        return refuse("integers of 32 bits can't be read as normalized floats");
    }
    if (desc->filterMode == hipFilterModeLinear && object->as_float == 0) {
        return refuse("a linear filter needs reads that give floats");
    }
    if (desc->mipmapFilterMode == hipFilterModeLinear && object->level_count > 1 &&
        object->as_float == 0) {
        return refuse("a linear filter between levels needs reads that give floats");
    }
    if (object->level_count > 1 && desc->normalizedCoords == 0) {
        return refuse("levels need normalized coordinates");
    }
    if (cube && desc->normalizedCoords == 0) {
        return refuse("cube maps need normalized coordinates");
    }
    if (desc->sRGB != 0 &&
        (texel->bits != 8 || is_float || texel->kind != hipChannelFormatKindUnsigned ||
         desc->readMode != hipReadModeNormalizedFloat)) {
        return refuse("sRGB needs unsigned channels of 8 bits that are read as "
                      "normalized floats");
    }
    if (isnan(desc->mipmapLevelBias) || isnan(desc->minMipmapLevelClamp) ||
        isnan(desc->maxMipmapLevelClamp)) {
        return refuse("a mipmap setting is not a number");
    }
    return hipSuccess;
}

hipError_t
ha_sampler_describe(const struct ha_texture_request *request,
                    struct ha_array *const *arrays, uint32_t array_count,
                    struct __hip_texture *object)
{
    const hipTextureDesc *desc = &request->texture;
    struct ha_texel texel = {0, 0, hipChannelFormatKindNone};
    *object = (struct __hip_texture){.live = __HA_TEXTURE_LIVE};
    hipError_t code = check_modes(desc);
    if (code == hipSuccess) {
        code =
            describe_resource(&request->resource, arrays, array_count, &texel, object);
    }
    if (code == hipSuccess) {
        code = apply_view(request, &texel, object);
    }
    if (code != hipSuccess) {
        return code;
    }
    object->channels = texel.channels;
    object->bits = texel.bits;
    object->kind = texel.kind;
    object->as_float = texel.kind == hipChannelFormatKindFloat ||
                       desc->readMode == hipReadModeNormalizedFloat;
    code = check_agreement(desc, &texel, object);
    if (code != hipSuccess) {
        return code;
    }
    object->linear = desc->filterMode == hipFilterModeLinear;
    object->mip_linear = desc->mipmapFilterMode == hipFilterModeLinear;
    object->normalized = desc->normalizedCoords != 0;
    for (int i = 0; i < 3; i++) {
        unsigned mode = (unsigned)desc->addressMode[i];
        bool periodic = mode == hipAddressModeWrap || mode == hipAddressModeMirror;
        object->address[i] =
            periodic && object->normalized == 0 ? hipAddressModeClamp : mode;
    }
    object->level_bias = desc->mipmapLevelBias;
    object->level_least = desc->minMipmapLevelClamp;
    object->level_most = desc->maxMipmapLevelClamp;
    for (int i = 0; i < 4; i++) {
        object->border[i] = desc->borderColor[i];
    }
    if (desc->sRGB != 0) {
        pthread_once(&srgb_once, srgb_fill);
        object->srgb = srgb_table;
    }
    return hipSuccess;
}

bool
ha_sampler_holds(const void *address, uint64_t size)
{
    uint64_t offset = (uintptr_t)address - (uintptr_t)srgb_table;
    return offset <= sizeof srgb_table && size <= sizeof srgb_table - offset;
}
