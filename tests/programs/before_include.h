/* SPDX-License-Identifier: MIT */
/* For before_include.hip: included before HIP's header. */
#pragma once
#include <cmath>
#include <vector>

__device__ inline int own_header(int x)
{
    return static_cast<int>(std::sqrt(25.0f)) * x;
}
