/* SPDX-License-Identifier: MIT */
/* HIP entry points: variables of the program's device code, and kernels by the address
 * that they have in the program. */
#include <stdbool.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/call.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/module/symbol.h"
#include "cpu/queue/stream.h"
#include "cpu/submit/copy.h"

HA_EXPORT hipError_t
hipGetSymbolAddress(void **devPtr, const void *symbol)
{
    struct ha_device *device;
    size_t bytes;
    hipError_t code = ha_enter_out("hipGetSymbolAddress", "devPtr", devPtr, &device);
    return code == hipSuccess ? ha_symbol_resolve(symbol, devPtr, &bytes) : code;
}

HA_EXPORT hipError_t
hipGetSymbolSize(size_t *size, const void *symbol)
{
    struct ha_device *device;
    void *address;
    hipError_t code = ha_enter_out("hipGetSymbolSize", "size", size, &device);
    return code == hipSuccess ? ha_symbol_resolve(symbol, &address, size) : code;
}

/* ---- copies ---- */

static hipError_t
check_kind(hipMemcpyKind kind, bool is_right)
{
    hipError_t code = ha_copy_check_kind(kind);
    if (code != hipSuccess) {
        return code;
    }
    if (!is_right && kind != hipMemcpyDefault) {
        return ha_cpu_fail(hipErrorInvalidMemcpyDirection,
                           "argument 'kind' is %d, but one side is a variable of the "
                           "device",
                           (int)kind);
    }
    return hipSuccess;
}

static hipError_t
copy_to(const struct ha_call *call, const void *symbol, const void *src, size_t bytes,
        size_t offset, hipMemcpyKind kind)
{
    struct ha_device *device;
    struct ha_copy copy = {.src = src, .width = bytes, .height = 1};
    hipError_t code = ha_enter(call->function, &device);
    if (code == hipSuccess) {
        code = check_kind(kind, ha_copy_is_to_device(kind));
    }
    if (code == hipSuccess && src == NULL && bytes > 0) {
        code = ha_cpu_fail_null("src");
    }
    if (code == hipSuccess) {
        code = ha_symbol_range(symbol, bytes, offset, &copy.dst);
    }
    return code == hipSuccess ? ha_call_copy(call, device, &copy) : code;
}

static hipError_t
copy_from(const struct ha_call *call, void *dst, const void *symbol, size_t bytes,
          size_t offset, hipMemcpyKind kind)
{
    struct ha_device *device;
    struct ha_copy copy = {.dst = dst, .width = bytes, .height = 1};
    void *src = NULL;
    hipError_t code = ha_enter(call->function, &device);
    if (code == hipSuccess) {
        code = check_kind(kind, ha_copy_is_from_device(kind));
    }
    if (code == hipSuccess && dst == NULL && bytes > 0) {
        code = ha_cpu_fail_null("dst");
    }
    if (code == hipSuccess) {
        code = ha_symbol_range(symbol, bytes, offset, &src);
    }
    copy.src = src;
    return code == hipSuccess ? ha_call_copy(call, device, &copy) : code;
}

HA_EXPORT hipError_t
hipMemcpyToSymbol(const void *symbol, const void *src, size_t sizeBytes, size_t offset,
                  hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyToSymbol", NULL, HA_RUN_SYNC};
    return copy_to(&call, symbol, src, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyToSymbol_spt(const void *symbol, const void *src, size_t sizeBytes,
                      size_t offset, hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyToSymbol_spt", HA_STREAM_PER_THREAD,
                                 HA_RUN_SYNC};
    return copy_to(&call, symbol, src, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyToSymbolAsync(const void *symbol, const void *src, size_t sizeBytes,
                       size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyToSymbolAsync", stream, HA_RUN_ASYNC};
    return copy_to(&call, symbol, src, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyToSymbolAsync_spt(const void *symbol, const void *src, size_t sizeBytes,
                           size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyToSymbolAsync_spt",
                                 stream == NULL ? HA_STREAM_PER_THREAD : stream,
                                 HA_RUN_ASYNC};
    return copy_to(&call, symbol, src, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyFromSymbol(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                    hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyFromSymbol", NULL, HA_RUN_SYNC};
    return copy_from(&call, dst, symbol, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyFromSymbol_spt(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                        hipMemcpyKind kind)
{
    const struct ha_call call = {"hipMemcpyFromSymbol_spt", HA_STREAM_PER_THREAD,
                                 HA_RUN_SYNC};
    return copy_from(&call, dst, symbol, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                         hipMemcpyKind kind, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyFromSymbolAsync", stream, HA_RUN_ASYNC};
    return copy_from(&call, dst, symbol, sizeBytes, offset, kind);
}

HA_EXPORT hipError_t
hipMemcpyFromSymbolAsync_spt(void *dst, const void *symbol, size_t sizeBytes,
                             size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    const struct ha_call call = {"hipMemcpyFromSymbolAsync_spt",
                                 stream == NULL ? HA_STREAM_PER_THREAD : stream,
                                 HA_RUN_ASYNC};
    return copy_from(&call, dst, symbol, sizeBytes, offset, kind);
}

/* ---- kernels ---- */

HA_EXPORT hipError_t
hipGetFuncBySymbol(hipFunction_t *functionPtr, const void *symbolPtr)
{
    struct ha_device *device;
    struct ha_function *function;
    hipError_t code = ha_enter("hipGetFuncBySymbol", &device);
    if (code == hipSuccess) {
        code = ha_need_both("functionPtr", functionPtr, "symbolPtr", symbolPtr);
    }
    if (code != hipSuccess) {
        return code;
    }
    code = ha_function_resolve(symbolPtr, device, hipErrorInvalidDeviceFunction,
                               &function);
    if (code == hipSuccess) {
        *functionPtr = (hipFunction_t)(uintptr_t)function->handle;
        ha_function_leave(function);
    }
    return code;
}

HA_EXPORT const char *
hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream)
{
    struct ha_device *device;
    struct ha_function *function;
    if (ha_enter("hipKernelNameRefByPtr", &device) != hipSuccess) {
        return NULL;
    }
    if (hostFunction == NULL) {
        ha_cpu_fail_null("hostFunction");
        return NULL;
    }
    if (ha_stream_device(stream, &device) != hipSuccess ||
        ha_function_resolve(hostFunction, device, hipErrorInvalidDeviceFunction,
                            &function) != hipSuccess) {
        return NULL;
    }
    /* Lives as long as the module, as the caller knows. */
    const char *name = function->kernel->name;
    ha_function_leave(function);
    return name;
}
