// SPDX-License-Identifier: MIT
// Two source files whose device code is linked: functions, variables and kernels of the
// other file, and what is static or a template in both.
// flags: -fgpu-rdc
// with: linked_other.hip
// expect: function 35, sum 7, calls 1
// expect: kernel 77
// expect: here 11, there 22
// expect: template 3 4
#include "linked.h"

__constant__ int shared_factor = 1;

static __device__ int offset = 1;

static __global__ void put(int *x) { *x = 10 + offset; }

__global__ void call(int *x) {
    *x = elsewhere(*x);
    shared_sum += 2;
}

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

int main() {
    int *d, sum = 5, factor = 7;
    CHECK(hipMalloc(&d, sizeof *d));
    CHECK(hipMemcpy(d, &sum, sizeof sum, hipMemcpyHostToDevice));
    CHECK(hipMemcpyToSymbol(shared_sum, &sum, sizeof sum));
    CHECK(hipMemcpyToSymbol(shared_factor, &factor, sizeof factor));
    call<<<1, 1>>>(d);
    CHECK(hipMemcpyFromSymbol(&sum, shared_sum, sizeof sum));
    CHECK(hipDeviceSynchronize());
    printf("function %d, sum %d, calls %d\n", value(d), sum, shared_calls);
    kernel_elsewhere<<<1, 1>>>(d);
    printf("kernel %d\n", value(d));
    put<<<1, 1>>>(d);
    int here = value(d);
    printf("here %d, there %d\n", here, other_put(d));
    common<int><<<1, 1>>>(d, 3);
    int third = value(d);
    printf("template %d %d\n", third, other_common(d));
    CHECK(hipFree(d));
}
