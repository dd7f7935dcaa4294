// SPDX-License-Identifier: MIT
// Kernels of templates: values, types, packs, function objects and specialisations.
// expect: plus 10
// expect: times 24
// expect: pack 3 2.50 x
// expect: general 4, special 1
#include "check.h"

struct Plus {
    __device__ int operator()(int a, int b) const { return a + b; }
    static constexpr int start = 0;
};
struct Times {
    __device__ int operator()(int a, int b) const { return a * b; }
    static constexpr int start = 1;
};

template <class Op, int N> __global__ void reduce(const int *x, int *result) {
    int value = Op::start;
#pragma unroll
    for (int i = 0; i < N; i++)
        value = Op()(value, x[i]);
    *result = value;
}

template <class T> struct Kind {
    static __device__ int of() { return sizeof(T); }
};
template <> struct Kind<double> {
    static __device__ int of() { return 1; }
};
template <class T> __global__ void kind(int *x) { *x = Kind<T>::of(); }

struct Result {
    int *d;
    Result() { CHECK(hipMalloc(&d, sizeof *d)); }
    ~Result() { CHECK(hipFree(d)); }
    int value() const {
        int x;
        CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
        return x;
    }
};

template <class A, class B, class C> __global__ void show(A a, B b, C c) {
    printf("pack %d %.2f %c\n", a, b, c);
}

int main() {
    int x[] = {1, 2, 3, 4}, *d;
    Result result;
    CHECK(hipMalloc(&d, sizeof x));
    CHECK(hipMemcpy(d, x, sizeof x, hipMemcpyHostToDevice));
    reduce<Plus, 4><<<1, 1>>>(d, result.d);
    printf("plus %d\n", result.value());
    reduce<Times, 4><<<1, 1>>>(d, result.d);
    printf("times %d\n", result.value());
    show<<<1, 1>>>(3, 2.5, 'x');
    CHECK(hipDeviceSynchronize());
    kind<float><<<1, 1>>>(result.d);
    int general = result.value();
    kind<double><<<1, 1>>>(result.d);
    printf("general %d, special %d\n", general, result.value());
    CHECK(hipFree(d));
}
