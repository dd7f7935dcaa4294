// SPDX-License-Identifier: MIT
// Functions of std with a type in their name, on both sides.
// expect: 2 3 -1
// expect: 2 3 -1
#include "check.h"

static __host__ __device__ void compute(float *out) {
    out[0] = std::log2f(4.0f);
    out[1] = std::sqrtf(9.0f);
    out[2] = std::copysignf(std::fabsf(-1.0f), -5.0f);
}

__global__ void kernel(float *out) {
    compute(out);
}

int main() {
    float *device, host[3], back[3];
    CHECK(hipMalloc(&device, sizeof back));
    kernel<<<1, 1>>>(device);
    CHECK(hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost));
    compute(host);
    std::printf("%g %g %g\n", host[0], host[1], host[2]);
    std::printf("%g %g %g\n", back[0], back[1], back[2]);
    CHECK(hipFree(device));
}
