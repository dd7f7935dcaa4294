/* SPDX-License-Identifier: MIT */
/* HIP entry points: copies and fills of one and two dimensions.
 *
 * Synchronous calls work in the legacy default stream unless they name another one. */
#include <stdbool.h>

#include "abi/hip.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/call.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/array.h"
#include "cpu/submit/copy.h"

/* ---- copies of one dimension ---- */

static struct ha_copy
row(void *dst, const void *src, size_t count)
{
    return (struct ha_copy){.dst = dst, .src = src, .width = count, .height = 1};
}

/* Begins a copy.  A side that `kind` calls the device's has to be memory that HIP
 * knows: what is not would be taken for the host's, and may have been freed. */
static hipError_t
copy_begin(const struct ha_call *call, hipMemcpyKind kind, struct ha_copy *copy,
           struct ha_device **device)
{
    copy->dst_known = ha_copy_is_to_device(kind);
    copy->src_known = ha_copy_is_from_device(kind);
    hipError_t code = ha_enter(call->function, device);
    return code == hipSuccess ? ha_copy_check_kind(kind) : code;
}

static hipError_t
copy_kind(const struct ha_call *call, struct ha_copy *copy, hipMemcpyKind kind)
{
    struct ha_device *device;
    hipError_t code = copy_begin(call, kind, copy, &device);
    return code == hipSuccess ? ha_call_copy(call, device, copy) : code;
}

HA_EXPORT hipError_t
hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpy", NULL, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, kind);
}

HA_EXPORT hipError_t
hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                    hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyWithStream", stream, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, kind);
}

HA_EXPORT hipError_t
hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
               hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, kind);
}

HA_EXPORT hipError_t
hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t sizeBytes)
{
    const struct ha_call call = {"hipMemcpyHtoD", NULL, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyHostToDevice);
}

HA_EXPORT hipError_t
hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes)
{
    const struct ha_call call = {"hipMemcpyDtoH", NULL, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyDeviceToHost);
}

HA_EXPORT hipError_t
hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes)
{
    const struct ha_call call = {"hipMemcpyDtoD", NULL, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyDeviceToDevice);
}

HA_EXPORT hipError_t
hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t sizeBytes,
                   hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyHtoDAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyHostToDevice);
}

HA_EXPORT hipError_t
hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyDtoHAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyDeviceToHost);
}

HA_EXPORT hipError_t
hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes,
                   hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyDtoDAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_kind(&call, &copy, hipMemcpyDeviceToDevice);
}

static hipError_t
copy_peer(const struct ha_call *call, struct ha_copy *copy, int dst_device,
          int src_device)
{
    hipError_t code = ha_enter_query(call->function);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_device_get(dst_device) == NULL || ha_device_get(src_device) == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "devices %d and %d: there are only %d devices", dst_device,
                           src_device, ha_config()->device_count);
    }
    return copy_kind(call, copy, hipMemcpyDeviceToDevice);
}

HA_EXPORT hipError_t
hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId,
              size_t sizeBytes)
{
    const struct ha_call call = {"hipMemcpyPeer", NULL, HA_RUN_SYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_peer(&call, &copy, dstDeviceId, srcDeviceId);
}

HA_EXPORT hipError_t
hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice,
                   size_t sizeBytes, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyPeerAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = row(dst, src, sizeBytes);
    return copy_peer(&call, &copy, dstDeviceId, srcDevice);
}

/* ---- copies of two dimensions ---- */

static struct ha_copy
rows(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
     size_t height)
{
    return (struct ha_copy){.dst = dst,
                            .src = src,
                            .dst_pitch = dst_pitch,
                            .src_pitch = src_pitch,
                            .width = width,
                            .height = height};
}

static hipError_t
copy_rows(const struct ha_call *call, struct ha_copy *copy, hipMemcpyKind kind)
{
    struct ha_device *device;
    hipError_t code = copy_begin(call, kind, copy, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (copy->width > copy->dst_pitch || copy->width > copy->src_pitch) {
        return ha_cpu_fail(
            hipErrorInvalidPitchValue,
            "argument 'width' is %zu bytes, more than a pitch (dpitch %zu, "
            "spitch %zu)",
            copy->width, copy->dst_pitch, copy->src_pitch);
    }
    return ha_call_copy(call, device, copy);
}

HA_EXPORT hipError_t
hipMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
            size_t height, hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpy2D", NULL, HA_RUN_SYNC};
    struct ha_copy copy = rows(dst, dpitch, src, spitch, width, height);
    return copy_rows(&call, &copy, kind);
}

