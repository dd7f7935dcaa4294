/* SPDX-License-Identifier: MIT */
/* Atomic functions on 32 and 64 bit integers, float and double.  Relaxed, as HIP's are;
 * the scopes are the same here but for checks.  __hip_atomic_* are builtins of the
 * compiler. */
#pragma once
#pragma clang system_header

#include "hipadapt/scope.h"

#define __HA_ATOMIC1__(name, _Tp, operation, value)                                     \
    __HA_OWN__ __HA_FN__ _Tp atomic##name(_Tp *p, _Tp v) {                              \
        return operation(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);        \
    }                                                                                   \
    __HA_FN__ _Tp atomic##name##_system(_Tp *p, _Tp v) {                                \
        return operation(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);        \
    }                                                                                   \
    __HA_FN__ _Tp atomic##name##_block(_Tp *p, _Tp v) {                                 \
        return operation(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);     \
    }
#define __HA_ARITHMETIC__(_Tp)                                                          \
    __HA_ATOMIC1__(Add, _Tp, __hip_atomic_fetch_add, v)                                 \
    __HA_ATOMIC1__(Sub, _Tp, __hip_atomic_fetch_add, -v)                                \
    __HA_ATOMIC1__(Min, _Tp, __hip_atomic_fetch_min, v)                                 \
    __HA_ATOMIC1__(Max, _Tp, __hip_atomic_fetch_max, v)                                 \
    __HA_ATOMIC1__(Exch, _Tp, __hip_atomic_exchange, v)
#define __HA_CAS_BODY__(scope)                                                          \
    {                                                                                   \
        __hip_atomic_compare_exchange_strong(p, &expected, desired, __ATOMIC_RELAXED,   \
                                             __ATOMIC_RELAXED, scope);                  \
        return expected;                                                                \
    }
#define __HA_CAS__(_Tp)                                                                 \
    __HA_OWN__ __HA_FN__ _Tp atomicCAS(_Tp *p, _Tp expected, _Tp desired)               \
        __HA_CAS_BODY__(__HIP_MEMORY_SCOPE_SYSTEM)                                      \
    __HA_FN__ _Tp atomicCAS_system(_Tp *p, _Tp expected, _Tp desired)                   \
        __HA_CAS_BODY__(__HIP_MEMORY_SCOPE_SYSTEM)                                      \
    __HA_FN__ _Tp atomicCAS_block(_Tp *p, _Tp expected, _Tp desired)                    \
        __HA_CAS_BODY__(__HIP_MEMORY_SCOPE_WORKGROUP)
#define __HA_INTEGER__(_Tp)                                                             \
    __HA_ARITHMETIC__(_Tp)                                                              \
    __HA_CAS__(_Tp)                                                                     \
    __HA_ATOMIC1__(And, _Tp, __hip_atomic_fetch_and, v)                                 \
    __HA_ATOMIC1__(Or, _Tp, __hip_atomic_fetch_or, v)                                   \
    __HA_ATOMIC1__(Xor, _Tp, __hip_atomic_fetch_xor, v)
#define __HA_FLOAT__(_Tp)                                                               \
    __HA_ARITHMETIC__(_Tp)                                                              \
    __HA_CAS_BITS__(_Tp)                                                                \
    __HA_FN__ void atomicAddNoRet(_Tp *p, _Tp v) { atomicAdd(p, v); }                   \
    __HA_FN__ _Tp unsafeAtomicAdd(_Tp *p, _Tp v) { return atomicAdd(p, v); }            \
    __HA_FN__ _Tp unsafeAtomicMin(_Tp *p, _Tp v) { return atomicMin(p, v); }            \
    __HA_FN__ _Tp unsafeAtomicMax(_Tp *p, _Tp v) { return atomicMax(p, v); }            \
    __HA_FN__ _Tp safeAtomicAdd(_Tp *p, _Tp v) { return atomicAdd(p, v); }              \
    __HA_FN__ _Tp safeAtomicMin(_Tp *p, _Tp v) { return atomicMin(p, v); }              \
    __HA_FN__ _Tp safeAtomicMax(_Tp *p, _Tp v) { return atomicMax(p, v); }
/* By bits, as HIP does: compare-and-swap of a float does not compare values. */
#define __HA_CAS_BITS__(_Tp) __HA_CAS__(_Tp)

#define __HA_OWN__
__HA_INTEGER__(int)
__HA_INTEGER__(unsigned int)
__HA_INTEGER__(unsigned long)
__HA_INTEGER__(unsigned long long)
__HA_FLOAT__(float)
__HA_FLOAT__(double)
#undef __HA_OWN__
#define __HA_OWN__
__HA_CAS__(unsigned short)
#undef __HA_OWN__
/* HIP leaves most of these out, so programs (CuPy's headers) define them themselves: a
 * template gives way to a function of the same name. */
#define __HA_OWN__ template <class = void>
__HA_INTEGER__(long)
__HA_INTEGER__(long long)
#undef __HA_OWN__
#undef __HA_ATOMIC1__
#undef __HA_ARITHMETIC__
#undef __HA_CAS__
#undef __HA_CAS_BODY__
#undef __HA_CAS_BITS__
#undef __HA_INTEGER__
#undef __HA_FLOAT__

/* Count up to `limit` and start again at 0; count down to 0 and start again at `limit`.
 */
#define __HA_WRAP__(name, expression)                                                   \
    __HA_FN__ unsigned name(unsigned *p, unsigned limit) {                              \
        unsigned old = __hip_atomic_load(p, __ATOMIC_RELAXED,                           \
                                         __HIP_MEMORY_SCOPE_SYSTEM);                    \
        while (!__hip_atomic_compare_exchange_strong(p, &old, (expression),             \
                                                     __ATOMIC_RELAXED,                  \
                                                     __ATOMIC_RELAXED,                  \
                                                     __HIP_MEMORY_SCOPE_SYSTEM)) {      \
        }                                                                               \
        return old;                                                                     \
    }
__HA_WRAP__(atomicInc, old >= limit ? 0 : old + 1)
__HA_WRAP__(atomicDec, old == 0 || old > limit ? limit : old - 1)
#undef __HA_WRAP__

__HA_FN__ void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__HA_FN__ void __threadfence_system(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__HA_FN__ void __threadfence_block(void) {
    __HA_FENCE__(__ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
}
