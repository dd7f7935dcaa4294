/* SPDX-License-Identifier: MIT */
/* Small integers that share a word: sums of their products, and four bytes at once. */
#pragma once
#pragma clang system_header

/* The exact sum as a word: with `saturate` the nearest one, else its low bits. */
template <class _Wp> __HA_FN_T__ _Wp __ha_dot_word(long sum, bool saturate) {
    const long low = (_Wp)-1 < (_Wp)0 ? -0x80000000l : 0l, high = low + 0xffffffffl;
    return (_Wp)(!saturate ? sum : sum < low ? low : sum > high ? high : sum);
}

/* Two numbers of 16 bits or four of 8; the sum is signed if they are. */
template <class _Tp> struct __ha_dot;
template <> struct __ha_dot<short> {
    typedef int word;
};
template <> struct __ha_dot<unsigned short> {
    typedef unsigned word;
};
template <> struct __ha_dot<char> {
    typedef int word;
};
template <> struct __ha_dot<unsigned char> {
    typedef unsigned word;
};
template <class _Tp, unsigned n, class _Wp = typename __ha_dot<_Tp>::word,
          class = __ha_if<sizeof(_Tp) * n == sizeof(_Wp)>>
__HA_FN_T__ _Wp amd_mixed_dot(const HIP_vector_type<_Tp, n> &a,
                            const HIP_vector_type<_Tp, n> &b, __ha_same<_Wp> c,
                            bool saturate) {
    long sum = c;
    for (unsigned i = 0; i < n; i++)
        sum += (long)a[i] * b[i];
    return __ha_dot_word<_Wp>(sum, saturate);
}

/* Eight numbers of 4 bits in each word. */
#define __HA_DOT8__(_Wp)                                                                 \
    __HA_FN__ _Wp amd_mixed_dot(_Wp a, _Wp b, _Wp c, bool saturate) {                    \
        long sum = c;                                                                    \
        for (unsigned i = 0; i < 32; i += 4) {                                           \
            _Wp one = (_Wp)((unsigned)a << i) >> 28,                                     \
                other = (_Wp)((unsigned)b << i) >> 28;                                   \
            sum += (long)one * other;                                                    \
        }                                                                                \
        return __ha_dot_word<_Wp>(sum, saturate);                                        \
    }
__HA_DOT8__(int)
__HA_DOT8__(unsigned)
#undef __HA_DOT8__

/* Byte by byte, without a carry between them. */
#define __HA_BYTES__(name, op)                                                          \
    template <class _Tp = char>                                                         \
    __HA_FN_T__ HIP_vector_type<_Tp, 4> __hip_hc_##name##8pk(                           \
        const HIP_vector_type<__ha_same<_Tp>, 4> &a,                                    \
        const HIP_vector_type<__ha_same<_Tp>, 4> &b) {                                  \
        return HIP_vector_type<_Tp, 4>(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w); \
    }
__HA_BYTES__(add, +)
__HA_BYTES__(sub, -)
__HA_BYTES__(mul, *)
#undef __HA_BYTES__
