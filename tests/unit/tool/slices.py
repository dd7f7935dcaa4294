# SPDX-License-Identifier: MIT
"""Traces for tests: slices made in Python, written by the writers in C.

The program is tests/c/tool/slices_to_trace.c; what is packed here is read there.
"""

from __future__ import annotations

import functools
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.c import run

KINDS = (
    "cuda_runtime",
    "cpu_op",
    "user_annotation",
    "python_function",
    "overhead",
    "cuda_sync",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "cpu_instant_event",
    "counter",
)
ON_GPU = KINDS[6:10]
WORK = KINDS[6:9]
FORMS = ("", "reference", "rows", "gang")
FLOWS = (None, "op2g", "fwdbwd")
HEAD = struct.Struct("<QQQQqIIIIiiiI")
WIRE = struct.Struct("<IIIIIi7QdiiiIII")
EVENT = struct.Struct("<HHiiIQQQQQIiQQQQQIIIHHHhI")
RUN_LIMIT_S = 300


@dataclass
class Event:
    """What a record of the profiler says of work or a call."""

    operation: int = 0
    result: int = 0
    device: int = -1
    source_device: int = -1
    queue: int = 0
    bytes: int = 0
    address: int = 0
    source: int = 0
    grid: tuple[int, int, int] = (0, 0, 0)
    block: tuple[int, int, int] = (0, 0, 0)
    shared: int = 0

    def pack(self) -> bytes:
        """As struct ha_trace_event."""
        return EVENT.pack(
            *(0, 0, self.operation, self.result, 0, 0, 0, 0, 0, 0, 0, self.device),
            *(self.queue, self.bytes, 0, self.address, self.source),
            *self.grid,
            *self.block,
            self.source_device,
            self.shared,
        )


@dataclass
class Slice:
    """As struct ha_slice; with `row`, a struct ha_trace_row."""

    kind: str
    name: bytes | None
    start: int = 0
    end: int = 0
    thread: int = 0
    device: int = -1
    stream: int = 0
    correlation: int = 0
    external: int = 0
    launches: bool = False
    flow: str | None = None
    flow_id: int = 0
    flow_starts: bool = False
    form: tuple[str, int, int] | None = None
    event: Event | None = None
    work: Event | None = None
    work_name: bytes | None = None
    args: bytes | None = None
    value: float = 0.0
    row: bool = False

    def pack(self) -> bytes:
        """As the program reads it."""
        texts = (self.name, self.work_name, self.args)
        fixed = WIRE.pack(
            *(KINDS.index(self.kind), FLOWS.index(self.flow), self.flow_starts),
            *(self.launches, self.thread, self.device, self.start, self.end),
            *(self.stream, self.correlation, self.external, self.flow_id),
            *(form_number(self.form), self.value),
            *(length(text) for text in texts),
            *(self.event is not None, self.work is not None, self.row),
        )
        events = (event.pack() for event in (self.event, self.work) if event)
        return b"".join((fixed, *events, *(text or b"" for text in texts)))


@dataclass
class Trace:
    """What a writer is told besides its slices."""

    start: int
    end: int
    lost: int = 0
    outside: int = 0
    clock_offset: int = 0
    pid: int = 4711
    cuda_names: bool = False
    devices: int = 1
    process_name: bytes | None = b"python"
    distributed: bytes | None = None
    first_pairs: list[tuple[bytes, bytes]] = field(default_factory=list)
    last_pairs: list[tuple[bytes, bytes]] = field(default_factory=list)

    def pack(self, url: str) -> bytes:
        """As the program reads it."""
        texts = (url.encode(), self.process_name, self.distributed)
        pairs = [*self.first_pairs, *self.last_pairs]
        fixed = HEAD.pack(
            *(self.start, self.end, self.lost, self.outside, self.clock_offset),
            *(self.pid, self.cuda_names, self.devices, len(pairs)),
            *(length(text) for text in texts),
            len(self.last_pairs),
        )
        words = (word for pair in pairs for word in pair)
        sized = (struct.pack("<i", len(word)) + word for word in words)
        return b"".join((fixed, *(text or b"" for text in texts), *sized))


def form_number(form: tuple[str, int, int] | None) -> int:
    """As enum ha_activity_form: the form, lanes of a gang, blocks by reference."""
    name, width, blocks = form or ("", 0, 0)
    return FORMS.index(name) | width << 8 | blocks << 24


def length(text: bytes | None) -> int:
    """Of a text that may be none."""
    return -1 if text is None else len(text)


@functools.cache
def program() -> Path:
    """The program that writes; compiled once."""
    return run.build(run.HERE / "tool" / "slices_to_trace.c")


def try_write(
    url: str | Path, trace: Trace, slices: list[Slice]
) -> subprocess.CompletedProcess[bytes]:
    """Writes a trace, or says why not."""
    data = trace.pack(str(url)) + b"".join(slice_.pack() for slice_ in slices)
    return subprocess.run(
        [str(program())],
        input=data,
        env={**run.SANITIZERS, **os.environ},
        capture_output=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )


def write(url: str | Path, trace: Trace, slices: list[Slice]) -> None:
    """Writes a trace."""
    done = try_write(url, trace, slices)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