HA_EXPORT hipError_t
hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                 size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpy2DAsync", stream, HA_RUN_ASYNC};
    struct ha_copy copy = rows(dst, dpitch, src, spitch, width, height);
    return copy_rows(&call, &copy, kind);
}

/* One side of a hip_Memcpy2D: where its first byte is. */
struct side {
    const char *name;
    hipMemoryType type;
    const void *host;
    const void *device;
    hipArray_t array;
    size_t x_bytes;
    size_t y;
    size_t pitch;
};

static hipError_t
side_address(const struct side *side, size_t width, size_t height, const void **address,
             size_t *pitch, bool *known)
{
    size_t offset;
    const void *base;
    struct ha_array_box box;
    hipError_t code;
    *known = side->type == hipMemoryTypeDevice;
    switch ((int)side->type) {
    case hipMemoryTypeHost:
    case hipMemoryTypeUnregistered:
        base = side->host;
        break;
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
        base = side->device;
        break;
    case hipMemoryTypeArray:
        code = ha_array_locate(side->name, side->array,
                               (hipPos){side->x_bytes, side->y, 0},
                               (hipExtent){width, height, 1}, &box);
        if (code == hipSuccess) {
            *address = box.address;
            *pitch = box.pitch;
        }
        return code;
    default:
        return ha_cpu_fail(hipErrorInvalidValue, "%s: %d is not a memory type",
                           side->name, (int)side->type);
    }
    *pitch = side->pitch != 0 ? side->pitch : side->x_bytes + width;
    if (base == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue, "%s: the address is NULL", side->name);
    }
    if (width > *pitch || side->x_bytes > *pitch - width) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "%s: %zu bytes from byte %zu on are more than the pitch of %zu", side->name,
            width, side->x_bytes, *pitch);
    }
    if (__builtin_mul_overflow(side->y, *pitch, &offset) ||
        __builtin_add_overflow(offset, side->x_bytes, &offset) ||
        (uintptr_t)base > UINTPTR_MAX - offset) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%s: row %zu is past the end of the address space",
                           side->name, side->y);
    }
    *address = (const char *)base + offset;
    return hipSuccess;
}

static hipError_t
copy_described(const struct ha_call *call, const hip_Memcpy2D *what)
{
    struct ha_device *device;
    struct ha_copy copy = {.described = true};
    const void *dst = NULL;
    hipError_t code = ha_enter_out(call->function, "pCopy", what, &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct side from = {"pCopy->src",    what->srcMemoryType, what->srcHost,
                              what->srcDevice, what->srcArray,      what->srcXInBytes,
                              what->srcY,      what->srcPitch};
    const struct side to = {"pCopy->dst",    what->dstMemoryType, what->dstHost,
                            what->dstDevice, what->dstArray,      what->dstXInBytes,
                            what->dstY,      what->dstPitch};
    if (what->WidthInBytes == 0 || what->Height == 0) {
        return hipSuccess;
    }
    copy.width = what->WidthInBytes;
    copy.height = what->Height;
    code = side_address(&from, copy.width, copy.height, &copy.src, &copy.src_pitch,
                        &copy.src_known);
    if (code == hipSuccess) {
        code = side_address(&to, copy.width, copy.height, &dst, &copy.dst_pitch,
                            &copy.dst_known);
    }
    if (code != hipSuccess) {
        return code;
    }
    copy.dst = (void *)(uintptr_t)dst;
    return ha_call_copy(call, device, &copy);
}

HA_EXPORT hipError_t
hipMemcpyParam2D(const hip_Memcpy2D *pCopy)
{
    const struct ha_call call = {"hipMemcpyParam2D", NULL, HA_RUN_SYNC};
    return copy_described(&call, pCopy);
}

HA_EXPORT hipError_t
hipMemcpyParam2DAsync(const hip_Memcpy2D *pCopy, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyParam2DAsync", stream, HA_RUN_ASYNC};
    return copy_described(&call, pCopy);
}

HA_EXPORT hipError_t
hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *pCopy)
{
    const struct ha_call call = {"hipDrvMemcpy2DUnaligned", NULL, HA_RUN_SYNC};
    return copy_described(&call, pCopy);
}

/* ---- fills ---- */

struct element {
    uint32_t value;
    uint32_t bytes; /* 1, 2 or 4 */
};

static hipError_t
fill_elements(const struct ha_call *call, void *dst, struct element element,
              size_t count)
{
    struct ha_device *device;
    size_t bytes;
    hipError_t code = ha_enter(call->function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (__builtin_mul_overflow(count, (size_t)element.bytes, &bytes)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'count': %zu elements of %u bytes are more than there can be",
            count, element.bytes);
    }
    const struct ha_fill fill = {.dst = dst,
                                 .width = bytes,
                                 .height = 1,
                                 .value = element.value,
                                 .element_bytes = element.bytes};
    return ha_call_fill(call, device, &fill);
}

