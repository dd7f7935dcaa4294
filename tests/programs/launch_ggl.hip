// SPDX-License-Identifier: MIT
// hipLaunchKernelGGL, with commas in the kernel's name, arguments that convert, and a macro
// for several of its own arguments.
// expect: 10 11 12 13
// expect: 20.5 21.5 22.5 23.5
#include "check.h"

template <class T, int N> __global__ void fill(T *x, double start) {
    if (threadIdx.x < N)
        x[threadIdx.x] = (T)(start + threadIdx.x);
}

#define SHAPE dim3(1), dim3(64), 0, 0

template <class T> static void show(double start, const char *format) {
    T x[4], *d;
    CHECK(hipMalloc(&d, sizeof x));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<T, 2>), dim3(1), dim3(64), 0, 0, d, start);
    CHECK(hipGetLastError());
    hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<T, 4>), SHAPE, d, start);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) {
        printf(i ? " " : "");
        printf(format, x[i]);
    }
    printf("\n");
    CHECK(hipFree(d));
}

int main() {
    show<int>(10, "%d");
    show<float>(20.5f, "%.1f");
}
