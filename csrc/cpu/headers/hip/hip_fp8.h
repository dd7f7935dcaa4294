/* SPDX-License-Identifier: MIT */
/* Eight-bit floating point: the OCP formats e4m3 and e5m2, and the `fnuz` ones, which
 * have a bias that is larger by one, no infinity, no -0, and NaN in the place of -0.
 *
 * Conversion to eight bits rounds to nearest, ties to even.  What is larger than the
 * largest number after that, infinity too, becomes that number (__HIP_SATFINITE), or
 * infinity where the format has it and NaN where it has not (__HIP_NOSAT).  NaN stays
 * NaN. */
#pragma once
#pragma clang system_header
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1

enum __hip_fp8_interpretation_t {
    __HIP_E4M3 = 0,
    __HIP_E5M2 = 1,
    __HIP_E4M3_FNUZ = 2,
    __HIP_E5M2_FNUZ = 3,
};
enum __hip_saturation_t {
    __HIP_NOSAT = 0,
    __HIP_SATFINITE = 1,
};
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

/* ---- one number ---- */

__HA_BOTH__ unsigned char __ha_to_fp8(float x, bool finite,
                                      __hip_fp8_interpretation_t format) {
    bool fnuz = format >= __HIP_E4M3_FNUZ, wide = format & 1; /* five bits of exponent */
    int mantissa = wide ? 2 : 3, bias = (wide ? 15 : 7) + fnuz;
    unsigned bits = __HA_BITS__(unsigned, x), sign = bits >> 24 & 0x80;
    unsigned magnitude = bits & 0x7fffffff;
    /* Below the smallest normal number, adding a power of two makes float round where the
     * format's last bit is. */
    float magic = __HA_BITS__(float, (unsigned)(127 + 24 - bias - mantissa) << 23);
    unsigned tiny = __HA_BITS__(unsigned, __HA_BITS__(float, magnitude) + magic) -
                    __HA_BITS__(unsigned, magic);
    int drop = 23 - mantissa;
    unsigned rounded =
        (magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1)) >> drop;
    unsigned normal = rounded - ((unsigned)(127 - bias) << mantissa);
    unsigned code = magnitude < (unsigned)(128 - bias) << 23 ? tiny : normal;
    unsigned most = fnuz ? 0x7f : wide ? 0x7b : 0x7e;
    unsigned nan = fnuz ? 0x80 : sign | 0x7f;
    unsigned beyond = finite ? sign | most : fnuz ? 0x80 : sign | (wide ? 0x7c : 0x7f);
    unsigned inside = fnuz && code == 0 ? 0 : sign | code;
    return (unsigned char)(magnitude > 0x7f800000u                            ? nan
                           : magnitude == 0x7f800000u || code > most ? beyond
                                                                     : inside);
}
__HA_BOTH__ float __ha_from_fp8(unsigned char x, __hip_fp8_interpretation_t format) {
    bool fnuz = format >= __HIP_E4M3_FNUZ, wide = format & 1;
    int mantissa = wide ? 2 : 3, bias = (wide ? 15 : 7) + fnuz;
    unsigned code = x & 0x7f, sign = (unsigned)(x & 0x80) << 24;
    /* The power of two corrects the bias, and makes normal numbers of subnormal ones. */
    float scale = __HA_BITS__(float, (unsigned)(254 - bias) << 23);
    float value = __HA_BITS__(float, code << (23 - mantissa)) * scale;
    unsigned bits = __HA_BITS__(unsigned, value);
    unsigned infinity = !fnuz && wide ? 0x7c : 0x7f;
    bool nan = fnuz ? x == 0x80 : wide ? code > 0x7c : code == 0x7f;
    bits = nan ? 0x7fc00000 : !fnuz && wide && code == infinity ? 0x7f800000 : bits;
    return __HA_BITS__(float, bits | sign);
}

/* ---- functions on storage ---- */

