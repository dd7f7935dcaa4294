/* SPDX-License-Identifier: MIT */
/* Launches with events before and after the kernel. */
#pragma once
#pragma GCC system_header

#include <hip/hip_runtime.h>

#define hipExtAnyOrderLaunch 0x01

#if defined(__HIP__) && defined(__HA_PROGRAM__)
template <class... P, class... A>
static inline hipError_t
hipExtLaunchKernelGGL(void (*kernel)(P...), const dim3 &grid, const dim3 &block,
                      unsigned shared_bytes, hipStream_t stream, hipEvent_t start,
                      hipEvent_t stop, unsigned flags, A... arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "as many arguments as parameters");
    struct launch {
        static hipError_t run(void (*kernel)(P...), const dim3 &grid, const dim3 &block,
                              unsigned shared_bytes, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, unsigned flags, P... values) {
            void *addresses[] = {const_cast<void *>(
                                     reinterpret_cast<const volatile void *>(&values))...,
                                 nullptr};
            return hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                      addresses, shared_bytes, stream, start, stop,
                                      (int)flags);
        }
    };
    return launch::run(kernel, grid, block, shared_bytes, stream, start, stop, flags,
                       static_cast<P>(arguments)...);
}
#endif
