# SPDX-License-Identifier: MIT
"""Every mathematical function within its bound; special values; conversions; bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from ..accuracy import measure
from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut

POINTS = 48
INF, NAN = np.inf, np.nan


@case()
def float_functions_keep_their_bounds(gpu: Gpu) -> Iterator[Check]:
    yield from bounds(gpu, np.float32)


@case()
def double_functions_keep_their_bounds(gpu: Gpu) -> Iterator[Check]:
    yield from bounds(gpu, np.float64)


def bounds(gpu: Gpu, dtype: type) -> Iterator[Check]:
    for row, ulps in measure(gpu, dtype, POINTS):
        bound = row.float_bound if dtype is np.float32 else row.double_bound
        assert bound is not None
        yield Check(row.name, ulps, np.zeros_like(ulps), atol=bound, bitwise=False)


@case(warp_sizes=(32, 64))
def functions_of_many_lanes_at_once(gpu: Gpu) -> Iterator[Check]:
    """Around a barrier and around a vote, where lanes go as vectors of several sizes."""
    source = """
    template <class T> __global__ void around(const T *x, T *out, int vote) {
        __shared__ T kept[96];
        int lane = threadIdx.x;
        kept[lane] = exp(x[lane]) + log(x[lane] + T(3));
        __syncthreads();
        T other = kept[95 - lane];
        if (lane < 77 && (!vote || __any(lane % 32 == 5)))
            other += sin(x[lane]) * cos(other) + pow(x[lane] * x[lane], T(0.3));
        out[lane] = other;
    }"""
    for dtype, name, rtol in (
        (np.float32, "float", 2e-6),
        (np.float64, "double", 2e-15),
    ):
        x = np.random.default_rng(52).uniform(-2, 2, 96).astype(dtype)
        for vote in (0, 1):
            (got,) = gpu.run(
                source,
                f"around<{name}>",
                1,
                96,
                In(x),
                InOut(np.zeros_like(x)),
                np.int32(vote),
            )
            wide = x.astype(np.float64)
            want = (np.exp(wide) + np.log(wide + 3))[::-1].copy()
            want[:77] += (np.sin(wide) * np.cos(want) + np.abs(wide) ** 0.6)[:77]
            yield close(
                f"{name} {vote}", got, want, rtol=rtol, atol=rtol, bitwise=False
            )


# An expression for double, s being "" or "f", and what it is.
SPECIAL: tuple[tuple[str, float], ...] = (
    ("erfinv{s}(T(1))", INF),
    ("erfinv{s}(T(-1))", -INF),
    ("erfinv{s}(T(1.5))", NAN),
    ("erfinv{s}(T(-0.0))", -0.0),
    ("erfcinv{s}(T(0))", INF),
    ("erfcinv{s}(T(2))", -INF),
    ("erfcinv{s}(T(1))", 0.0),
    ("erfcinv{s}(T(-1))", NAN),
    ("erfcinv{s}(T(NAN))", NAN),
    ("erfcx{s}(T(INFINITY))", 0.0),
    ("erfcx{s}(T(-INFINITY))", INF),
    ("erfcx{s}(T(-30))", INF),
    ("erfcx{s}(T(NAN))", NAN),
    ("normcdf{s}(T(INFINITY))", 1.0),
    ("normcdf{s}(T(-INFINITY))", 0.0),
    ("normcdf{s}(T(0))", 0.5),
    ("normcdf{s}(T(-45))", 0.0),
    ("normcdf{s}(T(NAN))", NAN),
    ("normcdfinv{s}(T(0))", -INF),
    ("normcdfinv{s}(T(1))", INF),
    ("normcdfinv{s}(T(0.5))", 0.0),
    ("normcdfinv{s}(T(2))", NAN),
    ("cyl_bessel_i0{s}(T(0))", 1.0),
    ("cyl_bessel_i0{s}(T(-INFINITY))", INF),
    ("cyl_bessel_i0{s}(T(800))", INF),
    ("cyl_bessel_i0{s}(T(NAN))", NAN),
    ("cyl_bessel_i1{s}(T(-0.0))", -0.0),
    ("cyl_bessel_i1{s}(T(-INFINITY))", -INF),
    ("norm3d{s}(T(3), T(4), T(12))", 13.0),
    ("norm3d{s}(T(INFINITY), T(NAN), T(1))", INF),
    ("norm3d{s}(T(1), T(NAN), T(1))", NAN),
    ("norm3d{s}(T(0), T(0), T(0))", 0.0),
    ("norm4d{s}(T(2), T(4), T(5), T(6))", 9.0),
    ("norm4d{s}(T(1), T(1), T(-INFINITY), T(1))", INF),
    ("rnorm3d{s}(T(0), T(0), T(0))", INF),
    ("rnorm3d{s}(T(INFINITY), T(1), T(NAN))", 0.0),
    ("rnorm4d{s}(T(1), T(1), T(1), T(1))", 0.5),
    ("rhypot{s}(T(0), T(0))", INF),
    ("rhypot{s}(T(INFINITY), T(NAN))", 0.0),
    ("rhypot{s}(T(3), T(4))", float("0.2")),
    ("norm{s}(4, v)", 5.0),
    ("rnorm{s}(4, v)", float("0.2")),
    ("scalbln{s}(T(3), 5000000000l)", INF),
    ("scalbln{s}(T(3), -5000000000l)", 0.0),
    ("scalbn{s}(T(3), 4)", 48.0),
    ("powi{s}(T(-1), 16777217)", -1.0),
    ("powi{s}(T(2), -3)", 0.125),
    ("sinpi{s}(T(1))", 0.0),
    ("cospi{s}(T(0.5))", 0.0),
    ("sinpi{s}(T(-0.5))", -1.0),
    ("sinpi{s}(T(INFINITY))", NAN),
    ("rsqrt{s}(T(0))", INF),
    ("rcbrt{s}(T(-8))", -0.5),
    ("fmin{s}(T(NAN), T(2))", 2.0),
    ("fmax{s}(T(1), T(NAN))", 1.0),
    ("T(__signbit{s}(T(-0.0)))", 1.0),
    ("T(ilogb{s}(T(0.2)))", -3.0),
    ("tgamma{s}(T(5))", 24.0),
    ("lgamma{s}(T(-2))", INF),
    ("pow{s}(T(0), T(-1))", INF),
    ("exp10{s}(T(2))", 100.0),
    ("fdim{s}(T(3), T(5))", 0.0),
)


@case()
def special_values_of_functions(gpu: Gpu) -> Iterator[Check]:
    for real, suffix, dtype in (("float", "f", np.float32), ("double", "", np.float64)):
        lines = "".join(
            f"out[{i}] = {expression.format(s=suffix)};\n"
            for i, (expression, _) in enumerate(SPECIAL)
        )
        source = f"""
        #include <math.h>
        typedef {real} T;
        extern "C" __global__ void special(T *out) {{
            T v[4] = {{0, 3, 0, -4}};
            {lines} }}"""
        (got,) = gpu.run(source, "special", 1, 1, InOut(np.zeros(len(SPECIAL), dtype)))
        want = np.array([value for _, value in SPECIAL], dtype)
        for (expression, _), one, other in zip(SPECIAL, got, want, strict=True):
            yield same(f"{real}: {expression}", one, other)
            if not np.isnan(other):
                yield same(f"sign of {expression}", np.signbit(one), np.signbit(other))


@case()
def nan_carries_the_number_of_its_tag(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void tags(unsigned long long *out) {
        out[0] = __float_as_uint(nanf("0x1234")); out[1] = __float_as_uint(nanf("017"));
        out[2] = __double_as_longlong(nan("12345")); out[3] = __double_as_longlong(nan(""));
        out[4] = __float_as_uint(nanf("x"));
    }"""
    (got,) = gpu.run(source, "tags", 1, 1, InOut(np.zeros(5, np.uint64)))
    quiet, wide = 0x7FC00000, 0x7FF8000000000000
    yield same("bits", got, [quiet + 0x1234, quiet + 0o17, wide + 12345, wide, quiet])


