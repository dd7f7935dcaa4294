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
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/array.h"
#include "cpu/work/copy.h"

/* A side that `kind` calls the device's has to be memory that HIP knows: what is not
 * would be taken for the host's, and may have been freed. */

/* ---- copies of one dimension ---- */

static hipError_t
copy_kind(const char *function, void *dst, const void *src, size_t bytes,
          hipMemcpyKind kind, hipStream_t stream, bool sync)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_copy_check_kind(kind);
    }
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_copy copy = {.dst = dst,
                                 .src = src,
                                 .width = bytes,
                                 .height = 1,
                                 .dst_known = ha_copy_is_to_device(kind),
                                 .src_known = ha_copy_is_from_device(kind)};
    return ha_copy(stream, device, &copy, sync);
}

HA_EXPORT hipError_t
hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    return copy_kind("hipMemcpy", dst, src, sizeBytes, kind, NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                    hipStream_t stream)
{
    return copy_kind("hipMemcpyWithStream", dst, src, sizeBytes, kind, stream, true);
}

HA_EXPORT hipError_t
hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
               hipStream_t stream)
{
    return copy_kind("hipMemcpyAsync", dst, src, sizeBytes, kind, stream, false);
}

/* The device side of these has to be memory that HIP knows. */
static hipError_t
copy_sides(const char *function, void *dst, bool dst_known, const void *src,
           bool src_known, size_t bytes, hipStream_t stream, bool sync)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    const struct ha_copy copy = {.dst = dst,
                                 .src = src,
                                 .width = bytes,
                                 .height = 1,
                                 .dst_known = dst_known,
                                 .src_known = src_known};
    return ha_copy(stream, device, &copy, sync);
}

HA_EXPORT hipError_t
hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t sizeBytes)
{
    return copy_sides("hipMemcpyHtoD", dst, true, src, false, sizeBytes, NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes)
{
    return copy_sides("hipMemcpyDtoH", dst, false, src, true, sizeBytes, NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes)
{
    return copy_sides("hipMemcpyDtoD", dst, true, src, true, sizeBytes, NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t sizeBytes,
                   hipStream_t stream)
{
    return copy_sides("hipMemcpyHtoDAsync", dst, true, src, false, sizeBytes, stream,
                      false);
}

HA_EXPORT hipError_t
hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream)
{
    return copy_sides("hipMemcpyDtoHAsync", dst, false, src, true, sizeBytes, stream,
                      false);
}

HA_EXPORT hipError_t
hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes,
                   hipStream_t stream)
{
    return copy_sides("hipMemcpyDtoDAsync", dst, true, src, true, sizeBytes, stream,
                      false);
}

static hipError_t
copy_peer(const char *function, void *dst, int dst_device, const void *src,
          int src_device, size_t bytes, hipStream_t stream, bool sync)
{
    hipError_t code = ha_enter_query(function);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_device_get(dst_device) == NULL || ha_device_get(src_device) == NULL) {
        return ha_cpu_fail(hipErrorInvalidDevice,
                           "devices %d and %d: there are only %d devices", dst_device,
                           src_device, ha_config()->device_count);
    }
    return copy_sides(function, dst, true, src, true, bytes, stream, sync);
}

HA_EXPORT hipError_t
hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId,
              size_t sizeBytes)
{
    return copy_peer("hipMemcpyPeer", dst, dstDeviceId, src, srcDeviceId, sizeBytes,
                     NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice,
                   size_t sizeBytes, hipStream_t stream)
{
    return copy_peer("hipMemcpyPeerAsync", dst, dstDeviceId, src, srcDevice, sizeBytes,
                     stream, false);
}

/* ---- copies of two dimensions ---- */

static hipError_t
copy_rows(const char *function, void *dst, size_t dpitch, const void *src,
          size_t spitch, size_t width, size_t height, hipMemcpyKind kind,
          hipStream_t stream, bool sync)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_copy_check_kind(kind);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (width > dpitch || width > spitch) {
        return ha_cpu_fail(
            hipErrorInvalidPitchValue,
            "argument 'width' is %zu bytes, more than a pitch (dpitch %zu, "
            "spitch %zu)",
            width, dpitch, spitch);
    }
    const struct ha_copy copy = {.dst = dst,
                                 .src = src,
                                 .dst_pitch = dpitch,
                                 .src_pitch = spitch,
                                 .width = width,
                                 .height = height,
                                 .dst_known = ha_copy_is_to_device(kind),
                                 .src_known = ha_copy_is_from_device(kind)};
    return ha_copy(stream, device, &copy, sync);
}

HA_EXPORT hipError_t
hipMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
            size_t height, hipMemcpyKind kind)
{
    return copy_rows("hipMemcpy2D", dst, dpitch, src, spitch, width, height, kind, NULL,
                     true);
}

HA_EXPORT hipError_t
hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                 size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    return copy_rows("hipMemcpy2DAsync", dst, dpitch, src, spitch, width, height, kind,
                     stream, false);
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
    struct ha_array_box place;
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
                               (hipExtent){width, height, 1}, &place);
        if (code == hipSuccess) {
            *address = place.address;
            *pitch = place.pitch;
        }
        return code;
    default:
        return ha_cpu_fail(hipErrorInvalidValue, "%s: %d is no memory type", side->name,
                           (int)side->type);
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
copy_described(const char *function, const hip_Memcpy2D *what, hipStream_t stream,
               bool sync)
{
    struct ha_device *device;
    struct ha_copy copy = {.described = true};
    const void *dst = NULL;
    hipError_t code = ha_enter_out(function, "pCopy", what, &device);
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
    return ha_copy(stream, device, &copy, sync);
}

