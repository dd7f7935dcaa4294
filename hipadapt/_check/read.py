# SPDX-License-Identifier: MIT
"""Lines of HIPADAPT_CHECK_OUTPUT, of one process or of many."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .finding import Finding
from .findings import Findings, Summary

_COUNTERS = ("counted", "dropped", "launches", "unchecked", "observed", "proved")


@dataclass
class _Process:
    """What one process has told."""

    number: int
    kinds: str = ""
    summary: dict[str, Any] | None = None
    findings: dict[int, Finding] = field(default_factory=dict)


def merged(findings: Iterator[Finding]) -> list[Finding]:
    """Equal ones are the first of them, with the sum of their counts."""
    kept: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        first = kept.get(finding.key)
        if first is not None:
            finding = dataclasses.replace(first, count=first.count + finding.count)
        kept[finding.key] = finding
    return list(kept.values())


class Reader:
    """Takes pieces of a file that grows."""

    def __init__(self) -> None:
        self._rest = b""
        self._processes: dict[tuple[int, int], _Process] = {}
        self._seen: set[tuple[object, ...]] = set()
        self.damaged = 0
        """Lines that are no lines of a device."""

    def feed(self, piece: bytes) -> list[Finding]:
        """Findings in it that differ from all before."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        new: list[Finding] = []
        for line in lines:
            finding = self._take(line)
            if finding is not None and finding.key not in self._seen:
                self._seen.add(finding.key)
                new.append(finding)
        return new

    def end(self) -> None:
        """No more pieces; a last line without its end is damaged."""
        self.damaged += bool(self._rest.strip())
        self._rest = b""

    def _take(self, line: bytes) -> Finding | None:
        if not line.strip():
            return None
        try:
            given = json.loads(line)
            return self._read(given)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.damaged += 1
            return None

    def _read(self, given: dict[str, Any]) -> Finding | None:
        key = (int(given["process"]), int(given["since"]))
        kind = given["type"]
        if kind == "finding":
            made = Finding.of(given)
            self._process(key).findings[made.number] = made
            return made
        if kind == "count":
            found = self._process(key).findings
            number = given["number"]
            found[number] = dataclasses.replace(found[number], count=given["count"])
        elif kind == "start":
            self._process(key).kinds = str(given["kinds"])
        elif kind == "summary":
            self._process(key).summary = {name: int(given[name]) for name in _COUNTERS}
            self._process(key).kinds = str(given["kinds"])
        else:
            raise ValueError(kind)
        return None

    def _process(self, key: tuple[int, int]) -> _Process:
        return self._processes.setdefault(key, _Process(key[0]))

    @property
    def processes(self) -> int:
        """How many have told something."""
        return len(self._processes)

    @property
    def unfinished(self) -> list[int]:
        """Numbers of those that have ended without a summary, or have not ended."""
        return [p.number for p in self._processes.values() if p.summary is None]

    def result(self) -> Findings:
        """Of all processes together."""
        every = self._processes.values()
        found = merged(one for p in every for one in p.findings.values())
        total: dict[str, int] = {name: 0 for name in _COUNTERS}
        for process in every:
            least = {"counted": sum(one.count for one in process.findings.values())}
            for name, value in (process.summary or least).items():
                total[name] += value
        words = dict.fromkeys(
            word for p in every for word in p.kinds.split(",") if word
        )
        return Findings(found, Summary(tuple(words), len(found), **total))
