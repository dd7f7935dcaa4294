/* SPDX-License-Identifier: MIT */
/* The device's functions on an AMD GPU, for `python -m hipadapt compile --arch gfx...`.
 *
 * Only what the compiler itself can do is here.  Mathematical functions that are more than
 * an instruction are calls of AMD's device library (__ocml_*), as are printf and malloc;
 * the linker names those that are not there. */
#pragma once
#pragma clang system_header

#undef __launch_bounds__
#define __HA_BOUNDS_1__(threads)                                                        \
    __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __HA_BOUNDS_2__(threads, blocks)                                                \
    __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(blocks)))
#define __HA_THIRD__(a, b, c, ...) c
#define __launch_bounds__(...)                                                          \
    __HA_THIRD__(__VA_ARGS__, __HA_BOUNDS_2__, __HA_BOUNDS_1__, )(__VA_ARGS__)

#define __HA_GPU__ inline __attribute__((device, always_inline))
#define __HA_CONSTANT__ __attribute__((address_space(4)))

extern "C" {

/* ---- where the lane stands ---- */

__HA_GPU__ unsigned __ha_thread_x(void) { return __builtin_amdgcn_workitem_id_x(); }
__HA_GPU__ unsigned __ha_thread_y(void) { return __builtin_amdgcn_workitem_id_y(); }
__HA_GPU__ unsigned __ha_thread_z(void) { return __builtin_amdgcn_workitem_id_z(); }
__HA_GPU__ unsigned __ha_block_x(void) { return __builtin_amdgcn_workgroup_id_x(); }
__HA_GPU__ unsigned __ha_block_y(void) { return __builtin_amdgcn_workgroup_id_y(); }
__HA_GPU__ unsigned __ha_block_z(void) { return __builtin_amdgcn_workgroup_id_z(); }

/* Hidden arguments of code objects of version 5: numbers of blocks, then sizes of one. */
#define __HA_HIDDEN_COUNT__(i)                                                          \
    (((const __HA_CONSTANT__ unsigned *)__builtin_amdgcn_implicitarg_ptr())[i])
#define __HA_HIDDEN_SIZE__(i)                                                           \
    (((const __HA_CONSTANT__ unsigned short *)__builtin_amdgcn_implicitarg_ptr())[6 + (i)])
__HA_GPU__ unsigned __ha_grid_dim_x(void) { return __HA_HIDDEN_COUNT__(0); }
__HA_GPU__ unsigned __ha_grid_dim_y(void) { return __HA_HIDDEN_COUNT__(1); }
__HA_GPU__ unsigned __ha_grid_dim_z(void) { return __HA_HIDDEN_COUNT__(2); }
__HA_GPU__ unsigned __ha_block_dim_x(void) { return __HA_HIDDEN_SIZE__(0); }
__HA_GPU__ unsigned __ha_block_dim_y(void) { return __HA_HIDDEN_SIZE__(1); }
__HA_GPU__ unsigned __ha_block_dim_z(void) { return __HA_HIDDEN_SIZE__(2); }

/* ---- meetings of the block ---- */

__attribute__((device)) void __ockl_grid_sync(void);
__attribute__((device)) int __ockl_grid_is_valid(void);
__attribute__((device)) void __ockl_multi_grid_sync(void);
__attribute__((device)) unsigned __ockl_multi_grid_num_grids(void);
__attribute__((device)) unsigned __ockl_multi_grid_grid_rank(void);
__attribute__((device)) unsigned __ockl_multi_grid_size(void);
__attribute__((device)) unsigned __ockl_multi_grid_thread_rank(void);
__attribute__((device)) int __ockl_multi_grid_is_valid(void);

__HA_GPU__ void __ha_gpu_barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/* Whole grids meet in the device library.  Not by a number of __ha_block: without
 * optimisation, each barrier would need that library. */
#define __HA_GRID_SYNC__(line) __ockl_grid_sync()
#define __HA_MULTI_GRID_SYNC__(line) __ockl_multi_grid_sync()
/* op: 0 meets, 1 counts, 2 is and, 3 is or; `and` holds if nobody has a zero. */
__HA_GPU__ unsigned __ha_block(unsigned op, unsigned value, unsigned) {
    if (op == 0) {
        __ha_gpu_barrier();
        return 0;
    }
    static __attribute__((shared)) unsigned total;
    /* By every thread that is here: any single one may have returned. */
    __hip_atomic_store(&total, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __ha_gpu_barrier();
    if ((value != 0) != (op == 2))
        __hip_atomic_fetch_add(&total, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __ha_gpu_barrier();
    unsigned result =
        __hip_atomic_load(&total, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __ha_gpu_barrier();
    return op == 1 ? result : op == 2 ? result == 0 : result != 0;
}

/* ---- the warp ---- */

__HA_GPU__ unsigned __ha_gpu_lane(void) {
    unsigned low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
#if __HIP_CPU_WARP_SIZE__ == 64
    return __builtin_amdgcn_mbcnt_hi(~0u, low);
#else
    return low;
#endif
}
__HA_GPU__ unsigned long __ha_gpu_ballot(bool value) {
#if __HIP_CPU_WARP_SIZE__ == 64
    return __builtin_amdgcn_ballot_w64(value);
#else
    return __builtin_amdgcn_ballot_w32(value);
#endif
}
/* Of a lane that is here; the lane's own value where there is none. */
__HA_GPU__ unsigned long __ha_gpu_read(unsigned long value, unsigned lane) {
    unsigned low = (unsigned)__builtin_amdgcn_ds_bpermute((int)lane * 4, (int)value);
    unsigned high =
        (unsigned)__builtin_amdgcn_ds_bpermute((int)lane * 4, (int)(value >> 32));
    bool here = (__ha_gpu_ballot(true) >> (lane & (__HIP_CPU_WARP_SIZE__ - 1)) & 1) != 0;
    return here ? (unsigned long)high << 32 | low : value;
}
/* Lanes with the same value, one value after the other. */
__HA_GPU__ unsigned long __ha_gpu_match(unsigned long value) {
    unsigned long rest = __ha_gpu_ballot(true), mine = 0;
    while (rest != 0) {
        unsigned first = (unsigned)__builtin_ctzll(rest);
        unsigned long other = __ha_gpu_read(value, first);
        unsigned long same = __ha_gpu_ballot(value == other) & rest;
        if (value == other)
            mine = same;
        rest &= ~same;
    }
    return mine;
}
/* Lanes that are here answer for themselves, each within its own mask: those of several
 * groups may make one call together.  Without a mask the group is all of them. */
__HA_GPU__ unsigned long __ha_warp(unsigned op, unsigned long mask, unsigned long value,
                                   unsigned operand, unsigned width) {
    unsigned lane = __ha_gpu_lane(), first = lane & ~(width - 1), from = lane;
    unsigned long group = __ha_gpu_ballot(true) & (mask != 0 ? mask : ~0ul);
    switch (op) {
    case 0:
        return __ha_gpu_read(value, first + (operand & (width - 1)));
    case 1:
        from = operand > lane - first ? lane : lane - operand;
        return __ha_gpu_read(value, from);
    case 2:
        from = operand >= first + width - lane ? lane : lane + operand;
        return __ha_gpu_read(value, from);
    case 3:
        from = lane ^ operand;
        return __ha_gpu_read(value, from >= first + width ? lane : from);
    case 4:
        return __ha_gpu_ballot(value != 0) & group;
    case 5:
        return (__ha_gpu_ballot(value != 0) & group) != 0;
    case 6:
        return (__ha_gpu_ballot(value == 0) & group) == 0;
    case 7:
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
        __builtin_amdgcn_wave_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
        return 0;
    case 8:
        return group;
    case 9:
        return __ha_gpu_match(value) & group;
    default:
        return (__ha_gpu_match(value) & group) == group ? group : 0;
    }
}

/* ---- the rest ---- */

__HA_GPU__ unsigned long __ha_clock(void) { return __builtin_readsteadycounter(); }
/* clock64 counts cycles here, wall_clock64 does not. */
#define __HA_CYCLES__() __builtin_readcyclecounter()
/* enum ha_query of cpu/base/image.h */
__HA_GPU__ unsigned long __ha_query(unsigned what) {
    switch (what) {
    case 0:
        return __ockl_grid_is_valid() != 0;
    case 2:
        return __ockl_multi_grid_is_valid() != 0 ? __ockl_multi_grid_num_grids() : 0;
    case 3:
        return __ockl_multi_grid_grid_rank();
    case 4:
        return __ockl_multi_grid_size();
    default: { /* 5: threads of the grids before this one */
        unsigned block = (__ha_block_z() * __ha_grid_dim_y() + __ha_block_y()) *
                             __ha_grid_dim_x() +
                         __ha_block_x();
        unsigned thread = (__ha_thread_z() * __ha_block_dim_y() + __ha_thread_y()) *
                              __ha_block_dim_x() +
                          __ha_thread_x();
        unsigned threads = __ha_block_dim_x() * __ha_block_dim_y() * __ha_block_dim_z();
        return __ockl_multi_grid_thread_rank() - (block * threads + thread);
    }
    }
}
__HA_GPU__ void __ha_pause(void) { __builtin_amdgcn_s_sleep(1); }
__HA_GPU__ __attribute__((noreturn)) void __ha_assert_fail(const char *, const char *,
                                                           unsigned, const char *) {
    __builtin_trap();
}
extern __attribute__((shared)) unsigned char __ha_gpu_shared[];
__HA_GPU__ void *__ha_shared_dynamic(void) { return __ha_gpu_shared; }

/* ---- AMD's device library ---- */

/* The headers of the host's C++ library call these, too, by the macros below. */
#ifdef __HA_PROGRAM__
#define __HA_OCML_FUNCTION__ __attribute__((host, device, const))
#else
#define __HA_OCML_FUNCTION__ __attribute__((device, const))
#endif

#define __HA_OCML__(name)                                                               \
    __HA_OCML_FUNCTION__ float __ocml_##name##_f32(float);                    \
    __HA_OCML_FUNCTION__ double __ocml_##name##_f64(double);
#define __HA_OCML2__(name)                                                              \
    __HA_OCML_FUNCTION__ float __ocml_##name##_f32(float, float);             \
    __HA_OCML_FUNCTION__ double __ocml_##name##_f64(double, double);
__HA_OCML__(acos)
__HA_OCML__(acosh)
__HA_OCML__(asin)
__HA_OCML__(asinh)
__HA_OCML__(atan)
__HA_OCML__(atanh)
__HA_OCML__(cbrt)
__HA_OCML__(cos)
__HA_OCML__(cosh)
__HA_OCML__(erf)
__HA_OCML__(erfc)
__HA_OCML__(exp)
__HA_OCML__(exp2)
__HA_OCML__(exp10)
__HA_OCML__(expm1)
__HA_OCML__(lgamma)
__HA_OCML__(log)
__HA_OCML__(log10)
__HA_OCML__(log1p)
__HA_OCML__(log2)
__HA_OCML__(logb)
__HA_OCML__(sin)
__HA_OCML__(sinh)
__HA_OCML__(tan)
__HA_OCML__(tanh)
__HA_OCML__(tgamma)
__HA_OCML2__(atan2)
__HA_OCML2__(fdim)
__HA_OCML2__(fmod)
__HA_OCML2__(hypot)
__HA_OCML2__(nextafter)
__HA_OCML2__(pow)
__HA_OCML2__(remainder)
__HA_OCML_FUNCTION__ int __ocml_ilogb_f32(float);
__HA_OCML_FUNCTION__ int __ocml_ilogb_f64(double);
#undef __HA_OCML__
#undef __HA_OCML2__
#undef __HA_OCML_FUNCTION__
}

#define __builtin_acosf(x) __ocml_acos_f32(x)
#define __builtin_acos(x) __ocml_acos_f64(x)
#define __builtin_acoshf(x) __ocml_acosh_f32(x)
#define __builtin_acosh(x) __ocml_acosh_f64(x)
#define __builtin_asinf(x) __ocml_asin_f32(x)
#define __builtin_asin(x) __ocml_asin_f64(x)
#define __builtin_asinhf(x) __ocml_asinh_f32(x)
#define __builtin_asinh(x) __ocml_asinh_f64(x)
#define __builtin_atanf(x) __ocml_atan_f32(x)
#define __builtin_atan(x) __ocml_atan_f64(x)
#define __builtin_atanhf(x) __ocml_atanh_f32(x)
#define __builtin_atanh(x) __ocml_atanh_f64(x)
#define __builtin_cbrtf(x) __ocml_cbrt_f32(x)
#define __builtin_cbrt(x) __ocml_cbrt_f64(x)
#define __builtin_cosf(x) __ocml_cos_f32(x)
#define __builtin_cos(x) __ocml_cos_f64(x)
#define __builtin_coshf(x) __ocml_cosh_f32(x)
#define __builtin_cosh(x) __ocml_cosh_f64(x)
#define __builtin_erff(x) __ocml_erf_f32(x)
#define __builtin_erf(x) __ocml_erf_f64(x)
#define __builtin_erfcf(x) __ocml_erfc_f32(x)
#define __builtin_erfc(x) __ocml_erfc_f64(x)
#define __builtin_expf(x) __ocml_exp_f32(x)
#define __builtin_exp(x) __ocml_exp_f64(x)
#define __builtin_exp2f(x) __ocml_exp2_f32(x)
#define __builtin_exp2(x) __ocml_exp2_f64(x)
#define __builtin_exp10f(x) __ocml_exp10_f32(x)
#define __builtin_exp10(x) __ocml_exp10_f64(x)
#define __builtin_expm1f(x) __ocml_expm1_f32(x)
#define __builtin_expm1(x) __ocml_expm1_f64(x)
#define __builtin_lgammaf(x) __ocml_lgamma_f32(x)
#define __builtin_lgamma(x) __ocml_lgamma_f64(x)
#define __builtin_logf(x) __ocml_log_f32(x)
#define __builtin_log(x) __ocml_log_f64(x)
#define __builtin_log10f(x) __ocml_log10_f32(x)
#define __builtin_log10(x) __ocml_log10_f64(x)
#define __builtin_log1pf(x) __ocml_log1p_f32(x)
#define __builtin_log1p(x) __ocml_log1p_f64(x)
#define __builtin_log2f(x) __ocml_log2_f32(x)
#define __builtin_log2(x) __ocml_log2_f64(x)
#define __builtin_logbf(x) __ocml_logb_f32(x)
#define __builtin_logb(x) __ocml_logb_f64(x)
#define __builtin_sinf(x) __ocml_sin_f32(x)
#define __builtin_sin(x) __ocml_sin_f64(x)
#define __builtin_sinhf(x) __ocml_sinh_f32(x)
#define __builtin_sinh(x) __ocml_sinh_f64(x)
#define __builtin_tanf(x) __ocml_tan_f32(x)
#define __builtin_tan(x) __ocml_tan_f64(x)
#define __builtin_tanhf(x) __ocml_tanh_f32(x)
#define __builtin_tanh(x) __ocml_tanh_f64(x)
#define __builtin_tgammaf(x) __ocml_tgamma_f32(x)
#define __builtin_tgamma(x) __ocml_tgamma_f64(x)
#define __builtin_atan2f(x, y) __ocml_atan2_f32(x, y)
#define __builtin_atan2(x, y) __ocml_atan2_f64(x, y)
#define __builtin_fdimf(x, y) __ocml_fdim_f32(x, y)
#define __builtin_fdim(x, y) __ocml_fdim_f64(x, y)
#define __builtin_fmodf(x, y) __ocml_fmod_f32(x, y)
#define __builtin_fmod(x, y) __ocml_fmod_f64(x, y)
#define __builtin_hypotf(x, y) __ocml_hypot_f32(x, y)
#define __builtin_hypot(x, y) __ocml_hypot_f64(x, y)
#define __builtin_nextafterf(x, y) __ocml_nextafter_f32(x, y)
#define __builtin_nextafter(x, y) __ocml_nextafter_f64(x, y)
#define __builtin_powf(x, y) __ocml_pow_f32(x, y)
#define __builtin_pow(x, y) __ocml_pow_f64(x, y)
#define __builtin_remainderf(x, y) __ocml_remainder_f32(x, y)
#define __builtin_remainder(x, y) __ocml_remainder_f64(x, y)
#define __builtin_ilogbf(x) __ocml_ilogb_f32(x)
#define __builtin_ilogb(x) __ocml_ilogb_f64(x)
/* Rounding is an instruction, and so is the conversion of its result. */
#define __builtin_lrintf(x) ((long)__builtin_rintf(x))
#define __builtin_lrint(x) ((long)__builtin_rint(x))
#define __builtin_llrintf(x) ((long long)__builtin_rintf(x))
#define __builtin_llrint(x) ((long long)__builtin_rint(x))
#define __builtin_lroundf(x) ((long)__builtin_roundf(x))
#define __builtin_lround(x) ((long)__builtin_round(x))
#define __builtin_llroundf(x) ((long long)__builtin_roundf(x))
#define __builtin_llround(x) ((long long)__builtin_round(x))
