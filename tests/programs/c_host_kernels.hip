// SPDX-License-Identifier: MIT
// part of: c_host.c
#include <hip/hip_runtime.h>

static __global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

extern "C" hipError_t launch_twice(float *x, int n, hipStream_t stream) {
    twice<<<(n + 63) / 64, 64, 0, stream>>>(x, n);
    return hipGetLastError();
}
