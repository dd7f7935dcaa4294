/* SPDX-License-Identifier: MIT */
/* __half and __half2, their conversions, arithmetic, comparisons and functions.  Results
 * are rounded once to nearest, unless the name says another direction. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#include "hipadapt/small_float.h"

typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};
struct __half2_raw {
    union {
        struct {
            __half_raw x;
            __half_raw y;
        };
        _Float16_2 data;
    };
};

template <class _Tp>
using __ha_to_half = __ha_if<__is_same(_Tp, float) || __is_same(_Tp, double) ||
                             __is_same(_Tp, _Float16) || __is_integral(_Tp)>;

struct __half {
  protected:
    union {
        _Float16 data;
        unsigned short __x;
    };

  public:
    __half() = default;
    __HA_BOTH_T__ __half(const __half_raw &raw) : data{raw.data} {}
    __HA_BOTH_T__ __half &operator=(const __half_raw &raw) {
        data = raw.data;
        return *this;
    }
    __attribute__((host, device)) volatile __half &
    operator=(const __half_raw &raw) volatile {
        data = raw.data;
        return *this;
    }
    __attribute__((host, device)) volatile __half &
    operator=(const volatile __half_raw &raw) volatile {
        data = raw.data;
        return *this;
    }
    __HA_BOTH_T__ __half &operator=(const __half_raw &&raw) {
        data = raw.data;
        return *this;
    }
    __attribute__((host, device)) volatile __half &
    operator=(const volatile __half_raw &&raw) volatile {
        data = raw.data;
        return *this;
    }
    __HA_BOTH_T__ operator __half_raw() const { return __half_raw{data}; }
    __attribute__((host, device)) operator __half_raw() const volatile {
        return __half_raw{data};
    }
#ifndef __HIP_NO_HALF_CONVERSIONS__
    template <class _Tp, class = __ha_to_half<_Tp>>
    __HA_BOTH_T__ __half(_Tp x) : data{of(x)} {}
    /* For what becomes a number by a conversion of its own. */
    __HA_BOTH_T__ __half(_Float16 x) : data{x} {}
    template <class _Tp, class = __ha_to_half<_Tp>>
    __HA_BOTH_T__ __half &operator=(_Tp x) {
        data = of(x);
        return *this;
    }
    template <class _Tp, class = __ha_to_half<_Tp>> __HA_BOTH_T__ operator _Tp() const {
        return static_cast<_Tp>(data);
    }
#endif

  private:
    template <class _Tp> static __HA_BOTH_T__ _Float16 of(_Tp x) {
        if constexpr (__is_same(_Tp, _Float16))
            return x;
        else if constexpr (__is_same(_Tp, double))
            return __ha_half<__HA_ROUND_rn__>(__ha_odd(x));
        else
            return __ha_half<__HA_ROUND_rn__>((float)x);
    }
};

struct __half2 {
    union {
        struct {
            __half x;
            __half y;
        };
        _Float16_2 data;
    };
    __half2() = default;
    __HA_BOTH_T__ __half2(const __half &low, const __half &high) : x{low}, y{high} {}
    __HA_BOTH_T__ __half2(const __half2_raw &raw) : x{raw.x}, y{raw.y} {}
    __HA_BOTH_T__ __half2(_Float16_2 both)
        : x{__half_raw{both[0]}}, y{__half_raw{both[1]}} {}
    __HA_BOTH_T__ __half2 &operator=(const __half2_raw &raw) {
        x = raw.x;
        y = raw.y;
        return *this;
    }
    __HA_BOTH_T__ operator _Float16_2() const {
        return _Float16_2{static_cast<__half_raw>(x).data,
                          static_cast<__half_raw>(y).data};
    }
    __HA_BOTH_T__ operator __half2_raw() const { return __half2_raw{{{x, y}}}; }
};

template <> struct __ha_small<__half> {
    static __HA_BOTH_T__ __half of(float x) {
        return __HA_BITS__(__half, __ha_half<__HA_ROUND_rn__>(x));
    }
    static __HA_BOTH_T__ __half of(double x) { return of(__ha_odd(x)); }
    static __HA_BOTH_T__ __half bits(unsigned short x) { return __HA_BITS__(__half, x); }
    static __HA_BOTH_T__ float wide(const __half &x) { return __HA_BITS__(_Float16, x); }
};

#define __HA_SMALL_AS__ template <class _Np = __half, class _Pp = __half2, int = 0>
#define __HA_SMALL__ __HA_SMALL_AS__ __HA_BOTH_T__
#define __HA_SMALL_DEVICE__                                                             \
    __HA_SMALL_AS__ inline __attribute__((device, always_inline))
#define __HA_ISINF__ bool
#define __HA_PAIR_NOT_EQUAL__ &&
#ifdef __HIP_NO_HALF_OPERATORS__
#define __HA_NO_OPERATORS__
#endif
#include "hipadapt/small_float_functions.h"
#undef __HA_NO_OPERATORS__
#undef __HA_ISINF__
#undef __HA_PAIR_NOT_EQUAL__

/* ---- conversions ---- */

