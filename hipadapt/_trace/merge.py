# SPDX-License-Identifier: MIT
"""Traces of several ranks as one, in Chrome's format.

Numbers that readers join by are made distinct: number n of the k-th of N traces becomes
n * N + k, which needs no look ahead.  Processes keep their number where it is free.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from .opened import OpenTrace
from .slices import Progress, TraceError, members

_JOINED = ("correlation", "External id")
_LIMIT = 1 << 53  # what readers that know doubles only tell apart


class Head:
    """What must be known of a trace before its events are written."""

    def __init__(self, path: Path, position: int, progress: Progress | None) -> None:
        self.path = path
        self.position = position
        with OpenTrace(path, progress) as trace:
            self.events = sum(1 for _ in trace.events())
            self.about = trace.reader.about
            self.complete = trace.reader.complete
        info = self.about.get("distributedInfo")
        if not isinstance(self.about.get("deviceProperties", []), list):
            raise TraceError(f"{path}: 'deviceProperties' is no array")
        self.info: dict[str, Any] = info if isinstance(info, dict) else {}
        rank = self.info.get("rank")
        self.rank = rank if type(rank) is int and rank >= 0 else None
        base = self.about.get("baseTimeNanoseconds", 0)
        self.base = base if type(base) is int else 0

    def number(self, key: str) -> int:
        """A number of the trace; 0 where it has none."""
        value = self.about.get(key, 0)
        return value if type(value) is int else 0


class Merge:
    """Merges traces; `notes` says what a person should know."""

    def __init__(
        self,
        paths: Sequence[Path],
        progress: Callable[[object], Progress | None] = lambda _: None,
    ) -> None:
        self._progress = progress
        self.heads = [Head(p, i, progress(p)) for i, p in enumerate(paths)]
        self.notes: list[str] = []
        self._give_ranks()
        self.base = min(head.base for head in self.heads)
        self._pids: dict[tuple[int, int], int] = {}
        self._taken: set[int] = set()

    def _give_ranks(self) -> None:
        ranks: dict[int, Path] = {}
        for head in self.heads:
            if not head.complete:
                self.notes.append(f"{head.path} ends early; what it has is merged")
            if head.rank is not None and head.rank in ranks:
                raise TraceError(
                    f"{head.path}: is of rank {head.rank}, as {ranks[head.rank]} is"
                )
            if head.rank is not None:
                ranks[head.rank] = head.path
        free = 0
        for head in self.heads:
            if head.rank is None:
                while free in ranks:
                    free += 1
                head.rank = free
                ranks[free] = head.path
                self.notes.append(f"{head.path} has no rank; it becomes rank {free}")
        self.heads.sort(key=lambda head: head.rank or 0)

    def about(self) -> dict[str, Any]:
        """The members before the events."""
        first = self.heads[0].info
        ranks = [head.rank for head in self.heads]
        worlds = [head.info.get("world_size") for head in self.heads]
        world = max([w for w in worlds if type(w) is int] + [len(ranks)])
        info = {**first, "rank": ranks[0], "world_size": world, "ranks": ranks}
        return {
            "schemaVersion": 1,
            "deviceProperties": self._devices(),
            "merged": [
                {
                    "rank": head.rank,
                    "file": head.path.name,
                    "host_name": head.about.get("host_name"),
                    "lost_events": head.number("lost_events"),
                    "out_of_window_events": head.number("out_of_window_events"),
                    "distributedInfo": head.info,
                }
                for head in self.heads
            ],
            "lost_events": sum(h.number("lost_events") for h in self.heads),
            "out_of_window_events": sum(
                h.number("out_of_window_events") for h in self.heads
            ),
            "distributedInfo": info,
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": self.base,
        }

    def _devices(self) -> list[Any]:
        found: list[Any] = []
        none: list[Any] = []
        for head in self.heads:
            for device in head.about.get("deviceProperties", none):
                if device not in found:
                    found.append(device)
        return found

    def events(self) -> Iterator[dict[str, Any]]:
        """All events, with numbers of their own."""
        for index, head in enumerate(self.heads):
            with OpenTrace(head.path, self._progress(head.path)) as trace:
                for event in trace.events():
                    yield self._event(index, head, event)

    def _event(self, index: int, head: Head, event: dict[str, Any]) -> dict[str, Any]:
        moved = head.base - self.base
        if moved and event.get("ph") != "M" and "ts" in event:
            event["ts"] = (round(float(event["ts"]) * 1000) + moved) / 1000
        if "pid" in event:
            event["pid"] = self._pid(index, head, event["pid"])
        if "id" in event:
            event["id"] = self._distinct(index, head, event["id"])
        args = members(event.get("args"))
        if args:
            for key in _JOINED:
                if key in args:
                    args[key] = self._distinct(index, head, args[key])
            if event.get("name") in ("process_name", "process_labels"):
                key = "name" if "name" in args else "labels"
                args[key] = f"rank {head.rank}: {args.get(key, '')}"
        return event

    def _pid(self, index: int, head: Head, pid: object) -> object:
        if type(pid) is not int:
            return f"rank {head.rank} {pid}" if pid else pid
        number = self._pids.get((index, pid))
        if number is None:
            number = pid
            while number in self._taken:
                number += 1
            self._taken.add(number)
            self._pids[index, pid] = number
        return number

    def _distinct(self, index: int, head: Head, number: object) -> object:
        if type(number) is not int:
            return f"rank {head.rank} {number}"
        if number == 0:
            return 0
        changed = number * len(self.heads) + index
        if abs(changed) > _LIMIT:
            raise TraceError(f"{head.path}: the number {number} is too large to merge")
        return changed


def write(merge: Merge, path: Path) -> int:
    """Writes the file at once, or not at all; returns the number of events."""
    count = 0
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            zipped = path.name.endswith(".gz")
            data = gzip.GzipFile("", "wb", 1, raw) if zipped else raw
            with io.TextIOWrapper(cast(BinaryIO, data), "utf-8") as text:
                text.write(json.dumps(merge.about())[:-1] + ',\n"traceEvents":[\n')
                for event in merge.events():
                    text.write(",\n" if count else "")
                    text.write(json.dumps(event, separators=(",", ":")))
                    count += 1
                text.write(f'\n],\n"traceName":{json.dumps(path.name)}}}\n')
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return count
