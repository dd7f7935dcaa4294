# SPDX-License-Identifier: MIT
"""A small trace whose numbers were worked out by hand; see `test_trace_summary`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.unit.tool.slices import Event, Slice, Trace, write

START = 1_790_857_026_000_000_000 + 5_000_000_000
# Stream, name, start and end of work, in us after START, and bytes.
HAND = (
    (0, "gpu_memcpy", None, 100, 104, 8000),
    (0, "kernel", b"add", 110, 120, 0),
    (0, "kernel", b"add", 115, 125, 0),  # overlaps by 5
    (0, "kernel", b"add", 130, 160, 0),
    (1, "kernel", b"mul<float>", 112, 113, 0),
    (1, "gpu_memset", None, 113, 115, 500),
)
LATENCY_US = (10, 20, 30, 40, 50, 60)  # of these, in order
CALLS = {"kernel": b"hipLaunchKernel", "gpu_memcpy": b"hipMemcpyAsync"}


def slices(work: Iterable[tuple[object, ...]] = HAND) -> list[Slice]:
    """A call of 1 us for each work, and two calls without."""
    made: list[Slice] = []
    for number, (stream, kind, name, start, end, size) in enumerate(work, 1):
        begun = START + start * 1000  # type: ignore[operator]
        event = Event(device=0, bytes=size)  # type: ignore[arg-type]
        call_at = begun - LATENCY_US[(number - 1) % len(LATENCY_US)] * 1000
        call = Slice(
            "cuda_runtime",
            CALLS.get(str(kind), b"hipMemsetAsync"),
            call_at,
            call_at + 1000,
            101,
            correlation=number,
            launches=True,
        )
        one = Slice(str(kind), name, begun, START + end * 1000, device=0)  # type: ignore[arg-type, operator]
        one.stream, one.correlation, one.event = stream, number, event  # type: ignore[assignment]
        made += [call, one]
    for at in (200, 210):
        begun = START + at * 1000
        made.append(Slice("cuda_runtime", b"hipGetDevice", begun, begun + 250, 102))
    return made


def hand(path: Path, work: Iterable[tuple[object, ...]] = HAND, rank: int = -1) -> Path:
    """Writes it."""
    trace = Trace(START, START + 300_000, lost=2, outside=3, pid=100)
    if rank >= 0:
        trace.distributed = b'{"backend":"rccl","rank":%d,"world_size":2}' % rank
    write(path, trace, slices(work))
    return path
