# SPDX-License-Identifier: MIT
"""`python -m benchmarks`: measures everything and prints the tables."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import startup, tables
from .native import (
    BuildError,
    build_api,
    build_floor,
    build_of_sources,
    build_profiler,
    build_reference,
    build_runtime,
    build_stub,
    build_verbose,
)

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"

PARTS = (
    "calls",
    "functions",
    "layers",
    "startup",
    "build",
    "kernels",
    "runtime",
    "profiler",
    "traces",
    "verbose",
    "debug",
)


@dataclass(frozen=True)
class OnDevice:
    """A part that runs on the CPU device, and what it needs."""

    rounds: int
    quick_rounds: int
    programs: tuple[str, ...] = ()
    build: Callable[[Path], object] | None = None
    module: str = ""

    def measure(self, part: str, folder: Path, quick: bool) -> dict[str, Any]:
        """Build, and run the part."""
        if self.build is not None:
            self.build(folder)
        for name in self.programs:
            build_of_sources(name, folder)
        rounds = self.quick_rounds if quick else self.rounds
        on_cpu = {"HIPADAPT_PROVIDER": "cpu"}
        module = f"benchmarks.{self.module or part}"
        return run_module(module, folder, rounds, on_cpu)


ON_DEVICE = {
    "runtime": OnDevice(100, 20, build=build_runtime),
    "profiler": OnDevice(300, 60, build=build_profiler),
    "traces": OnDevice(5, 1, ("profile_writer",)),
    "verbose": OnDevice(15, 3, ("verbose_writer",), build_verbose),
    "debug": OnDevice(10, 3, ("debug_stream",), module="debug_stream"),
}


def choices() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--readme",
        action="store_true",
        help="put the tables into README.md and docs/benchmarks.md",
    )
    parser.add_argument("--json", action="store_true", help="print the raw numbers")
    parser.add_argument(
        "--only",
        choices=PARTS,
        action="append",
        help="leave the other parts out; may be repeated",
    )
    return parser.parse_args()


def run_module(
    module: str, folder: Path, rounds: int, environment: Mapping[str, str]
) -> dict[str, Any]:
    """Run one part in an interpreter of its own; its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", module, str(folder), str(rounds)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module} ended with exit status {done.returncode}")
    return json.loads(done.stdout)


def measure(selected: list[str], quick: bool) -> dict[str, Any]:
    """Build what is needed and run the selected parts."""
    numbers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="hipadapt-bench-") as name:
        folder = Path(name)
        stub = build_stub(folder)
        # The peer looks for $ROCM_PATH/lib/libamdhip64.so; we are told the file.
        on_stub = {"HIPADAPT_PROVIDER": str(stub), "ROCM_PATH": str(folder)}
        if "calls" in selected:
            build_floor(folder)
            rounds = 40 if quick else 250
            numbers["calls"] = run_module("benchmarks.calls", folder, rounds, on_stub)
        if "functions" in selected:
            build_floor(folder)
            on_api = {"HIPADAPT_PROVIDER": str(build_api(folder))}
            numbers["functions"] = run_module(
                "benchmarks.functions", folder, 40 if quick else 250, on_api
            )
        if "layers" in selected:
            on_api = {"HIPADAPT_PROVIDER": str(build_api(folder))}
            rounds = 40 if quick else 250
            numbers["layers"] = run_module("benchmarks.layers", folder, rounds, on_api)
        if "startup" in selected:
            numbers["startup"] = startup.measure(
                {**os.environ, **on_stub}, 5 if quick else 20
            )
        if "build" in selected:
            numbers["build"] = startup.products()
        if "kernels" in selected:
            build_reference(folder)
            cores = str(len(os.sched_getaffinity(0)))
            on_cpu = {
                "HIPADAPT_PROVIDER": "cpu",
                "HIPADAPT_CPU_THREADS": cores,
                "OMP_NUM_THREADS": cores,
            }
            rounds = 15 if quick else 100
            numbers["kernels"] = run_module(
                "benchmarks.kernels", folder, rounds, on_cpu
            )
        for part, on_device in ON_DEVICE.items():
            if part in selected:
                numbers[part] = on_device.measure(part, folder, quick)
    return numbers


def put(path: Path, text: str) -> None:
    """Puts the text between the markers of a document."""
    page = path.read_text(encoding="utf-8")
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    path.write_text(f"{page[:begin]}\n{text}\n{page[end:]}", encoding="utf-8")


def write_documents(numbers: Mapping[str, Any]) -> None:
    """Puts the summary into the README, and all tables into the page of results."""
    put(ROOT / "README.md", tables.summary(numbers))
    put(ROOT / "docs" / "benchmarks.md", tables.report(numbers, full=False))


def main() -> int:
    """Exit status 0 when everything could be measured."""
    chosen = choices()
    selected = [part for part in PARTS if part in (chosen.only or PARTS)]
    if chosen.readme and chosen.only:
        print("benchmarks: --readme needs all parts: leave --only out", file=sys.stderr)
        return 2
    try:
        numbers = measure(selected, chosen.quick)
    except (BuildError, RuntimeError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    if chosen.json:
        print(json.dumps(numbers))
        return 0
    if chosen.readme:
        write_documents(numbers)
        return 0
    print(tables.report(numbers, full=True), end="\n\n")
    if "calls" in selected and importlib.util.find_spec("rocm") is None:
        print("hip-python is not installed: `pip install hip-python==10.0.0.0.1.2`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
