# SPDX-License-Identifier: MIT
"""HIPADAPT_CPU_TARGET: kernels for a lower level than this processor's."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image
from .rtc_library import INVALID_OPTION, SUCCESS, Rtc

LEVELS = {
    "x86_64": ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"),
    "aarch64": ("armv8-a", "armv8.1-a"),
}[platform.machine()]

# libmvec's form of sinf for AVX2: the level says whether it may be called.
AVX2_SINE = b"_ZGVdN8v_sinf"
SOURCE = """
extern "C" __global__ void sine(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]);
}
"""

SUMS = """
extern "C" __global__ void sums(int *s) {
    int t = threadIdx.x;
    atomicAdd(s, 1);
    atomicMax(s + 1, t);
    int old = s[2], seen;
    do {
        seen = old;
        old = atomicCAS(s + 2, seen, seen + t);
    } while (old != seen);
}
"""


def has(*features: str) -> bool:
    return {*features} <= {*Path("/proc/cpuinfo").read_text().split()}


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not has("avx2", "fma"),
    reason="this processor has no lower level of x86-64 to test",
)
@pytest.mark.usefixtures("cache_dir")
def test_kernel_for_lower_level_has_no_newer_instructions_and_is_right(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = rtc.compile(SOURCE)
    monkeypatch.setenv("HIPADAPT_CPU_TARGET", "x86-64-v3")
    third = rtc.compile(SOURCE)
    monkeypatch.setenv("HIPADAPT_CPU_TARGET", "x86-64-v2")

    second = rtc.compile(SOURCE)

    codes = [one.code for one in (native, third, second)]
    assert [AVX2_SINE in code for code in codes] == [True, True, False]
    if has("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"):
        assert native.code != third.code
    x = np.linspace(-3, 3, 100, dtype=np.float32)
    for code in codes:
        y = np.zeros_like(x)
        sine = Image.of_code(code, tmp_path).kernels["sine"]
        sine.run_fast((1, 1, 1), (128, 1, 1), (x, y, np.int32(100)))
        np.testing.assert_allclose(y, np.sin(x), atol=1e-6)


@pytest.mark.skipif(platform.machine() != "aarch64", reason="levels of aarch64")
@pytest.mark.usefixtures("cache_dir")
def test_atomics_of_both_levels_of_aarch64_are_right(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = rtc.compile(SUMS)
    monkeypatch.setenv("HIPADAPT_CPU_TARGET", "armv8-a")

    first = rtc.compile(SUMS)

    assert native.code != first.code
    for code in (native.code, first.code):
        sums = np.zeros(3, np.int32)
        kernel = Image.of_code(code, tmp_path).kernels["sums"]
        kernel.run_fast((2, 1, 1), (64, 1, 1), (sums,))
        np.testing.assert_array_equal(sums, [128, 63, 64 * 63])


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("name", ["x86-64-v5", "avx2", "x86-64-v", "X86-64-V3", "0"])
def test_unknown_level_is_refused_by_name(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HIPADAPT_CPU_TARGET", name)

    compiled = rtc.compile(SOURCE)

    assert compiled.result == INVALID_OPTION
    text = rtc.error_text()
    assert f"HIPADAPT_CPU_TARGET must be native or one of {', '.join(LEVELS)}" in text
    assert f"it is '{name}'" in text


@pytest.mark.usefixtures("no_cache")
def test_native_and_lowest_level_are_taken(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("native", LEVELS[0], ""):
        monkeypatch.setenv("HIPADAPT_CPU_TARGET", name)
        assert rtc.compile(SOURCE).result == SUCCESS
