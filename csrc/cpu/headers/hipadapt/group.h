/* SPDX-License-Identifier: MIT */
/* Barriers of the block, and what the lanes of a warp exchange.  Masks have 64 bits, as
 * in HIP; with 32 lanes the upper half is ignored. */
#pragma once
#pragma clang system_header

__HA_FN__ void __ha_block_sync(unsigned line) { (void)__ha_block(0, 0, line); }
__HA_FN__ int __ha_block_reduce(unsigned op, int value, unsigned line) {
    return (int)__ha_block(op, value != 0, line);
}
/* Macros, so that messages have the program's line; clang has builtins of these names. */
#define __syncthreads() __ha_block_sync(__LINE__)
#define __syncthreads_count(p) __ha_block_reduce(1, (p), __LINE__)
#define __syncthreads_and(p) __ha_block_reduce(2, (p), __LINE__)
#define __syncthreads_or(p) __ha_block_reduce(3, (p), __LINE__)
#define __barrier(n) __ha_block_sync(__LINE__)

__HA_FN__ unsigned __lane_id(void) {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) &
           (unsigned)(warpSize - 1);
}
__HA_FN__ uint64_t __lanemask_eq(void) { return (uint64_t)1 << __lane_id(); }
__HA_FN__ uint64_t __lanemask_lt(void) { return __lanemask_eq() - 1; }
__HA_FN__ uint64_t __lanemask_le(void) { return __lanemask_lt() | __lanemask_eq(); }
__HA_FN__ uint64_t __ha_warp_mask(void) {
    return warpSize == 64 ? ~(uint64_t)0 : ((uint64_t)1 << (warpSize & 63)) - 1;
}
__HA_FN__ uint64_t __lanemask_ge(void) { return __ha_warp_mask() & ~__lanemask_lt(); }
__HA_FN__ uint64_t __lanemask_gt(void) { return __ha_warp_mask() & ~__lanemask_le(); }

/* A mask of the program: a negative int is not a request for lanes 32 to 63. */
template <class _Mp> __HA_FN_T__ uint64_t __ha_mask(_Mp mask) {
    static_assert(__is_integral(_Mp), "the mask must be an integer");
    uint64_t bits = sizeof(_Mp) == 8 ? (uint64_t)mask : (uint64_t)(unsigned)mask;
    return bits & __ha_warp_mask();
}

/* Any type that can be copied as bytes travels in parts of eight bytes. */
template <class _Tp>
__HA_FN_T__ _Tp __ha_exchange(unsigned op, uint64_t mask, _Tp value, unsigned operand,
                            int width) {
    static_assert(__is_trivially_copyable(_Tp), "a warp exchanges values, not objects");
    if constexpr (sizeof(_Tp) <= 8) {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &value, sizeof(_Tp));
        bits = __ha_warp(op, mask, bits, operand, (unsigned)width);
        __builtin_memcpy(&value, &bits, sizeof(_Tp));
    } else {
        uint64_t parts[(sizeof(_Tp) + 7) / 8] = {};
        __builtin_memcpy(parts, &value, sizeof(_Tp));
        for (unsigned i = 0; i < (sizeof(_Tp) + 7) / 8; i++)
            parts[i] = __ha_warp(op, mask, parts[i], operand, (unsigned)width);
        __builtin_memcpy(&value, parts, sizeof(_Tp));
    }
    return value;
}
template <class _Tp> __HA_FN_T__ _Tp __shfl(_Tp v, int lane, int width = warpSize) {
    return __ha_exchange(0, 0, v, (unsigned)lane, width);
}
template <class _Tp>
__HA_FN_T__ _Tp __shfl_up(_Tp v, unsigned delta, int width = warpSize) {
    return __ha_exchange(1, 0, v, delta, width);
}
template <class _Tp>
__HA_FN_T__ _Tp __shfl_down(_Tp v, unsigned delta, int width = warpSize) {
    return __ha_exchange(2, 0, v, delta, width);
}
template <class _Tp>
__HA_FN_T__ _Tp __shfl_xor(_Tp v, int lane_mask, int width = warpSize) {
    return __ha_exchange(3, 0, v, (unsigned)lane_mask, width);
}
template <class _Mp, class _Tp>
__HA_FN_T__ _Tp __shfl_sync(_Mp mask, _Tp v, int lane, int width = warpSize) {
    return __ha_exchange(0, __ha_mask(mask), v, (unsigned)lane, width);
}
template <class _Mp, class _Tp>
__HA_FN_T__ _Tp __shfl_up_sync(_Mp mask, _Tp v, unsigned delta, int width = warpSize) {
    return __ha_exchange(1, __ha_mask(mask), v, delta, width);
}
template <class _Mp, class _Tp>
__HA_FN_T__ _Tp __shfl_down_sync(_Mp mask, _Tp v, unsigned delta, int width = warpSize) {
    return __ha_exchange(2, __ha_mask(mask), v, delta, width);
}
template <class _Mp, class _Tp>
__HA_FN_T__ _Tp __shfl_xor_sync(_Mp mask, _Tp v, int lane_mask, int width = warpSize) {
    return __ha_exchange(3, __ha_mask(mask), v, (unsigned)lane_mask, width);
}

