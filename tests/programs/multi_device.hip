// SPDX-License-Identifier: MIT
// Three devices: variables of each, the stream that decides, peer copies, and one launch on
// all of them.
// env: HIPADAPT_CPU_DEVICES=3
// expect: devices 3
// expect: variables 10 20 30
// expect: by stream 30
// expect: peer 1
// expect: together 11 21 31
// expect: twice hipErrorInvalidDevice
#include "check.h"

__device__ int own;

__global__ void get(int *x) { *x = own; }
__global__ void add(int *x, int a) { *x += a; }

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

int main() {
    int count, *d[3];
    hipStream_t streams[3];
    CHECK(hipGetDeviceCount(&count));
    printf("devices %d\n", count);
    for (int i = 0; i < 3; i++) {
        int x = 10 * (i + 1);
        CHECK(hipSetDevice(i));
        CHECK(hipMalloc(&d[i], sizeof(int)));
        CHECK(hipStreamCreate(&streams[i]));
        CHECK(hipMemcpyToSymbol(own, &x, sizeof x));
    }
    for (int i = 0; i < 3; i++) {
        CHECK(hipSetDevice(i));
        get<<<1, 1>>>(d[i]);
        CHECK(hipDeviceSynchronize());
    }
    printf("variables %d %d %d\n", value(d[0]), value(d[1]), value(d[2]));

    CHECK(hipSetDevice(0));
    CHECK(hipMemset(d[2], 0, sizeof(int)));
    get<<<1, 1, 0, streams[2]>>>(d[2]);
    CHECK(hipStreamSynchronize(streams[2]));
    printf("by stream %d\n", value(d[2]));

    int *copy;
    CHECK(hipMalloc(&copy, sizeof(int)));
    CHECK(hipMemcpyPeer(copy, 0, d[1], 1, sizeof(int)));
    printf("peer %d\n", value(copy) == 20);

    int one = 1;
    void *arguments[3][2];
    hipLaunchParams list[3] = {};
    for (int i = 0; i < 3; i++) {
        arguments[i][0] = &d[i];
        arguments[i][1] = &one;
        list[i].func = (void *)add;
        list[i].gridDim = list[i].blockDim = dim3(1);
        list[i].args = arguments[i];
        list[i].stream = streams[i];
    }
    CHECK(hipExtLaunchMultiKernelMultiDevice(list, 3, 0));
    for (int i = 0; i < 3; i++)
        CHECK(hipStreamSynchronize(streams[i]));
    printf("together %d %d %d\n", value(d[0]), value(d[1]), value(d[2]));
    list[1].stream = streams[0];
    printf("twice %s\n",
           hipGetErrorName(hipExtLaunchMultiKernelMultiDevice(list, 3, 0)));
    for (int i = 0; i < 3; i++) {
        CHECK(hipStreamDestroy(streams[i]));
        CHECK(hipFree(d[i]));
    }
    CHECK(hipFree(copy));
}