#define __HA_FP8_STORE__ __hip_saturation_t sat, __hip_fp8_interpretation_t type
__HA_BOTH__ __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __HA_FP8_STORE__) {
    return __ha_to_fp8(x, sat == __HIP_SATFINITE, type);
}
__HA_BOTH__ __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __HA_FP8_STORE__) {
    return __hip_cvt_float_to_fp8(__ha_odd(x), sat, type);
}
__HA_BOTH__ __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __HA_FP8_STORE__) {
    return __hip_cvt_float_to_fp8((float)x.data, sat, type);
}
__HA_BOTH__ __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x,
                                                             __HA_FP8_STORE__) {
    return __hip_cvt_float_to_fp8(__ha_bfloat_wide(x.x), sat, type);
}
#define __HA_FP8_PAIR__(name, from, one)                                                \
    __HA_BOTH__ __hip_fp8x2_storage_t name(from x, __HA_FP8_STORE__) {                  \
        return (__hip_fp8x2_storage_t)(one(x.x, sat, type) | one(x.y, sat, type) << 8); \
    }
__HA_FP8_PAIR__(__hip_cvt_float2_to_fp8x2, float2, __hip_cvt_float_to_fp8)
__HA_FP8_PAIR__(__hip_cvt_double2_to_fp8x2, double2, __hip_cvt_double_to_fp8)
__HA_FP8_PAIR__(__hip_cvt_halfraw2_to_fp8x2, __half2_raw, __hip_cvt_halfraw_to_fp8)
#undef __HA_FP8_PAIR__
__HA_BOTH__ __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw x,
                                                                  __HA_FP8_STORE__) {
    return __hip_cvt_float2_to_fp8x2(float2(__ha_bfloat_wide(x.x), __ha_bfloat_wide(x.y)),
                                     sat, type);
}
#undef __HA_FP8_STORE__
__HA_BOTH__ __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x,
                                                __hip_fp8_interpretation_t type) {
    return __half_raw{{(_Float16)__ha_from_fp8(x, type)}};
}
__HA_BOTH__ __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x,
                                                    __hip_fp8_interpretation_t type) {
    __half2_raw both;
    both.x = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)x, type);
    both.y = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(x >> 8), type);
    return both;
}

/* ---- types; conversion to integers is to the nearest one in range, towards zero ---- */

