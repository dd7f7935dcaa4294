/* SPDX-License-Identifier: MIT */
/* Rounding to formats that are narrower than float, for host and device alike.
 *
 * Every narrow value is exact as a float.  Sums, products, quotients and roots of such
 * values are rounded twice without harm where float has twice the bits and two more
 * (half: 11, bfloat16: 8, float: 24).  Where it doesn't suffice, the first rounding is
 * *to odd*: an inexact result gets an odd last bit, so that the second rounding sees on
 * which side of a tie the exact value lies.  All of it is free of branches that vector
 * code could not take. */
#pragma once
#pragma clang system_header

#ifndef __HIP__
#error "narrow floating point types need a compiler of HIP, such as hipadapt-cc"
#endif

#define __HA_BOTH__ static inline __attribute__((host, device, always_inline))
#define __HA_BOTH_T__ inline __attribute__((host, device, always_inline))
#define __HA_BITS__(type, x) __builtin_bit_cast(type, x)

/* Directions; a conversion's suffix _rn, _rz, _ru, _rd. */
#define __HA_ROUND_rn__ 0
#define __HA_ROUND_rz__ 1
#define __HA_ROUND_ru__ 2
#define __HA_ROUND_rd__ 3

__HA_BOTH__ float __ha_odd(double x) {
    float near = (float)x;
    double back = near;
    unsigned bits = __HA_BITS__(unsigned, near);
    bool away = x < 0 ? back < x : back > x;
    return back != x && x == x ? __HA_BITS__(float, (bits - away) | 1u) : near;
}

/* The low bits that do not fit into a double become one odd bit. */
template <class _Ip> __HA_BOTH_T__ double __ha_odd_integer(_Ip x) {
    if (sizeof(_Ip) < 8)
        return (double)x;
    bool negative = x < 0;
    unsigned long long m =
        negative ? 0ull - (unsigned long long)x : (unsigned long long)x;
    if (m >> 53)
        m = (m & ~0x7ffull) | ((m & 0x7ff) != 0 ? 0x800 : 0);
    return negative ? -(double)m : (double)m;
}

/* a * b + c with one rounding, to odd: the product of narrow values is exact, and the
 * error of the sum is exact too. */
__HA_BOTH__ double __ha_fma_odd(double a, double b, double c) {
#pragma clang fp contract(off) reassociate(off)
    double product = a * b, sum = product + c, part = sum - product;
    double error = (product - (sum - part)) + (c - part);
    unsigned long long bits = __HA_BITS__(unsigned long long, sum);
    bool step = (error > 0 || error < 0) && !(bits & 1);
    bool up = (error > 0) == (sum > 0);
    return __HA_BITS__(double, bits + (step ? (up ? 1ull : ~0ull) : 0ull));
}

/* ---- half ---- */

template <int direction> __HA_BOTH_T__ _Float16 __ha_half(float x) {
    _Float16 near = (_Float16)x;
    if (direction == __HA_ROUND_rn__)
        return near;
    float back = near;
    unsigned short bits = __HA_BITS__(unsigned short, near);
    bool up = direction == __HA_ROUND_ru__ || (direction == __HA_ROUND_rz__ && x < 0);
    bool step = up ? back < x : back > x;
    bool grows = up == !(bits & 0x8000);
    return __HA_BITS__(_Float16,
                       (unsigned short)(bits + (step ? (grows ? 1 : -1) : 0)));
}

/* ---- bfloat16, as its bits ---- */

template <int direction> __HA_BOTH_T__ unsigned short __ha_bfloat(float x) {
    unsigned bits = __HA_BITS__(unsigned, x);
    bool away = direction == __HA_ROUND_ru__ ? !(bits >> 31) : (bits >> 31) != 0;
    unsigned add = direction == __HA_ROUND_rn__   ? 0x7fffu + (bits >> 16 & 1)
                   : direction == __HA_ROUND_rz__ ? 0u
                   : away                         ? 0xffffu
                                                  : 0u;
    return (unsigned short)(x == x ? (bits + add) >> 16 : bits >> 16 | 0x40);
}
__HA_BOTH__ float __ha_bfloat_wide(unsigned short bits) {
    return __HA_BITS__(float, (unsigned)bits << 16);
}

/* ---- integers ---- */

template <int direction> __HA_BOTH_T__ float __ha_whole(float x) {
    return direction == __HA_ROUND_rn__   ? __builtin_rintf(x)
           : direction == __HA_ROUND_rz__ ? __builtin_truncf(x)
           : direction == __HA_ROUND_ru__ ? __builtin_ceilf(x)
                                          : __builtin_floorf(x);
}
/* Out of range gives the nearest integer, NaN gives 0, as on the GPU. */
template <class _Ip> __HA_BOTH_T__ _Ip __ha_saturate(float x) {
    constexpr bool is_signed = (_Ip)-1 < (_Ip)0;
    constexpr _Ip top = (_Ip)((_Ip)1 << (sizeof(_Ip) * 8 - (is_signed ? 2 : 1)));
    constexpr float bound = (float)top * 2;
    constexpr _Ip most = (_Ip)(top - 1 + top),
                  least = is_signed ? (_Ip)(-most - 1) : (_Ip)0;
    bool high = x >= bound, low = is_signed ? x < -bound : x <= -1.0f;
    float inside = high || low || x != x ? 0.0f : x;
    return high ? most : low ? least : (_Ip)inside;
}

/* What the functions of a narrow type N need: of(float) and of(double), which round to
 * nearest, bits(unsigned short) and wide(N). */
template <class _Np> struct __ha_small;
/* A parameter that doesn't take part in deduction.  Functions of narrow types are
 * templates with the type as a default: they are not looked into before they are used,
 * and arguments are converted as for any function. */
template <class _Np> using __ha_in = const typename __ha_select<true, _Np>::type &;
template <class _Np> using __ha_in_out = typename __ha_select<true, _Np>::type &;
