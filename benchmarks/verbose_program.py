# SPDX-License-Identifier: MIT
"""A program that `benchmarks.verbose` runs with and without verbose lines.

`python -m benchmarks.verbose_program FOLDER PART WORD...` prints one JSON object.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path

import hipadapt

from .kernels import compile_source

LAUNCHES, WARM_UP = 200, 200
SOURCE = b"""
extern "C" __global__ void empty() {}
extern "C" __global__ void busy(float *result, int steps) {
    float x = *result;
    for (int i = 0; i < steps; i++) x = x * 0.999f + 0.001f;
    *result = x;
}
"""
WITH_ARGUMENTS = """
extern "C" __global__ void none(float *x, float *y, float *z, int n, float a) {}
"""


def checked(seconds: float) -> float:
    """The time, or an exception."""
    if seconds < 0:
        raise RuntimeError(f"HIP code {-seconds:.0f}")
    return seconds


def library(folder: Path) -> ctypes.CDLL:
    """The C half, with its kernels."""
    code = compile_source(SOURCE)
    found = ctypes.CDLL(str(folder / "libverbose.so"))
    for name in ("start", "per_launch", "at_rate", "program"):
        getattr(found, name).restype = ctypes.c_double
    checked(found.start((ctypes.c_char * len(code)).from_buffer(code)))
    return found


def from_python(rounds: int, steps: int) -> float:
    """Seconds of a launch with five arguments, on the launching thread."""
    busy = hipadapt.Program(SOURCE.decode()).compile().kernel("busy")
    kernel = hipadapt.compile_kernel(WITH_ARGUMENTS, "none")
    arrays = [hipadapt.zeros(16, dtype="float32") for _ in range(3)]
    stream = hipadapt.Stream()
    configured = kernel[1, 1, 0, stream]
    times: list[float] = []
    for _ in range(rounds):
        busy[1, 1, 0, stream](arrays[0], steps)
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            configured(*arrays, 16, 2.5)
        times.append((time.perf_counter() - begin) / LAUNCHES)
        stream.synchronize()
    return sorted(times)[rounds // 10]


def launches(half: ctypes.CDLL, rounds: int, steps: int) -> dict[str, float]:
    """A launch from C and from Python."""
    checked(half.per_launch(WARM_UP, steps))
    return {
        "C": checked(half.per_launch(rounds, steps)),
        "Python": from_python(rounds, steps),
    }


def steps_for(half: ctypes.CDLL, seconds: float) -> int:
    """How many steps a kernel needs to last that long."""
    steps, count = 1000, 100
    while True:
        one = min(checked(half.program(count, steps)) for _ in range(5)) / count
        if one >= seconds:
            return steps
        steps = int(steps * min(4, max(1.05, 1.05 * seconds / one)))


def main() -> None:
    """Does the part."""
    half = library(Path(sys.argv[1]))
    part, words = sys.argv[2], sys.argv[3:]
    if part == "launches":
        print(json.dumps(launches(half, *map(int, words))))
    elif part == "steps":
        print(json.dumps(steps_for(half, float(words[0]))))
    elif part == "program":
        count, steps, rounds = map(int, words)
        half.program(count, steps)
        best = min(checked(half.program(count, steps)) for _ in range(rounds))
        print(json.dumps(best))
    else:
        count, rate = int(words[0]), ctypes.c_double(float(words[1]))
        print(json.dumps(checked(half.at_rate(ctypes.c_long(count), rate))))


if __name__ == "__main__":
    main()
