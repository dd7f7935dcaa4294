// SPDX-License-Identifier: MIT
// Shared memory whose size is an argument of the launch, beside static shared memory.
// expect: reversed 255 0
// expect: sum 32640
// expect: too much hipErrorInvalidValue
#include "check.h"

__global__ void reverse(int *x) {
    extern __shared__ int buffer[];
    __shared__ int last;
    if (threadIdx.x == 0)
        last = blockDim.x - 1;
    buffer[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = buffer[last - threadIdx.x];
}

__global__ void sum(const int *x, int *result) {
    HIP_DYNAMIC_SHARED(int, part)
    int i = threadIdx.x;
    part[i] = x[i];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half)
            part[i] += part[i + half];
    }
    if (i == 0)
        *result = part[0];
}

int main() {
    int x[256], *d, *r, total;
    for (int i = 0; i < 256; i++)
        x[i] = i;
    CHECK(hipMalloc(&d, sizeof x));
    CHECK(hipMalloc(&r, sizeof *r));
    CHECK(hipMemcpy(d, x, sizeof x, hipMemcpyHostToDevice));
    reverse<<<1, 256, 256 * sizeof(int)>>>(d);
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("reversed %d %d\n", x[0], x[255]);
    sum<<<1, 256, 256 * sizeof(int)>>>(d, r);
    CHECK(hipMemcpy(&total, r, sizeof total, hipMemcpyDeviceToHost));
    printf("sum %d\n", total);
    reverse<<<1, 256, 1 << 20>>>(d);
    printf("too much %s\n", hipGetErrorName(hipGetLastError()));
    CHECK(hipFree(d));
    CHECK(hipFree(r));
}
