# SPDX-License-Identifier: MIT
"""Oclgrind, of the distribution: the OpenCL form of a row, interpreted and checked."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.contenders.cpu_device import text
from benchmarks.contenders.row import Row

PROGRAM = "oclgrind-kernel"
HOW_TO_GET = "apt-get install oclgrind"
OPTIONS = ("--data-races", "--uninitialized")


def is_there() -> bool:
    """Whether it is installed."""
    return shutil.which(PROGRAM) is not None


def simulation(row: Row, lanes: bool) -> str:
    """The file that tells Oclgrind what to run; without lanes, of a single block."""
    launch, data = row.launches[0], row.data()
    grid = launch.grid if lanes else tuple(1 for _ in launch.grid)
    size = [blocks * lane for blocks, lane in zip(grid, launch.block, strict=True)]
    lines = ["kernel.cl", launch.kernel]
    for numbers in (size, launch.block):
        lines.append(" ".join(str(n) for n in (*numbers, 1, 1)[:3]))
    for name in launch.arguments:
        value = data[name]
        kind = "float" if value.dtype.kind == "f" else "int"
        if isinstance(value, np.ndarray):
            lines.append(f"<size={value.nbytes} {kind} fill=1>")
        else:
            lines += [f"<size={value.nbytes} {kind}>", str(value)]
    return "\n".join(lines) + "\n"


def process_seconds(folder: Path) -> float:
    """One whole process."""
    begin = time.perf_counter()
    subprocess.run(
        [PROGRAM, *OPTIONS, "row.sim"], cwd=folder, check=True, capture_output=True
    )
    return time.perf_counter() - begin


def seconds_of(row: Row, turns: int) -> float:
    """Seconds of the launch: what it takes longer than that of one block."""
    best = {True: float("inf"), False: float("inf")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernel.cl").write_text(text("opencl", row.file), encoding="utf-8")
        for _ in range(turns):
            for lanes in best:
                (folder / "row.sim").write_text(simulation(row, lanes), "utf-8")
                best[lanes] = min(best[lanes], process_seconds(folder))
    return best[True] - best[False]