HA_EXPORT hipError_t
hipMemcpyParam2D(const hip_Memcpy2D *pCopy)
{
    return copy_described("hipMemcpyParam2D", pCopy, NULL, true);
}

HA_EXPORT hipError_t
hipMemcpyParam2DAsync(const hip_Memcpy2D *pCopy, hipStream_t stream)
{
    return copy_described("hipMemcpyParam2DAsync", pCopy, stream, false);
}

HA_EXPORT hipError_t
hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *pCopy)
{
    return copy_described("hipDrvMemcpy2DUnaligned", pCopy, NULL, true);
}

/* ---- fills ---- */

static hipError_t
fill_elements(const char *function, void *dst, uint32_t value, uint32_t element_bytes,
              size_t count, hipStream_t stream, bool sync)
{
    struct ha_device *device;
    size_t bytes;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (__builtin_mul_overflow(count, (size_t)element_bytes, &bytes)) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'count': %zu elements of %u bytes are more than there can be",
            count, element_bytes);
    }
    const struct ha_fill fill = {.dst = dst,
                                 .width = bytes,
                                 .height = 1,
                                 .value = value,
                                 .element_bytes = element_bytes};
    return ha_fill(stream, device, &fill, sync);
}

HA_EXPORT hipError_t
hipMemset(void *dst, int value, size_t sizeBytes)
{
    return fill_elements("hipMemset", dst, (uint32_t)value, 1, sizeBytes, NULL, true);
}

HA_EXPORT hipError_t
hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    return fill_elements("hipMemsetAsync", dst, (uint32_t)value, 1, sizeBytes, stream,
                         false);
}

HA_EXPORT hipError_t
hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count)
{
    return fill_elements("hipMemsetD8", dest, value, 1, count, NULL, true);
}

HA_EXPORT hipError_t
hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
                 hipStream_t stream)
{
    return fill_elements("hipMemsetD8Async", dest, value, 1, count, stream, false);
}

HA_EXPORT hipError_t
hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count)
{
    return fill_elements("hipMemsetD16", dest, value, 2, count, NULL, true);
}

HA_EXPORT hipError_t
hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
                  hipStream_t stream)
{
    return fill_elements("hipMemsetD16Async", dest, value, 2, count, stream, false);
}

HA_EXPORT hipError_t
hipMemsetD32(hipDeviceptr_t dest, int value, size_t count)
{
    return fill_elements("hipMemsetD32", dest, (uint32_t)value, 4, count, NULL, true);
}

HA_EXPORT hipError_t
hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream)
{
    return fill_elements("hipMemsetD32Async", dst, (uint32_t)value, 4, count, stream,
                         false);
}

static hipError_t
fill_rows(const char *function, void *dst, size_t pitch, uint32_t value,
          uint32_t element_bytes, size_t width, size_t height, hipStream_t stream,
          bool sync)
{
    struct ha_device *device;
    size_t bytes;
    hipError_t code = ha_enter(function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (__builtin_mul_overflow(width, (size_t)element_bytes, &bytes) || bytes > pitch) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'width': %zu elements of %u bytes are more than the "
            "pitch of %zu bytes",
            width, element_bytes, pitch);
    }
    const struct ha_fill fill = {.dst = dst,
                                 .pitch = pitch,
                                 .width = bytes,
                                 .height = height,
                                 .value = value,
                                 .element_bytes = element_bytes};
    return ha_fill(stream, device, &fill, sync);
}

HA_EXPORT hipError_t
hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return fill_rows("hipMemset2D", dst, pitch, (uint32_t)value, 1, width, height, NULL,
                     true);
}

HA_EXPORT hipError_t
hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                 hipStream_t stream)
{
    return fill_rows("hipMemset2DAsync", dst, pitch, (uint32_t)value, 1, width, height,
                     stream, false);
}

HA_EXPORT hipError_t
hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width,
              size_t height)
{
    return fill_rows("hipMemsetD2D8", dst, dstPitch, value, 1, width, height, NULL,
                     true);
}

HA_EXPORT hipError_t
hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value,
                   size_t width, size_t height, hipStream_t stream)
{
    return fill_rows("hipMemsetD2D8Async", dst, dstPitch, value, 1, width, height,
                     stream, false);
}

HA_EXPORT hipError_t
hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width,
               size_t height)
{
    return fill_rows("hipMemsetD2D16", dst, dstPitch, value, 2, width, height, NULL,
                     true);
}

HA_EXPORT hipError_t
hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value,
                    size_t width, size_t height, hipStream_t stream)
{
    return fill_rows("hipMemsetD2D16Async", dst, dstPitch, value, 2, width, height,
                     stream, false);
}

HA_EXPORT hipError_t
hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width,
               size_t height)
{
    return fill_rows("hipMemsetD2D32", dst, dstPitch, value, 4, width, height, NULL,
                     true);
}

HA_EXPORT hipError_t
hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value,
                    size_t width, size_t height, hipStream_t stream)
{
    return fill_rows("hipMemsetD2D32Async", dst, dstPitch, value, 4, width, height,
                     stream, false);
}
