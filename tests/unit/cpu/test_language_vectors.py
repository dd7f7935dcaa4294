# SPDX-License-Identifier: MIT
"""char1 to double4: layout and operators against numpy, in both executors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image, Load
from .language_types import aligned
from .rtc_library import COMPILATION, SUCCESS, Rtc

ELEMENTS = {
    "char": ("char", np.int8),
    "uchar": ("unsigned char", np.uint8),
    "short": ("short", np.int16),
    "ushort": ("unsigned short", np.uint16),
    "int": ("int", np.int32),
    "uint": ("unsigned int", np.uint32),
    "long": ("long", np.int64),
    "ulong": ("unsigned long", np.uint64),
    "longlong": ("long long", np.int64),
    "ulonglong": ("unsigned long long", np.uint64),
    "float": ("float", np.float32),
    "double": ("double", np.float64),
}


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


def test_sizes_alignments_and_offsets(load: Load) -> None:
    rows = []
    want = []
    for name, (_, dtype) in ELEMENTS.items():
        size = np.dtype(dtype).itemsize
        for n in (1, 2, 3, 4):
            t = f"{name}{n}"
            last = f"__builtin_offsetof({t}, {'xyzw'[n - 1]})"
            inside = f"__builtin_offsetof(Behind<{t}>, value)"
            rows.append(f"{{sizeof({t}), alignof({t}), {last}, {inside}}}")
            align = size * (1 if n in (1, 3) else n)
            want.append([n * size, align, (n - 1) * size, align])
    source = f"""
        template <class T> struct Behind {{ char before; T value; }};
        struct Mixed {{ char a; float4 b; uchar3 c; double2 d; short1 e; }};
        extern "C" __global__ void layout(unsigned *out, Mixed m, float *first) {{
            const unsigned table[][4] = {{{", ".join(rows)}}};
            for (int i = 0; i < {len(rows)}; i++)
                for (int j = 0; j < 4; j++) out[i * 4 + j] = table[i][j];
            first[0] = m.a + m.b.w + m.c.z + (float)m.d.y + m.e.x;
        }}
    """
    kernel = load(source).kernels["layout"]
    mixed = np.dtype(
        {
            "names": list("abcde"),
            "formats": ["i1", "4f4", "3u1", "2f8", "i2"],
            "offsets": [0, 16, 32, 48, 64],
            "itemsize": 80,
        }
    )
    value = np.zeros((), mixed)
    value["a"], value["b"], value["c"] = 1, [2, 3, 4, 50], [6, 7, 100]
    value["d"], value["e"] = [8, 1000], 10000

    out, first = np.zeros((len(rows), 4), np.uint32), np.zeros(1, np.float32)
    kernel.run_reference((1, 1, 1), (1, 1, 1), [out, value, first])

    assert out.tolist() == want
    assert first[0] == 11151
    assert kernel.args[1][:2] == (80, 16)


def c_divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Towards zero for integers."""
    if a.dtype.kind == "f":
        return a / b
    whole = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.where((a < 0) != (b < 0), -whole, whole).astype(a.dtype)


def c_remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a - c_divide(a, b) * b


