# SPDX-License-Identifier: MIT
"""Verbose lines: those of HIPADAPT_VERBOSE, and oneDNN's own.

A line begins with a marker and is separated by commas.  A header's line says with
``template:`` which columns a component's lines have; nothing else is known of them.
A file may hold lines of several processes and libraries, and of the program between
them.  hipadapt writes what would break a line as ``%XX``; oneDNN quotes nothing.

    hipadapt_verbose,v1,kernel,info,template:operation,engine,...,exec_time
    hipadapt_verbose,v1,[timestamp,]kernel,exec,gpu:0,...,0.0123
    onednn_verbose,[v1,][timestamp,][primitive,]exec,cpu,...,20.656
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote_to_bytes

from .slices import Progress

OURS = "hipadapt_verbose"
OUR_VERSION = b"v1"
# Operations end in one of these words, or are it, if they tell of something wrong.
WRONG = frozenset({"error", "check", "warning"})
# What oneDNN says without a template's columns, beside those.
_TOLD = frozenset({*WRONG, "dispatch", "start", "debug", "debuginfo"})

_MARKERS = (b"hipadapt_verbose", b"onednn_verbose", b"dnnl_verbose")
_MARKER = re.compile(b"(?:%b)," % b"|".join(_MARKERS))
_VERSION = re.compile(rb"v[0-9]{1,4}")
_TIMESTAMP = re.compile(rb"[0-9]{1,15}(?:\.[0-9]{1,9})?")
# oneDNN 3.2 and older name the component here: the lines of primitives have none.
_TEMPLATE = re.compile(rb"((?:prim_|graph_)?)template:")
_UNNAMED = {b"prim_": b"primitive", b"graph_": b"graph"}
_LINE_BYTES_MAX = 1 << 22
_TIME_MS_MAX = 9e12  # as ns in 64 bits
_PROGRESS_LINES = 1 << 13


class VerboseError(ValueError):
    """A file whose verbose lines can't be read; the text names it."""


class Template(NamedTuple):
    """The columns of a component's lines, as a header says them."""

    marker: str
    component: str
    columns: tuple[str, ...]
    number: int
    """Distinct in a file."""
    operation: int
    """The place of this column."""
    exec_time: int
    """The place of this column; -1: none."""


