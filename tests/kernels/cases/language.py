# SPDX-License-Identifier: MIT
"""The language inside a kernel: recursion, local arrays, classes, control flow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut
from .shapes import floats


@case()
def recursion(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
    __device__ int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }
    __device__ int ackermann(int m, int n) {
        if (m == 0) return n + 1;
        if (n == 0) return ackermann(m - 1, 1);
        return ackermann(m - 1, ackermann(m, n - 1));
    }
    __device__ bool is_odd(int n);
    __device__ bool is_even(int n) { return n == 0 ? true : is_odd(n - 1); }
    __device__ bool is_odd(int n) { return n == 0 ? false : is_even(n - 1); }
    extern "C" __global__ void recurse(int *f, int *g, int *a, int *e) {
        int t = threadIdx.x;
        f[t] = factorial(t % 10);
        g[t] = fibonacci(t % 12);
        a[t] = ackermann(t % 3, t % 4);
        e[t] = is_even(t);
    }"""
    empty = np.zeros(48, np.int32)
    f, g, a, e = gpu.run(source, "recurse", 1, 48, *(InOut(empty) for _ in range(4)))
    t = np.arange(48)
    factorials = np.cumprod([1, *range(1, 10)])
    fibonacci = [0, 1]
    while len(fibonacci) < 12:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    m, n = t % 3, t % 4
    yield same("factorial", f, factorials[t % 10])
    yield same("fibonacci", g, np.array(fibonacci)[t % 12])
    yield same("ackermann", a, np.select([m == 0, m == 1], [n + 1, n + 2], 2 * n + 3))
    yield same("even", e, (t + 1) % 2)


@case()
def local_arrays_with_an_index_from_data(gpu: Gpu) -> Iterator[Check]:
    source = """
    struct Cell { int key; float weight[3]; };
    extern "C" __global__ void local(const int *k, int *out, float *weights) {
        int t = threadIdx.x, values[8];
        Cell cells[4];
        for (int i = 0; i < 8; i++) values[i] = t * i;
        for (int i = 0; i < 4; i++) {
            cells[i].key = i ^ t;
            for (int j = 0; j < 3; j++) cells[i].weight[j] = i * 10 + j;
        }
        values[k[t] & 7] += 1000;
        out[t] = values[k[t] & 7] + values[(k[t] + t) & 7] + cells[k[t] & 3].key;
        weights[t] = cells[t & 3].weight[k[t] % 3];
    }"""
    k = np.random.default_rng(61).integers(0, 100, 77).astype(np.int32)
    out, weights = gpu.run(
        source,
        "local",
        1,
        77,
        In(k),
        InOut(np.zeros(77, np.int32)),
        InOut(np.zeros(77, np.float32)),
    )
    t = np.arange(77)
    values = t[:, None] * np.arange(8)
    values[t, k & 7] += 1000
    want = values[t, k & 7] + values[t, (k + t) & 7] + ((k & 3) ^ t)
    yield same("out", out, want)
    yield same("weights", weights, ((t & 3) * 10 + k % 3).astype(np.float32))


