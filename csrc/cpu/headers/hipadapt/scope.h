/* SPDX-License-Identifier: MIT */
/* Scopes of atomics and fences, for checks.  The front end's target has one scope, and
 * forgets what the program says; so a call tells it before each of them, which
 * cpu/compile/check_insert.c takes away again. */
#pragma once
#pragma clang system_header

#ifdef __HIP_CPU_CHECK__
template <int> __attribute__((device)) void __ha_scope();

/* The last argument: commas within the first one may make them more. */
#define __HA_LAST_1__(a) a
#define __HA_LAST_2__(a, ...) __HA_LAST_1__(__VA_ARGS__)
#define __HA_LAST_3__(a, ...) __HA_LAST_2__(__VA_ARGS__)
#define __HA_LAST_4__(a, ...) __HA_LAST_3__(__VA_ARGS__)
#define __HA_LAST_5__(a, ...) __HA_LAST_4__(__VA_ARGS__)
#define __HA_LAST_6__(a, ...) __HA_LAST_5__(__VA_ARGS__)
#define __HA_LAST_7__(a, ...) __HA_LAST_6__(__VA_ARGS__)
#define __HA_LAST_8__(a, ...) __HA_LAST_7__(__VA_ARGS__)
#define __HA_LAST_9__(a, ...) __HA_LAST_8__(__VA_ARGS__)
#define __HA_NINTH__(a, b, c, d, e, f, g, h, i, last, ...) last
#define __HA_LAST__(...)                                                                \
    __HA_NINTH__(__VA_ARGS__, __HA_LAST_9__, __HA_LAST_8__, __HA_LAST_7__,              \
                 __HA_LAST_6__, __HA_LAST_5__, __HA_LAST_4__, __HA_LAST_3__,            \
                 __HA_LAST_2__, __HA_LAST_1__, )(__VA_ARGS__)
/* One that is not constant may be any. */
#define __HA_FIXED__(scope)                                                          \
    __builtin_constant_p(scope) ? (scope) : __HIP_MEMORY_SCOPE_SYSTEM
#define __HA_SCOPED__(name, ...)                                                        \
    (__ha_scope<__HA_FIXED__((__HA_LAST__(__VA_ARGS__)))>(), name(__VA_ARGS__))

#define __hip_atomic_load(...) __HA_SCOPED__(__hip_atomic_load, __VA_ARGS__)
#define __hip_atomic_store(...) __HA_SCOPED__(__hip_atomic_store, __VA_ARGS__)
#define __hip_atomic_exchange(...) __HA_SCOPED__(__hip_atomic_exchange, __VA_ARGS__)
#define __hip_atomic_compare_exchange_weak(...)                                         \
    __HA_SCOPED__(__hip_atomic_compare_exchange_weak, __VA_ARGS__)
#define __hip_atomic_compare_exchange_strong(...)                                       \
    __HA_SCOPED__(__hip_atomic_compare_exchange_strong, __VA_ARGS__)
#define __hip_atomic_fetch_add(...) __HA_SCOPED__(__hip_atomic_fetch_add, __VA_ARGS__)
#define __hip_atomic_fetch_sub(...) __HA_SCOPED__(__hip_atomic_fetch_sub, __VA_ARGS__)
#define __hip_atomic_fetch_and(...) __HA_SCOPED__(__hip_atomic_fetch_and, __VA_ARGS__)
#define __hip_atomic_fetch_or(...) __HA_SCOPED__(__hip_atomic_fetch_or, __VA_ARGS__)
#define __hip_atomic_fetch_xor(...) __HA_SCOPED__(__hip_atomic_fetch_xor, __VA_ARGS__)
#define __hip_atomic_fetch_min(...) __HA_SCOPED__(__hip_atomic_fetch_min, __VA_ARGS__)
#define __hip_atomic_fetch_max(...) __HA_SCOPED__(__hip_atomic_fetch_max, __VA_ARGS__)

/* Of the scopes of __builtin_amdgcn_fence, which are texts. */
#define __HA_SCOPE_NUMBER__(text)                                                       \
    ((text)[0] == 'w' && (text)[1] == 'o'   ? __HIP_MEMORY_SCOPE_WORKGROUP              \
     : (text)[0] == 'w'                     ? __HIP_MEMORY_SCOPE_WAVEFRONT              \
     : (text)[0] == 's' && (text)[1] == 'i' ? __HIP_MEMORY_SCOPE_SINGLETHREAD           \
                                            : __HIP_MEMORY_SCOPE_SYSTEM)
#define __HA_FENCE__(order, scope)                                                     \
    (__ha_scope<__HA_FIXED__(scope)>(), __atomic_thread_fence(order))
#else
#define __HA_SCOPE_NUMBER__(text) 0
#define __HA_FENCE__(order, scope) __atomic_thread_fence(order)
#endif
