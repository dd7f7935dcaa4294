// SPDX-License-Identifier: MIT
// Device lambdas with captures as kernel arguments.
// expect: 3 5 7 9
// expect: 1 4 9 16
#include "check.h"

template <class F> __global__ void apply(int *x, int n, F function) {
    int i = threadIdx.x;
    if (i < n)
        x[i] = function(x[i]);
}

template <class F> static void each(F function) {
    int x[] = {1, 2, 3, 4}, *d;
    CHECK(hipMalloc(&d, sizeof x));
    CHECK(hipMemcpy(d, x, sizeof x, hipMemcpyHostToDevice));
    apply<<<1, 64>>>(d, 4, function);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("%d %d %d %d\n", x[0], x[1], x[2], x[3]);
    CHECK(hipFree(d));
}

int main() {
    int a = 2;
    struct {
        int b = 1;
    } pack;
    each([=] __device__(int x) { return a * x + pack.b; });
    each([] __device__(int x) { return x * x; });
}
