# SPDX-License-Identifier: MIT
"""Perfetto's format: the part that our writer uses.

A file is a row of packets.  Slices of a track begin and end in packets of their own;
names are numbers, whose texts come in the same sequence of packets.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from .slices import Slice, TraceError, make

_PACKET_MAX = 1 << 26
# Fields of TracePacket.
_TIME, _SEQUENCE, _INTERNED, _EVENT, _TRACK = 8, 10, 12, 11, 60
_STAGE = 53
# Tables of InternedData: categories, names, names of annotations.
_CATEGORIES, _NAMES, _KEYS = 1, 2, 3
_BEGIN, _END, _INSTANT = 1, 2, 3
# Values of DebugAnnotation.
_BOOL, _UINT, _INT, _DOUBLE, _STRING, _JSON, _ARRAY = 2, 3, 4, 5, 6, 9, 12

_Open = tuple[str, str, int, dict[str, Any]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message; bytes where it has a length."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
            continue
        if wire == 2:
            size, at = varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError("a field has no known form")
        if size > end - at:
            raise ValueError("a field is longer than its message")
        yield tag >> 3, data[at : at + size]
        at += size


def _text(data: Any) -> str:
    return bytes(data).decode("utf-8", "replace")


class Perfetto:
    """One pass over a file; `about` is whole after it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self.about: dict[str, Any] = {}
        self.window: tuple[int, int] | None = None
        self.complete = True
        self._tables: dict[int, dict[int, dict[int, str]]] = {}
        self._tracks: dict[int, object] = {}
        self._open: dict[int, list[_Open]] = {}
        self._early: dict[int, list[tuple[int, _Open | None]]] = {}

    def slices(self) -> Iterator[Slice]:
        """Slices; those of a track are joined when all of it was read."""
        try:
            for packet in self._packets():
                self._packet(packet)
        except (IndexError, ValueError, struct.error) as error:
            if isinstance(error, TraceError):
                raise
            raise TraceError(
                f"{self._name}: is no trace of Perfetto: {error}"
            ) from None
        for track, marks in self._early.items():
            yield from self._joined(track, marks)

    def work(self) -> Iterator[bool]:
        """Of each packet, whether it is work of a device."""
        for packet in self._packets():
            yield any(field == _STAGE for field, _ in fields(packet))

    def _packets(self) -> Iterator[bytes]:
        """A packet is field 1 of the file."""
        while head := self._file.read(1):
            if head != b"\x0a":
                raise ValueError("there is no packet")
            size, shift = 0, 0
            while True:
                byte = self._file.read(1)
                if not byte:
                    self.complete = False
                    return
                size |= (byte[0] & 127) << shift
                shift += 7
                if byte[0] < 128:
                    break
                if shift > 35:
                    raise ValueError("a packet is too long")
            if size > _PACKET_MAX:
                raise ValueError("a packet is too long")
            packet = self._file.read(size)
            if len(packet) < size:
                self.complete = False
                return
            yield packet

    def _packet(self, packet: bytes) -> None:
        time = sequence = 0
        event = b""
        interned: list[bytes] = []
        for field, value in fields(packet):
            if field == _TIME:
                time = value
            elif field == _SEQUENCE:
                sequence = value
            elif field == _INTERNED:
                interned.append(value)
            elif field == _EVENT:
                event = value
            elif field == _TRACK:
                self._track(value)
        tables = self._tables.setdefault(sequence, {1: {}, 2: {}, 3: {}})
        for data in interned:
            _intern(tables, data)
        if event:
            self._event(time, event, tables)

    def _track(self, data: bytes) -> None:
        uuid: int = 0
        row: object = None
        for field, value in fields(data):
            if field == 1:
                uuid = value
            elif field == 2:
                row = _text(value)
            elif field == 4:  # ThreadDescriptor
                row = next((v for f, v in fields(value) if f == 2), row)
        self._tracks[uuid] = row if row is not None else uuid

    def _event(self, time: int, data: bytes, tables: dict[int, dict[int, str]]) -> None:
        kind = track = 0
        name = category = ""
        args: dict[str, Any] = {}
        for field, value in fields(data):
            if field == 9:
                kind = value
            elif field == 11:
                track = value
            elif field == 10:
                name = tables[_NAMES].get(value, "")
            elif field == 23:
                name = _text(value)
            elif field == 3:
                category = tables[_CATEGORIES].get(value, "")
            elif field == 22:
                category = _text(value)
            elif field == 4:
                key, found = _annotation(value, tables[_KEYS])
                args[key] = found
        if kind == _INSTANT and name.startswith("Record Window"):
            self._window(time, name, args)
        elif kind == _BEGIN:
            mark = (category, name, time, args)
            self._early.setdefault(track, []).append((time, mark))
        elif kind == _END:
            self._early.setdefault(track, []).append((time, None))

    def _window(self, time: int, name: str, args: dict[str, Any]) -> None:
        start = time if name.endswith("Start") else (self.window or (time, time))[0]
        self.window = (start, max(time, start))
        self.about.update(args)

    def _joined(
        self, track: int, marks: list[tuple[int, _Open | None]]
    ) -> Iterator[Slice]:
        """An end meets what began last, by time, then as they came."""
        open_: list[_Open] = []
        row = self._tracks.get(track, track)
        marks.sort(key=lambda mark: mark[0])
        for time, begun in marks:
            if begun is not None:
                open_.append(begun)
            elif open_:
                category, name, start, args = open_.pop()
                yield make(category, name, start, time - start, row, args)


def _intern(tables: dict[int, dict[int, str]], data: bytes) -> None:
    for field, value in fields(data):
        if field in tables:
            entry = dict(fields(value))
            tables[field][entry.get(1, 0)] = _text(entry.get(2, b""))


def _annotation(data: bytes, keys: dict[int, str]) -> tuple[str, Any]:
    key = ""
    value: Any = None
    many: list[Any] = []
    for field, found in fields(data):
        if field == 1:
            key = keys.get(found, "")
        elif field == 10:
            key = _text(found)
        elif field == _ARRAY:
            many.append(_annotation(found, keys)[1])
        elif field == _BOOL:
            value = bool(found)
        elif field == _UINT:
            value = found
        elif field == _INT:
            value = found - (1 << 64) if found >> 63 else found
        elif field == _DOUBLE:
            (value,) = struct.unpack("<d", found)
        elif field == _STRING:
            value = _text(found)
        elif field == _JSON:
            value = json.loads(_text(found))
    return key, many or value
