# SPDX-License-Identifier: MIT
"""What verbose lines come to: the numbers of ``python -m hipadapt verbose``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .summary import Times
from .verbose import Line, Reader, Template, VerboseError, is_wrong

KERNEL = ("primitive", "implementation")
_ERRORS_MAX = 10_000

Names = tuple[str, ...]


class VerboseSummary:
    """Adds lines up, by some of their columns.

    Work that ran is counted as ``exec``.  What was created or compiled is counted
    apart, for each operation.  Work that failed is told as an error: its time says
    nothing about its kernel.
    """

    def __init__(self, by: Sequence[str] = KERNEL) -> None:
        self._by = tuple(by)
        self._raw: dict[tuple[object, ...], Times | None] = {}
        self._named: dict[tuple[str, Names], Times] = {}
        self._errors: Counter[tuple[str, ...]] = Counter()
        self._errors_more = 0
        self._told: Counter[str] = Counter()

    def add(self, lines: Iterable[Line]) -> None:
        """Takes them all."""
        places: dict[int, tuple[int, ...]] = {}
        for line in lines:
            number, raw = line.template.number, line.raw
            if number not in places:
                places[number] = self._places(line.template)
            key = (number, line.component, *[raw[place] for place in places[number]])
            times = self._raw.get(key)
            if times is None and key not in self._raw:
                times = self._raw[key] = self._times(line)
            if times is None or line.duration_ns is None:
                self._tell(line)
            else:
                times.add(line.duration_ns)

    def _places(self, template: Template) -> tuple[int, ...]:
        wanted = ("operation", *self._by)
        columns = template.columns
        return tuple(columns.index(name) for name in wanted if name in columns)

    def _times(self, line: Line) -> Times | None:
        """None for what has no time that counts."""
        if line.duration_ns is None or is_wrong(line.operation):
            return None
        operation = line.operation
        if operation.partition(":")[0] == "exec":
            operation = "exec"
        names = tuple(
            line.component if name == "component" else line.get(name)
            for name in self._by
        )
        return self._named.setdefault((operation, names), Times())

    def _tell(self, line: Line) -> None:
        if not is_wrong(line.operation):
            self._told[line.operation] += 1
            return
        key = (
            line.operation,
            line.get("primitive"),
            line.get("implementation"),
            line.values("auxiliary").get("status", ""),
            line.get("message") or line.get("problem_desc"),
        )
        if key in self._errors or len(self._errors) < _ERRORS_MAX:
            self._errors[key] += 1
        else:
            self._errors_more += 1

    def numbers(self) -> dict[str, Any]:
        """Everything, as JSON can have it."""
        done: list[dict[str, Any]] = []
        made: list[dict[str, Any]] = []
        for (operation, names), times in self._named.items():
            if not times.all:
                continue
            entry = {**dict(zip(self._by, names, strict=True)), **times.numbers()}
            if operation == "exec":
                done.append(entry)
            else:
                made.append({"operation": operation, **entry})
        for entries in (done, made):
            entries.sort(key=self._order)
        keys = ("operation", "primitive", "implementation", "status", "message")
        return {
            "by": list(self._by),
            "exec": done,
            "create": made,
            "errors": [
                {**dict(zip(keys, key, strict=True)), "count": count}
                for key, count in self._errors.most_common()
            ],
            "errors_not_listed": self._errors_more,
            "told": dict(sorted(self._told.items())),
        }

    def _order(self, entry: dict[str, Any]) -> tuple[Any, ...]:
        names = [entry[name] for name in self._by]
        return (-entry["total_ns"], entry.get("operation", ""), *names)


def check_columns(reader: Reader, by: Sequence[str]) -> None:
    """A column that no header has is a mistake of the caller."""
    known = {"component"}.union(*(template.columns for template in reader.templates))
    for name in by:
        if name not in known:
            raise VerboseError(
                f"{reader.name}: no header has the column {name!r}; there are "
                f"{', '.join(sorted(known))}"
            )


def summarize(reader: Reader, by: Sequence[str] = KERNEL) -> dict[str, Any]:
    """The numbers of a file; VerboseError as `Reader.lines` and `check_columns`."""
    summary = VerboseSummary(by)
    summary.add(reader.lines())
    check_columns(reader, by)
    return {
        "file": reader.name,
        "complete": reader.complete,
        "producers": reader.producers,
        "processes": reader.processes,
        **summary.numbers(),
        "lost": reader.lost,
        "damaged": reader.damaged,
        "headless": reader.headless,
        "foreign": reader.foreign,
    }