# ---- conversions with a direction --------------------------------------------------

KINDS: tuple[tuple[str, str, type, type], ...] = (
    ("int", "float", np.int32, np.float32),
    ("uint", "float", np.uint32, np.float32),
    ("ll", "float", np.int64, np.float32),
    ("ull", "float", np.uint64, np.float32),
    ("ll", "double", np.int64, np.float64),
    ("ull", "double", np.uint64, np.float64),
    ("double", "float", np.float64, np.float32),
)


def directed(value: object, dtype: type, direction: str) -> np.floating:
    """The number of the type that lies next to the exact value in a direction."""
    exact = Fraction(value)  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        near = dtype(float(value) if isinstance(value, float) else int(value))  # type: ignore[call-overload]

    def below(x: np.floating) -> bool:
        return x == -np.inf or (np.isfinite(x) and Fraction(float(x)) <= exact)

    def above(x: np.floating) -> bool:
        return x == np.inf or (np.isfinite(x) and Fraction(float(x)) >= exact)

    down = near if below(near) else np.nextafter(near, dtype(-np.inf))
    up = near if above(near) else np.nextafter(near, dtype(np.inf))
    if direction == "rz":
        return down if exact >= 0 else up
    return {"rd": down, "ru": up}[direction]


@case()
def conversions_round_in_their_direction(gpu: Gpu) -> Iterator[Check]:
    types = {"int": "int", "uint": "unsigned", "ll": "long long",
             "ull": "unsigned long long", "double": "double"}  # fmt: skip
    source = "".join(
        f"""
    extern "C" __global__ void {a}_{b}(const {types[a]} *x, {b} *out, int n) {{
        int i = threadIdx.x;
        if (i < n) {{
            out[i] = __{a}2{b}_rz(x[i]);
            out[n + i] = __{a}2{b}_rd(x[i]);
            out[2 * n + i] = __{a}2{b}_ru(x[i]);
        }}
    }}"""
        for a, b, *_ in KINDS
    )
    module = gpu.build(source)
    rng = np.random.default_rng(11)
    for a, b, kind, dtype in KINDS:
        x = values_of(kind, rng)
        (got,) = gpu.call(
            module, f"{a}_{b}", 1, 512, In(x), InOut(np.zeros((3, x.size), dtype)),
            np.int32(x.size),
        )  # fmt: skip
        want = [[directed(v, dtype, d) for v in x.tolist()] for d in ("rz", "rd", "ru")]
        yield same(f"{a} to {b}", got, np.array(want, dtype))


