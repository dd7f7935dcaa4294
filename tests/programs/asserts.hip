// SPDX-License-Identifier: MIT
// assert in a kernel is an error of the device; the host's assert is its own.
// stderr: assertion `i < 3 && n > 0' failed
// expect: hipErrorAssert
// expect: after reset hipSuccess
#include <cassert>

#include "check.h"

__global__ void check(int n) {
    int i = threadIdx.x;
    assert(i < 3 && n > 0);
}

int main() {
    assert(sizeof(int) == 4);
    check<<<1, 3>>>(1);
    CHECK(hipDeviceSynchronize());
    check<<<1, 4>>>(1);
    printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
    CHECK(hipDeviceReset());
    check<<<1, 3>>>(1);
    printf("after reset %s\n", hipGetErrorName(hipDeviceSynchronize()));
}
