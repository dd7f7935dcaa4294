// SPDX-License-Identifier: MIT
// part of: shared_library.hip
#include "check.h"

__device__ int calls = 100;

static __global__ void add(int *x, int a) { *x += a + calls++; }

extern "C" int library_add(int *d, int a) {
    int x;
    add<<<1, 1>>>(d, a);
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}
