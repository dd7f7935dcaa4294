/* SPDX-License-Identifier: MIT */
/* hipFloatComplex and hipDoubleComplex: float2 and double2 with the functions of complex
 * numbers.  As HIP's: no care is taken of intermediate overflow. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#define __HA_BOTH_C__ static inline __attribute__((host, device, always_inline))

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

/* C: the complex type; R: its parts' type; f: the suffix of functions. */
#define __HA_COMPLEX__(C, R, f)                                                         \
    __HA_BOTH_C__ C make_##C(R real, R imaginary) { return C(real, imaginary); }        \
    __HA_BOTH_C__ R hipCreal##f(C z) { return z.x; }                                    \
    __HA_BOTH_C__ R hipCimag##f(C z) { return z.y; }                                    \
    __HA_BOTH_C__ C hipConj##f(C z) { return C(z.x, -z.y); }                            \
    __HA_BOTH_C__ R hipCsqabs##f(C z) { return z.x * z.x + z.y * z.y; }                 \
    __HA_BOTH_C__ R hipCabs##f(C z) { return __builtin_sqrt##f(hipCsqabs##f(z)); }      \
    __HA_BOTH_C__ C hipCadd##f(C p, C q) { return C(p.x + q.x, p.y + q.y); }            \
    __HA_BOTH_C__ C hipCsub##f(C p, C q) { return C(p.x - q.x, p.y - q.y); }            \
    __HA_BOTH_C__ C hipCmul##f(C p, C q) {                                              \
        return C(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);                         \
    }                                                                                   \
    __HA_BOTH_C__ C hipCdiv##f(C p, C q) {                                              \
        R square = hipCsqabs##f(q);                                                     \
        return C((p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square);   \
    }                                                                                   \
    __HA_BOTH_C__ C hipCfma##f(C p, C q, C r) {                                         \
        R real = p.x * q.x + r.x, imaginary = q.x * p.y + r.y;                          \
        return C(real - p.y * q.y, imaginary + p.x * q.y);                              \
    }
__HA_COMPLEX__(hipFloatComplex, float, f)
__HA_COMPLEX__(hipDoubleComplex, double, )
#undef __HA_COMPLEX__
__HA_BOTH_C__ hipComplex make_hipComplex(float x, float y) { return hipComplex(x, y); }
__HA_BOTH_C__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
    return hipFloatComplex((float)z.x, (float)z.y);
}
__HA_BOTH_C__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) {
    return hipDoubleComplex(z.x, z.y);
}
#undef __HA_BOTH_C__
