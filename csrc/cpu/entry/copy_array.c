/* SPDX-License-Identifier: MIT */
/* HIP entry points: copies of one and two dimensions from and to arrays.
 *
 * Offsets and widths are bytes.  Copies of one dimension take the rows of an array as
 * one long row, without the padding between them. */
#include <stdbool.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/call.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/array.h"
#include "cpu/memory/memory.h"
#include "cpu/submit/copy.h"

/* ---- two dimensions ---- */

/* One side: an array and a position in it, or pitched memory. */
struct side {
    const char *argument;
    bool is_array;
    hipArray_const_t array;
    size_t x_bytes;
    size_t y;
    const void *memory;
    size_t pitch;
};

static hipError_t
side_locate(const struct side *side, size_t width, size_t height,
            struct ha_array_box *box)
{
    if (side->is_array && side->array == NULL) {
        return ha_cpu_fail(hipErrorInvalidHandle, "argument '%s' is NULL",
                           side->argument);
    }
    if (side->is_array) {
        return ha_array_locate(side->argument, side->array,
                               (hipPos){side->x_bytes, side->y, 0},
                               (hipExtent){width, height, 1}, box);
    }
    if (width > side->pitch) {
        return ha_cpu_fail(hipErrorInvalidPitchValue,
                           "argument 'width' is %zu bytes, more than the pitch of %zu",
                           width, side->pitch);
    }
    *box = (struct ha_array_box){(void *)(uintptr_t)side->memory, side->pitch, 0};
    return hipSuccess;
}

static hipError_t
copy_rows(const struct ha_call *call, const struct side *dst, const struct side *src,
          size_t width, size_t height, hipMemcpyKind kind)
{
    struct ha_device *device;
    struct ha_array_box to;
    struct ha_array_box from;
    hipError_t code = ha_enter(call->function, &device);
    if (code == hipSuccess) {
        code = ha_copy_check_kind(kind);
    }
    if (code == hipSuccess) {
        code = side_locate(dst, width, height, &to);
    }
    if (code == hipSuccess) {
        code = side_locate(src, width, height, &from);
    }
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_copy copy = {
        .dst = to.address,
        .src = from.address,
        .dst_pitch = to.pitch,
        .src_pitch = from.pitch,
        .width = width,
        .height = height,
        .dst_known = !dst->is_array && ha_copy_is_to_device(kind),
        .src_known = !src->is_array && ha_copy_is_from_device(kind)};
    return ha_call_copy(call, device, &copy);
}

static struct side
of_array(const char *argument, hipArray_const_t array, size_t x_bytes, size_t y)
{
    return (struct side){argument, true, array, x_bytes, y, NULL, 0};
}

static struct side
of_memory(const char *argument, const void *memory, size_t pitch)
{
    return (struct side){argument, false, NULL, 0, 0, memory, pitch};
}

HA_EXPORT hipError_t
hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                   size_t spitch, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct side to = of_array("dst", dst, wOffset, hOffset);
    const struct side from = of_memory("src", src, spitch);
    const struct ha_call call = {"hipMemcpy2DToArray", NULL, HA_RUN_SYNC};
    return copy_rows(&call, &to, &from, width, height, kind);
}

HA_EXPORT hipError_t
hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                        size_t spitch, size_t width, size_t height, hipMemcpyKind kind,
                        hipStream_t stream)
{
    const struct side to = of_array("dst", dst, wOffset, hOffset);
    const struct side from = of_memory("src", src, spitch);
    const struct ha_call call = {"hipMemcpy2DToArrayAsync", stream, HA_RUN_ASYNC};
    return copy_rows(&call, &to, &from, width, height, kind);
}

HA_EXPORT hipError_t
hipMemcpy2DFromArray(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset,
                     size_t hOffset, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct side to = of_memory("dst", dst, dpitch);
    const struct side from = of_array("src", src, wOffset, hOffset);
    const struct ha_call call = {"hipMemcpy2DFromArray", NULL, HA_RUN_SYNC};
    return copy_rows(&call, &to, &from, width, height, kind);
}