@dataclass(slots=True)
class Line:
    """A line of results: `line["implementation"]` is a column's text.

    Bytes that are no UTF-8 become surrogates, as `os.fsdecode` makes them.
    """

    template: Template
    component: str
    stamp: bytes
    """The timestamp's text, or nothing."""
    raw: list[bytes]
    """The columns as they stand in the file."""
    duration_ns: int | None
    """exec_time; None where something is told that takes no time."""

    def __getitem__(self, column: str) -> str:
        """The text of a column; KeyError names those that there are."""
        columns = self.template.columns
        if column not in columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(columns)}")
        return self._text(columns.index(column))

    def get(self, column: str) -> str:
        """The text of a column; empty if the line has no such column."""
        return self[column] if column in self.template.columns else ""

    @property
    def operation(self) -> str:
        """``exec``, ``exec:sync``, ``create:cache_hit``, ``error`` and so on."""
        return self._text(self.template.operation)

    @property
    def start_ns(self) -> int | None:
        """Unix time of the start; None without timestamps."""
        if not self.stamp:
            return None
        whole, _, part = self.stamp.partition(b".")
        return int(whole) * 10**6 + int(part[:6].ljust(6, b"0"))

    def values(self, column: str) -> dict[str, str]:
        """The ``key:value`` words of a column, as ``{"corr": "12", "tid": "7"}``."""
        pairs = (word.partition(":") for word in self.get(column).split(" "))
        return {key: value for key, colon, value in pairs if colon}

    def _text(self, place: int) -> str:
        field = self.raw[place]
        if self.template.marker == OURS and b"%" in field:
            field = unquote_to_bytes(field)
        return _text(field)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class Reader:
    """Reads the lines of a file, and counts what else is there.

    Attributes
    ----------
    producers
        The libraries' versions, as ``hipadapt v0.1.0``.
    processes
        Numbers of the processes of hipadapt whose headers were read.
    lost
        Lines that hipadapt says it could not write.
    foreign
        Lines of the program.
    damaged
        Lines that do not have their header's columns.
    headless
        Lines for which no header has come yet.
    complete
        False if the last line has no end; it is not counted then.
    """

    def __init__(
        self, file: BinaryIO, name: str, progress: Progress | None = None
    ) -> None:
        self._file = file
        self._progress = progress
        self._bytes = os.fstat(file.fileno()).st_size if progress else 0
        self._number = 0
        self._known: dict[tuple[bytes, bytes], dict[int, Template]] = {}
        self._bare: set[bytes] = set()
        self.name = name
        self.templates: list[Template] = []
        self.producers: list[str] = []
        self.processes: list[int] = []
        self.lost = self.foreign = self.damaged = self.headless = 0
        self.complete = True

    def lines(self) -> Iterator[Line]:
        """All lines of results, in the order of the file.

        Raises
        ------
        VerboseError
            A header leaves a column out that is needed, or there is none.
        """
        for raw in self._whole_lines():
            start = _MARKER.search(raw)
            if start is None:
                self.foreign += 1
                continue
            # Programs, and those who collect output, write before a marker.
            line = self._line(raw[start.start() :])
            if line is not None:
                yield line
        if not self.templates:
            raise VerboseError(f"{self.name}: {self._nothing()}")

    def _nothing(self) -> str:
        some = self.headless or self.damaged or self.producers or not self.complete
        if not some:
            return "has no verbose lines of hipadapt or oneDNN"
        return (
            "has verbose lines, but no header for them (a line with 'template:'): a "
            "process writes it before its first line"
        )

    def _whole_lines(self) -> Iterator[bytes]:
        """Lines without their ends; one that is too long is the program's."""
        too_long = False
        while piece := self._file.readline(_LINE_BYTES_MAX):
            if piece[-1:] == b"\n":
                self._number += 1
                if self._progress and self._number % _PROGRESS_LINES == 0:
                    self._progress(self._file.tell(), self._bytes)
                if not too_long:
                    yield piece.rstrip(b"\r\n")
                self.foreign += too_long
                too_long = False
            elif len(piece) == _LINE_BYTES_MAX:
                too_long = True
            else:  # the end of the file
                self.complete = too_long or _MARKER.search(piece) is None
        if self._progress:
            self._progress(self._bytes, self._bytes)

    def _line(self, raw: bytes) -> Line | None:
        """What begins with a marker.

        A process that died may have left the start of a line, with no end before the
        next one's.
        """
        while True:
            try:
                return self._parsed(raw.split(b","))
            except _DamagedError:
                self.damaged += 1
            following = _MARKER.search(raw, 1)
            if following is None:
                return None
            raw = raw[following.start() :]

    def _parsed(self, fields: list[bytes]) -> Line | None:
        """None for a line that is no result."""
        marker, at, stamp, version = fields[0], 1, b"", b""
        if _VERSION.fullmatch(fields[at]):
            version, at = fields[at], at + 1
        if at < len(fields) and _TIMESTAMP.fullmatch(fields[at]):
            stamp, at = fields[at], at + 1
        rest = fields[at:]
        if b"info" in rest[:2]:
            _check_alone(rest)
            self._info(marker, version, rest)
            return None
        component = _UNNAMED[b"prim_"]
        if marker not in self._bare or (marker, *rest[:1]) in self._known:
            component, rest = b"".join(rest[:1]), rest[1:]
        # As "api", which has the columns of "kernel".
        known = self._known.get((marker, component)) or self._known.get((marker, b""))
        if known is None:
            self.headless += 1
            return None
        name = component.decode("ascii", "replace")
        template = known.get(len(rest))
        line = _timed(template, name, stamp, rest) if template else None
        return line or _told(marker, name, stamp, rest)

    def _info(self, marker: bytes, version: bytes, fields: list[bytes]) -> None:
        """A header's line, or the count of lost lines."""
        component, rest = b"", fields
        if rest[0] != b"info":
            component, *rest = rest
        if len(rest) < 2:
            return
        shape = _TEMPLATE.match(rest[1])
        if shape is not None:
            columns = [rest[1][shape.end() :], *rest[2:]]
            self._header(marker, version, component, shape[1], columns)
            return
        text = _text(b",".join(rest[1:]))
        key, _, value = text.partition(":")
        if text.startswith(("hipadapt ", "oneDNN ", "DNNL ")):
            if text not in self.producers:
                self.producers.append(text)
        elif marker.decode() == OURS and key == "lost" and value.isdecimal():
            self.lost += int(value[:18])
        elif marker.decode() == OURS and key == "process":
            number = value.partition(",")[0]
            if number.isdecimal() and int(number[:18]) not in self.processes:
                self.processes.append(int(number[:18]))

    def _header(
        self,
        marker: bytes,
        version: bytes,
        component: bytes,
        unnamed: bytes,
        words: list[bytes],
    ) -> None:
        """Takes a template's columns; processes may have different ones."""
        where = f"{self.name}: line {self._number}"
        if marker.decode() == OURS and version != OUR_VERSION:
            raise VerboseError(
                f"{where}: the lines are of version {version.decode() or 'none'}; "
                f"this hipadapt reads {OUR_VERSION.decode()}"
            )
        columns = [_text(word) for word in words]
        if columns[0] == "timestamp":  # which stands before the component
            del columns[0]
        for needed in ("operation", "exec_time"):
            if needed not in columns:
                raise VerboseError(
                    f"{where}: the header has no column {needed!r}; "
                    f"it has {', '.join(columns) or 'none'}"
                )
        component = component or _UNNAMED.get(unnamed, b"")
        template = Template(
            marker.decode(),
            component.decode("ascii", "replace"),
            tuple(columns),
            len(self.templates),
            columns.index("operation"),
            columns.index("exec_time"),
        )
        self.templates.append(template)
        if unnamed == b"prim_":
            self._bare.add(marker)
        for named in (component, b""):
            self._known.setdefault((marker, named), {})[len(columns)] = template


