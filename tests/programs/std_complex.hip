// SPDX-License-Identifier: MIT
// std::complex in kernels: what the device computes agrees with the host, infinities too.
// expect: float 0 wrong
// expect: double 0 wrong
// expect: special 0 wrong
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <hip/hip_runtime.h>

#include "check.h"

constexpr int COUNT = 25;

template <class T> struct Results {
    std::complex<T> value[COUNT];
};

template <class T>
__host__ __device__ Results<T> work(std::complex<T> a, std::complex<T> b)
{
    typedef std::complex<T> C;
    C sum = a;
    sum += b;
    sum *= a;
    sum -= T(1);
    sum /= b;
    C power = a;
    return {{a + b, a - b, a * b, a / b, a + T(2), T(2) - b, a * T(2), T(2) / b, -a, sum,
             C(std::abs(a)), C(std::norm(a), std::arg(b)), std::conj(a),
             std::polar(T(2), T(0.5)), std::exp(a), std::log(b), std::sqrt(a),
             std::pow(a, b), std::pow(a, T(2)), std::sin(a), std::cos(a), std::tanh(b),
             C(a == a, a != b), std::proj(a), power *= C(0, 1)}};
}

template <class T>
__global__ void compute(const std::complex<T> *in, Results<T> *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = work(in[i], in[(i + 1) % n]);
}

template <class T> int run(const std::complex<T> *in, int n, T tolerance)
{
    std::complex<T> *d_in;
    Results<T> *d_out;
    std::vector<Results<T>> out(n);
    CHECK(hipMalloc(&d_in, n * sizeof *in));
    CHECK(hipMalloc(&d_out, n * sizeof *d_out));
    CHECK(hipMemcpy(d_in, in, n * sizeof *in, hipMemcpyDefault));
    compute<<<1, 64>>>(d_in, d_out, n);
    CHECK(hipMemcpy(out.data(), d_out, n * sizeof *d_out, hipMemcpyDefault));
    CHECK(hipFree(d_in));
    CHECK(hipFree(d_out));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        Results<T> wanted = work(in[i], in[(i + 1) % n]);
        for (int j = 0; j < COUNT; j++) {
            T apart = std::abs(out[i].value[j] - wanted.value[j]);
            if (!(apart <= tolerance * (1 + std::abs(wanted.value[j])))) {
                std::printf("%d %d: %g %g, not %g %g\n", i, j, (double)out[i].value[j].real(),
                            (double)out[i].value[j].imag(), (double)wanted.value[j].real(),
                            (double)wanted.value[j].imag());
                wrong++;
            }
        }
    }
    return wrong;
}

/* Of a product or quotient with infinities and zeros it is asked what its parts are. */
__global__ void classify(const float *parts, int *kinds)
{
    int i = threadIdx.x;
    const float *p = parts + i * 4;
    std::complex<float> a(p[0], p[1]), b(p[2], p[3]), r[] = {a * b, a / b};
    for (int j = 0; j < 2; j++)
        kinds[i * 2 + j] = std::isinf(r[j].real()) || std::isinf(r[j].imag())    ? 2
                           : std::isnan(r[j].real()) || std::isnan(r[j].imag()) ? 1
                                                                                : 0;
}

static int special()
{
    const float inf = INFINITY, no = NAN;
    /* a, b, and the kinds of a * b and a / b */
    const float parts[][4] = {{inf, no, 1, 2}, {inf, inf, 1, -1}, {1, 1, 0, 0},
                              {1, 2, inf, no}, {0, 0, 0, 0},      {no, 1, 2, 3},
                              {1e38f, 1e38f, 1e38f, 1e38f}};
    const int wanted[][2] = {{2, 2}, {2, 2}, {0, 2}, {2, 0}, {0, 1}, {1, 1}, {2, 0}};
    const int n = sizeof parts / sizeof parts[0];
    float *d_parts;
    int *d_kinds, kinds[n][2], wrong = 0;
    CHECK(hipMalloc(&d_parts, sizeof parts));
    CHECK(hipMalloc(&d_kinds, sizeof kinds));
    CHECK(hipMemcpy(d_parts, parts, sizeof parts, hipMemcpyDefault));
    classify<<<1, n>>>(d_parts, d_kinds);
    CHECK(hipMemcpy(kinds, d_kinds, sizeof kinds, hipMemcpyDefault));
    CHECK(hipFree(d_parts));
    CHECK(hipFree(d_kinds));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++)
            if (kinds[i][j] != wanted[i][j]) {
                std::printf("special %d %d: %d\n", i, j, kinds[i][j]);
                wrong++;
            }
    return wrong;
}

int main()
{
    const std::complex<float> f[] = {{1, 2}, {-0.5f, 0.25f}, {0.75f, -1}, {-2, -1.5f}};
    const std::complex<double> d[] = {{1, 2}, {-0.5, 0.25}, {0.75, -1}, {-2, -1.5}};
    std::printf("float %d wrong\n", run<float>(f, 4, 1e-5f));
    std::printf("double %d wrong\n", run<double>(d, 4, 1e-13));
    std::printf("special %d wrong\n", special());
    return 0;
}
