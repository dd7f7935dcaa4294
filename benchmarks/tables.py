# SPDX-License-Identifier: MIT
"""The tables of `python -m benchmarks`: their goals, and the lines of each."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

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
    "from Python, profile": 150,
    "profile: recording": 150,
    "profile: a start": 1_000_000,
    "profile: a launch, idle": 6,  # one in a hundred
}
# Row of benchmarks.traces: least millions of slices a second, most bytes of an event.
TRACE_GOALS = {
    "json": (3.5, 265.0),
    "pftrace": (6.0, 0.0),
    "json.gz": (0.6, 0.0),
    "recorded": (0.2, 265.0),
}
TRACE_MEMORY_GOAL_MB = 64.0
# Row of benchmarks.verbose: most seconds more, greatest ratio, or least rate without a
# loss.
VERBOSE_GOALS = {
    "a launch from C": ("more", 1e-6),
    "a launch from Python": ("more", 1e-6),
    "a program of kernels of 20 us": ("ratio", 1.03),
    "lines written": ("rate", 500_000.0),
    "200,000 launches a second": ("rate", 199_000.0),
}
# Row of benchmarks.debug_stream: most seconds of an event, least events a second, most
# megabytes; 0: no matter.  Nothing may be lost.
DEBUG_GOALS = {
    "thread to thread, 64 bytes": (1e-6, 1e6, 0.0),
    "1 GB of tensors of 1 MiB, 64 MiB of room": (0.0, 0.0, 72.0),
    "kernel, 64 bytes": (1e-6, 0.0, 0.0),
    "a launch, until asyncio has its tensor": (1e-3, 0.0, 0.0),
}
# What the README shows, with the rows of benchmarks.kernels.
SUMMARY_CALLS = (
    "hipGetDevice()",
    "hipMemcpy(DeviceArray, numpy, n, kind)",
    "launch, 5 arguments (3 arrays, int, float)",
    "Pointer(numpy)",
    "ListOfInt(list of 1000)",
)
SUMMARY_RUNTIME = (
    "graph of 100 empty kernels, launch + wait",
    "hipMemcpy 64 MB to the device",
)
SUMMARY_ROWS_MAX = 15
PROFILER_NOTES = {
    "baseline": "no tool: the table is untouched",
    "disabled-sdk-contexts": "a context that is stopped",
    "sdk-callback-overhead": "two callbacks a call",
    "sdk-buffer-overhead": "a record a call, with two times, delivery included",
    "tool-runtime-overhead": "batches for a Python callable, of calls from C",
    "from Python, batches": "the same of calls from Python, delivery included",
    "from Python, a call an event": "slow: choose few operations",
    "from Python, profile": "`hipadapt.profile` to a file, delivery included",
    "profile: recording": "`hipadapt.profile` to a file, calls from C",
    "profile: loaded, idle": "before and after a profile",
    "profile: a start": "after `prepare`, once",
    "profile: a launch, idle": "`HIPADAPT_PROFILE=on-demand`, beside a program without",
}


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


def trace_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of how fast traces are written."""
    lines = [
        "| trace | M slices/s | M events/s | x torch | an event | memory | goal "
        "| reached |",
        "|---|---|---|---|---|---|---|---|",
    ]
    peer = rows.get("torch.profiler")
    for row, found in rows.items():
        speed, size = TRACE_GOALS.get(row, (0.0, 0.0))
        slices, bytes_ = found["slices"] / 1e6, found["bytes"]
        memory = found.get("memory_MB")
        goal = reached = ""
        if speed:
            goal = f"{speed:g} M" + (f", {size:.0f} B" if size else "")
            reached = verdict(
                slices >= speed
                and (not size or bytes_ <= size)
                and (memory is None or memory <= TRACE_MEMORY_GOAL_MB)
            )
        ratio = f"{found['events'] / peer['events']:.1f}" if peer is not None else "-"
        room = f"{memory:.1f} MB" if memory is not None else "-"
        lines.append(
            f"| {row} | {slices:.2f} | {found['events'] / 1e6:.2f} | {ratio} "
            f"| {bytes_:.0f} B | {room} | {goal} | {reached} |"
        )
    return lines


