# SPDX-License-Identifier: MIT
"""How far mathematical functions of kernels are from the exact numbers, in ulp.

    python -m tests.kernels.accuracy [POINTS]

measures every row of TABLE on the device that is there and prints the table of
docs/math_accuracy.md; the bounds in it are those that the tests hold.

An *ulp* is the distance of neighbouring numbers of the type around the exact result.  For
functions with zeros that are no simple numbers (Bessel functions) it is that of a number
of at least `floor`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np

from . import exact

if TYPE_CHECKING:
    from .gpu import Gpu

DIGITS = 40
Domain = tuple[tuple[float, float], ...]  # segments; a factor of 100 is spread by logs
REAL: Domain = ((-20, 20), (-1e-3, 1e-3), (1e-30, 1))
ANGLE: Domain = ((-10, 10), (-1e5, 1e5), (1e-30, 1e-3), (1e8, 1e30))
POSITIVE: Domain = ((1e-30, 1e30), (0.5, 2), (0.999, 1.001))
UNIT: Domain = ((-1, 1), (-1e-3, 1e-3), (0.99, 1), (1e-30, 1e-3))
PROBABILITY: Domain = ((1e-6, 1 - 1e-6), (1e-37, 1e-5), (0.49, 0.51))


@dataclass(frozen=True)
class Row:
    """A function, where it is measured, and what is promised (None: not there)."""

    name: str
    exact: Callable[..., Decimal]
    domains: tuple[Domain, ...]
    float_bound: float | None
    double_bound: float | None
    floor: float = 0.0
    call: str = "{f}({a})"
    deep: Domain = ()  # of double only

    def source(self, real: str) -> str:
        """The call in C++, of x[i], y[i] ..."""
        suffix = "f" if real == "float" and not self.name.startswith("__") else ""
        arguments = ", ".join(f"{v}[i]" for v in "xyzw"[: len(self.domains)])
        return self.call.format(f=self.name + suffix, a=arguments, s=suffix)


def spread(domain: Domain, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points of all segments, their ends among them."""
    parts = []
    each = -(-count // len(domain))
    for low, high in domain:
        if low > 0 and high / low > 100:
            part = np.exp(rng.uniform(np.log(low), np.log(high), each))
            part = np.clip(part, low, high)
        else:
            part = rng.uniform(low, high, each)
        part[: min(2, each)] = [low, high][: min(2, each)]
        parts.append(part)
    return np.concatenate(parts)


def points_of(row: Row, dtype: type, count: int) -> list[np.ndarray]:
    """One array an argument."""
    rng = np.random.default_rng(sum(row.name.encode()))
    columns = []
    for domain in row.domains:
        full = domain + (row.deep if dtype is np.float64 else ())
        column = spread(full, count, rng).astype(dtype)
        if len(row.domains) > 1:
            rng.shuffle(column)
        columns.append(column)
    size = min(c.size for c in columns)
    return [c[:size] for c in columns]


def ulps_of(got: np.ndarray, exact_values: list[Decimal], floor: float) -> np.ndarray:
    """|got - exact| in ulp, for each."""
    info = np.finfo(got.dtype)
    result = np.empty(got.size)
    for i, (value, right) in enumerate(zip(got.tolist(), exact_values, strict=True)):
        size = max(abs(float(right)), floor, float(info.smallest_normal))
        unit = Decimal(2.0 ** (np.frexp(size)[1] - 1 - info.nmant))
        if np.isfinite(value):
            result[i] = float(abs(Decimal(value) - right) / unit)
        else:
            limit = Decimal(float(info.max)) * (1 + Decimal(2) ** -(info.nmant + 2))
            result[i] = 0.0 if np.isinf(value) and abs(right) >= limit else np.inf
    return result


def right_values(row: Row, columns: list[np.ndarray]) -> list[Decimal]:
    """The exact results; doubles and floats are exact decimals themselves."""
    with localcontext() as context:
        context.prec = DIGITS
        return [
            row.exact(*(Decimal(v) for v in values))
            for values in zip(*(c.tolist() for c in columns), strict=True)
        ]


def kernels(rows: list[Row], real: str) -> str:
    """One kernel a row, k0 and so on."""
    return "".join(
        f"""
    extern "C" __global__ void k{i}(const {real} *x, const {real} *y, const {real} *z,
                                    const {real} *w, {real} *out, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = {row.source(real)};
    }}"""
        for i, row in enumerate(rows)
    )


def measure(gpu: Gpu, dtype: type, count: int) -> Iterator[tuple[Row, np.ndarray]]:
    """Each row that the type has, and its errors in ulp."""
    from .gpu import In, InOut, blocks

    real = "float" if dtype is np.float32 else "double"
    rows = [
        row
        for row in TABLE
        if (row.float_bound if real == "float" else row.double_bound) is not None
    ]
    module = gpu.build(kernels(rows, real))
    for i, row in enumerate(rows):
        columns = points_of(row, dtype, count)
        padded = columns + [columns[0]] * (4 - len(columns))
        n = columns[0].size
        (got,) = gpu.call(
            module,
            f"k{i}",
            blocks(n, 128),
            128,
            *(In(c) for c in padded),
            InOut(np.zeros(n, dtype)),
            np.int32(n),
        )
        yield row, ulps_of(got, right_values(row, columns), row.floor)


def remainder(x: Decimal, y: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = 120
        return x - y * (x / y).to_integral_value()


def modulo(x: Decimal, y: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = 120
        return x % y


def fdim(x: Decimal, y: Decimal) -> Decimal:
    return max(x - y, Decimal(0))


def inverse(function: Callable[..., Decimal]) -> Callable[..., Decimal]:
    return lambda *v: 1 / function(*v)


PAIR: Domain = ((-20, 20), (1e-10, 1e10))
LENGTHS: Domain = ((-20, 20), (1e-18, 1e18))
WIDE: Domain = ((1e-300, 1e300),)
TABLE: tuple[Row, ...] = (
    Row("acos", exact.acos, (UNIT,), 1, 1),
    Row("acosh", exact.acosh, (((1, 2), (1.0001, 1e30)),), 2, 2),
    Row("asin", exact.asin, (UNIT,), 1, 1),
    Row("asinh", exact.asinh, (REAL,), 2, 2),
    Row("atan", exact.atan, (REAL,), 1, 1),
    Row("atan2", exact.atan2, (PAIR, PAIR), 2, 1),
    Row("atanh", exact.atanh, (((-0.999, 0.999), (1e-30, 0.1)),), 2, 2),
    Row("cbrt", exact.cbrt, (REAL,), 1, 1, deep=WIDE),
    Row("cos", exact.cos, (ANGLE,), 4, 4),
    Row("cosh", exact.cosh, (((-80, 80), (-1, 1)),), 2, 2, deep=((-700, 700),)),
    Row("cospi", exact.cospi, (((-10, 10), (-1e5, 1e5)),), 1, 4),
    Row("cyl_bessel_i0", lambda x: exact.i_order(0, x), (((-85, 85), (1e-9, 1)),), 1, 4,
        deep=((30, 50), (100, 700), (700, 713))),
    Row("cyl_bessel_i1", lambda x: exact.i_order(1, x), (((-85, 85), (1e-9, 1)),), 1, 4,
        deep=((30, 50), (100, 700), (700, 713))),
    Row("erf", exact.erf, (REAL,), 1, 1),
    Row("erfc", exact.erfc, (((-5, 9), (0, 1)),), 3, 3, deep=((5, 26),)),
    Row("erfcinv", exact.erfcinv, (((1e-6, 1.999), (1e-37, 1e-5), (0.999, 1.001)),), 1, 2,
        deep=((1e-305, 1e-30),)),
    Row("erfcx", exact.erfcx, (((-9, 20), (1, 1e30)),), 1, 4, deep=((20, 30), (-26, 0))),
    Row("erfinv", exact.erfinv, (((-0.9999, 0.9999), (0.999, 0.99999), (1e-30, 0.1)),), 1, 2),
    Row("exp", lambda x: x.exp(), (((-85, 85), (-1, 1)),), 4, 4, deep=((-700, 700),)),
    Row("exp10", exact.exp10, (((-37, 38), (-1, 1)),), 1, 2, deep=((-300, 300),)),
    Row("exp2", exact.exp2, (((-125, 127), (-1, 1)),), 1, 1, deep=((-1000, 1000),)),
    Row("expm1", exact.expm1, (((-85, 85), (-1, 1), (1e-30, 1e-3)),), 1, 1),
    Row("fdim", fdim, (PAIR, PAIR), 0.5, 0.5),
    Row("fdivide", lambda x, y: x / y, (PAIR, PAIR), 0.5, None),
    Row("fma", lambda x, y, z: x * y + z, (REAL, REAL, REAL), 0.5, 0.5),
    Row("fmod", modulo, (PAIR, PAIR), 0, 0),
    Row("hypot", exact.length, (LENGTHS, LENGTHS), 1, 1, deep=WIDE),
    Row("j0", lambda x: exact.jn(0, x), (((-30, 30), (1e-9, 1)),), 4, 4, floor=0.25),
    Row("j1", lambda x: exact.jn(1, x), (((-30, 30), (1e-9, 1)),), 4, 4, floor=0.25),
    Row("jn", lambda x: exact.jn(3, x), (((-30, 30), (1e-3, 1)),), 8, 8, floor=0.25,
        call="{f}(3, {a})"),
    Row("lgamma", exact.lgamma, (((0.1, 3), (3, 1e5), (-5.9, -5.1), (1e-20, 0.1)),), 5, 5),
    Row("log", lambda x: x.ln(), (POSITIVE,), 4, 4),
    Row("log10", lambda x: x.log10(), (POSITIVE,), 2, 2),
    Row("log1p", exact.log1p, (((-0.999, 10), (1e-30, 1e-3), (10, 1e30)),), 1, 1),
    Row("log2", exact.log2, (POSITIVE,), 1, 1),
    Row("norm3d", exact.length, (LENGTHS,) * 3, 1, 1, deep=WIDE),
    Row("norm4d", exact.length, (LENGTHS,) * 4, 1, 1, deep=WIDE),
    Row("normcdf", exact.normcdf, (((-12, 8), (-1, 1)),), 1, 4, deep=((-37, 0),)),
    Row("normcdfinv", exact.normcdfinv, (PROBABILITY,), 1, 4, deep=((1e-300, 1e-30),)),
    Row("pow", exact.power, (((0.1, 50), (0.99, 1.01)), ((-20, 20),)), 4, 4),
    Row("powi", lambda x: x**7, (((-20, 20),),), 1, 2, call="{f}({a}, 7)"),
    Row("rcbrt", lambda x: 1 / exact.cbrt(x), (POSITIVE,), 1, 1, deep=WIDE),
    Row("remainder", remainder, (PAIR, PAIR), 0, 0),
    Row("rhypot", inverse(exact.length), (LENGTHS, LENGTHS), 1, 1, deep=WIDE),
    Row("rnorm3d", inverse(exact.length), (LENGTHS,) * 3, 1, 1, deep=WIDE),
    Row("rnorm4d", inverse(exact.length), (LENGTHS,) * 4, 1, 1, deep=WIDE),
    Row("rsqrt", lambda x: 1 / x.sqrt(), (POSITIVE,), 2, 2),
    Row("sin", exact.sin, (ANGLE,), 4, 4),
    Row("sinh", exact.sinh, (((-80, 80), (-1, 1), (1e-30, 1e-3)),), 3, 3,
        deep=((-700, 700),)),
    Row("sinpi", exact.sinpi, (((-10, 10), (-1e5, 1e5), (1e-30, 1e-3)),), 1, 4),
    Row("sqrt", lambda x: x.sqrt(), (POSITIVE,), 0.5, 0.5),
    Row("tan", exact.tan, (ANGLE,), 4, 4),
    Row("tanh", exact.tanh, (REAL,), 2, 2),
    Row("tgamma", exact.tgamma, (((0.1, 30), (-5.9, -5.1), (1e-20, 0.1)),), 8, 10,
        deep=((30, 170),)),
    Row("y0", lambda x: exact.yn(0, x), (((0.01, 30), (1e-9, 1)),), 5, 5, floor=0.25),
    Row("y1", lambda x: exact.yn(1, x), (((0.01, 30), (1e-9, 1)),), 5, 5, floor=0.25),
    Row("yn", lambda x: exact.yn(3, x), (((0.1, 30),),), 8, 8, floor=0.25,
        call="{f}(3, {a})"),
    Row("__sinf", exact.sin, (ANGLE,), 4, None),
    Row("__cosf", exact.cos, (ANGLE,), 4, None),
    Row("__tanf", exact.tan, (ANGLE,), 4, None),
    Row("__expf", lambda x: x.exp(), (((-85, 85), (-1, 1)),), 4, None),
    Row("__exp10f", exact.exp10, (((-37, 38), (-1, 1)),), 1, None),
    Row("__logf", lambda x: x.ln(), (POSITIVE,), 4, None),
    Row("__log2f", exact.log2, (POSITIVE,), 1, None),
    Row("__log10f", lambda x: x.log10(), (POSITIVE,), 2, None),
    Row("__powf", exact.power, (((0.1, 50), (0.99, 1.01)), ((-20, 20),)), 4, None),
    Row("__fdividef", lambda x, y: x / y, (PAIR, PAIR), 0.5, None),
    Row("__frcp_rn", lambda x: 1 / x, (POSITIVE,), 0.5, None),
    Row("__frsqrt_rn", lambda x: 1 / x.sqrt(), (POSITIVE,), 2, None),
    Row("__fsqrt_rn", lambda x: x.sqrt(), (POSITIVE,), 0.5, None),
)  # fmt: skip


def table_line(row: Row) -> str:
    """A line of the table in docs/math_accuracy.md."""
    bounds = [
        "-" if bound is None else f"{bound:g}"
        for bound in (row.float_bound, row.double_bound)
    ]
    return f"| `{row.name}` | {bounds[0]} | {bounds[1]} |"


def main(count: int) -> None:
    from .gpu import Gpu

    gpu = Gpu()
    worst: dict[str, dict[type, float]] = {}
    for dtype in (np.float32, np.float64):
        for row, ulps in measure(gpu, dtype, count):
            worst.setdefault(row.name, {})[dtype] = float(ulps.max())
    for row in TABLE:
        found = worst[row.name]
        numbers = " ".join(f"{found.get(t, 0):8.3f}" for t in (np.float32, np.float64))
        bad = any(
            found.get(t, 0) > (bound or 0)
            for t, bound in (
                (np.float32, row.float_bound),
                (np.float64, row.double_bound),
            )
        )
        print(f"{table_line(row):40} {numbers} {'BAD' if bad else ''}")
    gpu.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
