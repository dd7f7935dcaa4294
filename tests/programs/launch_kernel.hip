// SPDX-License-Identifier: MIT
// hipLaunchKernel, hipExtLaunchKernel and hipModuleLaunchKernel of one kernel.
// expect: 7 8
// expect: 17 18
// expect: events in order 1
// expect: template's name 19 20
// expect: 29 30
// expect: name _Z3addPiix
#include <hip/hip_ext.h>

#include "check.h"

__global__ void add(int *x, int a, long long b) { x[threadIdx.x] += a + (int)b; }

template <class T> __global__ void increase(T *x, T by) { x[threadIdx.x] += by; }

static void show(int *d) {
    int x[2];
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("%d %d\n", x[0], x[1]);
}

int main() {
    int start[2] = {0, 1}, *d, a = 3;
    long long b = 4;
    CHECK(hipMalloc(&d, sizeof start));
    CHECK(hipMemcpy(d, start, sizeof start, hipMemcpyHostToDevice));
    void *arguments[] = {&d, &a, &b};
    CHECK(hipLaunchKernel((const void *)add, dim3(1), dim3(2), arguments, 0, 0));
    show(d);

    hipEvent_t before, after;
    float ms = -1;
    CHECK(hipEventCreate(&before));
    CHECK(hipEventCreate(&after));
    hipExtLaunchKernelGGL(add, dim3(1), dim3(2), 0, 0, before, after, 0, d, 6, 4);
    CHECK(hipGetLastError());
    show(d);
    CHECK(hipEventElapsedTime(&ms, before, after));
    printf("events in order %d\n", ms >= 0);
    hipExtLaunchKernelGGL(increase, dim3(1), dim3(2), 0, 0, nullptr, nullptr, 0, d, 2);
    CHECK(hipGetLastError());
    printf("template's name ");
    show(d);

    hipFunction_t function;
    CHECK(hipGetFuncBySymbol(&function, add));
    b = 7;
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, 0, arguments, nullptr));
    show(d);
    printf("name %s\n", hipKernelNameRefByPtr((const void *)add, 0));
    CHECK(hipEventDestroy(before));
    CHECK(hipEventDestroy(after));
    CHECK(hipFree(d));
}
