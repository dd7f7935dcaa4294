/* SPDX-License-Identifier: MIT */
/* Integer intrinsics, bit casts, and conversions with a rounding direction. */
#pragma once
#pragma clang system_header

__HA_FN__ int __popc(unsigned x) { return __builtin_popcount(x); }
__HA_FN__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__HA_FN__ int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__HA_FN__ int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
__HA_FN__ int __ffs(int x) { return __builtin_ffs(x); }
__HA_FN__ int __ffs(unsigned x) { return __builtin_ffs((int)x); }
__HA_FN__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__HA_FN__ int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
__HA_FN__ int __ffsll(unsigned long x) { return __builtin_ffsll((long long)x); }
__HA_FN__ unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__HA_FN__ unsigned long long __brevll(unsigned long long x) {
    return __builtin_bitreverse64(x);
}
__HA_FN__ int __mul24(int a, int b) {
    int low_a = (int)((unsigned)a << 8) >> 8, low_b = (int)((unsigned)b << 8) >> 8;
    return (int)((unsigned)low_a * (unsigned)low_b);
}
__HA_FN__ unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
__HA_FN__ int mul24(int a, int b) { return __mul24(a, b); }
__HA_FN__ unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
__HA_FN__ int __mulhi(int a, int b) { return (int)(((long)a * b) >> 32); }
__HA_FN__ unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long)a * b) >> 32);
}
__HA_FN__ long long __mul64hi(long long a, long long b) {
    return (long long)(((__int128)a * b) >> 64);
}
__HA_FN__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
__HA_FN__ int __hadd(int a, int b) { return (int)(((long)a + b) >> 1); }
__HA_FN__ int __rhadd(int a, int b) { return (int)(((long)a + b + 1) >> 1); }
__HA_FN__ unsigned __uhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long)a + b) >> 1);
}
__HA_FN__ unsigned __urhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long)a + b + 1) >> 1);
}
__HA_FN__ unsigned __sad(int a, int b, unsigned c) {
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}
__HA_FN__ unsigned __usad(unsigned a, unsigned b, unsigned c) {
    return (a > b ? a - b : b - a) + c;
}
__HA_FN__ unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)((((unsigned long)hi << 32 | lo) << (n & 31)) >> 32);
}
__HA_FN__ unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long)hi << 32 | lo) >> (n & 31));
}
__HA_FN__ unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)((((unsigned long)hi << 32 | lo) << (n < 32 ? n : 32)) >> 32);
}
__HA_FN__ unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((unsigned long)hi << 32 | lo) >> (n < 32 ? n : 32));
}
__HA_FN__ unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned long v = (unsigned long)y << 32 | x;
    return (unsigned)((v >> 8 * (s & 7)) & 0xff) |
           (unsigned)((v >> 8 * (s >> 4 & 7)) & 0xff) << 8 |
           (unsigned)((v >> 8 * (s >> 8 & 7)) & 0xff) << 16 |
           (unsigned)((v >> 8 * (s >> 12 & 7)) & 0xff) << 24;
}
__HA_FN__ unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
    offset &= 31;
    width &= 31;
    return width == 0 ? 0 : x << (32 - offset - width & 31) >> (32 - width);
}
__HA_FN__ unsigned long __bitextract_u64(unsigned long x, unsigned offset,
                                         unsigned width) {
    offset &= 63;
    width &= 63;
    return width == 0 ? 0 : x << (64 - offset - width & 63) >> (64 - width);
}
__HA_FN__ unsigned __bitinsert_u32(unsigned x, unsigned y, unsigned offset,
                                   unsigned width) {
    offset &= 31;
    unsigned mask = (1u << (width & 31)) - 1;
    return (x & ~(mask << offset)) | (y & mask) << offset;
}
__HA_FN__ unsigned long __bitinsert_u64(unsigned long x, unsigned long y, unsigned offset,
                                        unsigned width) {
    offset &= 63;
    unsigned long mask = ((unsigned long)1 << (width & 63)) - 1;
    return (x & ~(mask << offset)) | (y & mask) << offset;
}
__HA_FN__ unsigned __lastbit_u32_u64(unsigned long x) {
    return x == 0 ? ~0u : (unsigned)__builtin_ctzl(x);
}
/* The index of the bit number `offset` at or above `base`; a negative offset counts at or
 * below it, 0 asks for the bit at `base` itself; -1 where there is none. */
