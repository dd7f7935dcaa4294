// SPDX-License-Identifier: MIT
// Times between events around kernels, and what an event answers before and after.
// expect: not ready hipErrorNotReady
// expect: ready hipSuccess
// expect: longer takes longer 1
#include "check.h"

__global__ void spin(long long ticks) {
    long long start = wall_clock64();
    while (wall_clock64() - start < ticks) {
    }
}

static float measure(long long ticks) {
    hipEvent_t start, stop;
    float ms;
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    CHECK(hipEventRecord(start));
    spin<<<1, 1>>>(ticks);
    CHECK(hipEventRecord(stop));
    if (ticks > 10000000)
        printf("not ready %s\n", hipGetErrorName(hipEventQuery(stop)));
    CHECK(hipEventSynchronize(stop));
    if (ticks > 10000000)
        printf("ready %s\n", hipGetErrorName(hipEventQuery(stop)));
    CHECK(hipEventElapsedTime(&ms, start, stop));
    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    return ms;
}

int main() {
    measure(1000);
    float longer = measure(50000000), shorter = measure(1000000);
    printf("longer takes longer %d\n", longer > shorter && longer > 45 && shorter > 0.9f);
}
