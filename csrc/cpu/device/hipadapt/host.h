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

template <class T> static inline hipError_t hipMalloc(T **ptr, size_t size) {
    return hipMalloc((void **)ptr, size);
}
template <class T>
static inline hipError_t hipMallocAsync(T **ptr, size_t size, hipStream_t stream) {
    return hipMallocAsync((void **)ptr, size, stream);
}
static inline hipError_t hipMallocAsync(void **ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
    return hipMallocFromPoolAsync(ptr, size, pool, stream);
}
template <class T>
static inline hipError_t hipMallocAsync(T **ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)ptr, size, pool, stream);
}
template <class T>
static inline hipError_t hipMallocFromPoolAsync(T **ptr, size_t size, hipMemPool_t pool,
                                                hipStream_t stream) {
    return hipMallocFromPoolAsync((void **)ptr, size, pool, stream);
}
template <class T>
static inline hipError_t hipMallocPitch(T **ptr, size_t *pitch, size_t width,
                                        size_t height) {
    return hipMallocPitch((void **)ptr, pitch, width, height);
}
template <class T>
static inline hipError_t hipMallocManaged(T **ptr, size_t size,
                                          unsigned flags = hipMemAttachGlobal) {
    return hipMallocManaged((void **)ptr, size, flags);
}
template <class T>
static inline hipError_t hipHostMalloc(T **ptr, size_t size,
                                       unsigned flags = hipHostMallocDefault) {
    return hipHostMalloc((void **)ptr, size, flags);
}
template <class T>
static inline hipError_t hipHostAlloc(T **ptr, size_t size,
                                      unsigned flags = hipHostAllocDefault) {
    return hipHostAlloc((void **)ptr, size, flags);
}
template <class T>
static inline hipError_t hipHostGetDevicePointer(T **device, void *host,
                                                 unsigned flags) {
    return hipHostGetDevicePointer((void **)device, host, flags);
}
template <class T>
static inline hipError_t hipExtMallocWithFlags(T **ptr, size_t size, unsigned flags) {
    return hipExtMallocWithFlags((void **)ptr, size, flags);
}

/* ---- variables of the device ---- */

template <class T>
static inline hipError_t hipGetSymbolAddress(void **address, const T &symbol) {
    return hipGetSymbolAddress(address, (const void *)&symbol);
}
template <class T>
static inline hipError_t hipGetSymbolSize(size_t *size, const T &symbol) {
    return hipGetSymbolSize(size, (const void *)&symbol);
}
template <class T>
static inline hipError_t hipMemcpyToSymbol(const T &symbol, const void *src, size_t size,
                                           size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol((const void *)&symbol, src, size, offset,
                             kind);
}
template <class T>
static inline hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *src,
                                                size_t size, size_t offset,
                                                hipMemcpyKind kind,
                                                hipStream_t stream = 0) {
    return hipMemcpyToSymbolAsync((const void *)&symbol, src, size,
                                  offset, kind, stream);
}
template <class T>
static inline hipError_t
hipMemcpyFromSymbol(void *dst, const T &symbol, size_t size, size_t offset = 0,
                    hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(dst, (const void *)&symbol, size, offset,
                               kind);
}
template <class T>
static inline hipError_t hipMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t size,
                                                  size_t offset, hipMemcpyKind kind,
                                                  hipStream_t stream = 0) {
    return hipMemcpyFromSymbolAsync(dst, (const void *)&symbol, size,
                                    offset, kind, stream);
}

/* ---- kernels ---- */

template <class R, class... A>
static inline hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes,
                                              R (*kernel)(A...)) {
    return hipFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <class R, class... A>
static inline hipError_t hipFuncSetAttribute(R (*kernel)(A...), hipFuncAttribute attribute,
                                             int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <class R, class... A>
static inline hipError_t hipFuncSetCacheConfig(R (*kernel)(A...), hipFuncCache_t config) {
    return hipFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}
template <class R, class... A>
static inline hipError_t hipFuncSetSharedMemConfig(R (*kernel)(A...),
                                                   hipSharedMemConfig config) {
    return hipFuncSetSharedMemConfig(reinterpret_cast<const void *>(kernel), config);
}
template <class R, class... A>
static inline hipError_t hipGetFuncBySymbol(hipFunction_t *function, R (*kernel)(A...)) {
    return hipGetFuncBySymbol(function, reinterpret_cast<const void *>(kernel));
}

template <class T>
static inline hipError_t
hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block_size,
                                             size_t shared_bytes) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void *>(kernel), block_size, shared_bytes);
}
template <class T>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, T kernel, int block_size, size_t shared_bytes,
    unsigned flags = hipOccupancyDefault) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, reinterpret_cast<const void *>(kernel), block_size, shared_bytes, flags);
}
template <class T>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size,
                                                           T kernel,
                                                           size_t shared_bytes = 0,
                                                           int limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size,
                                             reinterpret_cast<const void *>(kernel),
                                             shared_bytes, limit);
}
template <class T>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, T kernel,
                                           size_t shared_bytes = 0, int limit = 0,
                                           unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size,
                                             reinterpret_cast<const void *>(kernel),
                                             shared_bytes, limit);
}

/* The block size, of whole warps, with which most threads are busy where the dynamic
 * shared memory of a block depends on its size. */
template <class F, class T>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *grid_size, int *block_size, T kernel, F shared_bytes_of, int limit = 0,
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
template <class F, class T>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T kernel,
                                              F shared_bytes_of, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        grid_size, block_size, kernel, shared_bytes_of, limit);
}

/* ---- launches ---- */

template <class... A>
static inline hipError_t hipLaunchCooperativeKernel(void (*kernel)(A...), dim3 grid,
                                                    dim3 block, void **arguments,
                                                    unsigned shared_bytes,
                                                    hipStream_t stream) {
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                      arguments, shared_bytes, stream);
}

/* The arguments are converted to the types of the kernel's parameters. */
template <class... P> struct __ha_arguments {
    template <class... A>
    static hipError_t launch(const hipLaunchConfig_t *config, void (*kernel)(P...),
                             A &&...arguments) {
        return run(config, kernel, static_cast<P>(static_cast<A &&>(arguments))...);
    }
    static hipError_t run(const hipLaunchConfig_t *config, void (*kernel)(P...),
                          P... values) {
        void *addresses[] = {const_cast<void *>(
                                 reinterpret_cast<const volatile void *>(&values))...,
                             nullptr};
        return hipLaunchKernelExC(config, reinterpret_cast<const void *>(kernel),
                                  addresses);
    }
};
template <class... P, class... A>
static inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t *config,
                                           void (*kernel)(P...), A &&...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "as many arguments as parameters");
    return __ha_arguments<P...>::launch(config, kernel, static_cast<A &&>(arguments)...);
}

#ifdef __HIP__
/* In two steps, so that one macro may stand for several of the arguments. */
#define __HA_LAUNCH__(kernel, grid, block, shared, stream, ...)                         \
    do {                                                                                \
        kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__);                   \
    } while (0)
#define hipLaunchKernelGGL(kernel, ...) __HA_LAUNCH__((kernel), __VA_ARGS__)

static inline int min(int a, int b) { return b < a ? b : a; }
static inline int max(int a, int b) { return a < b ? b : a; }
#endif

#endif