__HA_FN__ int __ha_find_bit(unsigned long mask, unsigned base, int offset,
                            unsigned bits) {
    if (base >= bits)
        return -1;
    if (offset == 0)
        return mask >> base & 1 ? (int)base : -1;
    if (offset > 0) {
        for (mask &= ~0ul << base; offset > 1 && mask != 0; offset--)
            mask &= mask - 1;
        return mask != 0 ? __builtin_ctzl(mask) : -1;
    }
    for (mask &= ~0ul >> (63 - base); offset < -1 && mask != 0; offset++)
        mask &= ~(1ul << (63 - __builtin_clzl(mask)));
    return mask != 0 ? 63 - __builtin_clzl(mask) : -1;
}
__HA_FN__ int __fns64(unsigned long mask, unsigned base, int offset) {
    return __ha_find_bit(mask, base, offset, 64);
}
__HA_FN__ int __fns32(unsigned long mask, unsigned base, int offset) {
    return __ha_find_bit(mask & 0xffffffffu, base, offset, 32);
}
__HA_FN__ int __fns(unsigned mask, unsigned base, int offset) {
    return __ha_find_bit(mask, base, offset, 32);
}

__HA_FN__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__HA_FN__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__HA_FN__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__HA_FN__ float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__HA_FN__ long long __double_as_longlong(double x) {
    return __builtin_bit_cast(long long, x);
}
__HA_FN__ double __longlong_as_double(long long x) {
    return __builtin_bit_cast(double, x);
}
__HA_FN__ int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__HA_FN__ int __double2loint(double x) { return (int)__double_as_longlong(x); }
__HA_FN__ double __hiloint2double(int hi, int lo) {
    return __longlong_as_double((long long)((unsigned long)(unsigned)hi << 32 |
                                            (unsigned)lo));
}

/* Out of range gives the nearest integer, NaN gives 0, as on the GPU. */
template <class _Ip, class _Fp> __HA_FN_T__ _Ip __ha_to_integer(_Fp x) {
    constexpr bool is_signed = (_Ip)-1 < (_Ip)0;
    constexpr int bits = (int)sizeof(_Ip) * 8 - (is_signed ? 1 : 0);
    constexpr _Fp bound = (_Fp)((_Ip)1 << (bits - 1)) * 2;
    constexpr _Ip largest = (_Ip)(((_Ip)1 << (bits - 1)) - 1 + ((_Ip)1 << (bits - 1)));
    if (!(x == x))
        return 0;
    if (x >= bound)
        return largest;
    if (is_signed ? x < -bound : x <= (_Fp)-1)
        return is_signed ? (_Ip)(-largest - 1) : (_Ip)0;
    return (_Ip)x;
}
#define __HA_TO_INTEGER__(from, _Fp, to, _Ip, f)                                        \
    __HA_FN__ _Ip __##from##2##to##_rz(_Fp x) { return __ha_to_integer<_Ip>(x); }       \
    __HA_FN__ _Ip __##from##2##to##_rn(_Fp x) {                                         \
        return __ha_to_integer<_Ip>(__builtin_rint##f(x));                              \
    }                                                                                   \
    __HA_FN__ _Ip __##from##2##to##_ru(_Fp x) {                                         \
        return __ha_to_integer<_Ip>(__builtin_ceil##f(x));                              \
    }                                                                                   \
    __HA_FN__ _Ip __##from##2##to##_rd(_Fp x) {                                         \
        return __ha_to_integer<_Ip>(__builtin_floor##f(x));                             \
    }
__HA_TO_INTEGER__(float, float, int, int, f)
__HA_TO_INTEGER__(float, float, uint, unsigned, f)
__HA_TO_INTEGER__(float, float, ll, long long, f)
__HA_TO_INTEGER__(float, float, ull, unsigned long long, f)
__HA_TO_INTEGER__(double, double, int, int, )
__HA_TO_INTEGER__(double, double, uint, unsigned, )
__HA_TO_INTEGER__(double, double, ll, long long, )
__HA_TO_INTEGER__(double, double, ull, unsigned long long, )
#undef __HA_TO_INTEGER__