/* An object of one number; `format` is one of __hip_fp8_interpretation_t. */
template <int format> struct __ha_fp8 {
    static constexpr __hip_fp8_interpretation_t __default_interpret =
        (__hip_fp8_interpretation_t)format;
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    __hip_fp8_storage_t __x;
    __ha_fp8() = default;
    template <class _Tp,
              class = __ha_if<__is_arithmetic(_Tp) || __is_same(_Tp, _Float16)>>
    __HA_BOTH_T__ __ha_fp8(_Tp value) : __x(of(value)) {}
    __HA_BOTH_T__ __ha_fp8(const __half &value)
        : __x(of(__ha_small<__half>::wide(value))) {}
    __HA_BOTH_T__ __ha_fp8(const __hip_bfloat16 &value)
        : __x(of(__ha_small<__hip_bfloat16>::wide(value))) {}
    __HA_BOTH_T__ operator __half() const { return __ha_small<__half>::of(wide()); }
    __HA_BOTH_T__ operator __hip_bfloat16() const {
        return __ha_small<__hip_bfloat16>::of(wide());
    }
    template <class _Tp, class = __ha_if<__is_arithmetic(_Tp)>>
    __HA_BOTH_T__ operator _Tp() const {
        if constexpr (__is_same(_Tp, bool))
            return wide() != 0.0f;
        else if constexpr (__is_integral(_Tp))
            return __ha_saturate<_Tp>(wide());
        else
            return (_Tp)wide();
    }

  private:
    __HA_BOTH_T__ float wide() const { return __ha_from_fp8(__x, __default_interpret); }
    template <class _Tp> static __HA_BOTH_T__ unsigned char of(_Tp value) {
        if constexpr (__is_integral(_Tp))
            return of(__ha_odd_integer(value));
        else if constexpr (sizeof(_Tp) == 8)
            return __ha_to_fp8(__ha_odd(value), true, __default_interpret);
        else
            return __ha_to_fp8((float)value, true, __default_interpret);
    }
};
template <int format> struct __ha_fp8x2 {
    typedef __ha_fp8<format> one;
    __hip_fp8x2_storage_t __x;
    __ha_fp8x2() = default;
    __HA_BOTH_T__ __ha_fp8x2(const float2 &v) : __x(join(v.x, v.y)) {}
    __HA_BOTH_T__ __ha_fp8x2(const double2 &v) : __x(join(v.x, v.y)) {}
    __HA_BOTH_T__ __ha_fp8x2(const __half2 &v) : __x(join(v.x, v.y)) {}
    __HA_BOTH_T__ __ha_fp8x2(const __hip_bfloat162 &v) : __x(join(v.x, v.y)) {}
    __HA_BOTH_T__ operator float2() const { return float2((float)at(0), (float)at(1)); }
    __HA_BOTH_T__ operator __half2() const {
        return __half2((__half)at(0), (__half)at(1));
    }

  private:
    __HA_BOTH_T__ one at(int i) const {
        one x;
        x.__x = (__hip_fp8_storage_t)(__x >> 8 * i);
        return x;
    }
    static __HA_BOTH_T__ __hip_fp8x2_storage_t join(const one &low, const one &high) {
        return (__hip_fp8x2_storage_t)(low.__x | high.__x << 8);
    }
};
template <int format> struct __ha_fp8x4 {
    typedef __ha_fp8x2<format> half_of_it;
    __hip_fp8x4_storage_t __x;
    __ha_fp8x4() = default;
    __HA_BOTH_T__ __ha_fp8x4(const float4 &v)
        : __x(join(float2(v.x, v.y), float2(v.z, v.w))) {}
    __HA_BOTH_T__ __ha_fp8x4(const double4 &v)
        : __x(join(double2(v.x, v.y), double2(v.z, v.w))) {}
    __HA_BOTH_T__ __ha_fp8x4(const __half2 &low, const __half2 &high)
        : __x(join(low, high)) {}
    __HA_BOTH_T__ __ha_fp8x4(const __hip_bfloat162 &low, const __hip_bfloat162 &high)
        : __x(join(low, high)) {}
    __HA_BOTH_T__ operator float4() const {
        half_of_it low, high;
        low.__x = (__hip_fp8x2_storage_t)__x;
        high.__x = (__hip_fp8x2_storage_t)(__x >> 16);
        float2 a = low, b = high;
        return float4(a.x, a.y, b.x, b.y);
    }

  private:
    static __HA_BOTH_T__ __hip_fp8x4_storage_t join(const half_of_it &low,
                                                    const half_of_it &high) {
        return low.__x | (__hip_fp8x4_storage_t)high.__x << 16;
    }
};
#define __HA_FP8__(name, format)                                                        \
    struct __hip_fp8_##name : __ha_fp8<format> {                                        \
        using __ha_fp8<format>::__ha_fp8;                                               \
        __hip_fp8_##name() = default;                                                   \
    };                                                                                  \
    struct __hip_fp8x2_##name : __ha_fp8x2<format> {                                    \
        using __ha_fp8x2<format>::__ha_fp8x2;                                           \
        __hip_fp8x2_##name() = default;                                                 \
    };                                                                                  \
    struct __hip_fp8x4_##name : __ha_fp8x4<format> {                                    \
        using __ha_fp8x4<format>::__ha_fp8x4;                                           \
        __hip_fp8x4_##name() = default;                                                 \
    };
__HA_FP8__(e4m3, __HIP_E4M3)
__HA_FP8__(e5m2, __HIP_E5M2)
__HA_FP8__(e4m3_fnuz, __HIP_E4M3_FNUZ)
__HA_FP8__(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef __HA_FP8__