Operation = Callable[[np.ndarray, np.ndarray], np.ndarray]
BOTH: dict[str, Operation] = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": c_divide,
    "(a += b)": lambda a, b: a + b,
    "(a -= b)": lambda a, b: a - b,
    "(a *= b)": lambda a, b: a * b,
    "(a /= b)": c_divide,
    "a + 3": lambda a, b: a + a.dtype.type(3),
    "3 - b": lambda a, b: a.dtype.type(3) - b,
    "a * 2.0f": lambda a, b: a * a.dtype.type(2),
    "100 / b": lambda a, b: c_divide(np.full_like(b, 100), b),
    "(a -= 5)": lambda a, b: a - a.dtype.type(5),
    "(a *= 'c')": lambda a, b: a * a.dtype.type(ord("c")),
    "++a": lambda a, b: a + a.dtype.type(1),
    "--a": lambda a, b: a - a.dtype.type(1),
    "a++": lambda a, b: a,
    "a--": lambda a, b: a,
    "(a++, a)": lambda a, b: a + a.dtype.type(1),
    "(a[0] = b[0], a)": lambda a, b: np.concatenate([b[:, :1], a[:, 1:]], axis=1),
    "V(a == b ? 1 : a != b ? 2 : 3)": lambda a, b: np.where(
        (a == b).all(1, keepdims=True), a.dtype.type(1), a.dtype.type(2)
    )
    + np.zeros_like(a),
    "V(a == 7 ? 1 : 2 != a ? 3 : 4)": lambda a, b: np.where(
        (a == 7).all(1, keepdims=True),
        a.dtype.type(1),
        np.where((a == 2).all(1, keepdims=True), a.dtype.type(4), a.dtype.type(3)),
    )
    + np.zeros_like(a),
}
SIGNED: dict[str, Operation] = {"-a": lambda a, b: -a}
INTEGER: dict[str, Operation] = {
    "a % b": c_remainder,
    "a & b": lambda a, b: a & b,
    "a | b": lambda a, b: a | b,
    "a ^ b": lambda a, b: a ^ b,
    "~a": lambda a, b: ~a,
    "a << (b & 3)": lambda a, b: a << (b & 3),
    "a >> (b & 3)": lambda a, b: a >> (b & 3),
    "1 << (b & 3)": lambda a, b: a.dtype.type(1) << (b & 3),
    "a >> 2": lambda a, b: a >> 2,
    "(a %= b)": c_remainder,
    "(a &= 15)": lambda a, b: a & 15,
    "(a |= b)": lambda a, b: a | b,
    "(a ^= b)": lambda a, b: a ^ b,
    "(a <<= 1)": lambda a, b: a << 1,
    "(a >>= 1)": lambda a, b: a >> 1,
    "91 % b": lambda a, b: c_remainder(np.full_like(b, 91), b),
}


ELEMENTS_AT_ONCE = 24  # of vectors, in one kernel of the test below


def operations(dtype: type) -> dict[str, Operation]:
    kind = np.dtype(dtype).kind
    table = dict(BOTH)
    if kind != "u":
        table |= SIGNED
    if kind != "f":
        table |= INTEGER
    return table


