# SPDX-License-Identifier: MIT
"""``std::complex`` and ``<iterator>`` under hiprtc, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

import hipadapt

np = pytest.importorskip("numpy", reason="the reference is numpy's")

HEAD = """#include <complex>
typedef {real} real_type;
typedef std::complex<{real}> number;
"""
KERNEL = """
extern "C" __global__ void k{index}(const number *a, const number *b, number *out,
                                    int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = {expression};
}}"""
LIMIT = {"float": 2e-5, "double": 1e-13}

Reference = Callable[[Any, Any], Any]
CASES: dict[str, Reference] = {
    "a[i] + b[i] * number(0, 2) - a[i] / b[i]": lambda a, b: a + b * 2j - a / b,
    "-(real_type(3) * a[i]) + b[i] / real_type(4)": lambda a, b: -3 * a + b / 4,
    "real_type(1) / a[i] - real_type(2)": lambda a, b: 1 / a - 2,
    "number(a[i].real(), std::imag(b[i]))": lambda a, b: a.real + 1j * b.imag,
    "number(std::abs(a[i]), std::arg(a[i]))": lambda a, b: abs(a) + 1j * np.angle(a),
    "std::conj(a[i]) * std::norm(b[i])": lambda a, b: a.conj() * abs(b) ** 2,
    "std::exp(a[i])": lambda a, b: np.exp(a),
    "std::log(a[i])": lambda a, b: np.log(a),
    "std::log10(a[i])": lambda a, b: np.log10(a),
    "std::sqrt(a[i])": lambda a, b: np.sqrt(a),
    "std::pow(a[i], b[i])": lambda a, b: a**b,
    "std::pow(a[i], real_type(3))": lambda a, b: a**3,
    "std::polar(std::abs(a[i]), std::arg(b[i]))": lambda a, b: abs(a) * b / abs(b),
    "std::sin(a[i]) + std::cos(b[i])": lambda a, b: np.sin(a) + np.cos(b),
    "std::sinh(a[i]) + std::cosh(b[i])": lambda a, b: np.sinh(a) + np.cosh(b),
    "std::tan(a[i]) * std::tanh(b[i])": lambda a, b: np.tan(a) * np.tanh(b),
}


EXPRESSIONS = [*CASES, "a[i] / b[i]"]


@lru_cache
def module(real: str) -> hipadapt.Module:
    """All expressions, compiled once."""
    kernels = [KERNEL.format(index=i, expression=e) for i, e in enumerate(EXPRESSIONS)]
    return hipadapt.Program(HEAD.format(real=real) + "".join(kernels)).compile()


def run(real: str, expression: str, a: Any, b: Any) -> Any:
    n = len(a)
    out = hipadapt.array(np.zeros(n, a.dtype))
    kernel = module(real).kernel(f"k{EXPRESSIONS.index(expression)}")
    kernel[(n + 63) // 64, 64](hipadapt.array(a), hipadapt.array(b), out, np.int32(n))
    return out.get()


def numbers(real: str) -> tuple[Any, Any]:
    """Points all around zero, the axes and their two sides included."""
    parts = np.array([-2.5, -1.0, -1e-3, -0.0, 0.0, 1e-3, 0.7, 3.0])
    a = np.empty(len(parts) ** 2, "c8" if real == "float" else "c16")
    a.real, a.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    a = a[a != 0]
    return a, np.roll(a, 17)


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("expression", CASES)
def test_complex_numbers_agree_with_numpy(expression: str, real: str) -> None:
    a, b = numbers(real)

    got = run(real, expression, a, b)

    wide = [x.astype("c16") for x in (a, b)]
    want = CASES[expression](*wide)
    assert (abs(got - want) <= LIMIT[real] * (1 + abs(want))).all()


def test_quotient_and_root_stay_in_range() -> None:
    a = np.array([3e300 + 4e300j, 1e-300 + 1e-300j, -1e300 + 1e-300j])

    quotient = run("double", "a[i] / b[i]", a, a)
    root = run("double", "std::sqrt(a[i])", a, a)

    assert np.allclose(quotient, 1, rtol=1e-14)
    assert np.allclose(root, np.sqrt(a), rtol=1e-14, atol=0)


def test_zero_keeps_its_root_and_powers() -> None:
    a = np.array([0, -0.0, 0j])
    b = np.array([2.0, 0.5, 0j])

    assert (run("double", "std::sqrt(a[i])", a, b) == 0).all()
    assert run("double", "std::pow(a[i], b[i])", a, b).tolist() == [0, 0, 1]


def test_comparisons_and_assignments() -> None:
    body = """
    number z(1, 2);
    z += number(1, 0); z -= 1.0; z *= number(0, 1); z /= 2.0;   // (-1, 0.5)
    std::complex<float> narrow(z);
    z = narrow;
    bool right = z == number(-1, 0.5) && z != 3.0 && number(4) == 4.0;
    z.real(right ? 5 : 6); z.imag(std::real(2.0) + std::imag(3.0));
    return z;"""
    head = "__device__ number made() {" + body + "}\n"
    source = HEAD.format(real="double") + head
    source += 'extern "C" __global__ void k(number *out) { *out = made(); }'
    out = hipadapt.array(np.zeros(1, "c16"))

    hipadapt.compile_kernel(source, "k")[1, 1](out)

    assert out.get()[0] == 5 + 2j


def test_iterator_knows_the_ends_of_arrays() -> None:
    source = """#include <iterator>
extern "C" __global__ void k(long long *out) {
    int a[] = {1, 2, 4};
    for (int *p = std::begin(a); p != std::end(a); p++) *out += *p;
    *out = *out * 10 + std::size(a);
}"""
    out = hipadapt.array([0], "int64")

    hipadapt.compile_kernel(source, "k")[1, 1](out)

    assert out.get().tolist() == [73]
