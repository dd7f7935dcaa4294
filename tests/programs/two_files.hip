// SPDX-License-Identifier: MIT
// Two source files: kernels and variables of the same names, and one instance of a template
// that both have.
// with: two_files_other.hip
// expect: here 11, there 22
// expect: template 3 4
#include "two_files.h"

static __device__ int offset = 1;

static __global__ void put(int *x) { *x = 10 + offset; }

namespace {
__global__ void nameless(int *x) { *x = 3; }
} // namespace

int main() {
    int *d, here, there, third, fourth;
    CHECK(hipMalloc(&d, sizeof *d));
    put<<<1, 1>>>(d);
    CHECK(hipMemcpy(&here, d, sizeof here, hipMemcpyDeviceToHost));
    there = other_put(d);
    printf("here %d, there %d\n", here, there);
    nameless<<<1, 1>>>(d);
    CHECK(hipMemcpy(&third, d, sizeof third, hipMemcpyDeviceToHost));
    common<int><<<1, 1>>>(d, 3);
    CHECK(hipMemcpy(&third, d, sizeof third, hipMemcpyDeviceToHost));
    fourth = other_common(d);
    printf("template %d %d\n", third, fourth);
    CHECK(hipFree(d));
}
