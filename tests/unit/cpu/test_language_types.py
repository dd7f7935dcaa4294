# SPDX-License-Identifier: MIT
"""half and bfloat16 inside kernels, bit for bit, in both executors."""

from __future__ import annotations

import ast
import ctypes
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image, Load
from .language_types import (
    BFLOAT,
    HALF,
    Expression,
    Expressions,
    Format,
    all_codes,
    near_ties,
    near_ties_float,
    same_bits,
)
from .rtc_library import Rtc, zig_path

pytestmark = pytest.mark.plain  # its time is the compiler's and the kernels'
ROOT = Path(__file__).parents[3]
DIRECTIONS = ("rn", "rz", "ru", "rd")


@dataclass(frozen=True)
class Narrow:
    """One of the two types, by its names in HIP."""

    header: str
    name: str
    pair: str
    short: str  # the type's name inside of function names
    format: Format


TYPES = {
    "half": Narrow("hip/hip_fp16.h", "__half", "__half2", "half", HALF),
    "bfloat16": Narrow(
        "hip/hip_bf16.h", "__hip_bfloat16", "__hip_bfloat162", "bfloat16", BFLOAT
    ),
}


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


@pytest.fixture(params=list(TYPES))
def narrow(request: pytest.FixtureRequest) -> Narrow:
    return TYPES[request.param]


def build(load: Load, narrow: Narrow, expressions: list[Expression]) -> Expressions:
    names = (narrow.name, narrow.pair)
    before = f"#include <{narrow.header}>\n"
    return Expressions(load, before, expressions, narrow.format, names)


def wide(narrow: Narrow, codes: np.ndarray) -> np.ndarray:
    return narrow.format.decode()[codes]


def is_nan(narrow: Narrow, codes: np.ndarray) -> np.ndarray:
    return narrow.format.is_nan(codes.astype(np.int64))


def check(narrow: Narrow, got: np.ndarray, want: np.ndarray) -> None:
    """`want` is float64, rounded here; any NaN is as good as another."""
    codes = np.zeros(want.shape, np.int64)
    finite = np.isfinite(want)
    codes[finite] = narrow.format.nearest(want[finite])
    infinite = narrow.format.top + 1 + narrow.format.sign * np.signbit(want)
    codes = np.where(np.isinf(want), infinite, codes)
    nan = np.isnan(want)
    assert is_nan(narrow, got)[nan].all()
    same_bits(got.astype(np.int64), codes, nan)


