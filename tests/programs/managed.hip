// SPDX-License-Identifier: MIT
// Managed variables: used by the host before any call of HIP, and by two devices.
// env: HIPADAPT_CPU_DEVICES=2
// expect: before 7 1.5
// expect: after 8 2.5
// expect: both devices 9
// expect: managed 1
// expect: volatile 5 5
#include "check.h"

__managed__ int counter = 7;
__managed__ double table[4] = {1.5};

__device__ volatile int watched;

__global__ void answer(volatile int *to) { *to = watched = 5; }

__global__ void step() {
    counter += 1;
    for (double &x : table)
        x += 1;
}

int main() {
    printf("before %d %.1f\n", counter, table[0]);
    step<<<1, 1>>>();
    CHECK(hipDeviceSynchronize());
    printf("after %d %.1f\n", counter, table[0]);
    CHECK(hipSetDevice(1));
    step<<<1, 1>>>();
    CHECK(hipDeviceSynchronize());
    printf("both devices %d\n", counter);
    hipPointerAttribute_t attributes;
    CHECK(hipPointerGetAttributes(&attributes, &counter));
    printf("managed %d\n", attributes.type == hipMemoryTypeManaged);
    volatile int *flag = nullptr;
    int copy = 0;
    CHECK(hipMallocManaged(&flag, sizeof *flag));
    answer<<<1, 1>>>(flag);
    CHECK(hipMemcpyFromSymbol(&copy, watched, sizeof copy));
    printf("volatile %d %d\n", *flag, copy);
    CHECK(hipFree((void *)flag));
}
