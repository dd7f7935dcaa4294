# SPDX-License-Identifier: MIT
"""Indices of few bits that go in steps: LLVM 20's check that they don't wrap is wrong.

The index of each kernel is an expression that C++ and numpy read alike: C++ in unsigned
numbers of 32 bits and numpy in 64, of which only the low ones count.  Each kernel is a module of its own: one that is compiled with care
would hide that another is not.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from hipadapt import array, compile_kernel, zeros

LANES = 128
# Both places: lanes that go through `a`, and one lane that goes through it in a loop.
SOURCE = """
extern "C" __global__ void by_lane({type} *out, const {type} *x, unsigned p)
{{
    unsigned a = blockIdx.x * {lanes} + threadIdx.x;
    out[a] = x[{index}];
}}
extern "C" __global__ void by_loop({type} *out, const {type} *x, unsigned p)
{{
    for (unsigned a = 0; a < {lanes}; a++)
        out[{index}] = x[a] + 1;
}}
extern "C" __global__ void by_sum(long *out, const {type} *x, unsigned p)
{{
    long sum = 0;
    for (unsigned a = 0; a < {lanes}; a++)
        sum += x[{index}] * (long)(a + 1);
    *out = sum;
}}
"""
KINDS = ("by_lane", "by_loop", "by_sum")
TYPES = {"char": "int8", "short": "int16", "int": "int32", "long": "int64"}

KNOWN = [
    f"(a * {step}{more}) {cut}"
    for step in (2, 3, 5)
    for more, cut in (("", "& 127"), ("", "% 128"), (" + p", "& 127"), ("", "& 63"))
] + ["(a * 12) & 508", "((a << 1) + a) & 127", "(a + a * 2) & 127", "(a * 3) & 255"]


def random_index(source: random.Random) -> str:
    """An expression below 1024."""

    def linear(depth: int) -> str:
        if depth == 0 or source.random() < 0.2:
            return source.choice(("a", "a", "p", str(source.randrange(1, 9))))
        left, right = linear(depth - 1), linear(depth - 1)
        return source.choice(
            (
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {source.choice((2, 3, 5, 6, 7))})",
                f"({left} << {source.randrange(1, 3)})",
                f"(({left} & {source.choice((31, 127, 252))}) + {right})",
                f"({left} >> 1)",
            )
        )

    text = linear(source.randrange(1, 4))
    cut = source.choice((63, 127, 255, 508, 1008))
    return source.choice((f"({text}) & {cut}", f"({text}) % 128", f"u8({text})"))


def run(kind: str, index: str, type: str, p: int) -> tuple[Any, Any]:
    """What the device leaves and what numpy does."""
    casts = "#define u8(x) ((unsigned)(unsigned char)(x))\n"
    text = casts + SOURCE.format(type=type, index=index, lanes=LANES)
    # Only the kernel that is asked for: the others are another module's.
    parts = text.split('extern "C"')
    text = casts + 'extern "C"' + next(part for part in parts if f" {kind}(" in part)
    host = (np.arange(1024) * 7919 % 113).astype(TYPES[type])
    a = np.arange(2 * LANES)
    places = eval(index, {"a": a, "p": p, "u8": lambda v: v & 255})
    places = np.broadcast_to(places, a.shape)
    assert places.max() < 1024
    size = 1 if kind == "by_sum" else 1024
    out = zeros(size, "int64" if kind == "by_sum" else TYPES[type])
    kernel = compile_kernel(text, kind)
    kernel[(2, LANES) if kind == "by_lane" else (1, 1)](out, array(host), p)

    want = np.zeros(size, out.get().dtype)
    if kind == "by_lane":
        want[: 2 * LANES] = host[places]
    elif kind == "by_loop":
        for at, value in zip(places[:LANES], host[:LANES], strict=True):
            want[at] = value + 1
    else:
        want[0] = (host[places[:LANES]].astype("int64") * (a[:LANES] + 1)).sum()
    return out.get(), want


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", KNOWN)
def test_known_indices_are_read_as_written(kind: str, index: str) -> None:
    got, want = run(kind, index, "long", 0)

    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(30))
def test_random_indices_are_read_as_written(seed: int) -> None:
    source = random.Random(seed)
    index, type = random_index(source), source.choice(list(TYPES))

    got, want = run(KINDS[seed % 3], index, type, source.choice((0, 0, 1, 77)))

    np.testing.assert_array_equal(got, want, err_msg=f"{index} of {type}")
