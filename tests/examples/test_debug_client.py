# SPDX-License-Identifier: MIT
"""examples/debug_client: built as its first lines say, and what it reads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import ziglang

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples" / "debug_client" / "client.c"
PACKAGE = ROOT / "hipadapt"
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]

pytestmark = pytest.mark.plain  # its time is the compiler's


def build(folder: Path, source: Path, way: str) -> Path:
    program = folder / "client"
    if way == "hipadapt-cc":
        command = [sys.executable, "-m", "hipadapt", "cc", str(source)]
        command += ["-Wall", "-Werror", "-lhipadapt_tool", "-o", str(program)]
    else:
        found = shutil.which(way)
        if found is None:
            pytest.skip(f"needs {way}")
        libraries = PACKAGE / "_lib"
        command = [found, *STRICT, str(source), f"-I{PACKAGE}/include"]
        command += [f"-L{libraries}", "-lhipadapt_tool", "-lhipadapt_cpu"]
        command += [f"-Wl,-rpath,{libraries}", "-o", str(program)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path) -> subprocess.CompletedProcess[str]:
    zig = Path(ziglang.__file__).with_name("zig")
    return subprocess.run(
        [program],
        env={**os.environ, "HIPADAPT_COMPILER": str(zig)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("way", ["hipadapt-cc", "gcc"])
def test_client_reads_each_step_of_the_kernel(tmp_path: Path, way: str) -> None:
    done = run(build(tmp_path, SOURCE, way))

    assert done.returncode == 0, done.stderr
    lines = done.stdout.replace("-nan", "nan").splitlines()
    assert lines == [
        "x: device 0, float32 8: 0 16 32 48 64 80 96 112",
        "x: device 0, float32 8: 0 8 16 24 32 40 48 56",
        "x: device 0, float32 8: 0 4 8 12 16 20 24 28",
        "x: device 0, float32 8: 0 2 nan 6 8 10 12 14",
        "x: device 0, float32 8: 0 1 nan 3 4 5 6 7",
        "the first NaN is in step 3: ok",
    ]


def test_client_notices_a_wrong_step(tmp_path: Path) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert text.count("step == bad ") == 1
    changed = tmp_path / "client.c"
    changed.write_text(text.replace("step == bad ", "step == bad - 1 "))

    done = run(build(tmp_path, changed, "hipadapt-cc"))

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "the first NaN is in step 2: wrong"
