// SPDX-License-Identifier: MIT
// What a program has before HIP's header counts on the device too: macros, declarations,
// functions of the device, headers of its own.
// expect: 12 30 7 1
// expect: assert is off
#define NDEBUG
#define SCALE 3
#define __HIP_DISABLE_CPP_FUNCTIONS__
#ifdef __HIP_PLATFORM_AMD__
#error "it is for the program to say, or for HIP's header"
#endif
#define __HIP_PLATFORM_AMD__

struct Pair {
    int a, b;
};

static inline __device__ int scaled(Pair pair)
{
    return SCALE * (pair.a + pair.b);
}

template <class T> __host__ __device__ T twice(T x)
{
    return x + x;
}

#include "before_include.h"

#include <hip/hip_runtime.h>

#include <cstdio>

__constant__ int seven = 7;

__global__ void kernel(int *out, Pair pair)
{
    assert(false);
    out[0] = scaled(pair);
    out[1] = twice(own_header(pair.b));
    out[2] = seven;
    out[3] = SCALE == 3;
}

int main()
{
    decltype(&hipMalloc) allocate = hipMalloc;
    void *device;
    int out[4];
    if (allocate(&device, sizeof out) != hipSuccess)
        return 1;
    kernel<<<1, 1>>>(static_cast<int *>(device), Pair{1, 3});
    if (hipMemcpy(out, device, sizeof out, hipMemcpyDeviceToHost) != hipSuccess)
        return 2;
    std::printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
    assert(false);
    std::printf("assert is off\n");
}