HA_EXPORT hipError_t
hipMemset(void *dst, int value, size_t sizeBytes)
{
    const struct ha_call call = {"hipMemset", NULL, HA_RUN_SYNC};
    return fill_elements(&call, dst, (struct element){(uint32_t)value, 1}, sizeBytes);
}

HA_EXPORT hipError_t
hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetAsync", stream, HA_RUN_ASYNC};
    return fill_elements(&call, dst, (struct element){(uint32_t)value, 1}, sizeBytes);
}

HA_EXPORT hipError_t
hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count)
{
    const struct ha_call call = {"hipMemsetD8", NULL, HA_RUN_SYNC};
    return fill_elements(&call, dest, (struct element){value, 1}, count);
}

HA_EXPORT hipError_t
hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
                 hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD8Async", stream, HA_RUN_ASYNC};
    return fill_elements(&call, dest, (struct element){value, 1}, count);
}

HA_EXPORT hipError_t
hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count)
{
    const struct ha_call call = {"hipMemsetD16", NULL, HA_RUN_SYNC};
    return fill_elements(&call, dest, (struct element){value, 2}, count);
}

HA_EXPORT hipError_t
hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
                  hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD16Async", stream, HA_RUN_ASYNC};
    return fill_elements(&call, dest, (struct element){value, 2}, count);
}

HA_EXPORT hipError_t
hipMemsetD32(hipDeviceptr_t dest, int value, size_t count)
{
    const struct ha_call call = {"hipMemsetD32", NULL, HA_RUN_SYNC};
    return fill_elements(&call, dest, (struct element){(uint32_t)value, 4}, count);
}

HA_EXPORT hipError_t
hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD32Async", stream, HA_RUN_ASYNC};
    return fill_elements(&call, dst, (struct element){(uint32_t)value, 4}, count);
}

static hipError_t
fill_rows(const struct ha_call *call, void *dst, size_t pitch, struct element element,
          size_t width, size_t height)
{
    struct ha_device *device;
    size_t bytes;
    hipError_t code = ha_enter(call->function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (__builtin_mul_overflow(width, (size_t)element.bytes, &bytes) || bytes > pitch) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'width': %zu elements of %u bytes are more than the "
            "pitch of %zu bytes",
            width, element.bytes, pitch);
    }
    const struct ha_fill fill = {.dst = dst,
                                 .pitch = pitch,
                                 .width = bytes,
                                 .height = height,
                                 .value = element.value,
                                 .element_bytes = element.bytes};
    return ha_call_fill(call, device, &fill);
}

HA_EXPORT hipError_t
hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    const struct ha_call call = {"hipMemset2D", NULL, HA_RUN_SYNC};
    return fill_rows(&call, dst, pitch, (struct element){(uint32_t)value, 1}, width,
                     height);
}

HA_EXPORT hipError_t
hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                 hipStream_t stream)
{
    const struct ha_call call = {"hipMemset2DAsync", stream, HA_RUN_ASYNC};
    return fill_rows(&call, dst, pitch, (struct element){(uint32_t)value, 1}, width,
                     height);
}

HA_EXPORT hipError_t
hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width,
              size_t height)
{
    const struct ha_call call = {"hipMemsetD2D8", NULL, HA_RUN_SYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 1}, width, height);
}

HA_EXPORT hipError_t
hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value,
                   size_t width, size_t height, hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD2D8Async", stream, HA_RUN_ASYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 1}, width, height);
}

HA_EXPORT hipError_t
hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width,
               size_t height)
{
    const struct ha_call call = {"hipMemsetD2D16", NULL, HA_RUN_SYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 2}, width, height);
}

HA_EXPORT hipError_t
hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value,
                    size_t width, size_t height, hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD2D16Async", stream, HA_RUN_ASYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 2}, width, height);
}

HA_EXPORT hipError_t
hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width,
               size_t height)
{
    const struct ha_call call = {"hipMemsetD2D32", NULL, HA_RUN_SYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 4}, width, height);
}

HA_EXPORT hipError_t
hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value,
                    size_t width, size_t height, hipStream_t stream)
{
    const struct ha_call call = {"hipMemsetD2D32Async", stream, HA_RUN_ASYNC};
    return fill_rows(&call, dst, dstPitch, (struct element){value, 4}, width, height);
}