@case()
def switches(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void choose(const int *x, int *out) {
        int v = x[threadIdx.x], r = 0;
        switch (v) {
        case 0: r = 5; break;
        case 1: r += 1;  // falls through
        case 2: r += 10; break;
        case 3: case 4: r = v * v; break;
        case 1000: r = -1; break;
        case -5: out[threadIdx.x] = 77; return;
        default: r = 99;
        }
        out[threadIdx.x] = r;
    }"""
    x = np.array([0, 1, 2, 3, 4, 5, 1000, -5, 7, -1] * 5, np.int32)
    (got,) = gpu.run(source, "choose", 1, x.size, In(x), InOut(np.zeros_like(x)))
    table = {0: 5, 1: 11, 2: 10, 3: 9, 4: 16, 1000: -1, -5: 77}
    yield same("out", got, [table.get(v, 99) for v in x.tolist()])


@case()
def nested_loops_with_break_continue_and_goto(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void pairs(const int *limit, int *out) {
        int t = threadIdx.x, n = limit[t], found = 0;
        for (int a = 2; a < 50; a++) {
            if (a % 5 == 0) continue;
            for (int b = a; ; b++) {
                if (a * b > n) break;
                if (b % 7 == 0) continue;
                if (a * b == n) { found = a * 100 + b; goto done; }
            }
        }
    done:
        int k = n, steps = 0;
        do {
            k = k % 2 ? 3 * k + 1 : k / 2;
            steps++;
        } while (k > 1 && steps < 1000);
        out[t] = found * 1000 + steps;
    }"""
    limit = np.arange(1, 301, dtype=np.int32)
    (got,) = gpu.run(source, "pairs", 1, 300, In(limit), InOut(np.zeros_like(limit)))
    want = []
    for n in limit.tolist():
        factors = (
            a * 100 + n // a
            for a in range(2, 50)
            if a % 5 and n % a == 0 and n // a >= a and (n // a) % 7
        )
        found, k, steps = next(factors, 0), n, 0
        while True:
            k = 3 * k + 1 if k % 2 else k // 2
            steps += 1
            if k <= 1 or steps >= 1000:
                break
        want.append(found * 1000 + steps)
    yield same("out", got, want)


@case()
def lambdas_and_functors(gpu: Gpu) -> Iterator[Check]:
    source = """
    template <class F> __device__ float twice(F f, float v) { return f(f(v)); }
    struct Scale {
        float by;
        __device__ float operator()(float v) const { return v * by; }
    };
    extern "C" __global__ void apply(float *x, float shift) {
        int t = threadIdx.x;
        float bias = t * 0.5f;
        auto add = [=](float v) { return v + shift + bias; };
        auto count = [&bias](auto v) { bias += 1; return v; };
        float r = twice(add, x[t]);
        r = twice(Scale{2.0f}, r);
        r = count(count(r));
        x[t] = r + bias;
    }"""
    x = np.arange(40, dtype=np.float32)
    (got,) = gpu.run(source, "apply", 1, 40, InOut(x), np.float32(3))
    bias = x * 0.5
    yield same("x", got, (x + 2 * (3 + bias)) * 4 + bias + 2)


@case()
def virtual_functions(gpu: Gpu) -> Iterator[Check]:
    source = """
    struct Shape {
        int id;
        __device__ Shape(int i) : id(i) {}
        __device__ virtual float area() const { return 0; }
        __device__ virtual int sides() const = 0;
    };
    struct Square : Shape {
        float a;
        __device__ Square(float v) : Shape(1), a(v) {}
        __device__ float area() const override { return a * a; }
        __device__ int sides() const override { return 4; }
    };
    struct Disc : Shape {
        float r;
        __device__ Disc(float v) : Shape(2), r(v) {}
        __device__ float area() const override { return 3.0f * r * r; }
        __device__ int sides() const override { return 0; }
    };
    extern "C" __global__ void measure(float *out) {
        int t = threadIdx.x;
        Square square(t);
        Disc disc(t);
        const Shape *shape = t % 3 ? (const Shape *)&square : &disc;
        out[t] = shape->area() * 10 + shape->sides() + shape->id;
    }"""
    (got,) = gpu.run(source, "measure", 1, 33, InOut(np.zeros(33, np.float32)))
    t = np.arange(33, dtype=np.float32)
    yield same("out", got, np.where(t % 3 > 0, t * t * 10 + 5, 3 * t * t * 10 + 2))


@case()
def function_pointers(gpu: Gpu) -> Iterator[Check]:
    source = """
    typedef int (*Operation)(int, int);
    __device__ int plus(int a, int b) { return a + b; }
    __device__ int minus(int a, int b) { return a - b; }
    __device__ int times(int a, int b) { return a * b; }
    __device__ Operation operations[3] = {plus, minus, times};
    extern "C" __global__ void calculate(const int *a, const int *b, int *out) {
        int t = threadIdx.x;
        out[t] = operations[t % 3](a[t], b[t]);
    }"""
    rng = np.random.default_rng(62)
    a, b = (rng.integers(-99, 99, 45).astype(np.int32) for _ in range(2))
    (got,) = gpu.run(source, "calculate", 1, 45, In(a), In(b), InOut(np.zeros_like(a)))
    which = np.arange(45) % 3
    yield same("out", got, np.choose(which, [a + b, a - b, a * b]))


@case()
def classes_with_operators(gpu: Gpu) -> Iterator[Check]:
    source = """
    class Complex {
        float re_, im_;
    public:
        __device__ Complex(float re = 0, float im = 0) : re_(re), im_(im) {}
        __device__ Complex operator*(const Complex &o) const {
            return {re_ * o.re_ - im_ * o.im_, re_ * o.im_ + im_ * o.re_};
        }
        __device__ Complex &operator+=(const Complex &o) {
            re_ += o.re_; im_ += o.im_;
            return *this;
        }
        __device__ float norm() const { return re_ * re_ + im_ * im_; }
    };
    extern "C" __global__ void power(const Complex *z, Complex *sum, float *norm) {
        int t = threadIdx.x;
        Complex p(1), s;
        for (int i = 0; i < 4; i++) { s += p; p = p * z[t]; }
        sum[t] = s;
        norm[t] = s.norm();
    }"""
    z = (floats(50, 63) + 1j * floats(50, 64)).astype(np.complex64)
    sums, norm = gpu.run(
        source,
        "power",
        1,
        50,
        In(z),
        InOut(np.zeros_like(z)),
        InOut(np.zeros(50, np.float32)),
    )
    want = 1 + z + z**2 + z**3
    yield close("sum", sums, want, rtol=1e-5, atol=1e-5)
    yield close("norm", norm, np.abs(want) ** 2, rtol=1e-5, atol=1e-5)


@case()
def modern_language_features(gpu: Gpu) -> Iterator[Check]:
    """constexpr tables, if constexpr, folds, structured bindings, static assertions."""
    source = """
    constexpr int triangle(int n) { return n == 0 ? 0 : n + triangle(n - 1); }
    __device__ constexpr int squares[5] = {0, 1, 4, 9, 16};
    template <class... T> __device__ int sum(T... v) { return (v + ... + 0); }
    template <class T> __device__ int width() {
        if constexpr (sizeof(T) == 8) return 64;
        else return 8 * sizeof(T);
    }
    struct Pair { int a; int b; };
    __device__ Pair split(int v) { return {v / 10, v % 10}; }
    enum class Mode : unsigned char { low = 3, high = 200 };
    extern "C" __global__ void modern(int *out) {
        static_assert(triangle(4) == 10);
        int t = threadIdx.x;
        auto [tens, ones] = split(t);
        Mode mode = t & 1 ? Mode::high : Mode::low;
        out[t] = sum(tens, 2 * ones, squares[t % 5], triangle(3)) + width<double>() +
                 width<short>() + static_cast<int>(mode);
        int list[] = {1, 2, 3};
        for (int v : list) out[t] += v * 1000;
    }"""
    (got,) = gpu.run(
        source, "modern", 1, 64, InOut(np.zeros(64, np.int32)), options=["-std=c++17"]
    )
    t = np.arange(64)
    want = (
        t // 10 + 2 * (t % 10) + (t % 5) ** 2 + 6 + 80 + np.where(t & 1, 200, 3) + 6000
    )
    yield same("out", got, want)


@case()
def vector_types(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void vectors(const float4 *x, float4 *y, int2 *p, uchar4 *c,
                                       double2 *d) {
        int t = threadIdx.x;
        float4 v = x[t];
        y[t] = make_float4(v.w, v.z, v.y, v.x);
        p[t] = make_int2(t, -t);
        c[t] = make_uchar4(t, t + 1, t + 2, 255);
        double2 q;
        q.x = v.x; q.y = v.y;
        d[t] = q;
        dim3 size(4, 5);
        p[t].y -= size.x + size.y + size.z;
    }"""
    n = 40
    x = floats(4 * n, 65).reshape(n, 4)
    y, p, c, d = gpu.run(
        source,
        "vectors",
        1,
        n,
        In(x),
        InOut(np.zeros_like(x)),
        InOut(np.zeros((n, 2), np.int32)),
        InOut(np.zeros((n, 4), np.uint8)),
        InOut(np.zeros((n, 2))),
    )
    t = np.arange(n)
    yield same("float4", y, x[:, ::-1])
    yield same("int2", p, np.stack([t, -t - 10], axis=1))
    yield same("uchar4", c, np.stack([t, t + 1, t + 2, np.full(n, 255)], axis=1))
    yield same("double2", d, x[:, :2].astype(np.float64))


@case()
def memory_functions_and_unions(gpu: Gpu) -> Iterator[Check]:
    source = """
    union Bits { float f; unsigned u; unsigned char b[4]; };
    extern "C" __global__ void bytes(const float *x, unsigned *sign,
                                     unsigned char *high, int *copies) {
        int t = threadIdx.x;
        Bits bits;
        bits.f = x[t];
        sign[t] = bits.u >> 31;
        high[t] = bits.b[3];
        int a[6], b[6];
        memset(a, 0, sizeof a);
        for (int i = 0; i < 6; i++) b[i] = i * t;
        memcpy(a + 1, b, 4 * sizeof(int));
        int sum = 0;
        for (int i = 0; i < 6; i++) sum += a[i] * (i + 1);
        copies[t] = sum;
    }"""
    n = 60
    x = floats(n, 66)
    sign, high, copies = gpu.run(
        source,
        "bytes",
        1,
        n,
        In(x),
        InOut(np.zeros(n, np.uint32)),
        InOut(np.zeros(n, np.uint8)),
        InOut(np.zeros(n, np.int32)),
    )
    raw = x.view(np.uint32)
    yield same("sign", sign, raw >> 31)
    yield same("high", high, (raw >> 24).astype(np.uint8))
    yield same("copies", copies, np.arange(n) * (1 * 3 + 2 * 4 + 3 * 5))