def pairs(
    narrow: Narrow, rng: np.random.Generator, count: int = 60000
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of codes: any two, special ones, and neighbours in size."""
    special = [0, 0x8000, 1, 0x8001, narrow.format.top, narrow.format.top + 1]
    special += [narrow.format.top | 0x8000, (narrow.format.top + 1) | 0x8000, 0x7FFF]
    x, y = np.meshgrid(special, special)
    a = rng.integers(0, 65536, count)
    near = (a + rng.integers(-(1 << 12), 1 << 12, count)) & 0x7FFF
    b = np.where(rng.random(count) < 0.5, near, rng.integers(0, 65536, count))
    b ^= rng.integers(0, 2, count) << 15
    return (
        np.concatenate([x.ravel(), a]).astype(np.uint16),
        np.concatenate([y.ravel(), b]).astype(np.uint16),
    )


def test_formats_of_this_test_agree_with_numpy() -> None:
    codes = all_codes()
    values = codes.view(np.float16).astype(np.float64)
    ties = near_ties(HALF, np.random.default_rng(0))
    with np.errstate(over="ignore"):
        want = ties.astype(np.float16).view(np.uint16)

    assert np.array_equal(HALF.decode(), values, equal_nan=True)
    assert np.array_equal(HALF.nearest(ties), want)
    for direction in DIRECTIONS:
        some = ties[::97]
        one_by_one = [
            HALF.round(Fraction(x), direction, bool(np.signbit(x))) for x in some
        ]
        assert HALF.nearest(some, direction).tolist() == one_by_one


def test_conversions_from_every_code(load: Load, narrow: Narrow) -> None:
    t = narrow.name
    kinds = {
        "float": np.float32,
        "double": np.float64,
        "short": np.int16,
        "unsigned short": np.uint16,
        "int": np.int32,
        "unsigned": np.uint32,
        "long long": np.int64,
        "unsigned long long": np.uint64,
        "bool": np.uint8,
    }
    table = [
        Expression(f"to{i}", f"static_cast<{kind}>(a)", (t,), kind)
        for i, kind in enumerate(kinds)
    ]
    codes = all_codes()
    values = wide(narrow, codes)

    run = build(load, narrow, table)

    for i, (kind, dtype) in enumerate(kinds.items()):
        if kind in ("float", "double"):
            used = np.full(codes.shape, True)
            want = values.astype(dtype)
        elif kind == "bool":
            used, want = np.full(codes.shape, True), (values != 0).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            whole = np.trunc(values)
            used = (whole >= limits.min) & (whole < float(limits.max))
            want = np.where(used, whole, 0).astype(dtype)
        got = run(f"to{i}", codes, result=dtype)
        np.testing.assert_array_equal(got[used], want[used], err_msg=kind)


def test_half_to_integers_in_every_direction(load: Load) -> None:
    kinds = {
        "short": np.int16,
        "ushort": np.uint16,
        "int": np.int32,
        "uint": np.uint32,
        "ll": np.int64,
        "ull": np.uint64,
    }
    c = {"ushort": "unsigned short", "uint": "unsigned", "ll": "long long"}
    c["ull"] = "unsigned long long"
    names = [(k, d) for k in kinds for d in DIRECTIONS]
    run = build(
        load,
        TYPES["half"],
        [
            Expression(f"{k}_{d}", f"__half2{k}_{d}(a)", ("__half",), c.get(k, k))
            for k, d in names
        ],
    )
    codes = all_codes()
    values = wide(TYPES["half"], codes)
    whole = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}

    for kind, direction in names:
        limits = np.iinfo(kinds[kind])
        rounded = whole[direction](values)
        high, low = rounded > limits.max, rounded < limits.min
        inside = np.where(high | low | np.isnan(rounded), 0, rounded)
        want = inside.astype(kinds[kind])
        want[high], want[low] = limits.max, limits.min
        got = run(f"{kind}_{direction}", codes, result=kinds[kind])
        np.testing.assert_array_equal(got, want, err_msg=f"{kind} {direction}")


@np.errstate(invalid="ignore")
def test_conversions_from_float_and_double_round_once(
    load: Load, narrow: Narrow
) -> None:
    s, t = narrow.short, narrow.name
    rng = np.random.default_rng(1)
    run = build(
        load,
        narrow,
        [Expression(d, f"__float2{s}_{d}(a)", ("float",), t) for d in DIRECTIONS]
        + [
            Expression("plain", f"__float2{s}(a)", ("float",), t),
            Expression("made", f"{t}(a)", ("float",), t),
            Expression("function", f"__double2{s}(a)", ("double",), t),
            Expression("of_double", f"{t}(a)", ("double",), t),
            Expression(
                "raw",
                "(_Float16)a" if s == "half" else "(__bf16)a",
                ("double",),
                "_Float16" if s == "half" else "__bf16",
            ),
            Expression(
                "raw_float",
                "(_Float16)a" if s == "half" else "(__bf16)a",
                ("float",),
                "_Float16" if s == "half" else "__bf16",
            ),
        ],
    )
    floats = near_ties_float(narrow.format, rng)
    doubles = near_ties(narrow.format, rng)

    for name in ("plain", "made", "raw_float", *DIRECTIONS):
        direction = name if name in DIRECTIONS else "rn"
        got = run(name, floats, result=np.uint16)
        want = narrow.format.nearest(floats.astype(np.float64), direction)
        same_bits(got, want, np.full(got.shape, False))
    for name in ("function", "of_double", "raw"):
        got = run(name, doubles, result=np.uint16)
        same_bits(got, narrow.format.nearest(doubles), np.full(got.shape, False))
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf], np.float32)
    odd = np.concatenate([odd, np.array([0x7F800001, 0xFF80FFFF], "u4").view("f4")])
    for name in ("plain", "raw_float", *DIRECTIONS):
        check(narrow, run(name, odd, result=np.uint16), odd.astype(np.float64))
    for name in ("function", "raw"):
        got = run(name, odd[:4].astype(np.float64), result=np.uint16)
        check(narrow, got, odd[:4].astype(np.float64))


def test_conversions_from_integers_round_once(load: Load, narrow: Narrow) -> None:
    kinds: dict[str, type] = {
        "short": np.int16,
        "unsigned short": np.uint16,
        "int": np.int32,
        "unsigned": np.uint32,
        "long": np.int64,
        "unsigned long long": np.uint64,
    }
    rng = np.random.default_rng(2)
    names = {"short": "short", "unsigned short": "ushort", "int": "int"}
    names |= {"unsigned": "uint", "long": "ll", "unsigned long long": "ull"}
    table = [
        Expression(f"of{i}", f"{narrow.name}(a)", (kind,), narrow.name)
        for i, kind in enumerate(kinds)
    ]
    if narrow.short == "half":
        table += [
            Expression(
                f"of{i}{d}", f"__{names[kind]}2half_{d}(a)", (kind,), narrow.name
            )
            for i, kind in enumerate(kinds)
            for d in DIRECTIONS
        ]
    run = build(load, narrow, table)

    for i, dtype in enumerate(kinds.values()):
        limits = np.iinfo(dtype)
        bits = rng.integers(0, limits.bits + 1, 3000)
        values = [int(rng.integers(0, 2**63)) * 2 + 1 >> (64 - int(b)) for b in bits]
        # Ties of bfloat16, and a unit beside them, at every size.
        values += [
            (m << k) + d
            for m in (257, 259, 383, 511)
            for k in range(1, 56)
            for d in (-1, 0, 1)
        ]
        values += [0, 1, 2047, 2048, 2049, 2051, 65519, 65520, 65535]
        values += [-v for v in values]
        values = [v for v in values if limits.min <= v <= limits.max]
        array = np.array(values, dtype)
        for direction in DIRECTIONS if narrow.short == "half" else ("",):
            got = run(f"of{i}{direction}", array, result=np.uint16)
            want = [narrow.format.round(Fraction(v), direction or "rn") for v in values]
            same_bits(got, np.array(want), np.full(got.shape, False))
        want = [narrow.format.round(Fraction(v)) for v in values]
        got = run(f"of{i}", array, result=np.uint16)
        same_bits(got, np.array(want), np.full(got.shape, False))


ARITHMETIC: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}


@np.errstate(all="ignore")
def test_arithmetic_on_pairs(load: Load, narrow: Narrow) -> None:
    t, p = narrow.name, narrow.pair
    signs = dict(zip(ARITHMETIC, "+-*/", strict=True))
    table = []
    for name, sign in signs.items():
        two = "__h2div" if name == "div" else f"__h{name}2"
        table += [
            Expression(f"f_{name}", f"__h{name}(a, b)", (t, t), t),
            Expression(f"o_{name}", f"a {sign} b", (t, t), t),
            Expression(f"s_{name}", f"a {sign}= b", (t, t), t),
            Expression(f"p_{name}", f"{two}(a, b)", (p, p), p),
            Expression(f"q_{name}", f"a {sign} b", (p, p), p),
        ]
    table += [
        Expression("sat", "__hadd_sat(a, b)", (t, t), t),
        Expression("step", "(++a, a++, a++, a--, a)", (t,), t),
    ]
    run = build(load, narrow, table)
    a, b = pairs(narrow, np.random.default_rng(3))
    a, b = a[: a.size // 2 * 2], b[: b.size // 2 * 2]
    x, y = wide(narrow, a), wide(narrow, b)

    for name, function in ARITHMETIC.items():
        want = function(x, y)
        for form in "fos":
            check(narrow, run(f"{form}_{name}", a, b, result=np.uint16), want)
        for form in "pq":
            got = run(
                f"{form}_{name}", a.view(np.uint32), b.view(np.uint32), result="u4"
            )
            check(narrow, got.view(np.uint16), want)
    check(narrow, run("sat", a, b, result=np.uint16), np.clip(x + y, 0, 1) + 0.0)
    codes = all_codes()
    expected = wide(narrow, codes)
    for change in (1, 1, 1, -1):
        rounded = narrow.format.nearest(np.nan_to_num(expected) + change)
        moved = narrow.format.decode()[rounded]
        expected = np.where(np.isfinite(expected), moved, expected)
    check(narrow, run("step", codes, result=np.uint16), expected)


def test_fused_multiply_add_rounds_once(load: Load, narrow: Narrow) -> None:
    t, p = narrow.name, narrow.pair
    rng = np.random.default_rng(4)
    run = build(
        load,
        narrow,
        [
            Expression("one", "__hfma(a, b, c)", (t, t, t), t),
            Expression("two", "__hfma2(a, b, c)", (p, p, p), p),
        ],
    )
    fmt = narrow.format
    count = 6000
    one = fmt.bias << fmt.mantissa
    near_one = one + rng.integers(0, 1 << fmt.mantissa, (2, count))
    a, b = near_one | rng.integers(0, 2, (2, count)) << fmt.bits - 1
    # Products of such numbers have all their digits; these c lie at any distance.
    c = rng.integers(1, fmt.top, count) | rng.integers(0, 2, count) << fmt.bits - 1
    random = rng.integers(0, fmt.top + 1, (3, count))
    random ^= rng.integers(0, 2, (3, count)) << fmt.bits - 1
    a, b, c = (
        np.concatenate([u, v]).astype(np.uint16)
        for u, v in zip((a, b, c), random, strict=True)
    )
    values = [[Fraction(v) for v in wide(narrow, u)] for u in (a, b, c)]
    exact = [x * y + z for x, y, z in zip(*values, strict=True)]
    used = np.array([e != 0 for e in exact])
    want = np.array([fmt.round(e) for e in exact])

    got = run("one", a, b, c, result=np.uint16)
    two = run("two", *(u.view(np.uint32) for u in (a, b, c)), result=np.uint32)

    same_bits(got, want, ~used)
    same_bits(two.view(np.uint16), want, ~used)
    special = np.array([[0x7FFF, 0, 0], [fmt.top + 1, 0, 0]], np.uint16)
    special = np.concatenate([special, [[fmt.top + 1, one, fmt.top + 1 | 0x8000]]])
    got = run("one", *special.T.astype(np.uint16).copy(), result=np.uint16)
    assert is_nan(narrow, got).all()


COMPARISONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def test_comparisons(load: Load, narrow: Narrow) -> None:
    t, p = narrow.name, narrow.pair
    signs = dict(zip(COMPARISONS, ("==", "!=", "<", "<=", ">", ">="), strict=True))
    table = []
    for name, sign in signs.items():
        table += [
            Expression(f"f_{name}", f"__h{name}(a, b)", (t, t), "bool"),
            Expression(f"u_{name}", f"__h{name}u(a, b)", (t, t), "bool"),
            Expression(f"o_{name}", f"a {sign} b", (t, t), "bool"),
            Expression(f"p_{name}", f"__h{name}2(a, b)", (p, p), p),
            Expression(f"b_{name}", f"__hb{name}2(a, b)", (p, p), "bool"),
            Expression(f"c_{name}", f"__hb{name}u2(a, b)", (p, p), "bool"),
        ]
    run = build(load, narrow, table)
    a, b = pairs(narrow, np.random.default_rng(5))
    a, b = a[: a.size // 2 * 2], b[: b.size // 2 * 2]
    b[::5] = a[::5]
    x, y = wide(narrow, a), wide(narrow, b)
    unordered = np.isnan(x) | np.isnan(y)
    one = narrow.format.bias << narrow.format.mantissa

    for name, function in COMPARISONS.items():
        want = function(x, y)
        two = a.view(np.uint32), b.view(np.uint32)
        for form, expected in (("f", want), ("o", want), ("u", want | unordered)):
            got = run(f"{form}_{name}", a, b, result=np.uint8)
            np.testing.assert_array_equal(got, expected, err_msg=f"{form} {name}")
        got = run(f"p_{name}", *two, result=np.uint32).view(np.uint16)
        np.testing.assert_array_equal(got, want * one)
        for form, each in (("b", want), ("c", want | unordered)):
            both = each.reshape(-1, 2).all(axis=1)
            if form == "c" and name == "ne" and narrow.short == "bfloat16":
                both = each.reshape(-1, 2).any(axis=1)
            got = run(f"{form}_{name}", *two, result=np.uint8)
            np.testing.assert_array_equal(got, both, err_msg=f"{form} {name}")


def test_smaller_larger_sign_and_kind(load: Load, narrow: Narrow) -> None:
    t, p = narrow.name, narrow.pair
    run = build(
        load,
        narrow,
        [
            Expression("max", "__hmax(a, b)", (t, t), t),
            Expression("min", "__hmin(a, b)", (t, t), t),
            Expression("max_nan", "__hmax_nan(a, b)", (t, t), t),
            Expression("min_nan", "__hmin_nan(a, b)", (t, t), t),
            Expression("max2", "__hmax2(a, b)", (p, p), p),
            Expression("neg", "-a", (t,), t),
            Expression("neg2", "__hneg2(a)", (p,), p),
            Expression("abs", "__habs(a)", (t,), t),
            Expression("isnan", "__hisnan(a)", (t,), "bool"),
            Expression("isinf", "__hisinf(a)", (t,), "bool"),
        ],
    )
    a, b = pairs(narrow, np.random.default_rng(6))
    a, b = a[: a.size // 2 * 2], b[: b.size // 2 * 2]
    x, y = wide(narrow, a), wide(narrow, b)
    codes = all_codes()
    values = wide(narrow, codes)

    for name, function in (("max", np.fmax), ("min", np.fmin)):
        want = function(x, y)
        zeros = (x == 0) & (y == 0)
        either = (
            np.signbit(x) & np.signbit(y)
            if name == "max"
            else np.signbit(x) | np.signbit(y)
        )
        want = np.where(zeros, np.where(either, -0.0, 0.0), want)
        check(narrow, run(name, a, b, result=np.uint16), want)
        strict = np.where(np.isnan(x) | np.isnan(y), np.nan, want)
        check(narrow, run(f"{name}_nan", a, b, result=np.uint16), strict)
        if name == "max":
            got = run("max2", a.view(np.uint32), b.view(np.uint32), result=np.uint32)
            check(narrow, got.view(np.uint16), want)
    assert np.array_equal(run("neg", codes, result=np.uint16), codes ^ 0x8000)
    got = run("neg2", codes.view(np.uint32), result=np.uint32)
    assert np.array_equal(got, codes.view(np.uint32) ^ 0x80008000)
    assert np.array_equal(run("abs", codes, result=np.uint16), codes & 0x7FFF)
    assert np.array_equal(run("isnan", codes, result=np.uint8), np.isnan(values))
    assert np.array_equal(run("isinf", codes, result=np.uint8), np.isinf(values))


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "rint": np.rint,
    "trunc": np.trunc,
    "sqrt": np.sqrt,
    "rcp": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
}


@np.errstate(all="ignore")
def test_functions_of_every_code_are_correctly_rounded(
    load: Load, narrow: Narrow
) -> None:
    t, p = narrow.name, narrow.pair
    run = build(
        load,
        narrow,
        [Expression(f"h_{name}", f"h{name}(a)", (t,), t) for name in FUNCTIONS]
        + [Expression(f"p_{name}", f"h2{name}(a)", (p,), p) for name in FUNCTIONS],
    )
    codes = all_codes()
    values = wide(narrow, codes)

    for name, function in FUNCTIONS.items():
        want = function(values)
        check(narrow, run(f"h_{name}", codes, result=np.uint16), want)
        got = run(f"p_{name}", codes.view(np.uint32), result=np.uint32)
        check(narrow, got.view(np.uint16), want)


def test_pairs_are_taken_apart_and_put_together(load: Load, narrow: Narrow) -> None:
    s, t, p = narrow.short, narrow.name, narrow.pair
    float2 = f"__{s}22float2" if s == "half" else "__bfloat1622float2"
    run = build(
        load,
        narrow,
        [
            Expression("low", f"__low2{s}(a)", (p,), t),
            Expression("high", f"__high2{s}(a)", (p,), t),
            Expression("swapped", "__lowhigh2highlow(a)", (p,), p),
            Expression("lows", f"__lows2{s}2(a, b)", (p, p), p),
            Expression("highs", f"__highs2{s}2(a, b)", (p, p), p),
            Expression("both", f"__halves2{s}2(a.y, b.x)", (p, p), p),
            Expression("twice", f"__{s}2{s}2(a.y)", (p,), p),
            Expression("wide", f"{float2}(a)", (p,), "float2"),
            Expression("near", f"__float22{s}2_rn(a)", ("float2",), p),
            Expression("near2", f"__floats2{s}2_rn(a.x, a.y)", ("float2",), p),
            Expression("as_short", f"__{s}_as_short(a.x)", (p,), "short"),
            Expression("of_short", f"__ushort_as_{s}(a)", ("unsigned short",), t),
        ],
    )
    codes = np.random.default_rng(7).integers(0, 65536, (2, 500, 2)).astype(np.uint16)
    a, b = codes
    u, v = (np.ascontiguousarray(c).view(np.uint32).ravel() for c in codes)

    def got(name: str, *arrays: np.ndarray) -> np.ndarray:
        return run(name, *arrays, result=np.uint32).view(np.uint16).reshape(-1, 2)

    assert np.array_equal(run("low", u, result=np.uint16), a[:, 0])
    assert np.array_equal(run("high", u, result=np.uint16), a[:, 1])
    assert np.array_equal(got("swapped", u), a[:, ::-1])
    assert np.array_equal(got("lows", u, v), np.stack([a[:, 0], b[:, 0]], 1))
    assert np.array_equal(got("highs", u, v), np.stack([a[:, 1], b[:, 1]], 1))
    assert np.array_equal(got("both", u, v), np.stack([a[:, 1], b[:, 0]], 1))
    assert np.array_equal(got("twice", u), np.stack([a[:, 1], a[:, 1]], 1))
    assert np.array_equal(run("as_short", u, result=np.int16), a[:, 0].view(np.int16))
    assert np.array_equal(run("of_short", a[:, 0].copy(), result=np.uint16), a[:, 0])
    floats = run("wide", u, result=np.uint64).view(np.float32).reshape(-1, 2)
    np.testing.assert_array_equal(floats, wide(narrow, a).astype(np.float32))
    values = np.random.default_rng(8).standard_normal((500, 2)).astype(np.float32)
    want = narrow.format.nearest(values.astype(np.float64))
    for name in ("near", "near2"):
        assert np.array_equal(got(name, values.view(np.uint64).ravel()), want)


@pytest.mark.parametrize("name", ["atomicAdd", "unsafeAtomicAdd"])
def test_atomic_add_of_pairs(load: Load, narrow: Narrow, name: str) -> None:
    source = f"""
        #include <{narrow.header}>
        extern "C" __global__ void add({narrow.pair} *sum, {narrow.pair} *old) {{
            {narrow.pair} one(1.0f, 2.0f);
            old[threadIdx.x] = {name}(sum, one);
        }}
    """
    kernel = load(source).kernels["add"]
    total, old = np.zeros(1, np.uint32), np.zeros(100, np.uint32)

    kernel.run_reference((1, 1, 1), (100, 1, 1), [total, old])

    assert wide(narrow, total.view(np.uint16)).tolist() == [100.0, 200.0]
    assert sorted(wide(narrow, old.view(np.uint16)[::2])) == list(range(100))


def test_types_convert_and_mix_as_in_hip(load: Load) -> None:
    source = """
        #include <hip/hip_fp16.h>
        #include <hip/hip_bf16.h>
        struct Pod { __half a; __hip_bfloat16 b; __half2 c; };
        static_assert(sizeof(Pod) == 8 && alignof(__half2) == 4, "");
        static_assert(__is_trivially_copyable(Pod) && __is_trivial(__half), "");
        static_assert(sizeof(__hip_bfloat162) == 4, "");
        extern "C" __global__ void mix(Pod pod, float *out) {
            __half h = 3, k = 1.5, m;
            m = 2.25f;
            h += 1;
            int i = h;
            float f = k;
            double d = m;
            __hip_bfloat16 b = 7.0f;
            b = b * __hip_bfloat16(2);
            if (h && b) out[0] = i;
            out[1] = f + d;
            out[2] = b;
            out[3] = (float)pod.a + (float)pod.b + __high2float(pod.c);
            out[4] = __hadd(7, 4);
            out[5] = __half((float)b) - __half(h);
            __half_raw raw = h;
            volatile __half v;
            v = raw;
            v = static_cast<volatile __half_raw &&>(raw);
            h = __half_raw(h);
            out[6] = __half(__half_raw(v));
            _Float16 x = h;
            out[7] = x * (_Float16)2;
            half2 two = make_half2(h, k);
            two.x = k;
            out[8] = __low2float(two) + __high2float(two + two);
            out[9] = float2(__hip_bfloat162(b, b)).y;
        }
    """
    kernel = load(source).kernels["mix"]
    pod = np.array([(1.5, 0x4000, 0.25, 0.5)], "f2, u2, f2, f2")
    want = [4, 3.75, 14, 4.0, 5, 10, 4, 8, 4.5, 14]

    for run in (kernel.run_fast, kernel.run_reference):
        out = np.zeros(10, np.float32)
        run((1, 1, 1), (1, 1, 1), [pod[0], out])
        assert out.tolist() == want


CONVERSIONS = """
typedef unsigned short u16;
#define EACH(name, from, to, value)                                                \\
    void name(const from *x, to *r, long n) {                                       \\
        for (long i = 0; i < n; i++) r[i] = value;                                  \\
    }
#define NARROW(format, x) __builtin_bit_cast(u16, (format)(x))
EACH(half_of_float, float, u16, NARROW(_Float16, x[i]))
EACH(half_of_double, double, u16, NARROW(_Float16, x[i]))
EACH(bfloat_of_float, float, u16, NARROW(__bf16, x[i]))
EACH(bfloat_of_double, double, u16, NARROW(__bf16, x[i]))
EACH(float_of_half, u16, float, (float)__builtin_bit_cast(_Float16, x[i]))
"""


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Loops over the functions that images bring along, for the plainest processor."""
    zig, source = zig_path(), ROOT / "csrc" / "cpu" / "compile" / "rewrite_half.c"
    if zig is None or not source.is_file():
        pytest.skip("needs ziglang and the sources")
    machine = platform.machine()
    cpu = {"x86_64": "x86-64", "aarch64": "generic"}[machine]
    folder = tmp_path_factory.mktemp("conversions")
    text = re.search(r"functions\[\] =\n(.*?);\n\n", source.read_text(), re.DOTALL)
    assert text is not None
    ir = "".join(ast.literal_eval(line.strip()) for line in text[1].splitlines())
    (folder / "functions.ll").write_text(ir)
    (folder / "loops.c").write_text(CONVERSIONS)
    front = [zig, "clang", "-cc1", "-triple", f"{machine}-unknown-linux-gnu"]
    front += ["-target-cpu", cpu, "-O2", "-emit-obj", "-mrelocation-model", "pic"]
    front += ["-pic-level", "2"]
    for name, language in (("functions.ll", "ir"), ("loops.c", "c")):
        subprocess.run(
            [*front, "-x", language, "-o", f"{name}.o", name], cwd=folder, check=True
        )
    link = [zig, "ld.lld", "-shared", "-o", "all.so", "functions.ll.o", "loops.c.o"]
    # Nothing may be left open: there is no other library that could have it.
    subprocess.run([*link, "--no-undefined"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


@np.errstate(invalid="ignore")
def test_functions_for_processors_without_half(
    conversions: ctypes.CDLL, narrow: Narrow
) -> None:
    def run(name: str, x: np.ndarray, result: type) -> np.ndarray:
        r = np.zeros(x.shape, result)
        at = (ctypes.c_void_p(v.ctypes.data) for v in (x, r))
        getattr(conversions, name)(*at, ctypes.c_long(x.size))
        return r

    rng = np.random.default_rng(15)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf])
    floats = np.concatenate([near_ties_float(narrow.format, rng), special.astype("f4")])
    doubles = np.concatenate([near_ties(narrow.format, rng), special])
    kind = "half" if narrow.short == "half" else "bfloat"

    check(narrow, run(f"{kind}_of_float", floats, np.uint16), floats.astype("f8"))
    check(narrow, run(f"{kind}_of_double", doubles, np.uint16), doubles)
    if kind == "half":
        codes = all_codes()
        values = run("float_of_half", codes, np.float32)
        np.testing.assert_array_equal(values, wide(narrow, codes).astype("f4"))
        assert np.array_equal(np.signbit(values), codes >> 15 == 1)
