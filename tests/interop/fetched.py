# SPDX-License-Identifier: MIT
"""Packages that cannot stand beside each other, each installed into a folder of its own.

hip-python 7.2 and 10.0 share their module names, CuPy for ROCm shares its own with every
other CuPy, and the readers of traces need an old pandas.  They are installed once with ``pip install --target`` and kept in the
user's cache; HIPADAPT_TEST_PACKAGES names another folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

FETCH_LIMIT_S = 900
RUN_LIMIT_S = 300
PACKAGES = {
    "hip-python-10": (
        "hip-python==10.0.0.0.1.2",
        "rocm-bindings-hip==10.0.0.0.1.2",
        "rocm-bindings-core==10.0.0.0.1.2",
    ),
    "hip-python-7": ("hip-python==7.2.2.562.43",),
    "cupy": ("cupy-rocm-7-0==14.2.0",),
    "trace-readers": (
        "HolisticTraceAnalysis==0.5.0",
        "torch-tb-profiler==0.4.3",
        "perfetto==0.59.1",
        # What they import.
        *("pandas>=2.2,<3", "numpy", "python-dateutil", "pytz", "tzdata", "six"),
        *("networkx", "plotly", "narwhals", "packaging", "PyYAML", "psutil"),
        *("setuptools<81", "protobuf", "jsonschema>=4.20", "attrs", "referencing"),
        *("jsonschema-specifications", "rpds-py", "typing-extensions"),
    ),
}


def base() -> Path:
    named = os.environ.get("HIPADAPT_TEST_PACKAGES")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "hipadapt-tests"


def fetch(name: str) -> Path:
    """The folder for PYTHONPATH; skips the test where the package cannot be had."""
    wanted = PACKAGES[name]
    version = f"{sys.implementation.cache_tag}-{wanted[0].partition('==')[2]}"
    folder = base() / f"{name}-{version}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--target"]
    try:
        done = subprocess.run(
            [*command, str(fresh), *wanted],
            capture_output=True,
            text=True,
            timeout=FETCH_LIMIT_S,
            check=False,
        )
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            pytest.skip(f"NOT TESTED: {wanted[0]} cannot be fetched: {last}")
        try:
            fresh.rename(folder)
        except OSError:
            assert folder.is_dir()  # another run was first
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def run(
    folder: Path, code: str, *, status: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python code under ``python -m hipadapt run`` with the packages in `folder`."""
    if not (ROOT / "hipadapt/_lib/libhipadapt_cpu.so").exists():
        pytest.skip("the CPU device is not built in this checkout")
    settings = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "run", "--", "python", "-c", code],
        env={**settings, **environment},
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )
    if status is not None:
        assert done.returncode == status, done.stdout + done.stderr
    return done