__HA_FN__ unsigned long long __ballot(int p) {
    return __ha_warp(4, 0, p != 0, 0, (unsigned)warpSize);
}
__HA_FN__ unsigned long long __ballot64(int p) { return __ballot(p); }
__HA_FN__ int __any(int p) { return (int)__ha_warp(5, 0, p != 0, 0, (unsigned)warpSize); }
__HA_FN__ int __all(int p) { return (int)__ha_warp(6, 0, p != 0, 0, (unsigned)warpSize); }
__HA_FN__ unsigned long long __activemask(void) {
    return __ha_warp(8, 0, 0, 0, (unsigned)warpSize);
}
template <class _Mp> __HA_FN_T__ unsigned long long __ballot_sync(_Mp mask, int p) {
    return __ha_warp(4, __ha_mask(mask), p != 0, 0, (unsigned)warpSize);
}
template <class _Mp> __HA_FN_T__ int __any_sync(_Mp mask, int p) {
    return (int)__ha_warp(5, __ha_mask(mask), p != 0, 0, (unsigned)warpSize);
}
template <class _Mp> __HA_FN_T__ int __all_sync(_Mp mask, int p) {
    return (int)__ha_warp(6, __ha_mask(mask), p != 0, 0, (unsigned)warpSize);
}
__HA_FN__ void __syncwarp(void) { (void)__ha_warp(7, 0, 0, 0, (unsigned)warpSize); }
template <class _Mp> __HA_FN_T__ void __syncwarp(_Mp mask) {
    (void)__ha_warp(7, __ha_mask(mask), 0, 0, (unsigned)warpSize);
}

/* What is compared: bits, and the two zeros are one number. */
template <class _Tp> __HA_FN_T__ uint64_t __ha_bits(_Tp value) {
    static_assert(sizeof(_Tp) <= 8, "a value of at most eight bytes");
    uint64_t bits = 0;
    if constexpr (__is_floating_point(_Tp))
        value = value == 0 ? (_Tp)0 : value;
    __builtin_memcpy(&bits, &value, sizeof(_Tp));
    return bits;
}
template <class _Tp> __HA_FN_T__ unsigned long long __match_any(_Tp value) {
    return __ha_warp(9, 0, __ha_bits(value), 0, (unsigned)warpSize);
}
template <class _Mp, class _Tp>
__HA_FN_T__ unsigned long long __match_any_sync(_Mp mask, _Tp value) {
    return __ha_warp(9, __ha_mask(mask), __ha_bits(value), 0, (unsigned)warpSize);
}
template <class _Tp> __HA_FN_T__ unsigned long long __match_all(_Tp value, int *same) {
    uint64_t lanes = __ha_warp(10, 0, __ha_bits(value), 0, (unsigned)warpSize);
    *same = lanes != 0;
    return lanes;
}
template <class _Mp, class _Tp>
__HA_FN_T__ unsigned long long __match_all_sync(_Mp mask, _Tp value, int *same) {
    uint64_t lanes =
        __ha_warp(10, __ha_mask(mask), __ha_bits(value), 0, (unsigned)warpSize);
    *same = lanes != 0;
    return lanes;
}

