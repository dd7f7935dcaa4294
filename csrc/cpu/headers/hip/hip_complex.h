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
#define __HA_COMPLEX__(_Cp, _Rp, f)                                                      \
    __HA_BOTH_C__ _Cp make_##_Cp(_Rp real, _Rp imaginary) {                              \
        return _Cp(real, imaginary);                                                     \
    }                                                                                    \
    __HA_BOTH_C__ _Rp hipCreal##f(_Cp z) { return z.x; }                                 \
    __HA_BOTH_C__ _Rp hipCimag##f(_Cp z) { return z.y; }                                 \
    __HA_BOTH_C__ _Cp hipConj##f(_Cp z) { return _Cp(z.x, -z.y); }                       \
    __HA_BOTH_C__ _Rp hipCsqabs##f(_Cp z) { return z.x * z.x + z.y * z.y; }              \
    __HA_BOTH_C__ _Rp hipCabs##f(_Cp z) { return __builtin_sqrt##f(hipCsqabs##f(z)); }   \
    __HA_BOTH_C__ _Cp hipCadd##f(_Cp p, _Cp q) { return _Cp(p.x + q.x, p.y + q.y); }     \
    __HA_BOTH_C__ _Cp hipCsub##f(_Cp p, _Cp q) { return _Cp(p.x - q.x, p.y - q.y); }     \
    __HA_BOTH_C__ _Cp hipCmul##f(_Cp p, _Cp q) {                                         \
        return _Cp(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);                        \
    }                                                                                    \
    __HA_BOTH_C__ _Cp hipCdiv##f(_Cp p, _Cp q) {                                         \
        _Rp square = hipCsqabs##f(q);                                                    \
        return _Cp((p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square);  \
    }                                                                                    \
    __HA_BOTH_C__ _Cp hipCfma##f(_Cp p, _Cp q, _Cp r) {                                  \
        _Rp real = p.x * q.x + r.x, imaginary = q.x * p.y + r.y;                         \
        return _Cp(real - p.y * q.y, imaginary + p.x * q.y);                             \
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
