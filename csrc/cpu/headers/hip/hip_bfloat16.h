/* SPDX-License-Identifier: MIT */
/* hip_bfloat16, the older type: its bits are a member.  New programs take hip_bf16.h. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#include "hipadapt/small_float.h"

struct hip_bfloat16 {
    unsigned short data;
    enum truncate_t { truncate };
    hip_bfloat16() = default;
    explicit __HA_BOTH_T__ hip_bfloat16(float x) : data(__ha_bfloat<__HA_ROUND_rn__>(x)) {}
    explicit __HA_BOTH_T__ hip_bfloat16(float x, truncate_t)
        : data(__ha_bfloat<__HA_ROUND_rz__>(x)) {}
    __HA_BOTH_T__ operator float() const { return __ha_bfloat_wide(data); }
    __HA_BOTH_T__ hip_bfloat16 &operator=(const float &x) {
        data = __ha_bfloat<__HA_ROUND_rn__>(x);
        return *this;
    }
    static __HA_BOTH_T__ hip_bfloat16 round_to_bfloat16(float x) { return hip_bfloat16(x); }
    static __HA_BOTH_T__ hip_bfloat16 round_to_bfloat16(float x, truncate_t) {
        return hip_bfloat16(x, truncate);
    }
};
#define __HA_OLD_BFLOAT__(op)                                                           \
    __HA_BOTH__ hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) {              \
        return hip_bfloat16(float(a) op float(b));                                      \
    }                                                                                   \
    __HA_BOTH__ hip_bfloat16 &operator op##=(hip_bfloat16 &a, hip_bfloat16 b) {         \
        return a = a op b;                                                              \
    }
__HA_OLD_BFLOAT__(+)
__HA_OLD_BFLOAT__(-)
__HA_OLD_BFLOAT__(*)
__HA_OLD_BFLOAT__(/)
#undef __HA_OLD_BFLOAT__
#define __HA_OLD_BFLOAT__(op)                                                           \
    __HA_BOTH__ bool operator op(hip_bfloat16 a, hip_bfloat16 b) {                      \
        return float(a) op float(b);                                                    \
    }
__HA_OLD_BFLOAT__(==)
__HA_OLD_BFLOAT__(!=)
__HA_OLD_BFLOAT__(<)
__HA_OLD_BFLOAT__(>)
__HA_OLD_BFLOAT__(<=)
__HA_OLD_BFLOAT__(>=)
#undef __HA_OLD_BFLOAT__
__HA_BOTH__ hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
__HA_BOTH__ hip_bfloat16 operator-(hip_bfloat16 a) {
    a.data ^= 0x8000;
    return a;
}
__HA_BOTH__ hip_bfloat16 &operator++(hip_bfloat16 &a) { return a += hip_bfloat16(1.0f); }
__HA_BOTH__ hip_bfloat16 &operator--(hip_bfloat16 &a) { return a -= hip_bfloat16(1.0f); }
__HA_BOTH__ hip_bfloat16 operator++(hip_bfloat16 &a, int) {
    hip_bfloat16 old = a;
    ++a;
    return old;
}
__HA_BOTH__ hip_bfloat16 operator--(hip_bfloat16 &a, int) {
    hip_bfloat16 old = a;
    --a;
    return old;
}
namespace std {
__HA_BOTH__ bool iszero(hip_bfloat16 a) { return (a.data & 0x7fff) == 0; }
}
