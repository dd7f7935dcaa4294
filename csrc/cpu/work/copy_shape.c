/* SPDX-License-Identifier: MIT */
#include "cpu/work/copy_shape.h"

#include "cpu/base/error.h"
#include "cpu/memory/array.h"

/* One side of a copy; `pos` is bytes, rows and slices. */
struct side {
    const char *argument;
    hipArray_t array; /* NULL: memory */
    hipPitchedPtr memory;
    hipPos pos;
};

/* Address of a position in pitched memory; false where that overflows. */
static bool
place(const struct side *side, size_t slice, void **address)
{
    size_t rows;
    size_t slices;
    size_t offset;
    if (__builtin_mul_overflow(side->pos.y, side->memory.pitch, &rows) ||
        __builtin_mul_overflow(side->pos.z, slice, &slices) ||
        __builtin_add_overflow(rows, slices, &offset) ||
        __builtin_add_overflow(offset, side->pos.x, &offset) || offset > SIZE_MAX / 2) {
        return false;
    }
    *address = side->memory.ptr != NULL ? (char *)side->memory.ptr + offset : NULL;
    return true;
}

static hipError_t
side_place(const struct side *side, hipExtent extent, struct ha_array_box *where)
{
    if (side->array != NULL) {
        return ha_array_locate(side->argument, side->array, side->pos, extent, where);
    }
    where->pitch = side->memory.pitch;
    if (__builtin_mul_overflow(where->pitch, side->memory.ysize, &where->slice) ||
        !place(side, where->slice, &where->address)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %zu rows of %zu bytes are more than there "
                           "can be",
                           side->argument, side->memory.ysize, where->pitch);
    }
    return hipSuccess;
}

static hipError_t
shape(const struct side *src, const struct side *dst, hipExtent extent,
      struct ha_copy *copy)
{
    struct ha_array_box from = {NULL, 0, 0};
    struct ha_array_box to = {NULL, 0, 0};
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        extent = (hipExtent){0, 0, 0};
    }
    hipError_t code = side_place(src, extent, &from);
    if (code == hipSuccess) {
        code = side_place(dst, extent, &to);
    }
    *copy = (struct ha_copy){
        .dst = to.address,
        .src = from.address,
        .dst_pitch = to.pitch,
        .src_pitch = from.pitch,
        .dst_slice = to.slice,
        .src_slice = from.slice,
        .width = extent.width,
        .height = extent.height,
        .depth = extent.depth,
    };
    return code;
}

/* ---- hipMemcpy3D ---- */

/* Bytes of an element of a side in x: 1 for memory. */
static hipError_t
element_of(const char *argument, hipArray_t handle, size_t *bytes)
{
    struct ha_array *array = NULL;
    *bytes = 1;
    if (handle == NULL) {
        return hipSuccess;
    }
    hipError_t code = ha_array_acquire(argument, handle, &array);
    if (code == hipSuccess) {
        *bytes = ha_texel_bytes(&array->texel);
        ha_array_release(array);
    }
    return code;
}

/* Elements of both sides, and of the extent. */
static hipError_t
elements(hipArray_t src, hipArray_t dst, size_t *of_src, size_t *of_dst,
         size_t *of_extent)
{
    hipError_t code = element_of("srcArray", src, of_src);
    if (code == hipSuccess) {
        code = element_of("dstArray", dst, of_dst);
    }
    if (code == hipSuccess && src != NULL && dst != NULL && *of_src != *of_dst) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "the arrays have elements of %zu and %zu bytes", *of_src,
                           *of_dst);
    }
    if (code == hipSuccess) {
        *of_extent = src != NULL ? *of_src : *of_dst;
    }
    return code;
}

hipError_t
ha_copy_element(hipArray_t array, size_t *bytes)
{
    return element_of("array", array, bytes);
}

static hipError_t
check_one_side(const char *side, hipArray_t array, const void *memory)
{
    if (array != NULL && memory != NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "both '%sArray' and '%sPtr' are there",
                           side, side);
    }
    return hipSuccess;
}

