# SPDX-License-Identifier: MIT
"""Whether a product and a sum become one operation: what options and pragmas say.

With x = 1 + 2^-12, x * x - (1 + 2^-11) is 2^-24 where the two are fused, and 0 where the
product is rounded first.
"""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

import hipadapt

from .kernel_image import Image
from .rtc_library import Rtc

pytestmark = pytest.mark.usefixtures("no_cache")

LANES = 70
FUSED, ROUNDED = float(np.ldexp(1.0, -24)), 0.0


def host_fuses() -> bool:
    """Kernels are compiled for this processor, which may lack the instruction."""
    if platform.machine() == "aarch64":
        return True
    words = Path("/proc/cpuinfo").read_text().split()
    return "fma" in words and "avx2" in words


HEADERS = sorted(
    before + path.name
    for before, folder in (("", "hipadapt/freestanding"), ("hip/", "hip"))
    for path in (Path(hipadapt.get_include()) / folder).iterdir()
    # The host's half of the API; compilers of whole programs read it.
    if path.is_file()
    and path.name not in ("hip_runtime_api.h", "hiprtc.h", "hip_ext.h")
)

# One expression, two statements, and a function of its own; %s stands in each body.
BODIES = """
__device__ float sum_{name}(float x, float y, float z) {{ {pragma}
    return x * y + z; }}
extern "C" __global__ void {name}(const float *x, const float *z, float *one,
                                  float *two, float *called, int n) {{ {pragma}
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        one[i] = x[i] * x[i] + z[i];
        float product = x[i] * x[i];
        two[i] = product + z[i];
        called[i] = sum_{name}(x[i], x[i], z[i]);
    }}
}}
"""


def kernel(name: str, pragma: str = "") -> str:
    return BODIES.format(name=name, pragma=f"\n{pragma}\n" if pragma else "")


SOURCE = (
    kernel("first")
    + "".join(f"#include <{name}>\n" for name in HEADERS)
    + kernel("behind_headers")
    + kernel("off_inside", "#pragma clang fp contract(off)")
    + kernel("stdc_off_inside", "#pragma STDC FP_CONTRACT OFF")
    + kernel("on_inside", "#pragma clang fp contract(on)")
    + kernel("fast_inside", "#pragma clang fp contract(fast)")
    + kernel("after_pragmas_inside")
    + "#pragma STDC FP_CONTRACT OFF\n"
    + kernel("stdc_off_outside")
    + "#pragma STDC FP_CONTRACT ON\n"
    + kernel("stdc_on_outside")
    + "#pragma clang fp contract(off)\n"
    + kernel("off_outside")
    + "#pragma STDC FP_CONTRACT DEFAULT\n"
    + kernel("default_outside")
)

# What is fused: in one expression, over two statements.
OFF, ON, FAST = (ROUNDED, ROUNDED), (FUSED, ROUNDED), (FUSED, FUSED)
BY_OPTION = {
    "": FAST,
    "-ffp-contract=off": OFF,
    "-ffp-contract=on": ON,
    "-ffp-contract=fast": FAST,
    "-ffp-contract=fast-honor-pragmas": FAST,
}
BY_PRAGMA = {
    "first": None,
    "behind_headers": None,
    "off_inside": OFF,
    "stdc_off_inside": OFF,
    "on_inside": ON,
    "fast_inside": FAST,
    "after_pragmas_inside": None,
    "stdc_off_outside": OFF,
    "stdc_on_outside": ON,
    "off_outside": OFF,
    "default_outside": None,
}


