// SPDX-License-Identifier: MIT
// part of: module_genco.hip
#include <hip/hip_runtime.h>

__device__ int factor = 10;
__managed__ int calls = 5;

extern "C" __global__ void multiply(int *x, int a) {
    *x = a * factor;
    ++calls;
}
