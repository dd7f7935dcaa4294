# SPDX-License-Identifier: MIT
"""Every example runs, says what it should, and notices a wrong number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

# What the output must contain, beside a last line "ok".
EXPECTED = {
    "debug_nan.py": (
        "row 2: the variance is 0",
        "row 4: 32 of 32 centred are not finite",
    ),
    "device_arrays.py": (
        "array: shape (6, 5), type float32, 30 elements",
        "refused, as it should be",
        "rows 2 and 3: shape (2, 5), 40 bytes in",
        "interface: shape (6, 5), type <f4",
    ),
    "explain_kernel.py": (
        "apart: rows, particles.hip:4",
        "    access: loads 4 bytes a lane of 'x', side by side",
        "hint: accesses are fastest where neighbouring lanes",
    ),
    "launch_kernel.py": (
        "broken.hip:2:",
        *(
            f"thread ({x}, {y}) of block {block}"
            for block in range(2)
            for y in range(2)
            for x in range(3)
        ),
    ),
    "launch_kernel_with_args.py": ("largest error",),
    "objects_async.py": ("  200 rounds from 8:", "20 rounds: the copy is done"),
    "objects_saxpy.py": (
        "refused: saxpy: takes 4 arguments (28 bytes), not 3",
        "refused: saxpy: argument args[3] must be an integer of 4 bytes, not 'float'",
    ),
    "objects_templates.py": ("line<double>  ok", "3 calls", "program.hip:1:"),
    "profile_streams.py": ("kernels: {'blur': 12, 'scale': 6}", "streams: 2"),
    "profile_client.py": (
        "double: [[10000]]",
        "affine: [[10000]]",
        "3 arrows from operations to kernels",
    ),
    "streams_and_events.py": ("stream 0 after the last call: hip", "took"),
    "templates.py": (
        "maths::apply<float, maths::Square, 2>",
        "maths::apply<double, maths::Half, 3>",
        "maths::apply<long long, maths::Square, 1>",
    ),
    "verbose_lines.py": (
        "hipadapt_verbose,v1,kernel,exec,gpu:0,kernel,saxpy,stream:0,",
        "exec: primitive implementation",
    ),
}


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """Start a program as a user does, from another folder than its own."""
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=path.parents[1],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_example_is_in_this_table() -> None:
    programs = {path.name for path in EXAMPLES.glob("*.py")}

    # That one is compared with its twin in C, in tests/unit/rocprofiler_python.
    assert programs == {*EXPECTED, "profiler_tool.py"}


@pytest.mark.parametrize("name", EXPECTED)
def test_example_says_what_it_should(name: str) -> None:
    done = run(EXAMPLES / name)

    assert done.returncode == 0, done.stdout + done.stderr
    for text in EXPECTED[name]:
        assert text in done.stdout
    assert done.stdout.splitlines()[-1].endswith("ok")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("debug_nan.py", "/ sqrtf(variance)", "/ sqrtf(variance + 1e-5f)"),
        ("device_arrays.py", "zeros = np.zeros(", "zeros = np.ones("),
        ("launch_kernel_with_args.py", "in[i] * factor", "in[i] * 1.25"),
        ("profile_streams.py", "0.5f * in[i]", "0.6f * in[i]"),
        ("streams_and_events.py", "a[i] + b[i]", "a[i] - b[i]"),
        ("objects_async.py", "0.5f * value", "0.25f * value"),
        ("objects_saxpy.py", "a * x[i] + y[i]", "a * x[i] - y[i]"),
        ("objects_templates.py", "* x + pair", "* x - pair"),
        ("profile_client.py", "a * x[i]", "a + x[i]"),
        ("templates.py", "value / 2", "value / 4"),
        ("verbose_lines.py", "range(STEPS)", "range(STEPS - 1)"),
    ],
)
def test_example_with_a_wrong_number_fails(
    tmp_path: Path, name: str, right: str, wrong: str
) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert text.count(right) == 1
    folder = tmp_path / "examples"
    folder.mkdir()
    changed = folder / name
    changed.write_text(text.replace(right, wrong), encoding="utf-8")

    done = run(changed)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "wrong" in done.stdout
