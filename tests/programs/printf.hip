// SPDX-License-Identifier: MIT
// printf of the host and of kernels in one file, in the order of the program.
// expect: host 1
// expect: lane 0 of 1: 0.25 text 0x2a
// expect: lane 1 of 1: 0.75 text 0x2a
// expect: host 2
#include <cstdio>

#include "check.h"

__device__ void say(int lane) {
    printf("lane %d of %d: %.2f %s %#x\n", lane, gridDim.x, 0.25 + lane * 0.5, "text", 42);
}

__global__ void speak() {
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == i)
            say(i);
        __syncthreads();
    }
}

int main() {
    std::printf("host 1\n");
    fflush(stdout);
    speak<<<1, 2>>>();
    CHECK(hipDeviceSynchronize());
    std::printf("host %d\n", 2);
}
