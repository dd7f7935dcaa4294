# SPDX-License-Identifier: MIT
"""`python -m benchmarks.profiler_python`: what tracing from Python costs a call."""

from __future__ import annotations

import argparse
import atexit
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from hipadapt import hip, profile, rocprofiler

CALLS = ["HIP_RUNTIME_API"]
TRACE = os.path.join(tempfile.gettempdir(), f"hipadapt_benchmark_{os.getpid()}.pftrace")


@atexit.register
def forget_trace() -> None:
    """Removes the file that the profile has written."""
    if os.path.exists(TRACE):
        os.unlink(TRACE)


def per_call(
    context: AbstractContextManager[Any], count: int, repeats: int
) -> tuple[float, float]:
    """Best ns a call within the context: of the loop, and with the context's end."""
    call = hip.hipGetDevice
    loop, whole = [], []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        with context:
            for _ in range(count):
                call()
            middle = time.perf_counter_ns()
        loop.append((middle - begin) / count)
        whole.append((time.perf_counter_ns() - begin) / count)
    return min(loop), min(whole)


def modes(seen: list[int]) -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    """Name of each mode and what makes its context."""

    def on_batch(batch: rocprofiler.EventBatch) -> None:
        seen[0] += len(batch)

    def on_array(batch: rocprofiler.EventBatch) -> None:
        array = np.asarray(batch)
        seen[0] += len(array)
        seen[1] += int((array["end"] - array["start"]).sum())

    def on_event(event: rocprofiler.Event) -> None:
        seen[0] += 1

    def stopped() -> AbstractContextManager[Any]:
        rocprofiler.trace(on_batch, kinds=CALLS)
        return nullcontext()

    return {
        "context that is stopped": stopped,
        "batches": lambda: rocprofiler.trace(on_batch, kinds=CALLS),
        "batches, summed with numpy": lambda: rocprofiler.trace(on_array, kinds=CALLS),
        "one Python call an event": lambda: rocprofiler.trace(
            on_event=on_event, kinds=CALLS
        ),
        "activity profiler": lambda: Started(profile(TRACE)),
    }


class Started:
    """A profile that was prepared beforehand, whose file goes at the end."""

    def __init__(self, prepared: profile) -> None:
        self.prepared = prepared.prepare()
        self.start_ns = 0

    def __enter__(self) -> Started:
        begin = time.perf_counter_ns()
        self.prepared.start()
        self.start_ns = time.perf_counter_ns() - begin
        return self

    def __exit__(self, *error: object) -> None:
        self.prepared.stop()
        self.prepared.save()

    @property
    def lost(self) -> int:
        """Events that found no room."""
        return self.prepared.status().lost_events


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    per_call(nullcontext(), options.calls // 10, 1)
    base, _ = per_call(nullcontext(), options.calls, options.repeats)
    print(f"no tool: {base:.0f} ns a call\n")
    print(
        "| mode | more ns a call | delivery included | events lost |\n|---|---|---|---|"
    )
    for name, make in modes([0, 0]).items():
        context = make()
        loop, whole = per_call(context, options.calls, options.repeats)
        lost = getattr(context, "lost", 0)
        print(f"| {name} | {loop - base:.0f} | {whole - base:.0f} | {lost} |")


if __name__ == "__main__":
    main()
