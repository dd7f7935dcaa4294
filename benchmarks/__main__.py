# SPDX-License-Identifier: MIT
"""`python -m benchmarks`: measures everything and prints the table of the README."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import startup
from .native import (
    BuildError,
    build_api,
    build_floor,
    build_profiler,
    build_reference,
    build_runtime,
    build_stub,
)

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"

# Row of benchmarks.calls: goal in words, as ratio to the floor, and in nanoseconds.
CALL_GOALS: dict[str, tuple[str, float, float]] = {
    "hipGetDevice()": ("1.5 x floor", 1.5, 0),
    "hipStreamQuery(stream)": ("1.5 x floor", 1.5, 0),
    "hipMemcpy(DeviceArray, numpy, n, kind)": ("1.5 x floor, 250 ns", 1.5, 250),
    "launch, 5 arguments (3 arrays, int, float)": ("500 ns", 0, 500),
    "Pointer(None)": ("2 x floor", 2, 0),
    "Pointer(int)": ("2 x floor", 2, 0),
    "Pointer(c_void_p)": ("2 x floor", 2, 0),
    "Pointer(Pointer)": ("2 x floor", 2, 0),
    "Pointer(DeviceArray)": ("2 x floor", 2, 0),
    "Pointer(array interface)": ("2 x floor", 2, 0),
    "Pointer(numpy)": ("2 x floor", 2, 0),
    "Pointer(bytes)": ("2 x floor", 2, 0),
    "ListOfInt(list of 1000)": ("1.5 x floor", 1.5, 0),
}
FUNCTION_RATIO = 1.5  # of each row of benchmarks.functions to the floor
# Row of benchmarks.layers: nanoseconds, and whether on top of the layer below.
LAYER_GOALS: dict[str, tuple[float, bool]] = {
    "__dlpack__()": (1000, False),
    "__dlpack__(max_version=(1, 3))": (1000, False),
    "from_dlpack(numpy)": (1000, False),
    "from_dlpack(DeviceArray)": (1000, False),
    "kernel[grid, block, 0, stream](*args)": (500, True),
    "config(*args)": (500, True),
}
# Row of benchmarks.startup.products: largest number, unit.
PRODUCT_GOALS = {"code of `_core`": (1.0, "MB"), "one generated file": (1.0, "s")}
# Row of benchmarks.kernels with a contender: smallest part of its speed.
SPEED_GOALS = {
    "saxpy 256 K": 0.8,
    "saxpy 16 M": 0.8,
    "2-D stencil 1024 x 1024": 0.5,
}
# Row of benchmarks.kernels without one: largest number of seconds.
TIME_GOALS = {
    "empty launch + wait": 5e-6,
    "hiprtc compile, small kernel": 150e-3,
    "the same from the cache": 2e-3,
}
# Row of benchmarks.runtime: largest number of seconds.
RUNTIME_GOALS = {
    "empty kernel, launch + wait": 3e-6,
    "one of 1,000,000 launches on 16 streams": 3e-6,
    "graph of 100 empty nodes, launch + wait": 60e-6,
    "graph of 100 empty kernels, launch + wait": 60e-6,
    "hipMalloc + hipFree, 4 KB": 0.3e-6,
    "event, record + query": 0.5e-6,
    "hiprtc compile, 7 kernels": 0.6,
}
COPY_GOAL = 0.9  # of the speed of memcpy
GROWTH_ROW, GROWTH_GOAL_MB = "what they leave in memory", 1.0
# Row of benchmarks.profiler: largest number of nanoseconds more than without a tool.
PROFILER_GOALS = {
    "disabled-sdk-contexts": 10,
    "sdk-callback-overhead": 40,
    "sdk-buffer-overhead": 80,
    "tool-runtime-overhead": 150,
    "from Python, batches": 150,
}
PROFILER_NOTES = {
    "baseline": "no tool: the table is untouched",
    "disabled-sdk-contexts": "a context that is stopped",
    "sdk-callback-overhead": "two callbacks a call",
    "sdk-buffer-overhead": "a record a call, with two times, delivery included",
    "tool-runtime-overhead": "batches for a Python callable, of calls from C",
    "from Python, batches": "the same of calls from Python, delivery included",
    "from Python, a call an event": "slow: choose few operations",
}

PARTS = (
    "calls",
    "functions",
    "layers",
    "startup",
    "build",
    "kernels",
    "runtime",
    "profiler",
)


def choices() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--readme", action="store_true", help="put the tables into README.md"
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
        if "runtime" in selected:
            build_runtime(folder)
            numbers["runtime"] = run_module(
                "benchmarks.runtime",
                folder,
                20 if quick else 100,
                {"HIPADAPT_PROVIDER": "cpu"},
            )
        if "profiler" in selected:
            build_profiler(folder)
            numbers["profiler"] = run_module(
                "benchmarks.profiler",
                folder,
                60 if quick else 300,
                {"HIPADAPT_PROVIDER": "cpu"},
            )
    return numbers


def verdict(reached: bool) -> str:
    """Last column."""
    return "yes" if reached else "**no**"


def time_text(seconds: float) -> str:
    """Three digits and a fitting unit."""
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def call_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the calls."""
    lines = [
        "| call | hipadapt | floor | ratio | hip-python | goal | reached |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, times in rows.items():
        ours, floor, peer = (
            times.get(who) for who in ("hipadapt", "floor", "hip-python")
        )
        assert ours is not None
        assert floor is not None
        ratio = ours / max(floor, 0.1)
        goal, of_floor, of_time = CALL_GOALS.get(row, ("", 0, 0))
        reached = (not of_floor or ratio <= of_floor) and (
            not of_time or ours <= of_time
        )
        peer_text = f"{peer:.0f} ns" if peer is not None else "-"
        lines.append(
            f"| `{row}` | {ours:.0f} ns | {floor:.0f} ns | {ratio:.2f} | {peer_text} "
            f"| {goal} | {verdict(reached) if goal else ''} |"
        )
    return lines


def function_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the sample, and how many of it reach the goal."""
    lines = [
        "| function of the sample | hipadapt | floor | ratio |",
        "|---|---|---|---|",
    ]
    reached = 0
    for row, times in rows.items():
        ours, floor = times["hipadapt"], times["floor"]
        ratio = ours / max(floor, 0.1)
        reached += ratio <= FUNCTION_RATIO
        lines.append(f"| `{row}` | {ours:.0f} ns | {floor:.0f} ns | {ratio:.2f} |")
    lines += ["", f"{reached} of {len(rows)} reach {FUNCTION_RATIO} x floor."]
    return lines


def function_summary(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The same in one sentence."""
    ratios = sorted(t["hipadapt"] / max(t["floor"], 0.1) for t in rows.values())
    reached = sum(ratio <= FUNCTION_RATIO for ratio in ratios)
    middle = ratios[len(ratios) // 2]
    return [
        f"A sample of {len(rows)} functions, of every family: {ratios[0]:.2f} to "
        f"{ratios[-1]:.2f} times the floor, {middle:.2f} in the middle; {reached} of "
        f"{len(rows)} reach {FUNCTION_RATIO} x floor."
    ]


def layer_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the layers above the calls."""
    lines = [
        "| layer | hipadapt | the layer below | goal | reached |",
        "|---|---|---|---|---|",
    ]
    for row, times in rows.items():
        ours, below = times["hipadapt"], times.get("below")
        under = f"{below:.0f} ns" if below is not None else "-"
        goal = reached = ""
        if row in LAYER_GOALS:
            limit, on_top = LAYER_GOALS[row]
            more = ours - (below or 0) if on_top else ours
            goal = f"{'+' if on_top else ''}{limit:.0f} ns"
            reached = verdict(more <= limit)
        lines.append(f"| `{row}` | {ours:.0f} ns | {under} | {goal} | {reached} |")
    return lines


def product_lines(rows: Mapping[str, float]) -> list[str]:
    """Table of the size of the code and the time to build a part of it."""
    lines = ["| product | | goal | reached |", "|---|---|---|---|"]
    for row, value in rows.items():
        limit, unit = PRODUCT_GOALS[row]
        lines.append(
            f"| {row} | {value:.2f} {unit} | {limit:g} {unit} "
            f"| {verdict(value <= limit)} |"
        )
    return lines


def startup_lines(rows: Mapping[str, tuple[float, float]]) -> list[str]:
    """Table of the imports."""
    lines = ["| import | time | memory | goal | reached |", "|---|---|---|---|---|"]
    for row, (time_ms, size_MB) in rows.items():
        goal, reached = "", ""
        if row == "hipadapt":
            goal = "10 ms, 3 MB"
            reached = verdict(time_ms <= 10 and size_MB <= 3)
        lines.append(
            f"| `{row}` | {time_ms:.1f} ms | {size_MB:.1f} MB | {goal} | {reached} |"
        )
    return lines


def kernel_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the CPU device."""
    lines = [
        "| CPU device | hipadapt | gcc OpenMP | speed | goal | reached |",
        "|---|---|---|---|---|---|",
    ]
    for row, times in rows.items():
        ours, theirs = times["hipadapt"], times.get("gcc OpenMP")
        if theirs is not None:
            speed, wanted = theirs / ours, SPEED_GOALS[row]
            middle = f"{time_text(theirs)} | {speed:.2f} x | {wanted} x"
            reached = speed >= wanted
        else:
            middle = f"- | | {time_text(TIME_GOALS[row])}"
            reached = ours <= TIME_GOALS[row]
        lines.append(f"| {row} | {time_text(ours)} | {middle} | {verdict(reached)} |")
    return lines


def runtime_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the small calls of the CPU device."""
    lines = [
        "| CPU device, from C | hipadapt | memcpy | goal | reached |",
        "|---|---|---|---|---|",
    ]
    for row, times in rows.items():
        ours, plain = times["hipadapt"], times.get("memcpy")
        if row == GROWTH_ROW:
            text, reached = f"{ours:.1f} MB", ours <= GROWTH_GOAL_MB
            middle = f"- | {GROWTH_GOAL_MB:g} MB"
        elif plain is not None:
            text, reached = time_text(ours), plain / ours >= COPY_GOAL
            middle = f"{time_text(plain)}, {plain / ours:.2f} x | {COPY_GOAL} x"
        else:
            goal = RUNTIME_GOALS[row]
            text, reached = time_text(ours), ours <= goal
            middle = f"- | {time_text(goal)}"
        lines.append(f"| {row} | {text} | {middle} | {verdict(reached)} |")
    return lines


def profiler_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of what tools cost."""
    lines = [
        "| profiling `hipGetDevice` | what | a call | more | goal | reached |",
        "|---|---|---|---|---|---|",
    ]
    for row, times in rows.items():
        goal = PROFILER_GOALS.get(row)
        end = f"{goal} ns | {verdict(times['more'] <= goal)}" if goal else " | "
        lines.append(
            f"| {row} | {PROFILER_NOTES[row]} | {times['call']:.0f} ns "
            f"| {times['more']:.0f} ns | {end} |"
        )
    return lines


def processor() -> str:
    """Model name of the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def report(numbers: Mapping[str, Any], full: bool) -> str:
    """All tables; the sample of functions in full or in one sentence."""
    cores = len(os.sched_getaffinity(0))
    words = [word for word in sys.argv[1:] if word != "--readme"]
    command = " ".join(["python -m benchmarks", *words])
    lines = {
        "calls": call_lines,
        "functions": function_lines if full else function_summary,
        "layers": layer_lines,
        "startup": startup_lines,
        "build": product_lines,
        "kernels": kernel_lines,
        "runtime": runtime_lines,
        "profiler": profiler_lines,
    }
    parts = [
        f"`{command}` on {cores} cores of {processor()}, "
        f"CPython {platform.python_version()}."
    ]
    parts += [
        "\n".join(lines[part](numbers[part])) for part in lines if part in numbers
    ]
    return "\n\n".join(parts)


def write_readme(numbers: Mapping[str, Any]) -> None:
    """Puts the tables between the markers; what follows the last table there stays."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    after = text[begin:end].rpartition("|\n")[2].strip()
    tables = report(numbers, full=False)
    path.write_text(
        f"{text[:begin]}\n{tables}\n\n{after}\n{text[end:]}", encoding="utf-8"
    )


def main() -> int:
    """Exit status 0 when everything could be measured."""
    chosen = choices()
    selected = [part for part in PARTS if part in (chosen.only or PARTS)]
    try:
        numbers = measure(selected, chosen.quick)
    except (BuildError, RuntimeError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    if chosen.json:
        print(json.dumps(numbers))
        return 0
    if chosen.readme:
        write_readme(numbers)
        return 0
    print(report(numbers, full=True), end="\n\n")
    if "calls" in selected and importlib.util.find_spec("rocm") is None:
        print("hip-python is not installed: `pip install hip-python==10.0.0.0.1.2`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