HA_EXPORT hipError_t
hipMemcpy2DFromArrayAsync(void *dst, size_t dpitch, hipArray_const_t src,
                          size_t wOffset, size_t hOffset, size_t width, size_t height,
                          hipMemcpyKind kind, hipStream_t stream)
{
    const struct side to = of_memory("dst", dst, dpitch);
    const struct side from = of_array("src", src, wOffset, hOffset);
    const struct ha_call call = {"hipMemcpy2DFromArrayAsync", stream, HA_RUN_ASYNC};
    return copy_rows(&call, &to, &from, width, height, kind);
}

HA_EXPORT hipError_t
hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                        hipArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                        size_t width, size_t height, hipMemcpyKind kind)
{
    const struct side to = of_array("dst", dst, wOffsetDst, hOffsetDst);
    const struct side from = of_array("src", src, wOffsetSrc, hOffsetSrc);
    const struct ha_call call = {"hipMemcpy2DArrayToArray", NULL, HA_RUN_SYNC};
    return copy_rows(&call, &to, &from, width, height, kind);
}

/* ---- one dimension ---- */

/* A run of bytes: of an array from byte `offset` of its rows on, or plain memory, which
 * is one endless row. */
struct run {
    const char *argument;
    bool is_array;
    hipArray_const_t array;
    size_t offset;
    size_t y;   /* the row that the offset is counted from */
    char *base; /* memory; of an array: its first byte */
    size_t row_bytes;
    size_t pitch;
    bool known; /* memory that the device has to know */
};

static struct run
run_array(const char *argument, hipArray_const_t array, size_t offset, size_t y)
{
    return (struct run){argument, true, array, offset, y, NULL, 0, 0, false};
}

static struct run
run_memory(const char *argument, const void *memory, bool known)
{
    return (struct run){argument, false,    NULL, 0, 0, (char *)(uintptr_t)memory,
                        SIZE_MAX, SIZE_MAX, known};
}

/* Looks up an array and checks that `count` bytes are there: no piece of the run fails
 * when others are done. */
static hipError_t
run_begin(struct run *run, size_t count)
{
    struct ha_array *array = NULL;
    size_t skipped;
    size_t offset;
    if (!run->is_array && count == 0) {
        return hipSuccess;
    }
    if (!run->is_array) {
        return run->base == NULL
                   ? ha_cpu_fail_null(run->argument)
                   : ha_memory_check(run->argument, run->base, count, run->known, NULL);
    }
    hipError_t code = ha_array_acquire(run->argument, run->array, &array);
    if (code != hipSuccess) {
        return code;
    }
    size_t all = array->row_bytes * array->rows * array->slices;
    if (__builtin_mul_overflow(run->y, array->row_bytes, &skipped) ||
        __builtin_add_overflow(run->offset, skipped, &offset) || offset > all ||
        count > all - offset) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %zu bytes from byte %zu of row %zu on are "
                           "more than the %zu bytes of the array",
                           run->argument, count, run->offset, run->y, all);
    } else {
        run->offset = offset;
        run->base = (char *)array->data;
        run->row_bytes = array->row_bytes;
        run->pitch = array->pitch;
    }
    ha_array_release(array);
    return code;
}

static size_t
left_in_row(const struct run *run)
{
    return run->row_bytes - run->offset % run->row_bytes;
}

static char *
address(const struct run *run)
{
    return run->is_array ? run->base + run->offset / run->row_bytes * run->pitch +
                               run->offset % run->row_bytes
                         : run->base + run->offset;
}

/* The next rectangle of both: whole rows if that is where both are, else a part of one
 * row. */
static struct ha_copy
next_copy(const struct run *dst, const struct run *src, size_t count)
{
    size_t row = dst->row_bytes < src->row_bytes ? dst->row_bytes : src->row_bytes;
    bool same = (!dst->is_array || dst->row_bytes == row) &&
                (!src->is_array || src->row_bytes == row);
    struct ha_copy copy = {.dst = address(dst),
                           .src = address(src),
                           .dst_pitch = dst->is_array ? dst->pitch : row,
                           .src_pitch = src->is_array ? src->pitch : row,
                           .height = 1,
                           .dst_known = dst->known,
                           .src_known = src->known};
    bool at_start = (!dst->is_array || dst->offset % row == 0) &&
                    (!src->is_array || src->offset % row == 0);
    if (same && at_start && count >= row) {
        copy.width = row;
        copy.height = count / row;
        return copy;
    }
    copy.width = count;
    if (dst->is_array && left_in_row(dst) < copy.width) {
        copy.width = left_in_row(dst);
    }
    if (src->is_array && left_in_row(src) < copy.width) {
        copy.width = left_in_row(src);
    }
    return copy;
}