def values_of(kind: type, rng: np.random.Generator) -> np.ndarray:
    if kind is np.float64:
        x = np.concatenate(
            [
                rng.normal(size=100),
                np.exp(rng.uniform(-110, 95, 200)) * rng.choice([-1, 1], 200),
                [0.0, 1e300, -1e300, 1e-300, -1e-300, 3.4028234663852886e38, 3.5e38],
            ]
        )
        return x.astype(np.float64)
    info = np.iinfo(kind)
    edges = [info.min, info.max, info.max - 1, 0, 1, (1 << 24) + 1, info.max // 2 + 1]
    bits = rng.integers(1, info.bits, 300)
    wide = [int(v) >> int(info.bits - b) for v, b in zip(
        rng.integers(info.min, info.max, 300, kind, True), bits, strict=True)]  # fmt: skip
    return np.array(edges + wide, kind)


# ---- bits --------------------------------------------------------------------------


def nth_bit(mask: int, base: int, offset: int, bits: int) -> int:
    """What __fns says, by looking at one bit after the other."""
    if base >= bits:
        return -1
    if offset == 0:
        return base if mask >> base & 1 else -1
    step = 1 if offset > 0 else -1
    left = abs(offset)
    while 0 <= base < bits:
        left -= mask >> base & 1
        if left == 0:
            return base
        base += step
    return -1


INTEGER: tuple[tuple[str, Callable[[int, int, int], int]], ...] = (
    ("__fns32(a, b % 32, c)", lambda a, b, c: nth_bit(a % 2**32, b % 32, c, 32)),
    ("__fns64(a, b % 64, c)", lambda a, b, c: nth_bit(a, b % 64, c, 64)),
    ("__fns((unsigned)a, b % 32, c)", lambda a, b, c: nth_bit(a % 2**32, b % 32, c, 32)),
    (
        "__bitinsert_u64(a, b, b % 64, b % 32)",
        lambda a, b, c: (a & ~(((1 << b % 32) - 1) << b % 64) % 2**64)
        | ((b & ((1 << b % 32) - 1)) << b % 64) % 2**64,
    ),
    ("__lastbit_u32_u64(a << (b % 64))",
     lambda a, b, c: ((a << b % 64) % 2**64 & -((a << b % 64) % 2**64)).bit_length() - 1),
    ("__popcll(a)", lambda a, b, c: a.bit_count()),
    ("__clzll(a)", lambda a, b, c: 64 - a.bit_length()),
    ("__brevll(a)", lambda a, b, c: int(f"{a:064b}"[::-1], 2)),
    ("__umul64hi(a, a + b)", lambda a, b, c: a * ((a + b) % 2**64) >> 64),
    ("(unsigned)__mulhi((int)a, (int)b)",
     lambda a, b, c: (signed(a) * signed(b) >> 32) % 2**32),
    ("__byte_perm((unsigned)a, (unsigned)(a >> 32), (unsigned)b)",
     lambda a, b, c: sum((a >> 8 * (b >> 4 * i & 7) & 255) << 8 * i for i in range(4))),
    ("__funnelshift_l((unsigned)a, (unsigned)(a >> 32), b)",
     lambda a, b, c: (a << b % 32) % 2**64 >> 32),
    ("__funnelshift_rc((unsigned)a, (unsigned)(a >> 32), b)",
     lambda a, b, c: (a >> min(b, 32)) % 2**32),
    ("__sad((int)a, (int)(a >> 32), (unsigned)b)",
     lambda a, b, c: (abs(signed(a) - signed(a >> 32)) + b) % 2**32),
    ("(unsigned)__hadd((int)a, (int)(a >> 32))",
     lambda a, b, c: (signed(a) + signed(a >> 32) >> 1) % 2**32),
    ("__urhadd((unsigned)a, (unsigned)(a >> 32))",
     lambda a, b, c: (a % 2**32 + (a >> 32) + 1) >> 1),
)  # fmt: skip


def signed(value: int) -> int:
    """The low 32 bits as an int."""
    value %= 2**32
    return value - 2**32 if value >= 2**31 else value


@case()
def integer_functions_against_python(gpu: Gpu) -> Iterator[Check]:
    lines = "".join(
        f"out[{i} * n + t] = (long long){text};\n"
        for i, (text, _) in enumerate(INTEGER)
    )
    source = f"""
    extern "C" __global__ void integers(const unsigned long long *x, const unsigned *y,
                                        const int *z, long long *out, int n) {{
        int t = threadIdx.x;
        if (t >= n) return;
        unsigned long long a = x[t];
        unsigned b = y[t];
        int c = z[t];
        {lines} }}"""
    rng = np.random.default_rng(12)
    n = 400
    a = rng.integers(0, 2**64, n, np.uint64) >> rng.integers(0, 63, n, np.uint64)
    a[0] = 2**64 - 1
    b = rng.integers(0, 2**32, n, np.uint32) >> rng.integers(0, 31, n, np.uint32)
    c = rng.integers(-9, 10, n).astype(np.int32)
    (got,) = gpu.run(
        source, "integers", 1, 512, In(a), In(b), In(c),
        InOut(np.zeros((len(INTEGER), n), np.int64)), np.int32(n),
    )  # fmt: skip
    for (text, function), row in zip(INTEGER, got, strict=True):
        want = [
            function(*v) for v in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        ]
        want = [v - 2**64 if v >= 2**63 else v for v in want]
        if "lastbit" in text:
            want = [v if v >= 0 else 2**32 - 1 for v in want]
        yield same(text, row, want)


def nearest_half(exact: Fraction) -> np.float16:
    """The half next to a number of moderate size; of two, the even one."""
    near = np.float16(float(exact))
    beside = [np.nextafter(near, np.float16(to)) for to in (-np.inf, np.inf)]
    return min(
        [near, *beside],
        key=lambda h: (abs(Fraction(float(h)) - exact), int(h.view(np.uint16)) & 1),
    )


@case()
def fma_and_pow_of_mixed_types(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void sizes(int *out) {
        _Float16 h = 3;
        int quotient;
        out[0] = sizeof(fma(h, h, h)); out[1] = sizeof(fma(1.0f, 1.0f, 3));
        out[2] = sizeof(fma(h, h, 3)); out[3] = sizeof(pow(h, 2));
        out[4] = sizeof(pow(2.0f, 2)); out[5] = sizeof(pow(2.0f, 2.0));
        out[6] = sizeof(remquo(7.0f, 2.0f, &quotient)); out[7] = (int)pow(h, 2);
        out[8] = isless(1.0f, 2.0f) && !isgreater(1.0f, __builtin_nanf(""));
        out[9] = isunordered(1.0, __builtin_nan("")) && islessgreater(1.0, 2.0);
        out[10] = isgreaterequal(2.0, 2.0) && islessequal(2.0, 2.0);
    }
    extern "C" __global__ void halves(const _Float16 *x, const _Float16 *y,
                                      const _Float16 *z, _Float16 *out, int n) {
        int t = threadIdx.x;
        if (t < n) out[t] = fma(x[t], y[t], z[t]);
    }"""
    module = gpu.build(source)
    (got,) = gpu.call(module, "sizes", 1, 1, InOut(np.zeros(11, np.int32)))
    yield same("sizes", got, [2, 8, 8, 2, 4, 8, 4, 9, 1, 1, 1])

    rng = np.random.default_rng(13)
    n = 500
    # Products that end just beside the middle between two halves.
    x, y, z = (
        (rng.integers(1024, 2048, n) * 2.0 ** rng.integers(low, high, n)).astype(
            np.float16
        )
        for low, high in ((-24, -9), (-24, -9), (-24, -5))
    )
    x[0], y[0], z[0] = 1 + 2.0**-10, 1 - 2.0**-10, 2.0**-11
    (got,) = gpu.call(
        module, "halves", 1, 512, In(x), In(y), In(z), InOut(np.zeros(n, np.float16)),
        np.int32(n),
    )  # fmt: skip
    want = [
        nearest_half(Fraction(a) * Fraction(b) + Fraction(c))
        for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
    ]
    yield same("halves", got, np.array(want, np.float16))


PACKED: tuple[tuple[str, str, int, bool], ...] = (
    ("short2", "int", 16, True),
    ("ushort2", "unsigned", 16, False),
    ("char4", "int", 8, True),
    ("uchar4", "unsigned", 8, False),
    ("int", "int", 4, True),
    ("unsigned", "unsigned", 4, False),
)


def fields(word: int, bits: int, is_signed: bool) -> list[int]:
    """A word cut into numbers of a few bits."""
    parts = [word >> at & (1 << bits) - 1 for at in range(0, 32, bits)]
    top = 1 << bits - 1
    return [p - 2 * top if is_signed and p >= top else p for p in parts]


@case()
def small_integers_in_a_word(gpu: Gpu) -> Iterator[Check]:
    dots = "".join(
        f"""out[{2 * row + saturate} * n + t] = (unsigned)amd_mixed_dot(
            __builtin_bit_cast({vector}, x[t]), __builtin_bit_cast({vector}, y[t]),
            ({word})z[t], {saturate});\n"""
        for row, (vector, word, *_) in enumerate(PACKED)
        for saturate in (0, 1)
    )
    bytewise = "".join(
        f"""out[{12 + i} * n + t] = __builtin_bit_cast(unsigned, __hip_hc_{name}8pk(
            __builtin_bit_cast(char4, x[t]), __builtin_bit_cast(char4, y[t])));\n"""
        for i, name in enumerate(("add", "sub", "mul"))
    )
    source = f"""
    extern "C" __global__ void packed(const unsigned *x, const unsigned *y,
                                      const unsigned *z, unsigned *out, int n) {{
        int t = threadIdx.x;
        if (t >= n) return;
        {dots}{bytewise} }}"""
    rng = np.random.default_rng(14)
    n = 200
    x, y = (rng.integers(0, 2**32, n, np.uint32) for _ in range(2))
    ends = [0, 2**31 - 3, 2**31 + 3, 2**32 - 3]
    z = rng.choice(np.array(ends, np.uint32), n)
    x[:2], y[:2], z[:2] = [0x80008000, 2**32 - 1], [0x80008000, 2**32 - 1], ends[1::2]
    (got,) = gpu.run(
        source, "packed", 1, 256, In(x), In(y), In(z),
        InOut(np.zeros((15, n), np.uint32)), np.int32(n),
    )  # fmt: skip
    triples = list(zip(x.tolist(), y.tolist(), z.tolist(), strict=True))
    for row, (vector, _, bits, is_signed) in enumerate(PACKED):
        low = -(2**31) if is_signed else 0
        sums = [
            fields(c, 32, is_signed)[0]
            + sum(
                p * q
                for p, q in zip(
                    fields(a, bits, is_signed), fields(b, bits, is_signed), strict=True
                )
            )
            for a, b, c in triples
        ]
        nearest = [min(max(v, low), low + 2**32 - 1) for v in sums]
        for saturate, values in enumerate((sums, nearest)):
            want = np.array([v % 2**32 for v in values], np.uint32)
            yield same(f"{vector}, {saturate}", got[2 * row + saturate], want)
    p, q = x.view(np.uint8), y.view(np.uint8)
    for i, want in enumerate((p + q, p - q, p * q)):
        yield same("bytes", got[12 + i].view(np.uint8), want)
