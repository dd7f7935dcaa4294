# SPDX-License-Identifier: MIT
"""Eight-bit floats, complex numbers and the older bfloat16 inside kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image, Load
from .language_types import (
    BFLOAT,
    FP8,
    HALF,
    Expression,
    Expressions,
    Format,
    all_codes,
    near_ties,
    near_ties_float,
)
from .rtc_library import Rtc

pytestmark = pytest.mark.plain  # its time is the compiler's and the kernels'
HEADER = "#include <hip/hip_fp8.h>\n"


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


def stored(fmt: Format, values: np.ndarray, saturate: bool) -> np.ndarray:
    """Codes that float64 values are stored as, by the rules of the header."""
    codes = np.zeros(values.shape, np.int64)
    finite = np.isfinite(values)
    codes[finite] = fmt.nearest(np.abs(values[finite]))
    sign = np.where(np.signbit(values), fmt.sign, 0)
    beyond = np.isinf(values) | (finite & (codes > fmt.top))
    codes |= sign
    largest = sign | fmt.top
    # Behind the largest number comes infinity, or NaN where there is none.
    outside = largest if saturate else np.where(fmt.fnuz, fmt.sign, sign | fmt.top + 1)
    codes = np.where(beyond, outside, codes)
    codes = np.where(np.isnan(values), np.where(fmt.fnuz, fmt.sign, sign | 0x7F), codes)
    return np.where(fmt.fnuz & (codes == fmt.sign) & finite & ~beyond, 0, codes)


def inputs(fmt: Format, dtype: type) -> np.ndarray:
    """Values on, between and beside all codes, and special ones."""
    rng = np.random.default_rng(9)
    ties = near_ties_float(fmt, rng) if dtype is np.float32 else near_ties(fmt, rng)
    special = np.array(
        [np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, 1e30, -1e30], dtype
    )
    return np.concatenate([ties.astype(dtype), special])


@pytest.mark.parametrize("name", FP8)
def test_storing_rounds_once_and_saturates(load: Load, name: str) -> None:
    fmt, kind, t = FP8[name], f"__HIP_{name.upper()}", f"__hip_fp8_{name}"
    code = "__hip_fp8_storage_t"
    table = [Expression("made", f"{t}(a).__x", ("float",), code)]
    table += [Expression("made_d", f"{t}(a).__x", ("double",), code)]
    table += [Expression("made_h", f"{t}(a).__x", ("__half",), code)]
    table += [Expression("made_b", f"{t}(a).__x", ("__hip_bfloat16",), code)]
    table += [Expression("made_i", f"{t}(a).__x", ("int",), code)]
    for short, saturation in (("s", "__HIP_SATFINITE"), ("n", "__HIP_NOSAT")):
        for source, c in (("float", "float"), ("double", "double")):
            text = f"__hip_cvt_{source}_to_fp8(a, {saturation}, {kind})"
            table.append(Expression(f"{short}_{source}", text, (c,), code))
        for source, c in (("halfraw", "__half"), ("bfloat16raw", "__hip_bfloat16")):
            text = f"__hip_cvt_{source}_to_fp8(a, {saturation}, {kind})"
            table.append(Expression(f"{short}_{source}", text, (c,), code))
    run = Expressions(load, HEADER, table)
    codes = all_codes()
    arrays = {
        "float": (inputs(fmt, np.float32),) * 2,
        "double": (inputs(fmt, np.float64),) * 2,
        "halfraw": (codes, HALF.decode()[codes]),
        "bfloat16raw": (codes, BFLOAT.decode()[codes]),
    }

    for source, (array, values) in arrays.items():
        values = values.astype(np.float64)
        if array is codes:
            values = np.copysign(values, np.where(codes >> 15, -1.0, 1.0))
        for short, saturate in (("s", True), ("n", False)):
            got = run(f"{short}_{source}", array, result=np.uint8)
            want = stored(fmt, values, saturate)
            wrong = np.flatnonzero(got != want)
            assert wrong.size == 0, (source, short, values[wrong[:3]], got[wrong[:3]])
        made = {"float": "made", "double": "made_d", "halfraw": "made_h"}
        got = run(made.get(source, "made_b"), array, result=np.uint8)
        np.testing.assert_array_equal(got, stored(fmt, values, True), err_msg=source)
    whole = np.concatenate([np.arange(-600, 600), [2**31 - 1, -(2**31), 61440, 57345]])
    whole = whole.astype(np.int32)
    got = run("made_i", whole, result=np.uint8)
    np.testing.assert_array_equal(got, stored(fmt, whole.astype(np.float64), True))


@pytest.mark.parametrize("name", FP8)
def test_every_code_is_read_exactly(load: Load, name: str) -> None:
    fmt, kind, t = FP8[name], f"__HIP_{name.upper()}", f"__hip_fp8_{name}"
    code = "__hip_fp8_storage_t"
    before = HEADER + (
        f"__device__ {t} of({code} x) {{ {t} r; r.__x = x; return r; }}\n"
        "template <class T> __device__ T bits(unsigned x)"
        "{ T r; r.__x = x; return r; }\n"
    )
    run = Expressions(
        load,
        before,
        [
            Expression("wide", "of(a)", (code,), "float"),
            Expression("wider", "of(a)", (code,), "double"),
            Expression("to_half", "of(a)", (code,), "__half"),
            Expression("bfloat", "of(a)", (code,), "__hip_bfloat16"),
            Expression(
                "raw", f"__hip_cvt_fp8_to_halfraw(a, {kind})", (code,), "__half_raw"
            ),
            Expression("whole", "(int)of(a)", (code,), "int"),
            Expression("tiny", "(signed char)of(a)", (code,), "signed char"),
            Expression("truth", "(bool)of(a)", (code,), "bool"),
            Expression(
                "two", f"bits<__hip_fp8x2_{name}>(a)", ("unsigned short",), "float2"
            ),
            Expression("four", f"bits<__hip_fp8x4_{name}>(a)", ("unsigned",), "float4"),
            Expression(
                "join",
                f"__hip_fp8x4_{name}(float4(a.x, a.y, a.z, a.w)).__x",
                ("float4",),
                "unsigned",
            ),
            Expression(
                "join2",
                f"__hip_cvt_float2_to_fp8x2(float2(a.x, a.y), __HIP_SATFINITE, {kind})",
                ("float4",),
                "unsigned short",
            ),
        ],
    )
    codes = np.arange(256, dtype=np.uint8)
    values = fmt.decode()
    whole = np.nan_to_num(np.trunc(values), nan=0, posinf=2**31 - 1, neginf=-(2**31))

    np.testing.assert_array_equal(run("wide", codes, result="f4"), values.astype("f4"))
    np.testing.assert_array_equal(run("wider", codes, result="f8"), values)
    for name_, width in (("to_half", HALF), ("raw", HALF), ("bfloat", BFLOAT)):
        got = width.decode()[run(name_, codes, result="u2")]
        np.testing.assert_array_equal(got, values)
        zero = values == 0
        assert np.array_equal(np.signbit(got[zero]), np.signbit(values[zero]))
    np.testing.assert_array_equal(run("whole", codes, result="i4"), whole)
    np.testing.assert_array_equal(
        run("tiny", codes, result="i1"), np.clip(whole, -128, 127)
    )
    np.testing.assert_array_equal(run("truth", codes, result="u1"), values != 0)
    two = np.arange(65536, dtype=np.uint16)
    got = run("two", two, result="u8").view("f4").reshape(-1, 2)
    np.testing.assert_array_equal(
        got, values.astype("f4")[two.view("u1").reshape(-1, 2)]
    )
    four = np.random.default_rng(10).integers(0, 2**32, 5000, dtype=np.uint32)
    got = run("four", four, result="c16").view("f4").reshape(-1, 4)
    each = four.view("u1").reshape(-1, 4)
    np.testing.assert_array_equal(got, values.astype("f4")[each])
    numbers = np.nan_to_num(values[each], nan=1.0, posinf=1.0, neginf=1.0).astype("f4")
    joined = (
        run("join", numbers.view("c16").ravel(), result="u4").view("u1").reshape(-1, 4)
    )
    np.testing.assert_array_equal(values[joined], numbers)
    got = run("join2", numbers.view("c16").ravel(), result="u2")
    np.testing.assert_array_equal(got.view("u1").reshape(-1, 2), joined[:, :2])


@pytest.mark.parametrize(
    ("c", "real", "dtype"),
    [("hipFloatComplex", "f", "c8"), ("hipDoubleComplex", "", "c16")],
)
def test_complex_functions(load: Load, c: str, real: str, dtype: str) -> None:
    functions = {
        "add": (f"hipCadd{real}(a, b)", lambda x, y: x + y),
        "sub": (f"hipCsub{real}(a, b)", lambda x, y: x - y),
        "mul": (f"hipCmul{real}(a, b)", lambda x, y: x * y),
        "div": (f"hipCdiv{real}(a, b)", lambda x, y: x / y),
        "fma": (f"hipCfma{real}(a, b, a)", lambda x, y: x * y + x),
        "conj": (f"hipConj{real}(a)", lambda x, y: x.conj()),
        "abs": (
            f"make_{c}(hipCabs{real}(a), hipCsqabs{real}(b))",
            lambda x, y: abs(x) + 1j * abs(y) ** 2,
        ),
        "parts": (
            f"make_{c}(hipCimag{real}(a), hipCreal{real}(b))",
            lambda x, y: x.imag + 1j * y.real,
        ),
    }
    table = [Expression(name, text, (c, c), c) for name, (text, _) in functions.items()]
    run = Expressions(load, "#include <hip/hip_complex.h>\n", table)
    run.bitwise = False  # one of the two products may be fused with the sum
    rng = np.random.default_rng(11)
    a, b = (rng.standard_normal((2, 500, 2)).view(complex)[..., 0]).astype(dtype)
    limit = 2e-6 if real else 4e-15

    for name, (_, function) in functions.items():
        got = run(name, a, b, result=dtype)
        want = function(a.astype(complex), b.astype(complex))
        np.testing.assert_allclose(got, want, rtol=limit, atol=limit, err_msg=name)


def test_complex_widths_and_older_bfloat(load: Load) -> None:
    t = "hip_bfloat16"
    run = Expressions(
        load,
        "#include <hip/hip_complex.h>\n#include <hip/hip_bfloat16.h>\n",
        [
            Expression(
                "wide",
                "hipComplexFloatToDouble(a)",
                ("hipComplex",),
                "hipDoubleComplex",
            ),
            Expression(
                "near",
                "hipComplexDoubleToFloat(a)",
                ("hipDoubleComplex",),
                "hipComplex",
            ),
            Expression(
                "made", "make_hipComplex(a.y, a.x)", ("hipComplex",), "hipComplex"
            ),
            Expression("round", f"{t}(a)", ("float",), t),
            Expression("cut", f"{t}(a, {t}::truncate)", ("float",), t),
            Expression("sum", "a * b + a / b - -b", (t, t), t),
            Expression("step", "(a++, ++a, --a)", (t,), t),
            Expression("below", "a < b", (t, t), "bool"),
        ],
        BFLOAT,
        (t,),
    )
    z = np.random.default_rng(12).standard_normal((300, 2)).view(complex).ravel()
    floats = near_ties_float(BFLOAT, np.random.default_rng(13))
    wide = floats.astype(np.float64)

    assert np.array_equal(run("near", z, result="c8"), z.astype("c8"))
    assert np.array_equal(
        run("wide", z.astype("c8"), result="c16"), z.astype("c8").astype("c16")
    )
    assert np.array_equal(
        run("made", z.astype("c8"), result="c8"), (1j * z.conj()).astype("c8")
    )
    assert np.array_equal(run("round", floats, result="u2"), BFLOAT.nearest(wide))
    assert np.array_equal(run("cut", floats, result="u2"), BFLOAT.nearest(wide, "rz"))
    a, b = np.random.default_rng(14).integers(0x3F80, 0x4400, (2, 1000)).astype("u2")
    values = BFLOAT.decode()
    x, y = values[a], values[b]
    near = lambda v: values[BFLOAT.nearest(v)]  # noqa: E731
    want = near(near(near(x * y) + near(x / y)) + y)
    assert np.array_equal(values[run("sum", a, b, result="u2")], want)
    assert np.array_equal(
        values[run("step", a, result="u2")], near(near(near(x + 1) + 1) - 1)
    )
    assert np.array_equal(run("below", a, b, result="u1"), x < y)
