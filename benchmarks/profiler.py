# SPDX-License-Identifier: MIT
"""What profiling costs a call of HIP, from C (`profiler.c`) and from Python.

The modes have the names of the benchmark of rocprofiler-sdk.  Run in a process of its
own, `python -m benchmarks.profiler FOLDER ROUNDS`, with HIPADAPT_PROVIDER=cpu.  Prints
one JSON object: nanoseconds of a call, and beyond the same call without a tool.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from hipadapt import hip, profile, rocprofiler

from . import idle, profiler_python

CALLS = 20_000  # a round of a mode: a millisecond or two
PYTHON_CALLS = 1_000_000
BASE = "baseline"
# In the order of `enum mode`.
C_MODES = (
    BASE,
    "disabled-sdk-contexts",
    "sdk-callback-overhead",
    "sdk-buffer-overhead",
)
TOOL = "tool-runtime-overhead"
# Row -> mode of benchmarks.profiler_python.
PYTHON_MODES = {
    "from Python, batches": "batches",
    "from Python, a call an event": "one Python call an event",
    "from Python, profile": "activity profiler",
}
START = "profile: a start"
RECORDING, LOADED = "profile: recording", "profile: loaded, idle"
IDLE = "profile: a launch, idle"


def library(folder: Path) -> ctypes.CDLL:
    """The C half, once the runtime and the profiler's library are there."""
    status, _ = hip.hipGetDeviceCount()
    if int(status) != 0:
        raise RuntimeError(f"HIP code {int(status)}")
    path, own = rocprofiler.library()
    if not own:
        raise RuntimeError(f"the profiler's library is {path}, not hipadapt's")
    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    found = ctypes.CDLL(str(folder / "libprofiler.so"))
    found.per_call.restype = found.per_call_in.restype = ctypes.c_double
    if found.start() != 0:
        raise RuntimeError("the tool could not be started")
    return found


def checked(time_ns: float) -> float:
    """The time, or an exception."""
    if time_ns < 0:
        raise RuntimeError("a round has failed")
    return time_ns


def by_turns(
    turns: dict[str, Callable[[], float]], rounds: int
) -> dict[str, dict[str, float]]:
    """Least time of each mode, and the median of what is beyond a bare round."""
    seen: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            seen[name].append(checked(turn()))
    base = seen[BASE]
    return {
        name: {
            "call": min(times),
            "more": min(times) - min(base),
            "median": statistics.median(
                time - bare for time, bare in zip(times, base, strict=True)
            ),
        }
        for name, times in seen.items()
    }


def with_python_tool(half: ctypes.CDLL) -> float:
    """A call from C while a Python callable gets batches of it; nothing may be lost."""
    seen = [0]

    def on_batch(batch: rocprofiler.EventBatch) -> None:
        seen[0] += len(batch)

    with rocprofiler.trace(
        on_batch, kinds=["HIP_RUNTIME_API"], operations=["hipGetDevice"]
    ) as trace:
        time_ns: float = half.per_call(CALLS)
    if trace.lost or seen[0] != CALLS:
        raise RuntimeError(f"{seen[0]} of {CALLS} events came, {trace.lost} were lost")
    return time_ns


def with_profile(half: ctypes.CDLL) -> float:
    """A call from C while the activity profiler records; nothing may be lost."""
    started = profiler_python.Started(profile(profiler_python.TRACE))
    with started:
        time_ns: float = half.per_call(CALLS)
    if started.lost:
        raise RuntimeError(f"{started.lost} events were lost")
    return time_ns


def from_python(half: ctypes.CDLL, repeats: int) -> dict[str, dict[str, float]]:
    """Calls that Python makes, by turns, delivery included."""
    modes = profiler_python.modes([0, 0])
    profiler_python.per_call(nullcontext(), PYTHON_CALLS // 10, 1)
    base = float("inf")
    best = dict.fromkeys(PYTHON_MODES, float("inf"))
    start = float("inf")
    for _ in range(repeats):
        checked(half.per_call_in(0, 1))  # the device's own function in the slot
        base = min(base, profiler_python.per_call(nullcontext(), PYTHON_CALLS, 1)[1])
        checked(half.per_call_in(1, 1))
        for row, mode in PYTHON_MODES.items():
            context = modes[mode]()
            _, whole = profiler_python.per_call(context, PYTHON_CALLS, 1)
            best[row] = min(best[row], whole)
            if isinstance(context, profiler_python.Started):
                start = min(start, context.start_ns)
            lost = getattr(context, "lost", 0)
            if lost:
                raise RuntimeError(f"{row}: {lost} events were lost")
    rows = {row: {"call": whole, "more": whole - base} for row, whole in best.items()}
    return rows | {START: {"call": start, "more": start}}


def main() -> int:
    """Measure all rows and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    half = library(folder)
    turns: dict[str, Callable[[], float]] = {
        name: partial(half.per_call_in, mode, CALLS)
        for mode, name in enumerate(C_MODES)
    }

    def tool() -> float:
        checked(half.per_call_in(1, 1))  # the slot, as tools have it
        return with_python_tool(half)

    def recording() -> float:
        checked(half.per_call_in(1, 1))
        return with_profile(half)

    turns[TOOL] = tool
    turns[RECORDING] = recording
    with_profile(half)  # from now on it is loaded
    turns[LOADED] = partial(half.per_call_in, 1, CALLS)
    rows = by_turns(turns, rounds)
    rows |= from_python(half, max(6, rounds // 20))
    rows[IDLE] = idle.by_turns(max(15, rounds // 10))
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
