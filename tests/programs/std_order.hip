// SPDX-License-Identifier: MIT
// Functions of std in kernels where <cmath> and <complex> come before HIP's header.
// expect: 0 wrong
#include <cmath>
#include <complex>
#include <cstdlib>

#include <cstdio>

#include <hip/hip_runtime.h>

struct Results {
    double value[16];
    int count;
};

static __host__ __device__ void compute(Results &r, int i, float f, double d)
{
    const double all[] = {
        std::sin(d),
        std::sin(f),
        std::hypot(d, 2.0),
        std::pow(d, i),
        std::expm1(d),
        std::log2f(f),
        static_cast<double>(std::abs(-i)),
        std::abs(-d),
        static_cast<double>(std::isinf(f) + std::isnan(d) + std::isfinite(f)),
        static_cast<double>(std::signbit(-d)),
        std::abs(std::complex<double>(d, 4)),
        std::fmin(f, d),
    };
    r.count = 0;
    for (double one : all)
        r.value[r.count++] = one;
}

__global__ void kernel(Results *out, int i, float f, double d)
{
    compute(*out, i, f, d);
}

int main()
{
    Results *device, found, wanted;
    if (hipMalloc(&device, sizeof found) != hipSuccess)
        return 1;
    kernel<<<1, 1>>>(device, 3, 2, 3);
    if (hipMemcpy(&found, device, sizeof found, hipMemcpyDeviceToHost) != hipSuccess)
        return 2;
    compute(wanted, 3, 2, 3);
    int wrong = found.count != wanted.count;
    for (int i = 0; i < wanted.count; i++)
        if (!(std::fabs(found.value[i] - wanted.value[i]) <= 1e-7)) {
            std::printf("%d: %g, not %g\n", i, found.value[i], wanted.value[i]);
            wrong++;
        }
    std::printf("%d wrong\n", wrong);
    return hipFree(device);
}
