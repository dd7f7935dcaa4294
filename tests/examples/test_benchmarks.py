# SPDX-License-Identifier: MIT
"""The measurements run: each part once, with as few rounds as there are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from benchmarks import tables
from tools.codegen import model

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None
    or not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="the measurements need gcc and Python.h",
)


def run(*words: str, **settings: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = (
        "import sys, pathlib; from benchmarks import native as n\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "for build in (n.build_stub, n.build_floor, n.build_reference): build(folder)"
    )
    run("-c", code, str(tmp_path))
    return tmp_path


def test_calls_are_measured_beside_the_floor(folder: Path) -> None:
    stub = folder / "lib" / "libamdhip64.so"

    words = ("-m", "benchmarks.calls", str(folder), "1")
    rows: dict[str, Any] = json.loads(
        run(*words, HIPADAPT_PROVIDER=str(stub), ROCM_PATH=str(folder))
    )

    assert len(rows) >= 16
    for row, times in rows.items():
        # A single round on a busy machine may look as short as the empty loop.
        assert {"hipadapt", "floor"} <= set(times), row
        assert all(time_ns >= 0 for time_ns in times.values()), row


def test_sample_of_functions_is_measured_beside_the_floor(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from benchmarks import native as n\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "for build in (n.build_api, n.build_floor): build(folder)"
    )
    run("-c", code, str(tmp_path))
    provider = str(tmp_path / "libapi.so")

    words = ("-m", "benchmarks.functions", str(tmp_path), "1")
    rows: dict[str, Any] = json.loads(run(*words, HIPADAPT_PROVIDER=provider))

    assert len(rows) >= 30
    assert all(set(times) == {"hipadapt", "floor"} for times in rows.values())
    families = {f.family for f in model.load().functions if f.name in rows}
    assert families == {f.family for f in model.load().functions}
    words = ("-m", "benchmarks.layers", str(tmp_path), "1")
    layers: dict[str, Any] = json.loads(run(*words, HIPADAPT_PROVIDER=provider))
    assert {"from_dlpack(numpy)", "__dlpack__()"} <= set(layers)


def test_kernels_are_measured_beside_openmp(folder: Path) -> None:
    words = ("-m", "benchmarks.kernels", str(folder), "1")

    rows: dict[str, Any] = json.loads(run(*words, HIPADAPT_PROVIDER="cpu"))

    assert set(rows["saxpy 256 K"]) == {"hipadapt", "gcc OpenMP"}
    assert rows["empty launch + wait"]["hipadapt"] > 0
    assert (
        rows["the same from the cache"]["hipadapt"]
        < rows["hiprtc compile, small kernel"]["hipadapt"]
    )


@pytest.mark.slow
def test_verbose_lines_are_measured(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from benchmarks import native as n\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "n.build_verbose(folder)\n"
        "for name in ('verbose_writer', 'profile_writer'):\n"
        "    n.build_of_sources(name, folder)"
    )
    run("-c", code, str(tmp_path))

    words = ("-m", "benchmarks.verbose", str(tmp_path), "1")
    rows: dict[str, Any] = json.loads(run(*words, HIPADAPT_PROVIDER="cpu"))

    assert set(rows) == set(tables.VERBOSE_GOALS)
    assert all(row["with"] > 0 for row in rows.values() if "with" in row)
    assert rows["lines written"]["rate"] > 0
    assert rows["200,000 launches a second"]["lost"] >= 0
    assert len(tables.verbose_lines(rows)) == 2 + len(rows)


def test_tensors_are_measured_beside_channels_of_the_system(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from benchmarks import native as n\n"
        "n.build_of_sources('debug_stream', pathlib.Path(sys.argv[1]))"
    )
    run("-c", code, str(tmp_path))

    for way, lossless in (("stream", False), ("seqpacket", True), ("pipe", True)):
        done = subprocess.run(
            [str(tmp_path / "debug_stream"), way, "20000", "64"],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        event_us, rate, lost, grown = map(float, done.stdout.split())
        assert event_us > 0
        assert rate > 0
        assert grown >= 0
        assert lost == 0 or not lossless

    words = ("-m", "benchmarks.debug_stream", str(tmp_path), "1")
    rows: dict[str, Any] = json.loads(run(*words, HIPADAPT_PROVIDER="cpu"))
    assert rows["kernel, 64 bytes"]["event"] > 0
    assert rows["1 GB of tensors of 1 MiB, 64 MiB of room"]["lost"] == 0
    assert rows["1 GB of tensors of 1 MiB, 64 MiB of room"]["memory_MB"] < 72


def test_table_has_the_imports() -> None:
    table = run("-m", "benchmarks", "--quick", "--only", "startup")

    assert "| `hipadapt` |" in table
    assert table.startswith("`python -m benchmarks --quick")
