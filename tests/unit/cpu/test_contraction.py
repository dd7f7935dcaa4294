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
    str(path.relative_to(folder))
    for folder in [Path(hipadapt.__file__).parent / "_lib" / "device"]
    for path in [*folder.iterdir(), *(folder / "hip").iterdir()]
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
