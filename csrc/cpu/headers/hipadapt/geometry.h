/* SPDX-License-Identifier: MIT */
/* threadIdx, blockIdx, blockDim, gridDim, warpSize, dim3.  The four are objects without
 * memory: reading a member calls a function of the device. */
#pragma once
#pragma clang system_header

#include "hipadapt/dim3.h"

template <class _Tp, unsigned int n> struct HIP_vector_type;

#define __HA_COORDINATES__(name)                                                        \
    struct __ha_coordinates_##name {                                                    \
        __HA_FN_T__ unsigned get_x() const { return __ha_##name##_x(); }                \
        __HA_FN_T__ unsigned get_y() const { return __ha_##name##_y(); }                \
        __HA_FN_T__ unsigned get_z() const { return __ha_##name##_z(); }                \
        __declspec(property(get = get_x)) unsigned x;                                   \
        __declspec(property(get = get_y)) unsigned y;                                   \
        __declspec(property(get = get_z)) unsigned z;                                   \
        __HA_FN_T__ operator dim3() const { return dim3(x, y, z); }                     \
        template <class _Tp> __HA_FN_T__ operator HIP_vector_type<_Tp, 3>() const {     \
            return HIP_vector_type<_Tp, 3>(x, y, z);                                    \
        }                                                                               \
    };
__HA_COORDINATES__(thread)
__HA_COORDINATES__(block)
__HA_COORDINATES__(block_dim)
__HA_COORDINATES__(grid_dim)
#undef __HA_COORDINATES__

extern const __device__ __ha_coordinates_thread threadIdx;
extern const __device__ __ha_coordinates_block blockIdx;
extern const __device__ __ha_coordinates_block_dim blockDim;
extern const __device__ __ha_coordinates_grid_dim gridDim;

static constexpr int warpSize = __HIP_CPU_WARP_SIZE__;
#define __AMDGCN_WAVEFRONT_SIZE __HIP_CPU_WARP_SIZE__
#define __AMDGCN_WAVEFRONT_SIZE__ __HIP_CPU_WARP_SIZE__

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)
