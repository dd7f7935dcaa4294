# SPDX-License-Identifier: MIT
"""Arithmetic: integers at their limits, bits, conversions, floating point, libm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks
from .shapes import floats

# name, numpy's or Python's function, smallest and largest argument
ONE_ARGUMENT: tuple[tuple[str, Callable[[float], float], float, float], ...] = (
    ("sin", math.sin, -20, 20),
    ("cos", math.cos, -20, 20),
    ("tan", math.tan, -1.5, 1.5),
    ("asin", math.asin, -1, 1),
    ("acos", math.acos, -1, 1),
    ("atan", math.atan, -50, 50),
    ("sinh", math.sinh, -5, 5),
    ("cosh", math.cosh, -5, 5),
    ("tanh", math.tanh, -3, 3),
    ("asinh", math.asinh, -50, 50),
    ("acosh", math.acosh, 1, 50),
    ("atanh", math.atanh, -0.99, 0.99),
    ("exp", math.exp, -20, 20),
    ("exp2", lambda x: 2.0**x, -20, 20),
    ("exp10", lambda x: 10.0**x, -8, 8),
    ("expm1", math.expm1, -1, 3),
    ("log", math.log, 1e-3, 1e3),
    ("log2", math.log2, 1e-3, 1e3),
    ("log10", math.log10, 1e-3, 1e3),
    ("log1p", math.log1p, -0.9, 10),
    ("sqrt", math.sqrt, 0, 1e4),
    ("rsqrt", lambda x: 1 / math.sqrt(x), 1e-3, 1e4),
    ("cbrt", lambda x: math.copysign(abs(x) ** (1 / 3), x), -1e3, 1e3),
    ("erf", math.erf, -3, 3),
    ("erfc", math.erfc, -3, 3),
    ("tgamma", math.gamma, 0.1, 10),
    ("lgamma", math.lgamma, 0.1, 10),
    ("floor", math.floor, -9, 9),
    ("ceil", math.ceil, -9, 9),
    ("trunc", math.trunc, -9, 9),
    ("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x), -9, 9),
    ("rint", round, -9, 9),
    ("fabs", abs, -9, 9),
)
TWO_ARGUMENTS: tuple[tuple[str, Callable[[float, float], float]], ...] = (
    ("pow", lambda a, b: abs(a) ** b),
    ("atan2", math.atan2),
    ("hypot", math.hypot),
    ("fmod", math.fmod),
    ("remainder", math.remainder),
    ("fmin", min),
    ("fmax", max),
    ("fdim", lambda a, b: max(a - b, 0.0)),
    ("copysign", math.copysign),
)


def mathematics(real: str, suffix: str) -> str:
    """One kernel that calls every function of the two tables."""
    one = "".join(
        f"out[{i} * n + t] = {name}{suffix}(x[{i} * n + t]);\n"
        for i, (name, *_) in enumerate(ONE_ARGUMENT)
    )
    base = len(ONE_ARGUMENT)
    two = "".join(
        f"out[{base + i} * n + t] = {name}{suffix}"
        f"({f'fabs{suffix}(a[t])' if name == 'pow' else 'a[t]'}, b[t]);\n"
        for i, (name, _) in enumerate(TWO_ARGUMENTS)
    )
    return f"""
    extern "C" __global__ void evaluate(const {real} *x, const {real} *a,
                                        const {real} *b, {real} *out, int n) {{
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        if (t >= n) return;
        {one}{two}
    }}"""


def evaluate_all(
    gpu: Gpu, dtype: type[np.floating], suffix: str, rtol: float, atol: float
) -> Iterator[Check]:
    """Every function on random arguments, against Python's math in double."""
    n = 61
    rng = np.random.default_rng(70)
    x = np.stack([rng.uniform(low, high, n) for _, _, low, high in ONE_ARGUMENT])
    x = x.astype(dtype)
    a, b = rng.uniform(-4, 4, n).astype(dtype), rng.uniform(0.1, 4, n).astype(dtype)
    real = "double" if dtype is np.float64 else "float"
    rows = len(ONE_ARGUMENT) + len(TWO_ARGUMENTS)
    (got,) = gpu.run(
        mathematics(real, suffix),
        "evaluate",
        blocks(n, 32),
        32,
        In(x),
        In(a),
        In(b),
        InOut(np.zeros((rows, n), dtype)),
        np.int32(n),
    )
    for row, (name, function, *_) in enumerate(ONE_ARGUMENT):
        want = [function(float(v)) for v in x[row]]
        yield close(name, got[row], want, rtol=rtol, atol=atol, bitwise=False)
    for row, (name, function) in enumerate(TWO_ARGUMENTS, len(ONE_ARGUMENT)):
        want = [function(float(v), float(w)) for v, w in zip(a, b, strict=True)]
        yield close(name, got[row], want, rtol=rtol, atol=atol, bitwise=False)


