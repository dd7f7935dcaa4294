/* SPDX-License-Identifier: MIT */
/* Keywords, predefined macros and fundamental types, and the functions that the rewriter
 * knows by name.  A kernel may not define names that begin with __ha_. */
#pragma once
#pragma clang system_header

/* The front end runs for nvptx64, which is an implementation detail: to the program this
 * is HIP on AMD's platform. */
#undef __CUDA_ARCH__
#undef __CUDA_ARCH_LIST__
#undef __NVPTX__
#undef __PTX__
#undef __CUDACC__
#define __HIP_PLATFORM_HCC__ 1
#define __HIP_CPU_DEVICE__ 1
#ifndef __HIPCC__
#define __HIPCC__ 1
#endif
#ifndef __HA_PROGRAM__ /* of hipadapt-cc, where there is host code too */
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#ifndef __HIPCC_RTC__
#define __HIPCC_RTC__ 1
#endif
#ifndef __HIP_DEVICE_COMPILE__
#define __HIP_DEVICE_COMPILE__ 1
#endif
#endif
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__ 1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_DOUBLES__ 1
#define __HIP_ARCH_HAS_WARP_VOTE__ 1
#define __HIP_ARCH_HAS_WARP_BALLOT__ 1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__ 1
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__ 0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__ 1
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__ 1
#define __HIP_ARCH_HAS_SURFACE_FUNCS__ 0
#define __HIP_ARCH_HAS_3DGRID__ 1
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__ 0

#ifndef __HIP_CPU_WARP_SIZE__
#define __HIP_CPU_WARP_SIZE__ 32
#endif

#include "hipadapt/keywords.h"
#define __forceinline__ inline __attribute__((always_inline))
#ifndef __HA_PROGRAM__ /* there it has to wait: hip/hip_runtime.h */
#define __noinline__
#endif
#define __grid_constant__
#define __cluster_dims__(...)
#define __restrict __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __maxnreg__(n)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(name) name
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

typedef __SIZE_TYPE__ size_t;
#if defined(__HIPRTC_PTRDIFF_T_IS_LONG_LONG__) && __HIPRTC_PTRDIFF_T_IS_LONG_LONG__
typedef long long ptrdiff_t;
#else
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#endif
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef unsigned long long ullong;
#ifndef NULL
#define NULL __null
#endif
#define __hip_int8_t int8_t
#define __hip_uint8_t uint8_t
#define __hip_int16_t int16_t
#define __hip_uint16_t uint16_t
#define __hip_int32_t int32_t
#define __hip_uint32_t uint32_t
#define __hip_int64_t int64_t
#define __hip_uint64_t uint64_t

/* Functions of this header set: on the device, and always part of their caller. */
#define __HA_FN__ static inline __attribute__((device, always_inline))
#define __HA_FN_T__ inline __attribute__((device, always_inline))
/* Begins the body of a function whose products and sums are not fused.  The pragma ends
 * with the body: outside of one it would hold for the program behind the header. */
#define __HA_EXACT__ _Pragma("clang fp contract(off)")

/* Selects an overload: __ha_if<condition, type> is `type` or no type at all. */
template <bool condition, class _Tp> struct __ha_select {};
template <class _Tp> struct __ha_select<true, _Tp> {
    typedef _Tp type;
};
template <bool condition, class _Tp = void>
using __ha_if = typename __ha_select<condition, _Tp>::type;
template <class _Tp> using __ha_integral = __ha_if<__is_integral(_Tp)>;

#define __HA_CONST__ __attribute__((device, const, noconvergent))
#define __HA_CALL__ __attribute__((device, nothrow))
extern "C" {
/* Where the lane stands, and the shape of the launch. */
__HA_CONST__ unsigned __ha_thread_x(void);
__HA_CONST__ unsigned __ha_thread_y(void);
__HA_CONST__ unsigned __ha_thread_z(void);
__HA_CONST__ unsigned __ha_block_x(void);
__HA_CONST__ unsigned __ha_block_y(void);
__HA_CONST__ unsigned __ha_block_z(void);
__HA_CONST__ unsigned __ha_block_dim_x(void);
__HA_CONST__ unsigned __ha_block_dim_y(void);
__HA_CONST__ unsigned __ha_block_dim_z(void);
__HA_CONST__ unsigned __ha_grid_dim_x(void);
__HA_CONST__ unsigned __ha_grid_dim_y(void);
__HA_CONST__ unsigned __ha_grid_dim_z(void);
/* Meetings of the block and of the warp; `op` is a number of cpu/base/image.h. */
__HA_CALL__ unsigned __ha_block(unsigned op, unsigned value, unsigned line);
__HA_CALL__ unsigned long __ha_warp(unsigned op, unsigned long mask, unsigned long value,
                                    unsigned operand, unsigned width);
__HA_CALL__ unsigned long __ha_clock(void);
__HA_CALL__ void __ha_pause(void);
/* Facts about the launch: enum ha_query of cpu/base/image.h. */
__HA_CALL__ unsigned long __ha_query(unsigned what);
__HA_CALL__ __attribute__((noreturn)) void
__ha_assert_fail(const char *text, const char *file, unsigned line, const char *function);
/* The start of the block's dynamic shared memory. */
__HA_CALL__ void *__ha_shared_dynamic(void);
}