/* From integers with a direction: what does not fit is cut off, and the next number of
 * larger size is taken where the direction says so. */
__HA_FN__ float __ha_larger(float x) {
    return __uint_as_float(__float_as_uint(x) + 1);
}
__HA_FN__ double __ha_larger(double x) {
    return __builtin_bit_cast(double, __builtin_bit_cast(unsigned long, x) + 1);
}
template <class _Fp, int digits>
__HA_FN_T__ _Fp __ha_of_size(unsigned long size, bool negative, bool away) {
    int extra = 64 - digits - (size != 0 ? __builtin_clzl(size) : 64);
    unsigned long cut =
        extra > 0 ? size & ~(((unsigned long)1 << extra) - 1) : size;
    _Fp x = (_Fp)cut;
    x = away && cut != size ? __ha_larger(x) : x;
    return negative ? -x : x;
}
#define __HA_OF_INTEGER__(from, _Ip, to, _Fp, digits)                                   \
    template <class = void> __HA_FN_T__ _Fp __ha_##from##2##to(_Ip x, int direction) {  \
        bool negative = x < (_Ip)0;                                                     \
        unsigned long size = negative ? 0ul - (unsigned long)x : (unsigned long)x;      \
        return __ha_of_size<_Fp, digits>(size, negative,                                \
                                       direction != 0 && (direction < 0) == negative);  \
    }                                                                                   \
    __HA_FN__ _Fp __##from##2##to##_rz(_Ip x) { return __ha_##from##2##to(x, 0); }      \
    __HA_FN__ _Fp __##from##2##to##_rd(_Ip x) { return __ha_##from##2##to(x, -1); }     \
    __HA_FN__ _Fp __##from##2##to##_ru(_Ip x) { return __ha_##from##2##to(x, 1); }
__HA_OF_INTEGER__(int, int, float, float, 24)
__HA_OF_INTEGER__(uint, unsigned, float, float, 24)
__HA_OF_INTEGER__(ll, long long, float, float, 24)
__HA_OF_INTEGER__(ull, unsigned long long, float, float, 24)
__HA_OF_INTEGER__(ll, long long, double, double, 53)
__HA_OF_INTEGER__(ull, unsigned long long, double, double, 53)
#undef __HA_OF_INTEGER__
/* What is too large for a float does not become an infinity on its way to the largest
 * one: checks for infinities would find that. */
__HA_FN__ float __double2float_rz(double x) {
    if (__builtin_fabs(x) > 0x1.fffffep127 && !__builtin_isinf(x))
        return __builtin_copysignf(0x1.fffffep127f, (float)(x * 0x1p-1000));
    float near = (float)x;
    return __builtin_fabs((double)near) > __builtin_fabs(x)
               ? __uint_as_float(__float_as_uint(near) - 1)
               : near;
}
__HA_FN__ float __double2float_rd(double x) {
    float near = __double2float_rz(x);
    return (double)near > x ? __ha_larger(near) : near;
}
__HA_FN__ float __double2float_ru(double x) {
    float near = __double2float_rz(x);
    return (double)near < x ? __ha_larger(near) : near;
}
__HA_FN__ float __int2float_rn(int x) { return (float)x; }
__HA_FN__ float __uint2float_rn(unsigned x) { return (float)x; }
__HA_FN__ float __ll2float_rn(long long x) { return (float)x; }
__HA_FN__ float __ull2float_rn(unsigned long long x) { return (float)x; }
__HA_FN__ double __int2double_rn(int x) { return x; }
__HA_FN__ double __uint2double_rn(unsigned x) { return x; }
__HA_FN__ double __ll2double_rn(long long x) { return (double)x; }
__HA_FN__ double __ull2double_rn(unsigned long long x) { return (double)x; }
__HA_FN__ float __double2float_rn(double x) { return (float)x; }
