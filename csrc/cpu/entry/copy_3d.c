/* SPDX-License-Identifier: MIT */
/* HIP entry points: memory, copies and fills of three dimensions. */
#include "abi/hip.h"
#include "core/clock.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/call.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/copy.h"
#include "cpu/work/copy_shape.h"

#define PITCH_ALIGN ((size_t)256)

HA_EXPORT hipError_t
hipMalloc3D(hipPitchedPtr *pitchedDevPtr, hipExtent extent)
{
    struct ha_device *device;
    size_t bytes;
    void *address = NULL;
    hipError_t code = ha_enter_unsafe("hipMalloc3D", &device);
    if (code == hipSuccess) {
        code = ha_need("pitchedDevPtr", pitchedDevPtr);
    }
    if (code != hipSuccess) {
        return code;
    }
    size_t pitch = (extent.width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (pitch < extent.width || __builtin_mul_overflow(pitch, extent.height, &bytes) ||
        __builtin_mul_overflow(bytes, extent.depth, &bytes)) {
        return ha_cpu_fail(
            hipErrorOutOfMemory,
            "%zu slices of %zu rows of %zu bytes are more than there can be",
            extent.depth, extent.height, extent.width);
    }
    uint64_t begin = ha_activity_wants(HA_WANT_MEMORY) ? ha_clock_ns() : 0;
    if (bytes != 0) {
        ha_checked_call();
        code = ha_memory_alloc(device, HA_MEMORY_DEVICE, 0, bytes, &address);
    }
    if (code == hipSuccess && address != NULL && begin != 0) {
        ha_activity_memory(HA_ACTIVITY_ALLOCATE, device->id, address, bytes, begin);
    }
    if (code == hipSuccess) {
        *pitchedDevPtr = (hipPitchedPtr){address, pitch, extent.width, extent.height};
    }
    return code;
}

/* ---- copies ---- */

static hipError_t
copy_3d(const struct ha_call *call, const hipMemcpy3DParms *params)
{
    struct ha_device *device;
    struct ha_copy copy;
    hipError_t code = ha_enter_out(call->function, "p", params, &device);
    if (code == hipSuccess) {
        code = ha_copy_shape_3d(params, &copy);
    }
    return code == hipSuccess ? ha_call_copy(call, device, &copy) : code;
}

HA_EXPORT hipError_t
hipMemcpy3D(const hipMemcpy3DParms *p)
{
    const struct ha_call call = {"hipMemcpy3D", NULL, HA_RUN_SYNC};
    return copy_3d(&call, p);
}

HA_EXPORT hipError_t
hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpy3DAsync", stream, HA_RUN_ASYNC};
    return copy_3d(&call, p);
}

static hipError_t
copy_3d_peer(const struct ha_call *call, const hipMemcpy3DPeerParms *params)
{
    hipError_t code = ha_enter_query_out(call->function, "p", params);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_device_get(params->srcDevice) == NULL ||
        ha_device_get(params->dstDevice) == NULL) {
        return ha_cpu_fail(
            hipErrorInvalidDevice, "devices %d and %d: there are only %d devices",
            params->srcDevice, params->dstDevice, ha_config()->device_count);
    }
    const hipMemcpy3DParms same = {
        .srcArray = params->srcArray,
        .srcPos = params->srcPos,
        .srcPtr = params->srcPtr,
        .dstArray = params->dstArray,
        .dstPos = params->dstPos,
        .dstPtr = params->dstPtr,
        .extent = params->extent,
        .kind = hipMemcpyDefault,
    };
    return copy_3d(call, &same);
}

HA_EXPORT hipError_t
hipMemcpy3DPeer(hipMemcpy3DPeerParms *p)
{
    const struct ha_call call = {"hipMemcpy3DPeer", NULL, HA_RUN_SYNC};
    return copy_3d_peer(&call, p);
}

HA_EXPORT hipError_t
hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms *p, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpy3DPeerAsync", stream, HA_RUN_ASYNC};
    return copy_3d_peer(&call, p);
}

static hipError_t
copy_driver(const struct ha_call *call, const HIP_MEMCPY3D *params)
{
    struct ha_device *device;
    struct ha_copy copy;
    hipError_t code = ha_enter_out(call->function, "pCopy", params, &device);
    if (code == hipSuccess) {
        code = ha_copy_shape_driver(params, &copy);
    }
    return code == hipSuccess ? ha_call_copy(call, device, &copy) : code;
}

HA_EXPORT hipError_t
hipDrvMemcpy3D(const HIP_MEMCPY3D *pCopy)
{
    const struct ha_call call = {"hipDrvMemcpy3D", NULL, HA_RUN_SYNC};
    return copy_driver(&call, pCopy);
}

HA_EXPORT hipError_t
hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *pCopy, hipStream_t stream)
{
    const struct ha_call call = {"hipDrvMemcpy3DAsync", stream, HA_RUN_ASYNC};
    return copy_driver(&call, pCopy);
}

/* ---- fills ---- */

static hipError_t
fill_3d(const struct ha_call *call, hipPitchedPtr memory, int value, hipExtent extent)
{
    struct ha_device *device;
    size_t slice;
    hipError_t code = ha_enter(call->function, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        return hipSuccess;
    }
    if (extent.width > memory.pitch) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'extent': %zu bytes are more than the pitch of %zu", extent.width,
            memory.pitch);
    }
    if (__builtin_mul_overflow(memory.pitch, memory.ysize, &slice)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'pitchedDevPtr': %zu rows of %zu bytes are more "
                           "than there can be",
                           memory.ysize, memory.pitch);
    }
    const struct ha_fill fill = {.dst = memory.ptr,
                                 .pitch = memory.pitch,
                                 .slice = slice,
                                 .width = extent.width,
                                 .height = extent.height,
                                 .depth = extent.depth,
                                 .value = (uint32_t)value,
                                 .element_bytes = 1};
    return ha_call_fill(call, device, &fill);
}

HA_EXPORT hipError_t
hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    const struct ha_call call = {"hipMemset3D", NULL, HA_RUN_SYNC};
    return fill_3d(&call, pitchedDevPtr, value, extent);
}

HA_EXPORT hipError_t
hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
                 hipStream_t stream)
{
    const struct ha_call call = {"hipMemset3DAsync", stream, HA_RUN_ASYNC};
    return fill_3d(&call, pitchedDevPtr, value, extent);
}