hipError_t
ha_copy_shape_3d(const hipMemcpy3DParms *params, struct ha_copy *copy)
{
    struct side src = {"srcPtr", params->srcArray, params->srcPtr, params->srcPos};
    struct side dst = {"dstPtr", params->dstArray, params->dstPtr, params->dstPos};
    hipExtent extent = params->extent;
    size_t of_src;
    size_t of_dst;
    size_t of_extent;
    hipError_t code = ha_copy_check_kind(params->kind);
    if (code == hipSuccess) {
        code = check_one_side("src", params->srcArray, params->srcPtr.ptr);
    }
    if (code == hipSuccess) {
        code = check_one_side("dst", params->dstArray, params->dstPtr.ptr);
    }
    if (code == hipSuccess) {
        code = elements(src.array, dst.array, &of_src, &of_dst, &of_extent);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (__builtin_mul_overflow(src.pos.x, of_src, &src.pos.x) ||
        __builtin_mul_overflow(dst.pos.x, of_dst, &dst.pos.x) ||
        __builtin_mul_overflow(extent.width, of_extent, &extent.width)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu elements of %zu bytes are more than there can be",
                           params->extent.width, of_extent);
    }
    code = shape(&src, &dst, extent, copy);
    copy->src_known = src.array == NULL && ha_copy_is_from_device(params->kind);
    copy->dst_known = dst.array == NULL && ha_copy_is_to_device(params->kind);
    return code;
}

/* ---- the driver's record ---- */

static hipError_t
check_type(const char *argument, hipMemoryType type)
{
    switch ((int)type) {
    case hipMemoryTypeHost:
    case hipMemoryTypeUnregistered:
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
    case hipMemoryTypeArray:
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %d is not a memory type", argument,
                           (int)type);
    }
}

/* One side of the driver's record. */
struct driver_side {
    const char *argument;
    hipMemoryType type; /* says which of the next three counts */
    const void *host;
    hipDeviceptr_t device;
    hipArray_t array;
    hipPos pos;
    size_t pitch; /* these two are 0 where rows and slices have no gaps */
    size_t height;
};

static struct side
side_of(const struct driver_side *given, const HIP_MEMCPY3D *params)
{
    bool of_host =
        given->type == hipMemoryTypeHost || given->type == hipMemoryTypeUnregistered;
    struct side side = {.argument = given->argument, .pos = given->pos};
    if (given->type == hipMemoryTypeArray) {
        side.array = given->array;
        return side;
    }
    side.memory = (hipPitchedPtr){
        .ptr = of_host ? (void *)(uintptr_t)given->host : given->device,
        .pitch = given->pitch != 0 ? given->pitch : params->WidthInBytes,
        .xsize = params->WidthInBytes,
        .ysize = given->height != 0 ? given->height : params->Height,
    };
    return side;
}

static hipError_t
driver_sides(const HIP_MEMCPY3D *params, struct side *src, struct side *dst)
{
    hipError_t code = check_type("srcMemoryType", params->srcMemoryType);
    if (code == hipSuccess) {
        code = check_type("dstMemoryType", params->dstMemoryType);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (params->srcLOD != 0 || params->dstLOD != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "srcLOD and dstLOD must be 0");
    }
    const struct driver_side given_src = {
        .argument = "srcArray",
        .type = params->srcMemoryType,
        .host = params->srcHost,
        .device = params->srcDevice,
        .array = params->srcArray,
        .pos = {params->srcXInBytes, params->srcY, params->srcZ},
        .pitch = params->srcPitch,
        .height = params->srcHeight,
    };
    const struct driver_side given_dst = {
        .argument = "dstArray",
        .type = params->dstMemoryType,
        .host = params->dstHost,
        .device = params->dstDevice,
        .array = params->dstArray,
        .pos = {params->dstXInBytes, params->dstY, params->dstZ},
        .pitch = params->dstPitch,
        .height = params->dstHeight,
    };
    *src = side_of(&given_src, params);
    *dst = side_of(&given_dst, params);
    if ((params->srcMemoryType == hipMemoryTypeArray && src->array == NULL) ||
        (params->dstMemoryType == hipMemoryTypeArray && dst->array == NULL)) {
        return ha_cpu_fail_null(src->array == NULL ? "srcArray" : "dstArray");
    }
    return hipSuccess;
}

