# SPDX-License-Identifier: MIT
"""Programs with so many functions that the optimiser is a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image
from .rtc_library import COMPILATION, Rtc

pytestmark = pytest.mark.usefixtures("no_cache")

# f19 calls f18, and so on; between them is what may not be lost with them.
CHAIN = "".join(
    f"__device__ int f{i}(int x) {{ return {f'f{i - 1}(x) * 3' if i else 'x'} + {i}; }}\n"
    for i in range(20)
)
SOURCE = (
    """
__device__ int weight = 5;
__device__ __attribute__((noinline)) int apart(int x) { return x * weight; }
__device__ int depth(int n) { return n > 0 ? depth(n - 1) + 2 : 0; }
template <class T> __device__ T twice(T x) { return x + x; }
struct Base { __device__ virtual int of(int x) const { return x + 1; } };
struct Left : virtual Base { __device__ int of(int x) const override { return x + 2; } };
"""
    + CHAIN
    + """
__device__ int (*chosen)(int) = apart;
extern "C" __global__ void k(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Left left;
    const Base *base = &left;
    out[i] = f19(i) + apart(i) + depth(i % 5) + twice(i) + chosen(i) + base->of(i);
}
extern "C" __global__ void plain(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f19(i);
}
"""
)


def chain(x: int) -> int:
    value = 0
    for i in range(20):
        value = (value * 3 if i else x) + i
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("options", [[], ["-O0"]])
def test_functions_do_what_they_say(
    rtc: Rtc, tmp_path: Path, options: list[str]
) -> None:
    image = Image(rtc, tmp_path, SOURCE, options)
    out = np.zeros(40, np.int32)

    kernel = image.kernels["plain"]
    for form in ("fast", "reference"):
        out[:] = 0
        getattr(kernel, f"run_{form}")((2, 1, 1), (32, 1, 1), [out, np.int32(40)])
        assert out.tolist() == [chain(i) for i in range(40)]

    image.kernels["k"].run_reference((2, 1, 1), (32, 1, 1), [out, np.int32(40)])
    assert out.tolist() == [
        (chain(i) + 10 * i + 2 * (i % 5) + 2 * i + i + 2 + 2**31) % 2**32 - 2**31
        for i in range(40)
    ]


def test_optimiser_is_apart_for_many_functions_only(rtc: Rtc) -> None:
    """The log of the library names each process."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.unit.cpu.rtc_library import Rtc, library_path\n"
        "assert Rtc(library_path()).compile(sys.stdin.read()).result == 0\n"
    )
    environment = {**os.environ, "HIPADAPT_LOG": "3", "HIPADAPT_CACHE": "0"}
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            input=source,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr.count("the optimiser took")
        for source in (CHAIN, CHAIN[: CHAIN.index("__device__ int f9(")])
    ]

    assert said == [1, 0]


def test_lowered_name_of_a_function_is_found(rtc: Rtc) -> None:
    program = rtc.compile(SOURCE, [], names=["&f7", "k"])

    assert program.lowered == {"&f7": "_Z2f7i", "k": "k"}


def test_errors_name_their_line(rtc: Rtc) -> None:
    compiled = rtc.compile(CHAIN + "\n__device__ int g() { return nothing; }\n")

    assert compiled.result == COMPILATION
    assert ":22:29: error: use of undeclared identifier 'nothing'" in compiled.log
    assert compiled.log.count("error:") == 1
