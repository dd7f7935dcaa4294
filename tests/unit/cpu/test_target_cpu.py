# SPDX-License-Identifier: MIT
"""HIPADAPT_CPU_TARGET: kernels for a lower level of x86-64 than this processor's."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from .kernel_image import Image
from .rtc_library import INVALID_OPTION, SUCCESS, Rtc

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="levels are those of x86-64"
)

# libmvec's form of sinf for AVX2: the level says whether it may be called.
AVX2_SINE = b"_ZGVdN8v_sinf"
SOURCE = """
extern "C" __global__ void sine(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]);
}
"""


def has(*features: str) -> bool:
    return {*features} <= {*Path("/proc/cpuinfo").read_text().split()}


@pytest.mark.skipif(
    not has("avx2", "fma"), reason="this processor has no lower level to test"
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


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("name", ["x86-64-v5", "avx2", "x86-64-v", "X86-64-V3", "0"])
def test_unknown_level_is_refused_by_name(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HIPADAPT_CPU_TARGET", name)

    compiled = rtc.compile(SOURCE)

    assert compiled.result == INVALID_OPTION
    text = rtc.error_text()
    assert "HIPADAPT_CPU_TARGET must be native or one of x86-64, x86-64-v2" in text
    assert f"it is '{name}'" in text


@pytest.mark.usefixtures("no_cache")
def test_native_and_lowest_level_are_taken(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("native", "x86-64", ""):
        monkeypatch.setenv("HIPADAPT_CPU_TARGET", name)
        assert rtc.compile(SOURCE).result == SUCCESS
