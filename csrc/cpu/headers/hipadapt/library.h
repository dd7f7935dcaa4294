/* SPDX-License-Identifier: MIT */
/* printf, assert, memory, clocks, and loads and stores with a cache hint. */
#pragma once
#pragma clang system_header

extern "C" {
__HA_CALL__ __attribute__((format(printf, 1, 2))) int printf(const char *format, ...)
    __asm__("__ha_print");
__HA_CALL__ void *malloc(size_t size);
__HA_CALL__ void free(void *ptr);
}
__HA_FN__ void *memcpy(void *to, const void *from, size_t size) {
    return __builtin_memcpy(to, from, size);
}
__HA_FN__ void *memmove(void *to, const void *from, size_t size) {
    return __builtin_memmove(to, from, size);
}
__HA_FN__ void *memset(void *to, int byte, size_t size) {
    return __builtin_memset(to, byte, size);
}
__HA_FN_T__ void *operator new(size_t, void *place) noexcept { return place; }
__HA_FN_T__ void *operator new[](size_t, void *place) noexcept { return place; }
__HA_FN_T__ void operator delete(void *, void *) noexcept {}
__HA_FN_T__ void operator delete[](void *, void *) noexcept {}

__HA_FN__ __attribute__((noreturn)) void abort(void) { __builtin_trap(); }
__HA_FN__ __attribute__((noreturn)) void __trap(void) { __builtin_trap(); }

#ifndef __HA_CYCLES__
#define __HA_CYCLES__() __ha_clock()
#endif
__HA_FN__ long long clock64(void) { return (long long)__HA_CYCLES__(); }
__HA_FN__ long long __clock64(void) { return (long long)__HA_CYCLES__(); }
__HA_FN__ long long wall_clock64(void) { return (long long)__ha_clock(); }
__HA_FN__ long long __clock(void) { return (long long)__HA_CYCLES__(); }
__HA_FN__ long clock(void) { return (long)__HA_CYCLES__(); }
__HA_FN__ void __nanosleep(unsigned) { __ha_pause(); }
/* The compiler knows it where it compiles for the host or for a GPU. */
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__AMDGCN__)
__HA_FN__ void __builtin_amdgcn_s_sleep(int) { __ha_pause(); }
/* One clock has them all: nanoseconds. */
#define __builtin_readcyclecounter() ((unsigned long long)__ha_clock())
#define __builtin_readsteadycounter() ((unsigned long long)__ha_clock())
#define __builtin_amdgcn_s_memtime() ((unsigned long long)__ha_clock())
#define __builtin_amdgcn_s_memrealtime() ((unsigned long long)__ha_clock())
#define __builtin_amdgcn_fence(order, scope)                                            \
    __HA_FENCE__(order, __HA_SCOPE_NUMBER__(scope))
#endif
#define __builtin_amdgcn_wavefrontsize() ((unsigned)warpSize)
#define __builtin_amdgcn_s_barrier() __ha_block_sync(__LINE__)
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __named_sync() __ha_block_sync(__LINE__)
__HA_FN__ void *__get_dynamicgroupbaseptr() { return __ha_shared_dynamic(); }
__HA_FN__ void *__amdgcn_get_dynamicgroupbaseptr() { return __ha_shared_dynamic(); }
__HA_FN__ void *__local_to_generic(void *p) { return p; }

#define __HA_LOAD__(name)                                                               \
    template <class _Tp> __HA_FN_T__ _Tp name(const _Tp *p) { return *p; }
#define __HA_STORE__(name)                                                              \
    template <class _Tp> __HA_FN_T__ void name(_Tp *p, _Tp v) { *p = v; }
__HA_LOAD__(__ldg)
__HA_LOAD__(__ldca)
__HA_LOAD__(__ldcg)
__HA_LOAD__(__ldcs)
__HA_LOAD__(__ldcv)
__HA_STORE__(__stwb)
__HA_STORE__(__stcg)
__HA_STORE__(__stcs)
__HA_STORE__(__stwt)
#undef __HA_LOAD__
#undef __HA_STORE__