hipError_t
ha_copy_shape_driver(const HIP_MEMCPY3D *params, struct ha_copy *copy)
{
    struct side src;
    struct side dst;
    const hipExtent extent = {params->WidthInBytes, params->Height, params->Depth};
    hipError_t code = driver_sides(params, &src, &dst);
    if (code != hipSuccess) {
        return code;
    }
    code = shape(&src, &dst, extent, copy);
    copy->described = true;
    copy->src_known = params->srcMemoryType == hipMemoryTypeDevice;
    copy->dst_known = params->dstMemoryType == hipMemoryTypeDevice;
    return code;
}

hipError_t
ha_copy_shape_from_driver(const HIP_MEMCPY3D *params, hipMemcpy3DParms *same)
{
    struct side src;
    struct side dst;
    size_t of_src;
    size_t of_dst;
    size_t of_extent;
    hipError_t code = driver_sides(params, &src, &dst);
    if (code == hipSuccess) {
        code = elements(src.array, dst.array, &of_src, &of_dst, &of_extent);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (src.pos.x % of_src != 0 || dst.pos.x % of_dst != 0 ||
        params->WidthInBytes % of_extent != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu bytes from bytes %zu and %zu on are no whole elements "
                           "of %zu bytes",
                           params->WidthInBytes, src.pos.x, dst.pos.x, of_extent);
    }
    *same = (hipMemcpy3DParms){
        .srcArray = src.array,
        .srcPos = {src.pos.x / of_src, src.pos.y, src.pos.z},
        .srcPtr = src.memory,
        .dstArray = dst.array,
        .dstPos = {dst.pos.x / of_dst, dst.pos.y, dst.pos.z},
        .dstPtr = dst.memory,
        .extent = {params->WidthInBytes / of_extent, params->Height, params->Depth},
        .kind = hipMemcpyDefault,
    };
    return hipSuccess;
}

/* The element of an array that may be gone: 1 then, as nobody can copy it any more. */
static size_t
element_known(hipArray_t array)
{
    size_t bytes;
    return element_of("array", array, &bytes) == hipSuccess ? bytes : 1;
}

HIP_MEMCPY3D
ha_copy_shape_to_driver(const hipMemcpy3DParms *params)
{
    size_t of_src = element_known(params->srcArray);
    size_t of_dst = element_known(params->dstArray);
    size_t of_extent = params->srcArray != NULL ? of_src : of_dst;
    return (HIP_MEMCPY3D){
        .srcXInBytes = params->srcPos.x * of_src,
        .srcY = params->srcPos.y,
        .srcZ = params->srcPos.z,
        .srcMemoryType =
            params->srcArray != NULL ? hipMemoryTypeArray : hipMemoryTypeUnified,
        .srcDevice = params->srcPtr.ptr,
        .srcArray = params->srcArray,
        .srcPitch = params->srcPtr.pitch,
        .srcHeight = params->srcPtr.ysize,
        .dstXInBytes = params->dstPos.x * of_dst,
        .dstY = params->dstPos.y,
        .dstZ = params->dstPos.z,
        .dstMemoryType =
            params->dstArray != NULL ? hipMemoryTypeArray : hipMemoryTypeUnified,
        .dstDevice = params->dstPtr.ptr,
        .dstArray = params->dstArray,
        .dstPitch = params->dstPtr.pitch,
        .dstHeight = params->dstPtr.ysize,
        .WidthInBytes = params->extent.width * of_extent,
        .Height = params->extent.height,
        .Depth = params->extent.depth,
    };
}