static hipError_t
copy_run(const struct ha_call *call, struct run dst, struct run src, size_t count)
{
    struct ha_device *device;
    hipError_t code = ha_enter(call->function, &device);
    if (code == hipSuccess) {
        code = run_begin(&dst, count);
    }
    if (code == hipSuccess) {
        code = run_begin(&src, count);
    }
    while (count > 0 && code == hipSuccess) {
        const struct ha_copy copy = next_copy(&dst, &src, count);
        size_t bytes = copy.width * copy.height;
        code = ha_call_copy(call, device, &copy);
        dst.offset += bytes;
        src.offset += bytes;
        count -= bytes;
    }
    return code;
}

static hipError_t
check_kind(const char *function, hipMemcpyKind kind)
{
    hipError_t code = ha_enter_query(function);
    return code == hipSuccess ? ha_copy_check_kind(kind) : code;
}

HA_EXPORT hipError_t
hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                 size_t count, hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyToArray", NULL, HA_RUN_SYNC};
    hipError_t code = check_kind(call.function, kind);
    return code == hipSuccess
               ? copy_run(&call, run_array("dst", dst, wOffset, hOffset),
                          run_memory("src", src, ha_copy_is_from_device(kind)), count)
               : code;
}

HA_EXPORT hipError_t
hipMemcpyFromArray(void *dst, hipArray_const_t srcArray, size_t wOffset, size_t hOffset,
                   size_t count, hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyFromArray", NULL, HA_RUN_SYNC};
    hipError_t code = check_kind(call.function, kind);
    return code == hipSuccess
               ? copy_run(&call, run_memory("dst", dst, ha_copy_is_to_device(kind)),
                          run_array("srcArray", srcArray, wOffset, hOffset), count)
               : code;
}

HA_EXPORT hipError_t
hipMemcpyAtoH(void *dst, hipArray_t srcArray, size_t srcOffset, size_t count)
{
    const struct ha_call call = {"hipMemcpyAtoH", NULL, HA_RUN_SYNC};
    return copy_run(&call, run_memory("dst", dst, false),
                    run_array("srcArray", srcArray, srcOffset, 0), count);
}

HA_EXPORT hipError_t
hipMemcpyAtoHAsync(void *dstHost, hipArray_t srcArray, size_t srcOffset,
                   size_t ByteCount, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyAtoHAsync", stream, HA_RUN_ASYNC};
    return copy_run(&call, run_memory("dstHost", dstHost, false),
                    run_array("srcArray", srcArray, srcOffset, 0), ByteCount);
}

HA_EXPORT hipError_t
hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void *srcHost, size_t count)
{
    const struct ha_call call = {"hipMemcpyHtoA", NULL, HA_RUN_SYNC};
    return copy_run(&call, run_array("dstArray", dstArray, dstOffset, 0),
                    run_memory("srcHost", srcHost, false), count);
}

HA_EXPORT hipError_t
hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, const void *srcHost,
                   size_t ByteCount, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyHtoAAsync", stream, HA_RUN_ASYNC};
    return copy_run(&call, run_array("dstArray", dstArray, dstOffset, 0),
                    run_memory("srcHost", srcHost, false), ByteCount);
}

HA_EXPORT hipError_t
hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset,
              size_t ByteCount)
{
    const struct ha_call call = {"hipMemcpyAtoD", NULL, HA_RUN_SYNC};
    return copy_run(&call, run_memory("dstDevice", dstDevice, true),
                    run_array("srcArray", srcArray, srcOffset, 0), ByteCount);
}

HA_EXPORT hipError_t
hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice,
              size_t ByteCount)
{
    const struct ha_call call = {"hipMemcpyDtoA", NULL, HA_RUN_SYNC};
    return copy_run(&call, run_array("dstArray", dstArray, dstOffset, 0),
                    run_memory("srcDevice", srcDevice, true), ByteCount);
}

HA_EXPORT hipError_t
hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray,
              size_t srcOffset, size_t ByteCount)
{
    const struct ha_call call = {"hipMemcpyAtoA", NULL, HA_RUN_SYNC};
    return copy_run(&call, run_array("dstArray", dstArray, dstOffset, 0),
                    run_array("srcArray", srcArray, srcOffset, 0), ByteCount);
}
