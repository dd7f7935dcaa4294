// SPDX-License-Identifier: MIT
// part of: linked.hip
#include "linked.h"

__device__ int shared_sum;
__managed__ int shared_calls;

static __device__ int offset = 2;

static __global__ void put(int *x) { *x = 20 + offset; }

__device__ int elsewhere(int x) {
    if (x != 0)
        shared_calls++;
    return x * shared_factor;
}

__global__ void kernel_elsewhere(int *x) { *x = elsewhere(11); }

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

int other_put(int *d) {
    put<<<1, 1>>>(d);
    return value(d);
}

int other_common(int *d) {
    common<int><<<1, 1>>>(d, 4);
    return value(d);
}
