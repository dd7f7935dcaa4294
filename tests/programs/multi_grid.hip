// SPDX-License-Identifier: MIT
// A cooperative launch on three devices: grids that wait for one another.
// env: HIPADAPT_CPU_DEVICES=3
// expect: can 1
// expect: 0 mistakes
// expect: the same stream hipErrorInvalidDevice
// expect: default stream hipErrorInvalidHandle
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void rotate(int *x, int *y, int rounds) {
    cg::multi_grid_group grids = cg::this_multi_grid();
    unsigned n = grids.size(), i = grids.thread_rank();
    for (int k = 0; k < rounds; k++) {
        y[(i + 10) % n] = x[i];
        grids.sync();
        x[i] = y[i] + (int)grids.num_grids() - 3;
        grids.sync();
    }
}

int main() {
    const int devices = 3, threads = 32, rounds = 4;
    int n = 0, can, *x, *y, mistakes = 0, turns = rounds;
    hipLaunchParams list[devices];
    void *arguments[] = {&x, &y, &turns};
    CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeCooperativeMultiDeviceLaunch, 0));
    printf("can %d\n", can);
    for (int i = 0; i < devices; i++) {
        CHECK(hipSetDevice(i));
        list[i].func = (void *)rotate;
        list[i].gridDim = dim3(2, i + 1);
        list[i].blockDim = dim3(threads / 2, 2);
        list[i].args = arguments;
        list[i].sharedMem = 0;
        CHECK(hipStreamCreate(&list[i].stream));
        n += 2 * (i + 1) * threads;
    }
    CHECK(hipHostMalloc(&x, n * sizeof(int)));
    CHECK(hipHostMalloc(&y, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        x[i] = i;
    CHECK(hipLaunchCooperativeKernelMultiDevice(list, devices, 0));
    CHECK(hipLaunchCooperativeKernelMultiDevice(
        list, devices,
        hipCooperativeLaunchMultiDeviceNoPreSync |
            hipCooperativeLaunchMultiDeviceNoPostSync));
    for (int i = 0; i < devices; i++)
        CHECK(hipStreamSynchronize(list[i].stream));
    for (int i = 0; i < n; i++)
        mistakes += x[(i + 2 * rounds * 10) % n] != i;
    printf("%d mistakes\n", mistakes);

    hipStream_t second = list[1].stream;
    list[1].stream = list[0].stream;
    printf("the same stream %s\n",
           hipGetErrorName(hipLaunchCooperativeKernelMultiDevice(list, devices, 0)));
    list[1].stream = 0;
    printf("default stream %s\n",
           hipGetErrorName(hipLaunchCooperativeKernelMultiDevice(list, devices, 0)));
    list[1].stream = second;
    for (int i = 0; i < devices; i++)
        CHECK(hipStreamDestroy(list[i].stream));
    CHECK(hipHostFree(x));
    CHECK(hipHostFree(y));
}
