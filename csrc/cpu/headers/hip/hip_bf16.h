/* SPDX-License-Identifier: MIT */
/* __hip_bfloat16 and __hip_bfloat162, their conversions, arithmetic, comparisons and
 * functions.  Results are rounded once to nearest. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#include "hipadapt/small_float.h"

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __hip_bfloat16_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x;
    unsigned short y;
} __hip_bfloat162_raw;

struct __attribute__((aligned(2))) __hip_bfloat16 {
  protected:
    unsigned short __x;

  private:
    static __HA_BOTH_T__ unsigned short of(float x) {
        return __ha_bfloat<__HA_ROUND_rn__>(x);
    }
    static __HA_BOTH_T__ unsigned short of(double x) { return of(__ha_odd(x)); }

  public:
    __hip_bfloat16() = default;
    __HA_BOTH_T__ __hip_bfloat16(const __hip_bfloat16_raw &raw) : __x(raw.x) {}
    __HA_BOTH_T__ __hip_bfloat16 &operator=(const __hip_bfloat16_raw &raw) {
        __x = raw.x;
        return *this;
    }
    __attribute__((host, device)) volatile __hip_bfloat16 &
    operator=(const __hip_bfloat16_raw &raw) volatile {
        __x = raw.x;
        return *this;
    }
    __attribute__((host, device)) volatile __hip_bfloat16 &
    operator=(const volatile __hip_bfloat16_raw &raw) volatile {
        __x = raw.x;
        return *this;
    }
    __HA_BOTH_T__ operator __hip_bfloat16_raw() const { return __hip_bfloat16_raw{__x}; }
    __attribute__((host, device)) operator __hip_bfloat16_raw() const volatile {
        return __hip_bfloat16_raw{__x};
    }
#define __HA_BFLOAT_OF__(_Tp, expression)                                               \
    __HA_BOTH_T__ __hip_bfloat16(_Tp value) : __x(of(expression)) {}
    __HA_BFLOAT_OF__(float, value)
    __HA_BFLOAT_OF__(double, value)
    __HA_BFLOAT_OF__(short, (float)value)
    __HA_BFLOAT_OF__(unsigned short, (float)value)
    __HA_BFLOAT_OF__(int, (double)value)
    __HA_BFLOAT_OF__(unsigned int, (double)value)
    __HA_BFLOAT_OF__(long, __ha_odd_integer(value))
    __HA_BFLOAT_OF__(unsigned long, __ha_odd_integer(value))
    __HA_BFLOAT_OF__(long long, __ha_odd_integer(value))
    __HA_BFLOAT_OF__(unsigned long long, __ha_odd_integer(value))
#undef __HA_BFLOAT_OF__
#define __HA_BFLOAT_TO__(_Tp)                                                           \
    __HA_BOTH_T__ operator _Tp() const { return static_cast<_Tp>(__ha_bfloat_wide(__x)); }
    __HA_BFLOAT_TO__(bool)
    __HA_BFLOAT_TO__(char)
    __HA_BFLOAT_TO__(signed char)
    __HA_BFLOAT_TO__(unsigned char)
    __HA_BFLOAT_TO__(short)
    __HA_BFLOAT_TO__(unsigned short)
    __HA_BFLOAT_TO__(int)
    __HA_BFLOAT_TO__(unsigned int)
    __HA_BFLOAT_TO__(long)
    __HA_BFLOAT_TO__(unsigned long)
    __HA_BFLOAT_TO__(long long)
    __HA_BFLOAT_TO__(unsigned long long)
    __HA_BFLOAT_TO__(float)
#undef __HA_BFLOAT_TO__
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
    __hip_bfloat16 x;
    __hip_bfloat16 y;
    __hip_bfloat162() = default;
    __HA_BOTH_T__ __hip_bfloat162(const __hip_bfloat16 &low, const __hip_bfloat16 &high)
        : x(low), y(high) {}
    __HA_BOTH_T__ __hip_bfloat162(const __hip_bfloat162_raw &raw)
        : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
    __HA_BOTH_T__ __hip_bfloat162 &operator=(const __hip_bfloat162_raw &raw) {
        x = __hip_bfloat16_raw{raw.x};
        y = __hip_bfloat16_raw{raw.y};
        return *this;
    }
    __HA_BOTH_T__ operator __hip_bfloat162_raw() const {
        return __hip_bfloat162_raw{static_cast<__hip_bfloat16_raw>(x).x,
                                   static_cast<__hip_bfloat16_raw>(y).x};
    }
    __HA_BOTH_T__ operator float2() const { return float2((float)x, (float)y); }
};

template <> struct __ha_small<__hip_bfloat16> {
    static __HA_BOTH_T__ __hip_bfloat16 of(float x) {
        return bits(__ha_bfloat<__HA_ROUND_rn__>(x));
    }
    static __HA_BOTH_T__ __hip_bfloat16 of(double x) { return of(__ha_odd(x)); }
    static __HA_BOTH_T__ __hip_bfloat16 bits(unsigned short x) {
        return __HA_BITS__(__hip_bfloat16, x);
    }
    static __HA_BOTH_T__ float wide(const __hip_bfloat16 &x) {
        return __ha_bfloat_wide(__HA_BITS__(unsigned short, x));
    }
};

#define __HA_SMALL_AS__                                                                 \
    template <class _Np = __hip_bfloat16, class _Pp = __hip_bfloat162, long = 0>
#define __HA_SMALL__ __HA_SMALL_AS__ __HA_BOTH_T__
#define __HA_SMALL_DEVICE__                                                             \
    __HA_SMALL_AS__ inline __attribute__((device, always_inline))
#define __HA_ISINF__ int
#define __HA_PAIR_NOT_EQUAL__ ||
#include "hipadapt/small_float_functions.h"
#undef __HA_ISINF__
#undef __HA_PAIR_NOT_EQUAL__

/* ---- conversions ---- */

