# SPDX-License-Identifier: MIT
"""Copies of narrow rows on the CPU device, beside numpy: `python -m benchmarks.rows`.

Each line is a width; hipMemcpy2D and numpy's assignment of the same columns take turns
in one process, and the shortest of many rounds counts.  The last lines are hipMemcpy3D
and hipMemset2D.  Exits with 1 where a copy takes more than twice numpy's time; rows
that do not stay in a cache need a quiet machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ["HIPADAPT_PROVIDER"] = "cpu"

import numpy as np

from hipadapt import hip
from hipadapt.types import Pointer

GOAL = 2.0
ROUNDS = 30
ROWS_MAX = 400_000
BYTES_MAX = 32 << 20
DEEP = (200, 500)
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 256, 1024)
TO_DEVICE, TO_HOST, ON_DEVICE = (hip.hipMemcpyKind(number) for number in (1, 2, 3))

Array = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def good(result: tuple[object, ...]) -> object:
    """The result of a call; a failure ends the measurement."""
    if result[0] != 0:
        sys.exit(f"benchmarks.rows: {result[0]!r}")
    return result[1] if len(result) > 1 else None


def shortest(contenders: list[Callable[[], object]]) -> list[float]:
    """Nanoseconds of each, in turns."""
    best = [float("inf")] * len(contenders)
    for _ in range(ROUNDS):
        for number, run in enumerate(contenders):
            begin = time.perf_counter_ns()
            run()
            best[number] = min(best[number], time.perf_counter_ns() - begin)
    return best


def line(name: str, rows: int, ours: float, numpys: float) -> bool:
    """Prints one; whether it reaches the goal."""
    ratio = ours / numpys
    print(
        f"{name:34} {ours / rows:8.2f} {numpys / rows:8.2f} {ratio:7.2f}"
        + ("" if ratio <= GOAL else f"   more than {GOAL:g}")
    )
    return ratio <= GOAL


def memory(size: int) -> Pointer:
    """Device memory of so many bytes."""
    made = good(hip.hipMalloc(size))
    assert isinstance(made, Pointer)
    return made


def flat(width: int, pitch: int) -> bool:
    """Rows of one slice."""
    rows = min(ROWS_MAX, BYTES_MAX // pitch)
    size = rows * pitch
    src, dst = memory(size), memory(size)
    a: Array = np.arange(size, dtype=np.uint32).astype(np.uint8).reshape(rows, pitch)
    b = np.zeros_like(a)
    good(hip.hipMemcpy(src, a, size, TO_DEVICE))
    good(hip.hipMemset(dst, 0, size))

    def ours() -> None:
        hip.hipMemcpy2D(dst, pitch, src, pitch, width, rows, ON_DEVICE)
        hip.hipDeviceSynchronize()

    def numpys() -> None:
        b[:, :width] = a[:, :width]

    times = shortest([ours, numpys])
    got = np.empty_like(b)
    good(hip.hipMemcpy(got, dst, size, TO_HOST))
    assert (got == b).all(), width
    good(hip.hipFree(src))
    good(hip.hipFree(dst))
    return line(f"hipMemcpy2D {width} B, pitch {pitch}", rows, *times)


def deep(width: int, pitch: int) -> bool:
    """Rows of many slices."""
    depth, height = DEEP
    size = depth * height * pitch
    src, dst = memory(size), memory(size)
    a: Array = np.ones((depth, height, pitch), np.uint8)
    b = np.zeros_like(a)
    record = hip.hipMemcpy3DParms(kind=ON_DEVICE)
    record.srcPtr = hip.hipPitchedPtr(src, pitch, pitch, height)
    record.dstPtr = hip.hipPitchedPtr(dst, pitch, pitch, height)
    record.extent = hip.hipExtent(width, height - 1, depth)

    def ours() -> None:
        hip.hipMemcpy3D(record)
        hip.hipDeviceSynchronize()

    def numpys() -> None:
        b[:, :-1, :width] = a[:, :-1, :width]

    good(hip.hipMemcpy3D(record))
    times = shortest([ours, numpys])
    good(hip.hipFree(src))
    good(hip.hipFree(dst))
    return line(f"hipMemcpy3D {width} B, pitch {pitch}", depth * (height - 1), *times)


def filled(width: int, pitch: int) -> bool:
    """Rows that get one value."""
    rows = min(ROWS_MAX, BYTES_MAX // pitch)
    dst = memory(rows * pitch)
    b: Array = np.zeros((rows, pitch), np.uint8)

    def ours() -> None:
        hip.hipMemset2D(dst, pitch, 7, width, rows)
        hip.hipDeviceSynchronize()

    def numpys() -> None:
        b[:, :width] = 7

    good(hip.hipMemset2D(dst, pitch, 7, width, rows))
    times = shortest([ours, numpys])
    good(hip.hipFree(dst))
    return line(f"hipMemset2D {width} B, pitch {pitch}", rows, *times)


def main() -> int:
    """Prints the table."""
    print(f"{'ns a row':34} {'ours':>8} {'numpy':>8} {'ratio':>7}")
    reached = [flat(width, 2 * width) for width in WIDTHS]
    reached += [flat(width, 64) for width in (1, 4)]
    reached += [deep(width, 2 * width) for width in (1, 3, 4, 16, 256)]
    reached += [filled(width, 2 * width) for width in (1, 4, 16, 256)]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
