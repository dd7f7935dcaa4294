# SPDX-License-Identifier: MIT
"""What a tensor of the debug stream costs who sends it, and who reads it.

From thread to thread in C (`debug_stream.c`), beside channels of the system; out of
kernels, into Python, beside a queue of multiprocessing.  Run in a process of its own,
`python -m benchmarks.debug_stream FOLDER ROUNDS`, with HIPADAPT_PROVIDER=cpu.  Prints
one JSON object: seconds of an event, events a second, how many were lost, megabytes.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import hipadapt

Row = dict[str, float]

SOURCE = """
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void send(const float *x, int count)
{
    for (int i = 0; i < count; i++)
        ha_debug_tensor("weights", 1, x, 16);
}
"""
EVENTS, BYTES = 1_000_000, 64
LARGE_EVENTS, LARGE_BYTES = 1024, 1 << 20
LARGE_ROOM = 64 << 20
KERNEL_EVENTS = 50_000  # fewer than the queue has room for
QUEUE_EVENTS = 20_000
AWAITED = 200
KB = 1024

THREADS = {
    "thread to thread, 64 bytes": "stream",
    "the same by socketpair, SEQPACKET": "seqpacket",
    "the same by a pipe": "pipe",
}
LARGE = {
    "1 GB of tensors of 1 MiB, 64 MiB of room": "stream",
    "the same GB by a pipe": "pipe",
}
UNUSED, CLOSED = "kernel, nobody was ever connected", "kernel, the client has gone"
KERNEL = "kernel, 64 bytes"
PYTHON, QUEUE = "read in Python", "the same by multiprocessing.SimpleQueue"
AWAIT = "a launch, until asyncio has its tensor"


def by_program(folder: Path, way: str, count: int, size: int) -> Row:
    """One run of the program."""
    words = [str(folder / "debug_stream"), way, str(count), str(size)]
    room = {"HIPADAPT_DEBUG_STREAM_BUFFER_BYTES": str(LARGE_ROOM)}
    done = subprocess.run(
        words,
        env=os.environ | (room if size == LARGE_BYTES else {}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    event_us, rate, lost, grown = done.stdout.split()
    return {
        "event": float(event_us) / 1e6,
        "rate": float(rate),
        "lost": int(lost),
        "memory_MB": int(grown) * KB / 1e6,
    }


def best(rows: list[Row]) -> Row:
    """Of the runs that lost least the fastest, but the largest memory of all.

    A run in which the reader had no core tells nothing: sending into a full queue is
    fast.
    """
    found = min(rows, key=lambda row: (row["lost"], -row["rate"]))
    return found | {"memory_MB": max(row["memory_MB"] for row in rows)}


def in_c(folder: Path, rounds: int) -> dict[str, Row]:
    """All ways by turns."""
    seen: dict[str, list[Row]] = {row: [] for row in (*THREADS, *LARGE)}
    for _ in range(rounds):
        for row, way in THREADS.items():
            seen[row].append(by_program(folder, way, EVENTS, BYTES))
        for row, way in LARGE.items():
            seen[row].append(by_program(folder, way, LARGE_EVENTS, LARGE_BYTES))
    return {row: best(runs) for row, runs in seen.items()}


class Kernel:
    """One lane that sends tensors of 64 bytes."""

    def __init__(self) -> None:
        self._kernel = hipadapt.compile_kernel(SOURCE, "send")
        self._x = hipadapt.full(BYTES // 4, 1.5, "float32")
        self._device = hipadapt.Device()
        self.launch(0)
        self._device.synchronize()

    def launch(self, count: int) -> None:
        """Starts it."""
        self._kernel[1, 1](self._x, count)

    def seconds(self, count: int) -> float:
        """Of an event, to the kernel's end."""
        begin = time.perf_counter()
        self.launch(count)
        self._device.synchronize()
        return (time.perf_counter() - begin) / count


def read_all(stream: hipadapt.DebugStream) -> float:
    """Seconds of an event that is read as an array."""
    count = 0
    begin = time.perf_counter()
    for event in stream:
        count += int(event.array[0] == 1.5)
    seconds = time.perf_counter() - begin
    if count != KERNEL_EVENTS:
        raise RuntimeError(f"{count} of {KERNEL_EVENTS} tensors came")
    return seconds / count


def from_kernels(rounds: int) -> dict[str, Row]:
    """What a kernel pays, and a reader in Python; nothing may be lost."""
    kernel = Kernel()
    times: dict[str, list[float]] = {UNUSED: [], CLOSED: [], KERNEL: [], PYTHON: []}
    for _ in range(rounds):
        times[UNUSED].append(kernel.seconds(KERNEL_EVENTS))
    for _ in range(rounds):
        with hipadapt.DebugStream() as stream:
            times[KERNEL].append(kernel.seconds(KERNEL_EVENTS))
            times[PYTHON].append(read_all(stream))
        times[CLOSED].append(kernel.seconds(KERNEL_EVENTS))
    return {row: {"event": min(found)} for row, found in times.items()}


def put_all(queue: Any) -> None:
    """The other end of `by_queue`."""
    tensor = np.full(BYTES // 4, 1.5, "float32")
    for _ in range(QUEUE_EVENTS):
        queue.put(tensor)


def by_queue() -> Row:
    """Seconds of an event that another process puts into a queue."""
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=put_all, args=(queue,))
    process.start()
    queue.get()
    begin = time.perf_counter()
    count = sum(int(queue.get()[0] == 1.5) for _ in range(QUEUE_EVENTS - 1))
    seconds = time.perf_counter() - begin
    process.join()
    return {"event": seconds / count}


async def awaited(kernel: Kernel) -> Row:
    """From before the launch until a task has the tensor; in the middle."""
    seen: list[float] = []
    with hipadapt.DebugStream() as stream:
        events = stream.__aiter__()
        for _ in range(AWAITED):
            await asyncio.sleep(0.001)
            begin = time.perf_counter()
            kernel.launch(1)
            await events.__anext__()
            seen.append(time.perf_counter() - begin)
    return {"event": statistics.median(seen)}


def main() -> int:
    """Measure all rows and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    rows = in_c(folder, rounds) | from_kernels(max(rounds, 8))
    rows[QUEUE] = by_queue()
    rows[AWAIT] = asyncio.run(awaited(Kernel()))
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
