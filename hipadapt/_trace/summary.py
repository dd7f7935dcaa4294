# SPDX-License-Identifier: MIT
"""What a trace comes to: the numbers of ``trace summary`` and `profile.summary`."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable
from typing import Any

from .opened import OpenTrace
from .slices import CALLS, COPY, FILL, KERNEL, WORK, Progress, Slice

_TOLD = (
    "lost_events",
    "out_of_window_events",
    "no_kernels",
    "host_name",
    "distributedInfo",
    "trace_id",
)


class Times:
    """Durations of one name, in ns."""

    __slots__ = ("all", "bytes")

    def __init__(self) -> None:
        self.all = array("q")
        self.bytes = 0

    def add(self, duration: int, size: int = 0) -> None:
        """One more."""
        self.all.append(duration)
        self.bytes += size

    def numbers(self) -> dict[str, Any]:
        """Count, total and so on."""
        ordered = sorted(self.all)
        total = sum(ordered)
        return {
            "count": len(ordered),
            "total_ns": total,
            "mean_ns": total / len(ordered),
            "min_ns": ordered[0],
            "p50_ns": percentile(ordered, 50),
            "p95_ns": percentile(ordered, 95),
            "max_ns": ordered[-1],
        }


def percentile(ordered: list[int], percent: int) -> int:
    """The smallest value that `percent` of the values don't exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


class Row:
    """When a stream worked."""

    __slots__ = ("ends", "starts")

    def __init__(self) -> None:
        self.starts = array("q")
        self.ends = array("q")

    def numbers(self) -> dict[str, Any]:
        """Busy is the time in which at least one piece of work ran; idle is the rest
        between the first start and the last end."""
        busy, until = 0, min(self.starts)
        first = until
        for start, end in sorted(zip(self.starts, self.ends, strict=True)):
            busy += max(0, end - max(start, until))
            until = max(until, end)
        span = until - first
        return {
            "count": len(self.starts),
            "span_ns": span,
            "busy_ns": busy,
            "idle_ns": span - busy,
        }


class Summary:
    """Adds slices up."""

    def __init__(self) -> None:
        self._named: dict[tuple[str, str], Times] = {}
        self._rows: dict[tuple[Any, Any], Row] = {}
        self._calls: dict[int, int] = {}
        self._work: dict[int, int] = {}

    def add(self, slices: Iterable[Slice]) -> None:
        """Takes them all."""
        for one in slices:
            category = one.category
            if category in WORK:
                self._add_work(one)
            elif category in CALLS:
                category = "call"
                if one.correlation:
                    self._calls[one.correlation] = one.start
            else:
                continue
            key = (category, one.name)
            times = self._named.get(key)
            if times is None:
                times = self._named[key] = Times()
            times.add(one.duration, one.bytes)

    def _add_work(self, one: Slice) -> None:
        row = self._rows.get((one.device, one.row))
        if row is None:
            row = self._rows[one.device, one.row] = Row()
        row.starts.append(one.start)
        row.ends.append(one.start + one.duration)
        if one.correlation:
            before = self._work.get(one.correlation, one.start)
            self._work[one.correlation] = min(before, one.start)

    def _latency(self) -> dict[str, Any] | None:
        times = Times()
        for number, start in self._work.items():
            call = self._calls.get(number)
            if call is not None:
                times.add(start - call)
        return times.numbers() if times.all else None

    def _of(self, category: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            {"name": name, **times.numbers(), "bytes": times.bytes}
            for (kind, name), times in self._named.items()
            if kind == category
        ]
        found.sort(key=lambda entry: (-entry["total_ns"], entry["name"]))
        for entry in found:
            if category in (KERNEL, "call"):
                del entry["bytes"]
            else:  # bytes a ns are GB a second
                total = entry["total_ns"]
                entry["gb_per_s"] = entry["bytes"] / total if total else None
        return found

    def numbers(self) -> dict[str, Any]:
        """Everything, as JSON can have it."""
        rows = sorted(self._rows.items(), key=lambda entry: str(entry[0]))
        return {
            "kernels": self._of(KERNEL),
            "copies": self._of(COPY),
            "fills": self._of(FILL),
            "streams": [
                {"device": device, "stream": stream, **row.numbers()}
                for (device, stream), row in rows
            ],
            "launch_latency": self._latency(),
            "calls": self._of("call"),
        }


def summarize(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    see: Callable[[Iterable[Slice]], Iterable[Slice]] = lambda slices: slices,
) -> dict[str, Any]:
    """The numbers of a file; OSError and TraceError as `OpenTrace` has them.

    `see` is given the slices, and passes them on.
    """
    summary = Summary()
    with OpenTrace(path, progress) as trace:
        summary.add(see(trace.slices()))
        reader = trace.reader
        window = reader.window
        head = {
            "file": trace.name,
            "format": trace.format,
            "complete": reader.complete,
            "window_ns": window[1] - window[0] if window else None,
        }
        told = {key: reader.about[key] for key in _TOLD if key in reader.about}
    return {**head, **told, **summary.numbers()}
