// SPDX-License-Identifier: MIT
// part of: two_files.hip
#include "two_files.h"

static __device__ int offset = 2;

static __global__ void put(int *x) { *x = 20 + offset; }

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
