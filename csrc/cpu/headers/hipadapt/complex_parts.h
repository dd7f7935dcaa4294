/* SPDX-License-Identifier: MIT */
/* Products and quotients of `_Complex` numbers.  The compiler writes out the sums and
 * products of the parts itself, and calls these by name where both parts have become NaN
 * (and for every quotient): C has infinities come back then. */
#pragma once
#pragma GCC system_header

template <class _Tp> struct __ha_parts {
    _Tp re, im;
    __HA_FN_T__ bool infinite() const {
        return __builtin_isinf(re) || __builtin_isinf(im);
    }
    __HA_FN_T__ bool finite() const {
        return __builtin_isfinite(re) && __builtin_isfinite(im);
    }
    /* Infinite parts become 1 and others 0, with their signs. */
    __HA_FN_T__ __ha_parts direction() const {
        return {sign(__builtin_isinf(re), re), sign(__builtin_isinf(im), im)};
    }
    __HA_FN_T__ __ha_parts without_nan() const {
        return {__builtin_isnan(re) ? sign(0, re) : re,
                __builtin_isnan(im) ? sign(0, im) : im};
    }
    __HA_FN_T__ static _Tp sign(_Tp size, _Tp of) {
        return (_Tp)__builtin_copysign((double)size, (double)of);
    }
};

template <class _Tp>
__HA_FN_T__ __ha_parts<_Tp> __ha_parts_product(__ha_parts<_Tp> x, __ha_parts<_Tp> y) {
    const _Tp a = x.re * y.re, b = x.im * y.im, c = x.re * y.im, d = x.im * y.re;
    const __ha_parts<_Tp> plain = {a - b, c + d};
    if (!__builtin_isnan(plain.re) || !__builtin_isnan(plain.im))
        return plain;
    bool grows = false;
    if (x.infinite()) {
        x = x.direction();
        y = y.without_nan();
        grows = true;
    }
    if (y.infinite()) {
        y = y.direction();
        x = x.without_nan();
        grows = true;
    }
    if (!grows && (__builtin_isinf(a) || __builtin_isinf(b) || __builtin_isinf(c) ||
                   __builtin_isinf(d))) {
        x = x.without_nan();
        y = y.without_nan();
        grows = true;
    }
    const _Tp huge = (_Tp)__builtin_inf();
    return grows ? __ha_parts<_Tp>{huge * (x.re * y.re - x.im * y.im),
                                 huge * (x.re * y.im + x.im * y.re)}
                 : plain;
}

template <class _Tp>
__HA_FN_T__ __ha_parts<_Tp> __ha_parts_quotient(__ha_parts<_Tp> x, __ha_parts<_Tp> y) {
    const _Tp huge = (_Tp)__builtin_inf();
    /* The divisor is brought near 1 first: its square neither overflows nor vanishes. */
    const double larger = __builtin_fmax(__builtin_fabs((double)y.re),
                                         __builtin_fabs((double)y.im));
    const bool scaled = larger > 0 && __builtin_isfinite(larger);
    const int power = scaled ? -__builtin_ilogb(larger) : 0;
    const _Tp re = (_Tp)__builtin_ldexp((double)y.re, power);
    const _Tp im = (_Tp)__builtin_ldexp((double)y.im, power);
    const _Tp square = re * re + im * im;
    const __ha_parts<_Tp> plain = {
        (_Tp)__builtin_ldexp((double)((x.re * re + x.im * im) / square), power),
        (_Tp)__builtin_ldexp((double)((x.im * re - x.re * im) / square), power)};
    if (!__builtin_isnan(plain.re) || !__builtin_isnan(plain.im))
        return plain;
    if (square == 0 && (!__builtin_isnan(x.re) || !__builtin_isnan(x.im))) {
        const _Tp far = __ha_parts<_Tp>::sign(huge, y.re);
        return {far * x.re, far * x.im};
    }
    if (x.infinite() && y.finite()) {
        x = x.direction();
        return {huge * (x.re * y.re + x.im * y.im), huge * (x.im * y.re - x.re * y.im)};
    }
    if (y.infinite() && x.finite()) {
        y = y.direction();
        return {0 * (x.re * y.re + x.im * y.im), 0 * (x.im * y.re - x.re * y.im)};
    }
    return plain;
}

/* Not inlined: they are rarely entered, and a kernel may have hundreds of such calls. */
#define __HA_COMPLEX__(_Tp, product, quotient)                                         \
    extern "C" __attribute__((device, noinline)) inline _Complex _Tp                   \
    product(_Tp a, _Tp b, _Tp c, _Tp d) {                                              \
        const __ha_parts<_Tp> made = __ha_parts_product<_Tp>({a, b}, {c, d});          \
        return __builtin_complex(made.re, made.im);                                    \
    }                                                                                  \
    extern "C" __attribute__((device, noinline)) inline _Complex _Tp                   \
    quotient(_Tp a, _Tp b, _Tp c, _Tp d) {                                             \
        const __ha_parts<_Tp> made = __ha_parts_quotient<_Tp>({a, b}, {c, d});         \
        return __builtin_complex(made.re, made.im);                                    \
    }
__HA_COMPLEX__(float, __mulsc3, __divsc3)
__HA_COMPLEX__(double, __muldc3, __divdc3)
#undef __HA_COMPLEX__