def verbose_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of what verbose lines cost and how fast they are."""
    lines = [
        "| verbose | without | with | goal | reached |",
        "|---|---|---|---|---|",
    ]
    for row, found in rows.items():
        what, goal = VERBOSE_GOALS[row]
        before, lost = "-", found.get("lost", 0)
        if what == "rate":
            text = f"{found[what]:,.0f} lines a second, {lost:.0f} lost"
            end, reached = f"{goal:,.0f}, 0 lost", found[what] >= goal and not lost
        else:
            before, text = time_text(found["without"]), time_text(found["with"])
            text += f", {(found['ratio'] - 1) * 100:+.1f} %"
            end = (
                f"+{time_text(goal)}"
                if what == "more"
                else f"+{goal * 100 - 100:.0f} %"
            )
            reached = found[what] <= goal
        lines.append(f"| {row} | {before} | {text} | {end} | {verdict(reached)} |")
    return lines


def debug_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Table of the debug stream."""
    lines = [
        "| debug stream | an event, for who sends or waits | M events/s | lost "
        "| memory | goal | reached |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, found in rows.items():
        rate, memory = found.get("rate"), found.get("memory_MB")
        texts = [
            time_text(found["event"]),
            "-" if rate is None else f"{rate / 1e6:.3g}",
            "-" if rate is None else f"{found['lost']:.0f}",
            "-" if memory is None else f"{memory:.1f} MB",
        ]
        goal = reached = ""
        if row in DEBUG_GOALS:
            most, least, room = DEBUG_GOALS[row]
            words = [time_text(most)] if most else []
            words += [f"{least / 1e6:g} M"] if least else []
            words += [f"{room:g} MB"] if room else []
            goal = ", ".join(words)
            reached = verdict(
                (not most or found["event"] <= most)
                and (rate or 0) >= least
                and (not room or (memory or 0) <= room)
                and not found.get("lost")
            )
        lines.append(f"| {row} | {' | '.join(texts)} | {goal} | {reached} |")
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
    lines = {
        "calls": call_lines,
        "functions": function_lines if full else function_summary,
        "layers": layer_lines,
        "startup": startup_lines,
        "build": product_lines,
        "kernels": kernel_lines,
        "runtime": runtime_lines,
        "profiler": profiler_lines,
        "traces": trace_lines,
        "verbose": verbose_lines,
        "debug": debug_lines,
    }
    parts = [command_line()]
    parts += [
        "\n".join(lines[part](numbers[part])) for part in lines if part in numbers
    ]
    return "\n\n".join(parts)


def command_line() -> str:
    """How these numbers were made, and where."""
    words = [word for word in sys.argv[1:] if word != "--readme"]
    command = " ".join(["python -m benchmarks", *words])
    cores = len(os.sched_getaffinity(0))
    return (
        f"`{command}` on {cores} cores of {processor()}, "
        f"CPython {platform.python_version()}."
    )


def summary(numbers: Mapping[str, Any]) -> str:
    """What the README shows: a line a thing, beside what else there is to use."""
    rows: list[tuple[str, float, str, float | None]] = []
    for row in SUMMARY_CALLS:
        times = numbers["calls"][row]
        peer = times.get("hip-python")
        rows.append(
            (f"`{row}`", times["hipadapt"] / 1e9, "hip-python", peer and peer / 1e9)
        )
    imports = numbers["startup"]
    peer = imports.get("hip-python", (None, None))[0]
    rows.append(
        (
            "`import hipadapt`",
            imports["hipadapt"][0] / 1e3,
            "hip-python",
            peer and peer / 1e3,
        )
    )
    for row, times in numbers["kernels"].items():
        rows.append((row, times["hipadapt"], "gcc OpenMP", times.get("gcc OpenMP")))
    for row in SUMMARY_RUNTIME:
        times = numbers["runtime"][row]
        rows.append((row, times["hipadapt"], "memcpy", times.get("memcpy")))
    lines = ["| | hipadapt | beside it | speed |", "|---|---|---|---|"]
    for what, ours, name, theirs in rows:
        end = "- | |"
        if theirs is not None:
            end = f"{name}: {time_text(theirs)} | {theirs / ours:.2g} x |"
        lines.append(f"| {what} | {time_text(ours)} | {end}")
    assert len(rows) <= SUMMARY_ROWS_MAX
    return "\n\n".join([command_line(), "\n".join(lines)])