__HA_SMALL__ short __half_as_short(__ha_in<_Np> x) { return __HA_BITS__(short, x); }
__HA_SMALL__ unsigned short __half_as_ushort(__ha_in<_Np> x) {
    return __HA_BITS__(unsigned short, x);
}
__HA_SMALL__ _Np __short_as_half(short x) {
    return __ha_small<_Np>::bits((unsigned short)x);
}
__HA_SMALL__ _Np __ushort_as_half(unsigned short x) { return __ha_small<_Np>::bits(x); }

__HA_SMALL__ float __half2float(__ha_in<_Np> x) { return __ha_small<_Np>::wide(x); }
__HA_SMALL__ _Np __float2half(float x) { return __ha_small<_Np>::of(x); }
__HA_SMALL__ _Np __double2half(double x) { return __ha_small<_Np>::of(x); }

/* Integers of 2^24 and above are out of half's range in all directions, so going by float
 * rounds once. */
#define __HA_HALF_INTEGER__(name, _Ip, direction)                                       \
    __HA_SMALL__ _Ip __half2##name##_##direction(__ha_in<_Np> x) {                      \
        float whole = __ha_whole<__HA_ROUND_##direction##__>(__half2float(x));          \
        return __ha_saturate<_Ip>(whole);                                               \
    }                                                                                   \
    __HA_SMALL__ _Np __##name##2half_##direction(_Ip x) {                               \
        return __HA_BITS__(_Np, __ha_half<__HA_ROUND_##direction##__>((float)x));       \
    }
#define __HA_HALF_DIRECTION__(direction)                                                \
    __HA_SMALL__ _Np __float2half_##direction(float x) {                                \
        return __HA_BITS__(_Np, __ha_half<__HA_ROUND_##direction##__>(x));              \
    }                                                                                   \
    __HA_HALF_INTEGER__(short, short, direction)                                        \
    __HA_HALF_INTEGER__(ushort, unsigned short, direction)                              \
    __HA_HALF_INTEGER__(int, int, direction)                                            \
    __HA_HALF_INTEGER__(uint, unsigned int, direction)                                  \
    __HA_HALF_INTEGER__(ll, long long, direction)                                       \
    __HA_HALF_INTEGER__(ull, unsigned long long, direction)
__HA_HALF_DIRECTION__(rn)
__HA_HALF_DIRECTION__(rz)
__HA_HALF_DIRECTION__(ru)
__HA_HALF_DIRECTION__(rd)
#undef __HA_HALF_DIRECTION__
#undef __HA_HALF_INTEGER__

/* ---- pairs ---- */

__HA_SMALL__ _Pp make_half2(__ha_in<_Np> x, __ha_in<_Np> y) { return _Pp(x, y); }
__HA_SMALL__ _Np __low2half(__ha_in<_Pp> a) { return a.x; }
__HA_SMALL__ _Np __high2half(__ha_in<_Pp> a) { return a.y; }
__HA_SMALL__ _Pp __half2half2(__ha_in<_Np> a) { return _Pp(a, a); }
__HA_SMALL__ _Pp __halves2half2(__ha_in<_Np> a, __ha_in<_Np> b) { return _Pp(a, b); }
__HA_SMALL__ _Pp __low2half2(__ha_in<_Pp> a) { return _Pp(a.x, a.x); }
__HA_SMALL__ _Pp __high2half2(__ha_in<_Pp> a) { return _Pp(a.y, a.y); }
__HA_SMALL__ _Pp __lows2half2(__ha_in<_Pp> a, __ha_in<_Pp> b) { return _Pp(a.x, b.x); }
__HA_SMALL__ _Pp __highs2half2(__ha_in<_Pp> a, __ha_in<_Pp> b) { return _Pp(a.y, b.y); }
__HA_SMALL__ _Pp __lowhigh2highlow(__ha_in<_Pp> a) { return _Pp(a.y, a.x); }
__HA_SMALL__ float __low2float(__ha_in<_Pp> a) { return __half2float(a.x); }
__HA_SMALL__ float __high2float(__ha_in<_Pp> a) { return __half2float(a.y); }
__HA_SMALL__ _Pp __float2half2_rn(float a) { return __half2half2(__float2half(a)); }
__HA_SMALL__ _Pp __floats2half2_rn(float a, float b) {
    return _Pp(__float2half(a), __float2half(b));
}
__HA_SMALL__ _Pp __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
__HA_SMALL__ float2 __half22float2(__ha_in<_Pp> a) {
    return float2(__half2float(a.x), __half2float(a.y));
}
/* c + a.x * b.x + a.y * b.y in float; the products are exact. */
__HA_SMALL__ float amd_mixed_dot(__ha_in<_Pp> a, __ha_in<_Pp> b, float c, bool saturate) {
    float sum = __builtin_fmaf(__half2float(a.y), __half2float(b.y),
                               __builtin_fmaf(__half2float(a.x), __half2float(b.x), c));
    return !saturate || (sum >= 0.0f && sum <= 1.0f) ? sum : sum > 0.0f ? 1.0f : 0.0f;
}

#ifndef HIP_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#undef __HA_SMALL__
#undef __HA_SMALL_AS__
#undef __HA_SMALL_DEVICE__
