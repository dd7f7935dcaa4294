// SPDX-License-Identifier: MIT
// The launch in steps, and a launch whose arguments contain a launch.
// expect: by pointer 42
// expect: nested 5 7
// expect: without configuration hipErrorMissingConfiguration
#include "check.h"

__global__ void set(int *x, char a, int b) { *x = a + b; }

static int *buffer() {
    int *d;
    CHECK(hipMalloc(&d, sizeof *d));
    return d;
}

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

static int *inner;

static int launch_inner() {
    set<<<1, 1>>>(inner, 2, 3);
    return 4;
}

int main() {
    int *d = buffer(), b = 40;
    char a = 2;
    CHECK(hipConfigureCall(dim3(1), dim3(1)));
    CHECK(hipSetupArgument(&d, sizeof d, 0));
    CHECK(hipSetupArgument(&a, sizeof a, 8));
    CHECK(hipSetupArgument(&b, sizeof b, 12));
    CHECK(hipLaunchByPtr((const void *)set));
    printf("by pointer %d\n", value(d));

    inner = buffer();
    set<<<1, 1>>>(d, 3, launch_inner());
    CHECK(hipGetLastError());
    printf("nested %d %d\n", value(inner), value(d));
    printf("without configuration %s\n",
           hipGetErrorName(hipLaunchByPtr((const void *)set)));
    CHECK(hipFree(d));
    CHECK(hipFree(inner));
}