class _DamagedError(Exception):
    """A line that does not have its header's columns."""


def _check_alone(fields: list[bytes]) -> None:
    """No other line has begun within words that may be anything."""
    if any(field.endswith(_MARKERS) for field in fields):
        raise _DamagedError


def _timed(
    template: Template, component: str, stamp: bytes, fields: list[bytes]
) -> Line | None:
    """A line that has the template's columns; None if it is not one."""
    duration = None
    try:
        ms = float(fields[template.exec_time])
        if not 0 <= ms < _TIME_MS_MAX:
            return None
        duration = round(ms * 1e6)
    except ValueError:
        operation = fields[template.operation].decode("ascii", "replace")
        if fields[template.exec_time] or not is_wrong(operation):
            return None
    return Line(template, component, stamp, fields, duration)


def _told(marker: bytes, component: str, stamp: bytes, fields: list[bytes]) -> Line:
    """What oneDNN says of a call without a time: an operation and words."""
    operation = b"".join(fields[:1])
    told = operation.decode("ascii", "replace").rpartition(":")[2] in _TOLD
    if marker.decode() == OURS or not told:
        raise _DamagedError
    _check_alone(fields)
    template = Template(marker.decode(), component, ("operation", "message"), -1, 0, -1)
    return Line(template, component, stamp, [operation, b",".join(fields[1:])], None)


def is_wrong(operation: str) -> bool:
    """Whether an operation's lines tell of something wrong."""
    return operation.rpartition(":")[2] in WRONG


def read(path: str | os.PathLike[str]) -> Iterator[Line]:
    """The lines of results of a file.

    Raises
    ------
    OSError
        The file can't be read.
    VerboseError
        It has no verbose lines, or a header without a needed column.
    """
    with open(path, "rb") as file:
        yield from Reader(file, os.fspath(path)).lines()
