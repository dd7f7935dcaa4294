# SPDX-License-Identifier: MIT
"""The programs of examples/peer: the same results in both call forms."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "peer"
THREADS = [f"tid: {i}" for i in range(32)]

# Lines that the output must have, beside a last line "ok".
EXPECTED: dict[str, list[str]] = {
    "hip_deviceattributes": ["hipDeviceAttributeWarpSize: 32"],
    "hip_deviceproperties": ["props.warpSize=32"],
    "hip_stream": [],
    "hip_jacobi": [],
    "hiprtc_launch_kernel_no_args": THREADS,
    "hiprtc_launch_kernel_args": [
        "factor 1.230000, n 100, a 5, b 2, c 5.600000",
    ],
    "hiprtc_linking_device_functions": THREADS,
    "hiprtc_linking_llvm_ir": ["2.000000"] * 32,
    "hiprtc_jit_with_llvm_ir": [],
}
CHANGING = re.compile(r"0x[0-9a-f]+|\d+\.\d+ ms|props\..*(Mem|uuid|clock).*", re.I)


def run(name: str, form: str) -> list[str]:
    """The lines that the program prints; what changes from run to run is left out."""
    if name == "hip_jacobi":
        pytest.importorskip("numpy", reason="the example uses numpy")
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), "--form", form],
        cwd=ROOT.parent,
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [CHANGING.sub("", line) for line in done.stdout.splitlines()]


def test_every_program_is_here() -> None:
    names = {path.stem for path in FOLDER.glob("*.py")} - {"common"}

    assert names == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_program_prints_the_same_in_both_call_forms(name: str) -> None:
    old, new = run(name, "7.2"), run(name, "10.0")

    assert old[-1] == "ok"
    assert sorted(old) == sorted(new)
    for line in EXPECTED[name]:
        assert old.count(line) >= EXPECTED[name].count(line)
