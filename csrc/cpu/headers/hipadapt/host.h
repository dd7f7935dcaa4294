/* SPDX-License-Identifier: MIT */
/* HIP for host code: the API, and what C++ adds to it: typed pointers where the API wants
 * void pointers, variables and kernels themselves where it wants their addresses, and
 * launches as calls. */
#pragma once
#pragma GCC system_header

#include "hipadapt/api.h"
#include "hipadapt/extent.h"

#define CUDA_SUCCESS hipSuccess
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(name) name

#ifdef __cplusplus

/* ---- memory ---- */

/* As in HIP, a program can do without these: then the names are of one function. */
#ifndef __HIP_DISABLE_CPP_FUNCTIONS__
template <class _Tp> static inline hipError_t hipMalloc(_Tp **ptr, size_t size) {
    return hipMalloc((void **)ptr, size);
}
template <class _Tp>
static inline hipError_t hipMallocPitch(_Tp **ptr, size_t *pitch, size_t width,
                                        size_t height) {
    return hipMallocPitch((void **)ptr, pitch, width, height);
}
template <class _Tp>
static inline hipError_t hipMallocManaged(_Tp **ptr, size_t size,
                                          unsigned flags = hipMemAttachGlobal) {
    return hipMallocManaged((void **)ptr, size, flags);
}
template <class _Tp>
static inline hipError_t hipHostMalloc(_Tp **ptr, size_t size,
                                       unsigned flags = hipHostMallocDefault) {
    return hipHostMalloc((void **)ptr, size, flags);
}
template <class _Tp>
static inline hipError_t hipHostAlloc(_Tp **ptr, size_t size,
                                      unsigned flags = hipHostAllocDefault) {
    return hipHostAlloc((void **)ptr, size, flags);
}
#endif
template <class _Tp>
static inline hipError_t hipMallocAsync(_Tp **ptr, size_t size, hipStream_t stream) {
    return hipMallocAsync((void **)ptr, size, stream);
}
static inline hipError_t hipMallocAsync(void **ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
    return hipMallocFromPoolAsync(ptr, size, pool, stream);
}
template <class _Tp>
static inline hipError_t hipMallocAsync(_Tp **ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)ptr, size, pool, stream);
}
template <class _Tp>
static inline hipError_t hipMallocFromPoolAsync(_Tp **ptr, size_t size, hipMemPool_t pool,
                                                hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)ptr, size, pool, stream);
}
template <class _Tp>
static inline hipError_t hipHostGetDevicePointer(_Tp **device, void *host,
                                                 unsigned flags) {
    return hipHostGetDevicePointer((void **)device, host, flags);
}
template <class _Tp>
static inline hipError_t hipExtMallocWithFlags(_Tp **ptr, size_t size, unsigned flags) {
    return hipExtMallocWithFlags((void **)ptr, size, flags);
}

/* ---- variables of the device ---- */

template <class _Tp>
static inline hipError_t hipGetSymbolAddress(void **address, const _Tp &symbol) {
    return hipGetSymbolAddress(address, (const void *)&symbol);
}
template <class _Tp>
static inline hipError_t hipGetSymbolSize(size_t *size, const _Tp &symbol) {
    return hipGetSymbolSize(size, (const void *)&symbol);
}
template <class _Tp>
static inline hipError_t hipMemcpyToSymbol(const _Tp &symbol, const void *src,
                                           size_t size, size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol((const void *)&symbol, src, size, offset,
                             kind);
}
template <class _Tp>
static inline hipError_t hipMemcpyToSymbolAsync(const _Tp &symbol, const void *src,
                                                size_t size, size_t offset,
                                                hipMemcpyKind kind,
                                                hipStream_t stream = 0) {
    return hipMemcpyToSymbolAsync((const void *)&symbol, src, size,
                                  offset, kind, stream);
}
template <class _Tp>
static inline hipError_t
hipMemcpyFromSymbol(void *dst, const _Tp &symbol, size_t size, size_t offset = 0,
                    hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(dst, (const void *)&symbol, size, offset,
                               kind);
}
template <class _Tp>
static inline hipError_t
hipMemcpyFromSymbolAsync(void *dst, const _Tp &symbol, size_t size, size_t offset,
                         hipMemcpyKind kind, hipStream_t stream = 0) {
    return hipMemcpyFromSymbolAsync(dst, (const void *)&symbol, size,
                                    offset, kind, stream);
}

/* ---- kernels ---- */

template <class _Rp, class... _Ap>
static inline hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes,
                                              _Rp (*kernel)(_Ap...)) {
    return hipFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <class _Rp, class... _Ap>
static inline hipError_t hipFuncSetAttribute(_Rp (*kernel)(_Ap...),
                                             hipFuncAttribute attribute, int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <class _Rp, class... _Ap>
static inline hipError_t hipFuncSetCacheConfig(_Rp (*kernel)(_Ap...),
                                               hipFuncCache_t config) {
    return hipFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}
template <class _Rp, class... _Ap>
static inline hipError_t hipFuncSetSharedMemConfig(_Rp (*kernel)(_Ap...),
                                                   hipSharedMemConfig config) {
    return hipFuncSetSharedMemConfig(reinterpret_cast<const void *>(kernel), config);
}
template <class _Rp, class... _Ap>
static inline hipError_t hipGetFuncBySymbol(hipFunction_t *function,
                                            _Rp (*kernel)(_Ap...)) {
    return hipGetFuncBySymbol(function, reinterpret_cast<const void *>(kernel));
}

template <class _Tp>
static inline hipError_t
hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, _Tp kernel, int block_size,
                                             size_t shared_bytes) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void *>(kernel), block_size, shared_bytes);
}
template <class _Tp>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, _Tp kernel, int block_size, size_t shared_bytes,
    unsigned flags = hipOccupancyDefault) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, reinterpret_cast<const void *>(kernel), block_size, shared_bytes, flags);
}
template <class _Tp>
static inline hipError_t
hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, _Tp kernel,
                                  size_t shared_bytes = 0, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size,
                                             reinterpret_cast<const void *>(kernel),
                                             shared_bytes, limit);
}
template <class _Tp>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, _Tp kernel,
                                           size_t shared_bytes = 0, int limit = 0,
                                           unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size,
                                             reinterpret_cast<const void *>(kernel),
                                             shared_bytes, limit);
}

