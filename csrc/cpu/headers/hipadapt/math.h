/* SPDX-License-Identifier: MIT */
/* Mathematical functions: the C names for float and double, C++ overloads, HIP's extras
 * and the fast forms with two underscores.  Most are builtins, which become one
 * instruction, a vector function or a call of the C library; the fast forms are the exact
 * ones here. */
#pragma once
#pragma clang system_header
#include "hipadapt/small_float.h"

/* name: builtin exists as __builtin_name and __builtin_namef */
#define __HA_MATH1__(name)                                                              \
    __HA_FN__ float name##f(float x) { return __builtin_##name##f(x); }                 \
    __HA_FN__ double name(double x) { return __builtin_##name(x); }                     \
    __HA_FN__ float name(float x) { return __builtin_##name##f(x); }                    \
    template <class _Tp, class = __ha_integral<_Tp>> __HA_FN_T__ double name(_Tp x) {   \
        return __builtin_##name((double)x);                                             \
    }
#define __HA_MATH2__(name)                                                              \
    __HA_FN__ float name##f(float x, float y) { return __builtin_##name##f(x, y); }     \
    __HA_FN__ double name(double x, double y) { return __builtin_##name(x, y); }        \
    __HA_FN__ float name(float x, float y) { return __builtin_##name##f(x, y); }        \
    template <class _Tp, class _Up,                                                     \
              class = __ha_if<__is_arithmetic(_Tp) && __is_arithmetic(_Up) &&           \
                              !(__is_same(_Tp, float) && __is_same(_Up, float))>>       \
    __HA_FN_T__ double name(_Tp x, _Up y) {                                             \
        return __builtin_##name((double)x, (double)y);                                  \
    }

__HA_MATH1__(acos)
__HA_MATH1__(acosh)
__HA_MATH1__(asin)
__HA_MATH1__(asinh)
__HA_MATH1__(atan)
__HA_MATH1__(atanh)
__HA_MATH1__(ceil)
__HA_MATH1__(cos)
__HA_MATH1__(cosh)
__HA_MATH1__(erf)
__HA_MATH1__(erfc)
__HA_MATH1__(exp)
__HA_MATH1__(exp2)
__HA_MATH1__(expm1)
__HA_MATH1__(fabs)
__HA_MATH1__(floor)
__HA_MATH1__(lgamma)
__HA_MATH1__(log)
__HA_MATH1__(log10)
__HA_MATH1__(log1p)
__HA_MATH1__(log2)
__HA_MATH1__(logb)
__HA_MATH1__(nearbyint)
__HA_MATH1__(rint)
__HA_MATH1__(round)
__HA_MATH1__(sin)
__HA_MATH1__(sinh)
__HA_MATH1__(sqrt)
__HA_MATH1__(tan)
__HA_MATH1__(tanh)
__HA_MATH1__(tgamma)
__HA_MATH1__(trunc)
__HA_MATH2__(atan2)
__HA_MATH2__(copysign)
__HA_MATH2__(fdim)
__HA_MATH2__(fmax)
__HA_MATH2__(fmin)
__HA_MATH2__(fmod)
__HA_MATH2__(hypot)
__HA_MATH2__(nextafter)
__HA_MATH2__(pow)
__HA_MATH2__(remainder)
#undef __HA_MATH1__
#undef __HA_MATH2__

__HA_FN__ float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__HA_FN__ double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__HA_FN__ float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__HA_FN__ _Float16 fma(_Float16 x, _Float16 y, _Float16 z) {
    return __ha_half<__HA_ROUND_rn__>(__ha_odd(__ha_fma_odd(x, y, z)));
}
template <
    class _Tp, class _Up, class _Vp,
    class = __ha_if<__is_arithmetic(_Tp) && __is_arithmetic(_Up) && __is_arithmetic(_Vp)>>
__HA_FN_T__ double fma(_Tp x, _Up y, _Vp z) {
    return __builtin_fma((double)x, (double)y, (double)z);
}
__HA_FN__ float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
__HA_FN__ double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
__HA_FN__ float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
__HA_FN__ float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
__HA_FN__ double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
__HA_FN__ float scalbn(float x, int e) { return __builtin_ldexpf(x, e); }
__HA_FN__ int __ha_exponent(long e) {
    return (int)(e < -100000 ? -100000 : e > 100000 ? 100000 : e);
}
__HA_FN__ float scalblnf(float x, long e) {
    return __builtin_ldexpf(x, __ha_exponent(e));
}
__HA_FN__ double scalbln(double x, long e) {
    return __builtin_ldexp(x, __ha_exponent(e));
}
__HA_FN__ float scalbln(float x, long e) { return scalblnf(x, e); }
__HA_FN__ int ilogbf(float x) { return __builtin_ilogbf(x); }
__HA_FN__ int ilogb(double x) { return __builtin_ilogb(x); }
__HA_FN__ int ilogb(float x) { return __builtin_ilogbf(x); }
__HA_FN__ long lrintf(float x) { return __builtin_lrintf(x); }
__HA_FN__ long lrint(double x) { return __builtin_lrint(x); }
__HA_FN__ long lrint(float x) { return __builtin_lrintf(x); }
__HA_FN__ long lroundf(float x) { return __builtin_lroundf(x); }
__HA_FN__ long lround(double x) { return __builtin_lround(x); }
__HA_FN__ long lround(float x) { return __builtin_lroundf(x); }
__HA_FN__ long long llrintf(float x) { return __builtin_llrintf(x); }
__HA_FN__ long long llrint(double x) { return __builtin_llrint(x); }
__HA_FN__ long long llrint(float x) { return __builtin_llrintf(x); }
__HA_FN__ long long llroundf(float x) { return __builtin_llroundf(x); }
__HA_FN__ long long llround(double x) { return __builtin_llround(x); }
__HA_FN__ long long llround(float x) { return __builtin_llroundf(x); }
__HA_FN__ float frexpf(float x, int *e) { return __builtin_frexpf(x, e); }
__HA_FN__ double frexp(double x, int *e) { return __builtin_frexp(x, e); }
__HA_FN__ float frexp(float x, int *e) { return __builtin_frexpf(x, e); }
__HA_FN__ float modff(float x, float *i) {
    *i = __builtin_truncf(x);
    return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *i, x);
}
__HA_FN__ double modf(double x, double *i) {
    *i = __builtin_trunc(x);
    return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *i, x);
}
__HA_FN__ float modf(float x, float *i) { return modff(x, i); }
__HA_FN__ float remquof(float x, float y, int *q) { return __builtin_remquof(x, y, q); }
__HA_FN__ double remquo(double x, double y, int *q) { return __builtin_remquo(x, y, q); }
__HA_FN__ float remquo(float x, float y, int *q) { return __builtin_remquof(x, y, q); }
/* The number that a string begins with, as C writes it: it goes into the NaN. */
__HA_FN__ unsigned long __ha_nan_number(const char *tag) {
    unsigned long number = 0;
    unsigned base = 10;
    if (*tag == '0') {
        tag++;
        base = 8;
        if (*tag == 'x' || *tag == 'X') {
            tag++;
            base = 16;
        }
    }
    for (; *tag; tag++) {
        unsigned digit = *tag >= 'a' ? *tag - 'a' + 10u
                         : *tag >= 'A' ? *tag - 'A' + 10u
                                       : *tag - '0' + 0u;
        if (digit >= base)
            return 0;
        number = number * base + digit;
    }
    return number;
}
__HA_FN__ float nanf(const char *tag) {
    return __builtin_bit_cast(float,
                              0x7fc00000u | (unsigned)(__ha_nan_number(tag) & 0x3fffff));
}
__HA_FN__ double nan(const char *tag) {
    return __builtin_bit_cast(double, 0x7ff8000000000000ul |
                                          (__ha_nan_number(tag) & 0x7fffffffffffful));
}

#define __HA_CLASS__(name)                                                              \
    __HA_FN__ bool name(float x) { return __builtin_##name(x); }                        \
    __HA_FN__ bool name(double x) { return __builtin_##name(x); }
__HA_CLASS__(isfinite)
__HA_CLASS__(isinf)
__HA_CLASS__(isnan)
__HA_CLASS__(isnormal)
#undef __HA_CLASS__
#define __HA_ORDER__(name)                                                              \
    __HA_FN__ bool name(float x, float y) { return __builtin_##name(x, y); }            \
    __HA_FN__ bool name(double x, double y) { return __builtin_##name(x, y); }
__HA_ORDER__(isgreater)
__HA_ORDER__(isgreaterequal)
__HA_ORDER__(isless)
__HA_ORDER__(islessequal)
__HA_ORDER__(islessgreater)
__HA_ORDER__(isunordered)
#undef __HA_ORDER__
__HA_FN__ bool signbit(float x) { return __builtin_signbitf(x); }
__HA_FN__ bool signbit(double x) { return __builtin_signbit(x); }
__HA_FN__ int __signbitf(float x) { return __builtin_signbitf(x) != 0; }
__HA_FN__ int __signbit(double x) { return __builtin_signbit(x) != 0; }
__HA_FN__ int __finitef(float x) { return __builtin_isfinite(x); }
__HA_FN__ int __finite(double x) { return __builtin_isfinite(x); }
__HA_FN__ int __isnanf(float x) { return __builtin_isnan(x); }
__HA_FN__ int __isnan(double x) { return __builtin_isnan(x); }
__HA_FN__ int __isinff(float x) { return __builtin_isinf(x); }
__HA_FN__ int __isinf(double x) { return __builtin_isinf(x); }

/* Bessel functions of the C library. */
extern "C" {
#define __HA_LIBM__ __attribute__((device, const, nothrow, noconvergent))
__HA_LIBM__ float j0f(float);
__HA_LIBM__ float j1f(float);
__HA_LIBM__ float jnf(int, float);
__HA_LIBM__ float y0f(float);
__HA_LIBM__ float y1f(float);
__HA_LIBM__ float ynf(int, float);
__HA_LIBM__ double j0(double);
__HA_LIBM__ double j1(double);
__HA_LIBM__ double jn(int, double);
__HA_LIBM__ double y0(double);
__HA_LIBM__ double y1(double);
__HA_LIBM__ double yn(int, double);
#undef __HA_LIBM__
}

__HA_FN__ void sincosf(float x, float *s, float *c) {
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}
__HA_FN__ void sincos(double x, double *s, double *c) {
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}
__HA_FN__ void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
__HA_FN__ float exp10f(float x) { return __builtin_exp10f(x); }
__HA_FN__ double exp10(double x) { return __builtin_exp10(x); }
__HA_FN__ float exp10(float x) { return __builtin_exp10f(x); }
__HA_FN__ float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
__HA_FN__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
__HA_FN__ float rsqrt(float x) { return rsqrtf(x); }
__HA_FN__ float fdividef(float x, float y) { return x / y; }
/* In double, which every int fits. */
__HA_FN__ float powif(float x, int n) { return (float)__builtin_pow((double)x, n); }
__HA_FN__ double powi(double x, int n) { return __builtin_pow(x, n); }
/* With an int, HIP keeps the type of the base. */
__HA_FN__ float pow(float x, int n) { return powif(x, n); }
__HA_FN__ _Float16 pow(_Float16 x, int n) {
    return __ha_half<__HA_ROUND_rn__>(__ha_odd(__builtin_pow((double)x, n)));
}
__HA_FN__ float saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0), 1); }

/* sin and cos of pi x: the multiple of a half turn is taken off exactly, in x. */
__HA_FN__ double __ha_turn(double x, int quarter) {
    const double pi = 3.14159265358979323846;
    double whole = 2.0 * __builtin_rint(__builtin_isfinite(x) ? x * 0.5 : 0.0);
    double rest = x - whole; /* -1 .. 1 */
    double a = __builtin_fabs(rest);
    if (quarter)
        return a == 0.5 ? 0.0 : a <= 0.25 ? __builtin_cos(pi * a)
                          : a < 0.75      ? __builtin_sin(pi * (0.5 - a))
                                          : -__builtin_cos(pi * (1.0 - a));
    double s = a == 1.0   ? 0.0
               : a <= 0.25 ? __builtin_sin(pi * a)
               : a < 0.75  ? __builtin_cos(pi * (0.5 - a))
                           : __builtin_sin(pi * (1.0 - a));
    return __builtin_copysign(s, s == 0.0 ? x : rest);
}
__HA_FN__ double sinpi(double x) { return x - x == 0 ? __ha_turn(x, 0) : x - x; }
__HA_FN__ double cospi(double x) { return x - x == 0 ? __ha_turn(x, 1) : x - x; }
__HA_FN__ float sinpif(float x) { return (float)sinpi((double)x); }
__HA_FN__ float cospif(float x) { return (float)cospi((double)x); }
__HA_FN__ float sinpi(float x) { return sinpif(x); }
__HA_FN__ float cospi(float x) { return cospif(x); }
__HA_FN__ void sincospif(float x, float *s, float *c) {
    *s = sinpif(x);
    *c = cospif(x);
}
__HA_FN__ void sincospi(double x, double *s, double *c) {
    *s = sinpi(x);
    *c = cospi(x);
}

#include "hipadapt/math_special.h"

/* The fast forms. */
__HA_FN__ float __cosf(float x) { return __builtin_cosf(x); }
__HA_FN__ float __sinf(float x) { return __builtin_sinf(x); }
__HA_FN__ float __tanf(float x) { return __builtin_tanf(x); }
__HA_FN__ float __expf(float x) { return __builtin_expf(x); }
__HA_FN__ float __exp10f(float x) { return __builtin_exp10f(x); }
__HA_FN__ float __logf(float x) { return __builtin_logf(x); }
__HA_FN__ float __log2f(float x) { return __builtin_log2f(x); }
__HA_FN__ float __log10f(float x) { return __builtin_log10f(x); }
__HA_FN__ float __powf(float x, float y) { return __builtin_powf(x, y); }
__HA_FN__ float __saturatef(float x) { return saturatef(x); }
__HA_FN__ float __fdividef(float x, float y) { return x / y; }
__HA_FN__ void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
__HA_FN__ float __fadd_rn(float x, float y) { __HA_EXACT__ return x + y; }
__HA_FN__ float __fsub_rn(float x, float y) { __HA_EXACT__ return x - y; }
__HA_FN__ float __fmul_rn(float x, float y) { __HA_EXACT__ return x * y; }
__HA_FN__ double __dadd_rn(double x, double y) { __HA_EXACT__ return x + y; }
__HA_FN__ double __dsub_rn(double x, double y) { __HA_EXACT__ return x - y; }
__HA_FN__ double __dmul_rn(double x, double y) { __HA_EXACT__ return x * y; }
__HA_FN__ float __fdiv_rn(float x, float y) { return x / y; }
__HA_FN__ float __frcp_rn(float x) { return 1.0f / x; }
__HA_FN__ float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__HA_FN__ float __frsqrt_rn(float x) { return rsqrtf(x); }
__HA_FN__ float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__HA_FN__ double __ddiv_rn(double x, double y) { return x / y; }
__HA_FN__ double __drcp_rn(double x) { return 1.0 / x; }
__HA_FN__ double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
__HA_FN__ double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* min, max, abs.  Mixed types are compared in their common type, as HIP does. */
#define __HA_MINMAX__(_Tp)                                                              \
    __HA_FN__ _Tp min(_Tp a, _Tp b) { return b < a ? b : a; }                           \
    __HA_FN__ _Tp max(_Tp a, _Tp b) { return a < b ? b : a; }
__HA_MINMAX__(int)
__HA_MINMAX__(unsigned int)
__HA_MINMAX__(long)
__HA_MINMAX__(unsigned long)
__HA_MINMAX__(long long)
__HA_MINMAX__(unsigned long long)
#undef __HA_MINMAX__
__HA_FN__ float min(float a, float b) { return __builtin_fminf(a, b); }
__HA_FN__ float max(float a, float b) { return __builtin_fmaxf(a, b); }
__HA_FN__ double min(double a, double b) { return __builtin_fmin(a, b); }
__HA_FN__ double max(double a, double b) { return __builtin_fmax(a, b); }
template <class _Tp, class _Up>
using __ha_common = __ha_if<__is_arithmetic(_Tp) && __is_arithmetic(_Up),
                            decltype(static_cast<_Tp>(0) + static_cast<_Up>(0))>;
template <class _Tp, class _Up> __HA_FN_T__ __ha_common<_Tp, _Up> min(_Tp a, _Up b) {
    typedef __ha_common<_Tp, _Up> _Cp;
    return min((_Cp)a, (_Cp)b);
}
template <class _Tp, class _Up> __HA_FN_T__ __ha_common<_Tp, _Up> max(_Tp a, _Up b) {
    typedef __ha_common<_Tp, _Up> _Cp;
    return max((_Cp)a, (_Cp)b);
}
__HA_FN__ int abs(int x) { return __builtin_abs(x); }
__HA_FN__ long abs(long x) { return __builtin_labs(x); }
__HA_FN__ long long abs(long long x) { return __builtin_llabs(x); }
__HA_FN__ float abs(float x) { return __builtin_fabsf(x); }
__HA_FN__ double abs(double x) { return __builtin_fabs(x); }
__HA_FN__ long labs(long x) { return __builtin_labs(x); }
__HA_FN__ long long llabs(long long x) { return __builtin_llabs(x); }
__HA_FN__ int umin(unsigned a, unsigned b) { return (int)min(a, b); }
__HA_FN__ int umax(unsigned a, unsigned b) { return (int)max(a, b); }

#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_nanf("")
#define HIP_INF __builtin_inf()
#define HIP_NAN __builtin_nan("")