/* Every lane of the mask reads every other one; the result is the same in all of them. */
#define __HA_REDUCE__(name, expression)                                                  \
    template <class _Mp, class _Tp>                                                      \
    __HA_FN_T__ _Tp __reduce_##name##_sync(_Mp mask, _Tp value) {                        \
        uint64_t rest = __ha_mask(mask);                                                 \
        _Tp a = __shfl_sync(mask, value, __builtin_ctzll(rest | 1ull << 63));            \
        for (rest &= rest - 1; rest != 0; rest &= rest - 1) {                            \
            _Tp b = __shfl_sync(mask, value, __builtin_ctzll(rest));                     \
            a = expression;                                                              \
        }                                                                                \
        return a;                                                                        \
    }
__HA_REDUCE__(add, a + b)
__HA_REDUCE__(min, b < a ? b : a)
__HA_REDUCE__(max, a < b ? b : a)
__HA_REDUCE__(and, a &b)
__HA_REDUCE__(or, a | b)
__HA_REDUCE__(xor, a ^ b)
#undef __HA_REDUCE__

/* ---- what AMD's compiler and older programs call these ---- */

__HA_FN__ unsigned __mbcnt_lo(unsigned mask, unsigned sum) {
    return sum + (unsigned)__builtin_popcount(mask & (unsigned)__lanemask_lt());
}
__HA_FN__ unsigned __mbcnt_hi(unsigned mask, unsigned sum) {
    return sum + (unsigned)__builtin_popcount(mask & (unsigned)(__lanemask_lt() >> 32));
}
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__AMDGCN__)
#define __builtin_amdgcn_mbcnt_lo(mask, sum) __mbcnt_lo((mask), (sum))
#define __builtin_amdgcn_mbcnt_hi(mask, sum) __mbcnt_hi((mask), (sum))
#define __builtin_amdgcn_ballot_w64(p) __ballot((p))
#define __builtin_amdgcn_ballot_w32(p) ((unsigned)__ballot((p)))
#define __builtin_amdgcn_read_exec() __activemask()
#endif

/* Of the lanes that stand here: the first one's value. */
template <class _Tp> __HA_FN_T__ _Tp __hip_readfirstlane(_Tp value) {
    return __shfl(value, __builtin_ctzll(__activemask() | 1ull << 63));
}
/* Each lane names the lane that it reads, in bytes.  By a width of 0 that may be a lane
 * which is not there: checks say nothing then. */
__HA_FN__ unsigned __hip_ds_bpermute(int index, unsigned value) {
    return __shfl(value, (int)((unsigned)index >> 2), 0);
}
__HA_FN__ float __hip_ds_bpermutef(int index, float value) {
    return __shfl(value, (int)((unsigned)index >> 2), 0);
}
/* Each lane names the lane that it writes to; of several, the highest one's value
 * arrives, and 0 where none does. */
__HA_FN__ unsigned __hip_ds_permute(int index, unsigned value) {
    unsigned target = (unsigned)index >> 2 & (unsigned)(warpSize - 1);
    uint64_t here = __activemask();
    unsigned result = 0;
    for (uint64_t rest = here; rest != 0; rest &= rest - 1) {
        int lane = __builtin_ctzll(rest);
        unsigned to = __shfl_sync(here, target, lane);
        unsigned from = __shfl_sync(here, value, lane);
        result = to == __lane_id() ? from : result;
    }
    return result;
}
__HA_FN__ float __hip_ds_permutef(int index, float value) {
    return __builtin_bit_cast(
        float, __hip_ds_permute(index, __builtin_bit_cast(unsigned, value)));
}
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__AMDGCN__)
#define __builtin_amdgcn_readfirstlane(value) __hip_readfirstlane((int)(value))
#define __builtin_amdgcn_readlane(value, lane) __shfl((int)(value), (lane))
#define __builtin_amdgcn_ds_bpermute(index, value)                                      \
    ((int)__hip_ds_bpermute((index), (unsigned)(value)))
#define __builtin_amdgcn_ds_permute(index, value)                                       \
    ((int)__hip_ds_permute((index), (unsigned)(value)))
#endif