def numbers(dtype: type, n: int, seed: int) -> np.ndarray:
    """Rows of n elements; small ones, so that equal and special ones occur, and any."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        values = rng.standard_normal((96, n)).astype(dtype)
        values[:32] = rng.integers(1, 8, (32, n))
    else:
        limits = np.iinfo(dtype)
        values = rng.integers(limits.min, limits.max, (96, n), dtype, endpoint=True)
        values[:32] = rng.integers(1, 8, (32, n), dtype)
        values[values == limits.min] += 1  # its negation is no number of the type
    values[0], values[1] = 7, 2
    values[values == 0] = 1
    return values


@pytest.mark.plain  # its time is the compiler's and the kernels'
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ELEMENTS)
@np.errstate(over="ignore")
def test_operators(load: Load, name: str, n: int) -> None:
    c, dtype = ELEMENTS[name]
    table = operations(dtype)
    members = ", ".join(f"a_[i].{m}" for m in "xyzw"[:n])
    lines = [
        f"    {{ V a = a_[i], b = b_[i]; r_[i * {len(table)} + {k}] = {text}; }}\n"
        for k, text in enumerate(table)
    ]
    # A compiler takes far longer for one long kernel than for several short ones.
    parts = range(0, len(table), ELEMENTS_AT_ONCE // n)
    kernels = "".join(
        f"""
        extern "C" __global__ void operators{k}(const V *a_, const V *b_, V *r_) {{
            int i = blockIdx.x * 32 + threadIdx.x;
        {"".join(lines[k : k + parts.step])}}}"""
        for k in parts
    )
    source = f"""
        typedef {name}{n} V;
        static_assert(__is_same(V::value_type, {c}), "");
        {kernels}
        extern "C" __global__ void make(const V *a_, V *r_) {{
            int i = blockIdx.x * 32 + threadIdx.x;
            r_[i] = make_{name}{n}({members});
        }}
    """
    image = load(source)
    a, b = (aligned(numbers(dtype, n, seed)) for seed in (1, 2))
    b[2:10] = a[2:10]
    results = [aligned(np.zeros((96, len(table), n), dtype)) for _ in range(2)]

    for k in parts:
        kernel = image.kernels[f"operators{k}"]
        kernel.run_fast((3, 1, 1), (32, 1, 1), [a, b, results[0]])
        kernel.run_reference((3, 1, 1), (32, 1, 1), [a, b, results[1]])
    made = aligned(np.zeros_like(a))
    image.kernels["make"].run_fast((3, 1, 1), (32, 1, 1), [a, made])

    assert np.array_equal(results[0], results[1])
    assert np.array_equal(made, a)
    for k, (text, function) in enumerate(table.items()):
        np.testing.assert_array_equal(results[1][:, k], function(a, b), err_msg=text)


def test_vectors_convert_only_when_asked(rtc: Rtc, load: Load) -> None:
    source = """
        __device__ float take(float x) { return x; }
        __device__ float take(float4 v) { return v.w; }
        extern "C" __global__ void convert(const int4 *v, float *out) {
            out[0] = take(3) + take(float4(7));
            float4 f = (float4)v[0];
            out[1] = f.x + f.w;
            uchar4 u(v[0]);
            out[2] = u.y;
            out[3] = __hipMapVector<float, 4>(make_short2(5, 6)).y;
            out[4] = make_vector_type<float, 3>(2.5).z;
            const float3 place(blockDim);
            out[5] = place.x;
        }
    """
    kernel = load(source).kernels["convert"]
    out = np.zeros(6, np.float32)

    kernel.run_reference((1, 1, 1), (1, 1, 1), [np.array([1, 258, 3, 4], "i4"), out])

    assert out.tolist() == [10, 5, 2, 6, 2.5, 1]
    for wrong in ("float4 f = 1.0f;", "float2 f = int2(1, 2);", "int3 i; i %= 1.5f;;"):
        refused = rtc.compile(f"__global__ void k() {{ {wrong} }}")
        assert (refused.result == COMPILATION) == ("%=" not in wrong), wrong


BUILT_IN = {
    "half": "out[0] = __half2float(__float2half(1.5f)) + float(half(1));",
    "bfloat16": "out[0] = __bfloat162float(__float2bfloat16(2.5f));",
    "complex": "out[0] = hipCrealf(make_hipFloatComplex(2.5f, 1)) + hipComplex(0, 0).y;",
    "constants": "out[0] = HIP_PI_F - 0.641592741f;",
    "traits": "out[0] = std::is_same<int, int>::value * 2.5f;",
    "internal": "out[0] = __hip_internal::is_integral<long>::value ? 2.5f : 0;",
    "integers": "uint64_t a = 5; int8_t b = sizeof(size_t); out[0] = a / (float)(b / 4);",
}


@pytest.mark.parametrize("what", BUILT_IN)
def test_hiprtc_has_built_in_without_an_include(load: Load, what: str) -> None:
    source = 'extern "C" __global__ void k(float *out) {' + BUILT_IN[what] + "}"
    out = np.zeros(1, np.float32)

    load(source).kernels["k"].run_reference((1, 1, 1), (1, 1, 1), [out])

    assert out[0] == 2.5


def test_program_without_such_words_may_use_their_names(rtc: Rtc) -> None:
    """What is not put in does not stand in the way."""
    source = "__device__ int hexp, hipCabsf; namespace std { struct is_same {}; }"
    assert rtc.compile(source + " __device__ std::is_same x;").result == SUCCESS


def test_header_of_the_program_may_use_what_is_built_in(
    rtc: Rtc, load: Load, tmp_path: Path
) -> None:
    text = "__device__ inline half twice(half x) { return x + x; }"
    source = '#include "twice.h"\n__global__ void k(float *x) { *x = twice(*x); }'
    folder = tmp_path / "headers"
    folder.mkdir()
    (folder / "twice.h").write_text(text)

    given = rtc.compile(source, headers={"twice.h": text})
    found = rtc.compile(source, [f"-I{folder}"])

    assert given.result == SUCCESS, given.log
    assert found.result == SUCCESS, found.log


def test_headers_of_the_standard_library(load: Load) -> None:
    source = """
        #include <algorithm>
        #include <limits>
        #include <tuple>
        #include <type_traits>
        #include <utility>
        typedef std::numeric_limits<int> Int;
        static_assert(Int::max() == 2147483647 && Int::lowest() == -Int::max() - 1, "");
        static_assert(std::numeric_limits<unsigned char>::max() == 255, "");
        static_assert(std::numeric_limits<bool>::digits == 1, "");
        static_assert(std::numeric_limits<long>::digits10 == 18, "");
        static_assert(!std::numeric_limits<float *>::is_specialized, "");
        static_assert(std::is_same_v<std::common_type_t<int, float, double>, double>);
        static_assert(std::is_same_v<std::decay_t<const int (&)[3]>, const int *>);
        static_assert(std::conjunction_v<std::is_integral<int>, std::is_class<float4>>);
        static_assert(std::is_convertible<float, int>::value, "");
        static_assert(std::index_sequence_for<int, char>::size() == 2, "");
        template <class T, class = std::enable_if_t<std::is_floating_point<T>::value>>
        __device__ T twice(T x) { return x * 2; }
        extern "C" __global__ void k(float *out) {
            auto t = std::make_tuple(1.5f, 2, 3.0);
            std::get<1>(t) += 5;
            float a; int b; double c;
            std::tie(a, b, c) = t;
            out[0] = a + b + c;
            auto p = std::make_pair(4.0f, 'c');
            std::swap(p.first, out[0]);
            out[1] = p.first + std::min(3, 2) + std::clamp(9.0f, 0.0f, 1.0f);
            out[2] = twice(std::numeric_limits<float>::epsilon());
            out[3] = std::numeric_limits<double>::infinity() > 1e308;
            out[4] = std::tuple_size<decltype(t)>::value + (t == t) + std::get<0>(p);
            out[5] = std::exchange(b, 3) + b + std::forward<int>(b);
        }
    """
    out = np.zeros(6, np.float32)

    load(source).kernels["k"].run_reference((1, 1, 1), (1, 1, 1), [out])

    assert out.tolist() == [4, 14.5, 2.0**-22, 1, 15.5, 13]


def test_value_may_be_called_like_an_integer_of_128_bits(load: Load) -> None:
    source = """
        extern "C" __global__ void divide(int *out, int i128) { out[0] /= i128; }
        extern "C" __global__ void widen(float *out, int i128) { out[0] = i128; }
    """
    image = load(source)
    whole, real = np.full(1, 91, np.int32), np.zeros(1, np.float32)

    image.kernels["divide"].run_reference((1, 1, 1), (1, 1, 1), [whole, np.int32(7)])
    image.kernels["widen"].run_reference((1, 1, 1), (1, 1, 1), [real, np.int32(7)])

    assert (whole[0], real[0]) == (13, 7)


def test_division_of_128_bits_is_refused(rtc: Rtc) -> None:
    source = """__global__ void k(unsigned __int128 *x) { x[0] /= x[1]; }"""
    refused = rtc.compile(source)
    assert refused.result == COMPILATION
    assert "more than 64 bits" in refused.log
