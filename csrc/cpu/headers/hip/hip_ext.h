/* SPDX-License-Identifier: MIT */
/* Launches with events before and after the kernel. */
#pragma once
#pragma GCC system_header

#include <hip/hip_runtime.h>

#define hipExtAnyOrderLaunch 0x01

#if defined(__HIP__) && defined(__HA_PROGRAM__)
/* A template's name alone stands for the kernel with the types of the arguments. */
template <class... _Ap, class _Fp = void (*)(_Ap...)>
static inline hipError_t
hipExtLaunchKernelGGL(_Fp kernel, const dim3 &grid, const dim3 &block,
                      unsigned shared_bytes, hipStream_t stream, hipEvent_t start,
                      hipEvent_t stop, unsigned flags, _Ap... arguments) {
    return decltype(__ha_arguments_of(kernel))::with(
        [&](void **addresses) {
            return hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                      addresses, shared_bytes, stream, start, stop,
                                      (int)flags);
        },
        static_cast<_Ap &&>(arguments)...);
}
#endif
