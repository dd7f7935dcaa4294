// SPDX-License-Identifier: MIT
// half, bfloat16, fp8 and complex numbers: host and device give the same bits.
// expect: 0 of 4096 differ
// expect: 1.5 2.5 0.4375 -2
// expect: 1.25
#include "check.h"

#include <vector>

#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_math_constants.h>

struct Result {
    __half h, fused;
    __half2 pair;
    __hip_bfloat16 b;
    __hip_fp8_e4m3 f;
    __hip_fp8_e5m2_fnuz g;
    float wide;
    bool less;
};

static __host__ __device__ float through_half(hip_bfloat16 x) {
    return static_cast<__half>(x);
}

static __host__ __device__ Result compute(float x) {
    Result r = {};
    r.h = __half(x) / __half(3);
    r.fused = __hfma(r.h, __float2half_rd(x), __double2half(x / 7.0));
    r.pair = __hadd2(make_half2(r.h, r.fused), __float2half2_rn(x));
    r.b = __hip_bfloat16(x) * __hip_bfloat16(1.1);
    r.f = __hip_fp8_e4m3(x);
    r.g = __hip_fp8_e5m2_fnuz(r.h);
    r.wide = (float)r.f + (float)r.g + __bfloat162float(r.b);
    r.less = r.h < r.fused;
    return r;
}

__global__ void on_device(const float *x, Result *r, __half2 *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    r[i] = compute(x[i]);
    atomicAdd(sum, __half2(__half(i == 7), __half(0)));
}

int main() {
    const int n = 4096;
    std::vector<float> x(n);
    std::vector<Result> r(n);
    for (int i = 0; i < n; i++)
        x[i] = (i - 2000) * 0.037f * (i % 64);
    float *dx;
    Result *dr;
    __half2 *sum;
    CHECK(hipMalloc(&dx, n * sizeof(float)));
    CHECK(hipMalloc(&dr, n * sizeof(Result)));
    CHECK(hipMalloc(&sum, sizeof *sum));
    CHECK(hipMemset(sum, 0, sizeof *sum));
    CHECK(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    on_device<<<n / 256, 256>>>(dx, dr, sum);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(r.data(), dr, n * sizeof(Result), hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        Result own = compute(x[i]);
        wrong += __half_as_ushort(own.h) != __half_as_ushort(r[i].h) ||
                 __half_as_ushort(own.fused) != __half_as_ushort(r[i].fused) ||
                 !__hbeq2(own.pair, r[i].pair) ||
                 __bfloat16_as_ushort(own.b) != __bfloat16_as_ushort(r[i].b) ||
                 own.f.__x != r[i].f.__x || own.g.__x != r[i].g.__x ||
                 own.wide != r[i].wide || own.less != r[i].less;
    }
    printf("%d of %d differ\n", wrong, n);
    __half2 total;
    CHECK(hipMemcpy(&total, sum, sizeof total, hipMemcpyDeviceToHost));
    hipFloatComplex z = hipCmulf(make_hipFloatComplex(1, -1), hipFloatComplex(0, 2));
    printf("%g %g %g %g\n", __low2float(total) + 0.5f, z.x + 0.5, (float)__hip_fp8_e4m3(0.43f),
           (float)__half(-HIP_PI_F) + 1.140625f);
    printf("%g\n", through_half(hip_bfloat16(1.25f)));
    CHECK(hipFree(dx));
    CHECK(hipFree(dr));
    CHECK(hipFree(sum));
}
