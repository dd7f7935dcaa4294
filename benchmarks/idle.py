# SPDX-License-Identifier: MIT
"""What a loaded profiler that records nothing costs a launch.

Programs with and without `HIPADAPT_PROFILE=on-demand` run by turns, since a program is
a few percent faster or slower than the next one.  Within a program the time that one of
ten rounds stays below counts.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import hipadapt

LAUNCHES, ROUNDS = 200, 2000
SOURCE = 'extern "C" __global__ void none() {}'


def per_launch() -> float:
    """Nanoseconds of a launch from Python, of an empty kernel."""
    kernel = hipadapt.Program(SOURCE).compile().kernel("none")
    stream = hipadapt.Stream()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for _ in range(LAUNCHES):
            kernel[1, 1, 0, stream]()
        stream.synchronize()
        times.append((time.perf_counter_ns() - begin) / LAUNCHES)
    return sorted(times)[ROUNDS // 10]


def program(setting: str) -> float:
    """A launch in a program of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.idle"],
        env={**os.environ, "HIPADAPT_PROFILE": setting},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return float(done.stdout)


def by_turns(pairs: int) -> dict[str, float]:
    """The median launch with the profiler, and the median of what is more in a pair."""
    without, loaded = zip(
        *[(program(""), program("on-demand")) for _ in range(pairs)], strict=True
    )
    more = [b - a for a, b in zip(without, loaded, strict=True)]
    return {"call": statistics.median(loaded), "more": statistics.median(more)}


if __name__ == "__main__":
    print(per_launch())