@case()
def mathematics_in_double(gpu: Gpu) -> Iterator[Check]:
    yield from evaluate_all(gpu, np.float64, "", rtol=5e-15, atol=1e-15)


@case()
def mathematics_in_float(gpu: Gpu) -> Iterator[Check]:
    yield from evaluate_all(gpu, np.float32, "f", rtol=3e-6, atol=1e-6)


@case()
def functions_with_two_results(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void split(const float *x, float *s, float *c, float *m,
                                     int *e, float *whole, float *part, float *back) {
        int t = threadIdx.x;
        sincosf(x[t], &s[t], &c[t]);
        m[t] = frexpf(x[t], &e[t]);
        part[t] = modff(x[t], &whole[t]);
        back[t] = ldexpf(m[t], e[t]) + fmaf(x[t], 2.0f, 1.0f);
    }"""
    n = 50
    x = 10 * floats(n, 71)
    zero = np.zeros(n, np.float32)
    s, c, m, e, whole, part, back = gpu.run(
        source,
        "split",
        1,
        n,
        In(x),
        *(InOut(zero), InOut(zero), InOut(zero), InOut(np.zeros(n, np.int32))),
        *(InOut(zero), InOut(zero), InOut(zero)),
    )
    wide = x.astype(np.float64)
    mantissa, exponent = np.frexp(x)
    fraction, integral = np.modf(x)
    yield close("sin", s, np.sin(wide), atol=1e-6, bitwise=False)
    yield close("cos", c, np.cos(wide), atol=1e-6, bitwise=False)
    yield same("mantissa", m, mantissa)
    yield same("exponent", e, exponent)
    yield same("whole", whole, integral)
    yield same("part", part, fraction)
    yield close("back", back, 3 * wide + 1, rtol=1e-6, atol=1e-6)


@case()
def fast_intrinsics(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void fast(const float *x, float *out) {
        int t = threadIdx.x, n = blockDim.x;
        float v = x[t];
        out[t] = __sinf(v);
        out[n + t] = __cosf(v);
        out[2 * n + t] = __expf(v);
        out[3 * n + t] = __logf(v);
        out[4 * n + t] = __powf(v, 1.5f);
        out[5 * n + t] = __fdividef(1.0f, v);
        out[6 * n + t] = __frcp_rn(v);
        out[7 * n + t] = __fsqrt_rn(v);
        out[8 * n + t] = __fmaf_rn(v, v, 1.0f);
        out[9 * n + t] = __saturatef(v);
    }"""
    x = np.linspace(0.1, 3, 40, dtype=np.float32)
    (got,) = gpu.run(
        source, "fast", 1, 40, In(x), InOut(np.zeros((10, 40), np.float32))
    )
    w = x.astype(np.float64)
    want = [
        np.sin(w),
        np.cos(w),
        np.exp(w),
        np.log(w),
        w**1.5,
        1 / w,
        1 / w,
        np.sqrt(w),
    ]
    want += [w * w + 1, np.clip(w, 0, 1)]
    yield close("out", got, np.stack(want), rtol=1e-5, atol=1e-5, bitwise=False)


@case()
def nan_infinity_and_zero(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void edges(const float *x, const float *y, int *bits,
                                     float *r) {
        int t = threadIdx.x, n = blockDim.x;
        float a = x[t], b = y[t];
        bits[t] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 |
                  (a > b) << 4 | (a >= b) << 5 | (isnan(a) ? 64 : 0) |
                  (isinf(a) ? 128 : 0) | (isfinite(a) ? 256 : 0) |
                  (signbit(a) ? 512 : 0);
        r[t] = a + b;
        r[n + t] = a * b;
        r[2 * n + t] = a / b;
        r[3 * n + t] = sqrtf(a);
        r[4 * n + t] = fminf(a, b);
        r[5 * n + t] = fmaxf(a, b);
        r[6 * n + t] = copysignf(a, b);
    }"""
    values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3e38, 1e-42, -1e-45]
    x, y = (grid.ravel() for grid in np.meshgrid(np.array(values, np.float32), values))
    y = y.astype(np.float32)
    n = x.size
    bits, r = gpu.run(
        source,
        "edges",
        1,
        n,
        In(x),
        In(y),
        InOut(np.zeros(n, np.int32)),
        InOut(np.zeros((7, n), np.float32)),
    )
    tests = [x < y, x <= y, x == y, x != y, x > y, x >= y]
    tests += [np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x)]
    yield same("bits", bits, sum(test.astype(int) << i for i, test in enumerate(tests)))
    with np.errstate(all="ignore"):
        want = [x + y, x * y, x / y, np.sqrt(x), np.fmin(x, y), np.fmax(x, y)]
        want.append(np.copysign(x, y))
    for row, (name, values_wanted) in enumerate(
        zip(("+", "*", "/", "sqrt", "min", "max", "copysign"), want, strict=True)
    ):
        # Neither which NaN nor the sign of fmin(0, -0) is laid down.
        got = r[row] + np.float32(0) if name in ("min", "max") else r[row]
        wanted = (
            values_wanted + np.float32(0) if name in ("min", "max") else values_wanted
        )
        yield Check(name, got, wanted, bitwise=False)
        known = ~np.isnan(values_wanted) & (name not in ("min", "max"))
        yield Check(
            f"sign of {name}", np.signbit(got[known]), np.signbit(wanted[known])
        )


@case()
def conversions_between_numbers(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void convert(const float *x, const double *d, int *i,
                                       unsigned *u, long long *l, float *f) {
        int t = threadIdx.x, n = blockDim.x;
        i[t] = (int)x[t];
        i[n + t] = __float2int_rn(x[t]);
        i[2 * n + t] = __float2int_ru(x[t]);
        i[3 * n + t] = __float2int_rd(x[t]);
        i[4 * n + t] = __float2int_rz(x[t]);
        i[5 * n + t] = __double2int_rn(d[t]);
        i[6 * n + t] = __float_as_int(x[t]);
        u[t] = (unsigned)fabsf(x[t]);
        l[t] = (long long)(d[t] * 1e12);
        l[n + t] = __double_as_longlong(d[t]);
        f[t] = (float)d[t];
        f[n + t] = (float)l[t];
        f[2 * n + t] = __int_as_float(i[6 * n + t]) + (float)(unsigned char)i[t];
    }"""
    n = 64
    x = np.concatenate([floats(60, 72) * 1000, [0.5, 1.5, -2.5, -0.5]]).astype(
        np.float32
    )
    d = np.random.default_rng(73).uniform(-1e4, 1e4, n)
    i, u, wide, f = gpu.run(
        source,
        "convert",
        1,
        n,
        In(x),
        In(d),
        InOut(np.zeros((7, n), np.int32)),
        InOut(np.zeros(n, np.uint32)),
        InOut(np.zeros((2, n), np.int64)),
        InOut(np.zeros((3, n), np.float32)),
    )
    rows = [np.trunc(x), np.rint(x), np.ceil(x), np.floor(x), np.trunc(x), np.rint(d)]
    want = np.stack([*(row.astype(np.int32) for row in rows), x.view(np.int32)])
    whole = (d * 1e12).astype(np.int64)
    yield same("int", i, want)
    yield same("unsigned", u, np.abs(x).astype(np.uint32))
    yield same("long long", wide, np.stack([whole, d.view(np.int64)]))
    byte = want[0].astype(np.uint8).astype(np.float32)
    yield same("float", f, [d.astype(np.float32), whole.astype(np.float32), x + byte])


@case()
def integer_wraparound(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void wrap(const unsigned *a, const unsigned *b, unsigned *out,
                                    unsigned long long *wide, signed char *narrow) {
        int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
        out[t] = a[t] + b[t];
        out[n + t] = a[t] - b[t];
        out[2 * n + t] = a[t] * b[t];
        out[3 * n + t] = -a[t];
        out[4 * n + t] = a[t] << (b[t] & 31);
        out[5 * n + t] = a[t] >> (b[t] & 31);
        out[6 * n + t] = (unsigned)((int)a[t] >> (b[t] & 31));
        wide[t] = (unsigned long long)a[t] * b[t] * b[t];
        narrow[t] = (signed char)(a[t] + 100);
    }"""
    n = 96
    a, b = np.random.default_rng(74).integers(0, 2**32, (2, n)).astype(np.uint32)
    out, wide, narrow = gpu.run(
        source,
        "wrap",
        3,
        32,
        In(a),
        In(b),
        InOut(np.zeros((7, n), np.uint32)),
        InOut(np.zeros(n, np.uint64)),
        InOut(np.zeros(n, np.int8)),
    )
    shift = b & np.uint32(31)
    signed = (a.view(np.int32) >> shift.view(np.int32)).view(np.uint32)
    zero = np.uint32(0)
    yield same(
        "out", out, [a + b, a - b, a * b, zero - a, a << shift, a >> shift, signed]
    )
    big = a.astype(np.uint64) * b.astype(np.uint64) * b.astype(np.uint64)
    yield same("wide", wide, big)
    yield same("narrow", narrow, (a + np.uint32(100)).astype(np.uint8).view(np.int8))


@case()
def division_of_integers(gpu: Gpu) -> Iterator[Check]:
    """Towards zero for signed, by variable and by constant divisors, 32 and 64 bit."""
    source = """
    extern "C" __global__ void divide(const int *a, const int *b, int *s, unsigned *u,
                                      long long *l) {
        int t = threadIdx.x, n = blockDim.x;
        s[t] = a[t] / b[t];
        s[n + t] = a[t] % b[t];
        s[2 * n + t] = a[t] / 7;
        s[3 * n + t] = a[t] % -10;
        s[4 * n + t] = a[t] / 16;
        u[t] = (unsigned)a[t] / (unsigned)b[t];
        u[n + t] = (unsigned)a[t] % (unsigned)b[t];
        u[2 * n + t] = (unsigned)a[t] / 1000u;
        long long w = (long long)a[t] * 4000000007LL;
        l[t] = w / b[t];
        l[n + t] = w % b[t];
    }"""
    n = 200
    rng = np.random.default_rng(75)
    a = rng.integers(-(2**31), 2**31, n).astype(np.int32)
    b = rng.integers(-(2**12), 2**12, n).astype(np.int32)
    b[b == 0] = 3
    s, u, wide = gpu.run(
        source,
        "divide",
        1,
        n,
        In(a),
        In(b),
        InOut(np.zeros((5, n), np.int32)),
        InOut(np.zeros((3, n), np.uint32)),
        InOut(np.zeros((2, n), np.int64)),
    )

    def quotient(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    signed = [
        [quotient(x, y) for x, y in pairs],
        [math.fmod(x, y) for x, y in pairs],
        [quotient(x, 7) for x, _ in pairs],
        [math.fmod(x, -10) for x, _ in pairs],
        [quotient(x, 16) for x, _ in pairs],
    ]
    ua, ub = a.view(np.uint32), b.view(np.uint32)
    products = [(x * 4000000007, y) for x, y in pairs]
    quotients = [quotient(x, y) for x, y in products]
    rests = [x - q * y for (x, y), q in zip(products, quotients, strict=True)]
    yield same("signed", s, np.array(signed).astype(np.int32))
    yield same("unsigned", u, [ua // ub, ua % ub, ua // np.uint32(1000)])
    yield same("long long", wide, [quotients, rests])


@case()
def bit_intrinsics(gpu: Gpu) -> Iterator[Check]:
    source = """
    typedef unsigned long long u64;
    extern "C" __global__ void bits(const unsigned *x, const u64 *y, int *out,
                                    unsigned *rev, u64 *rev64, unsigned *high,
                                    u64 *high64) {
        int t = threadIdx.x, n = blockDim.x;
        out[t] = __popc(x[t]);
        out[n + t] = __popcll(y[t]);
        out[2 * n + t] = __clz(x[t]);
        out[3 * n + t] = __clzll(y[t]);
        out[4 * n + t] = __ffs(x[t]);
        out[5 * n + t] = __ffsll(y[t]);
        rev[t] = __brev(x[t]);
        rev64[t] = __brevll(y[t]);
        high[t] = __umulhi(x[t], x[n - 1 - t]);
        high[n + t] = (unsigned)__mulhi((int)x[t], (int)x[n - 1 - t]);
        high64[t] = __umul64hi(y[t], y[n - 1 - t]);
    }"""
    n = 80
    rng = np.random.default_rng(76)
    x = (rng.integers(0, 2**32, n) >> rng.integers(0, 32, n)).astype(np.uint32)
    y = rng.integers(0, 2**63, n).astype(np.uint64) >> rng.integers(0, 63, n).astype(
        np.uint64
    )
    x[0], y[0], x[1], y[1] = 0, 0, 2**32 - 1, 2**64 - 1
    out, rev, rev64, high, high64 = gpu.run(
        source,
        "bits",
        1,
        n,
        In(x),
        In(y),
        InOut(np.zeros((6, n), np.int32)),
        InOut(np.zeros(n, np.uint32)),
        InOut(np.zeros(n, np.uint64)),
        InOut(np.zeros((2, n), np.uint32)),
        InOut(np.zeros(n, np.uint64)),
    )
    xs, ys = x.tolist(), y.tolist()
    yield same(
        "counts",
        out,
        [
            [v.bit_count() for v in xs],
            [v.bit_count() for v in ys],
            [32 - v.bit_length() for v in xs],
            [64 - v.bit_length() for v in ys],
            [(v & -v).bit_length() for v in xs],
            [(v & -v).bit_length() for v in ys],
        ],
    )
    yield same(
        "brev", rev, np.array([int(f"{v:032b}"[::-1], 2) for v in xs], np.uint32)
    )
    yield same(
        "brevll", rev64, np.array([int(f"{v:064b}"[::-1], 2) for v in ys], np.uint64)
    )
    signed = x.view(np.int32).astype(np.int64)
    yield same(
        "umulhi", high[0], [v * w >> 32 for v, w in zip(xs, xs[::-1], strict=True)]
    )
    yield same("mulhi", high[1].view(np.int32), signed * signed[::-1] >> 32)
    want = [v * w >> 64 for v, w in zip(ys, ys[::-1], strict=True)]
    yield same("umul64hi", high64, np.array(want, np.uint64))


@case()
def minimum_and_maximum_overloads(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void extremes(const int *a, const int *b, int *i, unsigned *u,
                                        long long *l, double *d) {
        int t = threadIdx.x, n = blockDim.x;
        i[t] = min(a[t], b[t]);
        i[n + t] = max(a[t], b[t]);
        i[2 * n + t] = abs(a[t]);
        u[t] = min((unsigned)a[t], (unsigned)b[t]);
        u[n + t] = max((unsigned)a[t], (unsigned)b[t]);
        l[t] = max((long long)a[t] * 1000000000LL, (long long)b[t]);
        d[t] = fmax(min(a[t] * 0.5, b[t] * 0.25), -100.0);
    }"""
    n = 90
    a, b = np.random.default_rng(77).integers(-(10**6), 10**6, (2, n)).astype(np.int32)
    i, u, wide, d = gpu.run(
        source,
        "extremes",
        1,
        n,
        In(a),
        In(b),
        InOut(np.zeros((3, n), np.int32)),
        InOut(np.zeros((2, n), np.uint32)),
        InOut(np.zeros(n, np.int64)),
        InOut(np.zeros(n)),
    )
    ua, ub = a.view(np.uint32), b.view(np.uint32)
    yield same("int", i, [np.minimum(a, b), np.maximum(a, b), np.abs(a)])
    yield same("unsigned", u, [np.minimum(ua, ub), np.maximum(ua, ub)])
    yield same("long long", wide, np.maximum(a.astype(np.int64) * 10**9, b))
    yield same("double", d, np.maximum(np.minimum(a * 0.5, b * 0.25), -100))