__HA_SMALL__ float __bfloat162float(__ha_in<_Np> a) { return __ha_small<_Np>::wide(a); }
__HA_SMALL__ _Np __float2bfloat16(float a) { return __ha_small<_Np>::of(a); }
__HA_SMALL__ _Np __double2bfloat16(double a) { return __ha_small<_Np>::of(a); }
#define __HA_BFLOAT_DIRECTION__(direction)                                              \
    __HA_SMALL__ _Np __float2bfloat16_##direction(float a) {                            \
        return __ha_small<_Np>::bits(__ha_bfloat<__HA_ROUND_##direction##__>(a));       \
    }
__HA_BFLOAT_DIRECTION__(rn)
__HA_BFLOAT_DIRECTION__(rz)
__HA_BFLOAT_DIRECTION__(ru)
__HA_BFLOAT_DIRECTION__(rd)
#undef __HA_BFLOAT_DIRECTION__
__HA_SMALL__ short __bfloat16_as_short(__ha_in<_Np> a) { return __HA_BITS__(short, a); }
__HA_SMALL__ unsigned short __bfloat16_as_ushort(__ha_in<_Np> a) {
    return __HA_BITS__(unsigned short, a);
}
__HA_SMALL__ _Np __short_as_bfloat16(short a) {
    return __ha_small<_Np>::bits((unsigned short)a);
}
__HA_SMALL__ _Np __ushort_as_bfloat16(unsigned short a) {
    return __ha_small<_Np>::bits(a);
}

/* ---- pairs ---- */

#define __HA_PAIR__(name, low, high)                                                    \
    __HA_SMALL__ _Pp name(__ha_in<_Pp> a) { return _Pp(low, high); }
#define __HA_PAIR_OF__(name, from, low, high)                                           \
    __HA_SMALL__ _Pp name(__ha_in<from> a, __ha_in<from> b) { return _Pp(low, high); }
__HA_PAIR_OF__(make_bfloat162, _Np, a, b)
__HA_PAIR_OF__(__halves2bfloat162, _Np, a, b)
__HA_PAIR_OF__(__lows2bfloat162, _Pp, a.x, b.x)
__HA_PAIR_OF__(__highs2bfloat162, _Pp, a.y, b.y)
__HA_PAIR__(__low2bfloat162, a.x, a.x)
__HA_PAIR__(__high2bfloat162, a.y, a.y)
__HA_PAIR__(__lowhigh2highlow, a.y, a.x)
#undef __HA_PAIR__
#undef __HA_PAIR_OF__
__HA_SMALL__ _Pp __bfloat162bfloat162(__ha_in<_Np> a) { return _Pp(a, a); }
__HA_SMALL__ _Np __low2bfloat16(__ha_in<_Pp> a) { return a.x; }
__HA_SMALL__ _Np __high2bfloat16(__ha_in<_Pp> a) { return a.y; }
__HA_SMALL__ float __low2float(__ha_in<_Pp> a) { return __bfloat162float(a.x); }
__HA_SMALL__ float __high2float(__ha_in<_Pp> a) { return __bfloat162float(a.y); }
__HA_SMALL__ _Pp __floats2bfloat162_rn(float a, float b) {
    return _Pp(__ha_small<_Np>::of(a), __ha_small<_Np>::of(b));
}
__HA_SMALL__ _Pp __float22bfloat162_rn(float2 a) {
    return __floats2bfloat162_rn(a.x, a.y);
}
__HA_SMALL__ float2 __bfloat1622float2(__ha_in<_Pp> a) {
    return float2(__bfloat162float(a.x), __bfloat162float(a.y));
}

#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)

#undef __HA_SMALL__
#undef __HA_SMALL_AS__
#undef __HA_SMALL_DEVICE__