/* The block size, of whole warps, with which most threads are busy where the dynamic
 * shared memory of a block depends on its size. */
template <class _Fp, class _Tp>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *grid_size, int *block_size, _Tp kernel, _Fp shared_bytes_of, int limit = 0,
    unsigned flags = hipOccupancyDefault) {
    const void *address = reinterpret_cast<const void *>(kernel);
    int device, processors, warp;
    hipFuncAttributes attributes;
    if (grid_size == nullptr || block_size == nullptr || address == nullptr)
        return hipErrorInvalidValue;
    hipError_t code = hipGetDevice(&device);
    if (code == hipSuccess)
        code = hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount,
                                     device);
    if (code == hipSuccess)
        code = hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, device);
    if (code == hipSuccess)
        code = hipFuncGetAttributes(&attributes, address);
    if (code != hipSuccess)
        return code;
    int most = attributes.maxThreadsPerBlock;
    if (limit > 0 && limit < most)
        most = limit;
    int best_threads = 0, best_blocks = 0, best_size = 0;
    /* A limit that is no whole number of warps is tried as it is. */
    for (int size = most; size > 0; size = (size - 1) / warp * warp) {
        int blocks;
        code = hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, address, size, static_cast<size_t>(shared_bytes_of(size)), flags);
        if (code != hipSuccess)
            return code;
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            best_blocks = blocks;
            best_size = size;
        }
    }
    *grid_size = best_blocks * processors;
    *block_size = best_size;
    return hipSuccess;
}
template <class _Fp, class _Tp>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, _Tp kernel,
                                              _Fp shared_bytes_of, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        grid_size, block_size, kernel, shared_bytes_of, limit);
}

/* ---- launches ---- */

template <class _Tp>
static inline hipError_t hipLaunchCooperativeKernel(_Tp kernel, dim3 grid, dim3 block,
                                                    void **arguments,
                                                    unsigned shared_bytes,
                                                    hipStream_t stream) {
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                      arguments, shared_bytes, stream);
}

template <class _Tp>
static inline hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launches,
                                                               unsigned count,
                                                               unsigned flags = 0) {
    return hipLaunchCooperativeKernelMultiDevice(launches, (int)count, flags);
}
template <class _Tp>
static inline hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launches,
                                                            unsigned count,
                                                            unsigned flags = 0) {
    return hipExtLaunchMultiKernelMultiDevice(launches, (int)count, flags);
}

/* The arguments are converted to the types of the kernel's parameters; `launch` gets
 * their addresses. */
template <class... _Pp> struct __ha_arguments {
    template <class _Fp, class... _Ap>
    static hipError_t with(const _Fp &launch, _Ap &&...arguments) {
        static_assert(sizeof...(_Pp) == sizeof...(_Ap),
                      "as many arguments as parameters");
        return run(launch, static_cast<_Pp>(static_cast<_Ap &&>(arguments))...);
    }
    template <class _Fp> static hipError_t run(const _Fp &launch, _Pp... values) {
        void *addresses[] = {const_cast<void *>(
                                 reinterpret_cast<const volatile void *>(&values))...,
                             nullptr};
        return launch(addresses);
    }
};
template <class... _Pp> __ha_arguments<_Pp...> __ha_arguments_of(void (*)(_Pp...));

template <class... _Pp, class... _Ap>
static inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t *config,
                                           void (*kernel)(_Pp...), _Ap &&...arguments) {
    return __ha_arguments<_Pp...>::with(
        [=](void **addresses) {
            return hipLaunchKernelExC(config, reinterpret_cast<const void *>(kernel),
                                      addresses);
        },
        static_cast<_Ap &&>(arguments)...);
}

#ifdef __HIP__
typedef int hipLaunchParm;

#ifdef HIP_TEMPLATE_KERNEL_LAUNCH
/* A template's name alone stands for the kernel with the types of the arguments. */
template <class... _Ap, class _Fp = void (*)(_Ap...)>
static inline void hipLaunchKernelGGL(_Fp kernel, const dim3 &grid, const dim3 &block,
                                      unsigned shared_bytes, hipStream_t stream,
                                      _Ap... arguments) {
    (void)decltype(__ha_arguments_of(kernel))::with(
        [&](void **addresses) {
            return hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                   addresses, shared_bytes, stream);
        },
        static_cast<_Ap &&>(arguments)...);
}
#else
/* In two steps, so that one macro may stand for several of the arguments. */
#define __HA_LAUNCH__(kernel, grid, block, shared, stream, ...)                         \
    do {                                                                                \
        kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__);                   \
    } while (0)
#define hipLaunchKernelGGL(kernel, ...) __HA_LAUNCH__((kernel), __VA_ARGS__)
#endif

static inline int min(int a, int b) { return b < a ? b : a; }
static inline int max(int a, int b) { return a < b ? b : a; }
#endif

#endif
