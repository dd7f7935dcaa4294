/* SPDX-License-Identifier: MIT */
/* Launches with events before and after the kernel. */
#pragma once
#pragma GCC system_header

#include <hip/hip_runtime.h>

#define hipExtAnyOrderLaunch 0x01

#if defined(__HIP__) && defined(__HA_PROGRAM__)
/* The arguments are converted to the types of the kernel's parameters. */
template <class... P> struct __ha_ext_launch {
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
template <class... P> __ha_ext_launch<P...> __ha_ext_launch_of(void (*)(P...));

/* A template's name alone stands for the kernel with the types of the arguments. */
template <class... A, class F = void (*)(A...)>
static inline hipError_t hipExtLaunchKernelGGL(F kernel, const dim3 &grid, const dim3 &block,
                                               unsigned shared_bytes, hipStream_t stream,
                                               hipEvent_t start, hipEvent_t stop,
                                               unsigned flags, A... arguments) {
    return decltype(__ha_ext_launch_of(kernel))::run(kernel, grid, block, shared_bytes,
                                                     stream, start, stop, flags,
                                                     arguments...);
}
#endif