@pytest.mark.parametrize("option", BY_OPTION)
def test_products_and_sums_are_fused_as_option_and_pragma_say(
    rtc: Rtc, tmp_path: Path, option: str
) -> None:
    image = Image(rtc, tmp_path, SOURCE, [option])
    x = np.full(LANES, 1 + 2.0**-12, np.float32)
    z = np.full(LANES, -(1 + 2.0**-11), np.float32)
    got, want = {}, {}

    for name, by_pragma in BY_PRAGMA.items():
        expression, statements = by_pragma or BY_OPTION[option]
        for form in ("fast", "reference"):
            out = [np.full(LANES, 7, np.float32) for _ in range(3)]
            run = getattr(image.kernels[name], f"run_{form}")
            run((3, 1, 1), (32, 1, 1), [x, z, *out, np.int32(LANES)])
            got[name, form] = [sorted(set(o.tolist())) for o in out]
            values = (expression, statements, expression)
            want[name, form] = [[v if host_fuses() else ROUNDED] for v in values]

    assert got == want


# Where the choice was the back end's, it took another one for vectors than for numbers.
CHOICES = """
__device__ __attribute__((noinline)) float apart(float x, float y, float z) {
    return x * y - z;
}
template <class T> __device__ T mixed(T a, T b, T c, T d) {
    T p = a * b, s = p + c * d, q = p - b, r = d - a * c;
    return s * q - p * a + r * r - c * (T)3;
}
#define KERNEL(name, type)                                                          \\
    extern "C" __global__ void name(const type *a, type *out, int n) {             \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                              \\
        if (i < n) out[i] = mixed<type>(a[i], a[n - 1 - i], a[i / 2], a[0]);        \\
    }
KERNEL(k_float, float)
KERNEL(k_double, double)
KERNEL(k_half, _Float16)
KERNEL(k_bfloat, __bf16)
extern "C" __global__ void k_loop(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0, scale = a[0] * a[1];
        for (int k = 0; k < 16; k++) {
            float product = a[k] * a[i];
            sum += product;
            sum -= scale * k;
        }
        out[i] = sum + apart(a[i], sum, scale);
    }
}
extern "C" __global__ void k_vector(const float4 *a, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * a[n - 1 - i] - a[i / 2];
}
extern "C" __global__ void k_mandelbrot(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float cx = a[i], cy = a[n - 1 - i], x = 0, y = 0;
        int k = 0;
        for (; k < 256 && x * x + y * y < 4; k++) {
            float next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
        }
        out[i] = k;
    }
}
"""
TYPES = {"k_double": np.float64, "k_half": np.float16, "k_bfloat": np.int16}


def chosen(rtc: Rtc, folder: Path, options: list[str]) -> dict[str, bytes]:
    """What each kernel gives, after both forms have given the same bits."""
    image = Image(rtc, folder, CHOICES, options)
    random = np.random.default_rng(15)
    n, out = 4096, {}
    for name, kernel in image.kernels.items():
        a = random.uniform(-1.5, 1.5, 4 * n)
        if name == "k_bfloat":
            a = (a.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        a = a.astype(TYPES.get(name, np.float32))
        got = {form: np.zeros_like(a) for form in ("fast", "reference")}
        for form, array in got.items():
            run = getattr(kernel, f"run_{form}")
            run((n // 128, 1, 1), (128, 1, 1), [a, array, np.int32(n)])
        differ = int((got["fast"] != got["reference"]).sum())
        assert kernel.has_fast and differ == 0, (name, differ)
        out[name] = got["fast"].tobytes()
    return out


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("option", BY_OPTION)
def test_both_forms_give_the_same_bits(
    rtc: Rtc, tmp_path: Path, option: str, level: str
) -> None:
    chosen(rtc, tmp_path, [option, level])


def test_bits_are_those_of_other_levels(rtc: Rtc, tmp_path: Path) -> None:
    assert chosen(rtc, tmp_path, ["-O0"]) == chosen(rtc, tmp_path, ["-O3"])


def test_options_give_other_bits(rtc: Rtc, tmp_path: Path) -> None:
    by_option = [chosen(rtc, tmp_path, [option]) for option in list(BY_OPTION)[:3]]
    floats = {tuple(out[name] for name in ("k_float", "k_loop")) for out in by_option}

    assert len(floats) == (3 if host_fuses() else 1)
