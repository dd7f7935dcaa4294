// SPDX-License-Identifier: MIT
// A cooperative launch: blocks that wait for one another.
// expect: 0 mistakes
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void rotate(int *x, int *y, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        y[(i + blockDim.x) % n] = x[i];
        grid.sync();
        x[i] = y[i];
        grid.sync();
    }
}

int main() {
    const int blocks = 4, threads = 32, n = blocks * threads;
    int host[n], *x, *y, rounds = 3, mistakes = 0;
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(hipMalloc(&x, sizeof host));
    CHECK(hipMalloc(&y, sizeof host));
    CHECK(hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice));
    void *arguments[] = {&x, &y, &rounds};
    CHECK(hipLaunchCooperativeKernel(rotate, dim3(blocks), dim3(threads), arguments, 0, 0));
    CHECK(hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        mistakes += host[(i + rounds * threads) % n] != i;
    printf("%d mistakes\n", mistakes);
    CHECK(hipFree(x));
    CHECK(hipFree(y));
}
