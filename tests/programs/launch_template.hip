// SPDX-License-Identifier: MIT
// hipLaunchKernelGGL as a function, and the other launches and questions that are templates.
// expect: 42 5
// expect: 6 7
// expect: 8
// expect: 1 1 1 1
#define HIP_TEMPLATE_KERNEL_LAUNCH
#include "check.h"

template <class T, int N> __global__ void add(T *out, T a, short b)
{
    *out = a + b + N;
}

__global__ void plain(int *out, double a)
{
    *out = static_cast<int>(a);
}

__device__ int table[4];

static int read(const int *device)
{
    int value = 0;
    CHECK(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

int main()
{
    int *out;
    CHECK(hipMalloc<int>(&out, sizeof *out));

    // Commas in the template's arguments; arguments of other types than the parameters.
    hipLaunchKernelGGL(add<int, 40>, dim3(1), dim3(1), 0, 0, out, 1, 1);
    int first = read(out);
    hipLaunchKernelGGL(plain, 1, 1, 0, nullptr, out, 5);
    std::printf("%d %d\n", first, read(out));

    int six = 6;
    double seven = 7;
    short zero = 0;
    void *arguments[] = {&out, &six, &zero};
    CHECK(hipLaunchCooperativeKernel(add<int, 0>, dim3(1), dim3(1), arguments, 0, nullptr));
    first = read(out);
    void *others[] = {&out, &seven};
    CHECK(hipLaunchCooperativeKernel<void (*)(int *, double)>(plain, 1, 1, others, 0, 0));
    std::printf("%d %d\n", first, read(out));

    hipLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    CHECK(hipLaunchKernelEx(&config, add<int, 2>, out, 4L, 2));
    std::printf("%d\n", read(out));

    int grid = 0, block = 0, blocks = 0;
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, add<int, 1>, 0, 64u));
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, block, 0));
    CHECK(hipFuncSetAttribute(reinterpret_cast<const void *>(&plain),
                              hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
    void *address = nullptr;
    size_t size = 0;
    CHECK(hipGetSymbolAddress(&address, table));
    CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
    std::printf("%d %d %d %d\n", grid > 0, block == 64, blocks > 0,
                address != nullptr && size == sizeof table);
    CHECK(hipFree(out));
}
