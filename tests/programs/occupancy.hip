// SPDX-License-Identifier: MIT
// Questions about kernels by their names in the program.
// expect: at most 128 threads, 4096 bytes shared
// expect: blocks fit 1
// expect: best block 128
// expect: best block with memory a thread 96, one a processor 1
// expect: best block up to 50 is 50
// expect: set hipSuccess hipErrorInvalidValue
// expect: not a kernel hipErrorInvalidDeviceFunction
#include "check.h"

__global__ void __launch_bounds__(128) work(float *x) {
    __shared__ float part[1024];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = part[127 - threadIdx.x];
}

static void not_a_kernel(float *) {}

int main() {
    hipFuncAttributes attributes;
    int blocks = 0, grid = 0, block = 0;
    CHECK(hipFuncGetAttributes(&attributes, work));
    printf("at most %d threads, %zu bytes shared\n", attributes.maxThreadsPerBlock,
           attributes.sharedSizeBytes);
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 128, 0));
    printf("blocks fit %d\n", blocks > 0);
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, work));
    printf("best block %d\n", block);
    auto memory = [](int threads) { return threads * 600; }; /* 128 are too many */
    int device = 0, processors = 0;
    CHECK(hipGetDevice(&device));
    CHECK(hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount,
                                device));
    CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, work, memory));
    printf("best block with memory a thread %d, one a processor %d\n", block,
           grid == processors);
    CHECK(hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        &grid, &block, work, [](int) { return 60000; }, 50));
    printf("best block up to 50 is %d\n", block);
    hipError_t good = hipFuncSetAttribute(
        (const void *)work, hipFuncAttributeMaxDynamicSharedMemorySize, 1024);
    hipError_t bad = hipFuncSetAttribute(
        (const void *)work, hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 24);
    printf("set %s %s\n", hipGetErrorName(good), hipGetErrorName(bad));
    printf("not a kernel %s\n",
           hipGetErrorName(hipFuncGetAttributes(&attributes, not_a_kernel)));
}
