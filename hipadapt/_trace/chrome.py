# SPDX-License-Identifier: MIT
"""Chrome's format: our own traces, and those of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from .json_stream import Pieces
from .slices import Slice, make, members


class Chrome:
    """One pass over a file; `about` is whole after it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._pieces = Pieces(file, name)
        self.about: dict[str, Any] = {}
        self.window: tuple[int, int] | None = None
        self.complete = True
        self._labels: dict[object, str] = {}

    def events(self) -> Iterator[dict[str, Any]]:
        """All events, as they are."""
        try:
            if self._pieces.peek() == "[":  # an array of events alone
                yield from self._array()
            else:
                yield from self._members()
        except EOFError:
            self.complete = False

    def _array(self) -> Iterator[dict[str, Any]]:
        for event in self._pieces.elements():
            if not isinstance(event, dict):
                raise self._pieces.error("is no trace: an event is no object")
            yield event

    def _members(self) -> Iterator[dict[str, Any]]:
        pieces, seen = self._pieces, False
        if not pieces.take("{"):
            raise pieces.error("is no trace")
        while not pieces.take("}"):
            key = pieces.value()
            if not isinstance(key, str) or not pieces.take(":"):
                raise pieces.error("is no JSON: a key is missing")
            if key == "traceEvents":
                seen = True
                yield from self._array()
            else:
                self.about[key] = pieces.value()
            if not pieces.take(",") and pieces.peek() != "}":
                if not pieces.peek() and seen:
                    raise EOFError
                raise pieces.error("is no JSON: a comma is missing")
        if not seen:
            raise pieces.error("is no trace: it has no 'traceEvents'")

    def slices(self) -> Iterator[Slice]:
        """Events with a duration."""
        for event in self.events():
            if event.get("ph") == "M":
                self._label(event)
            if event.get("ph") != "X":
                continue
            category = str(event.get("cat", ""))
            start, duration = self._ns(event, "ts"), self._ns(event, "dur")
            if category == "Trace":
                self.window = (start, start + duration)
                continue
            row, args = event.get("tid", 0), event.get("args")
            found = make(
                category, str(event.get("name", "")), start, duration, row, args
            )
            if found.device != -1:
                device = self._labels.get(event.get("pid"), found.device)
                found = found._replace(device=device)
            yield found

    def _label(self, event: dict[str, Any]) -> None:
        """A merged trace has rows of devices of several ranks."""
        label, pid = members(event.get("args")).get("labels"), event.get("pid")
        if isinstance(label, str) and label.startswith("rank ") and type(pid) is int:
            self._labels[pid] = label

    def _ns(self, event: dict[str, Any], key: str) -> int:
        value = event.get(key, 0)
        try:
            return round(float(value) * 1000)
        except (TypeError, ValueError, OverflowError):
            raise self._pieces.error(
                f"is no trace: '{key}' of an event is {value!r}"
            ) from None
