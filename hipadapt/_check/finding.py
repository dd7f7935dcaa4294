# SPDX-License-Identifier: MIT
"""A finding of a checked kernel, as the device writes it (csrc/cpu/check/report.h)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .kinds import KINDS, Kind

Index = tuple[int, int, int]


def _frames(stack: str) -> tuple[str, ...]:
    return tuple(line for line in stack.split("\n") if line)


def _index(value: Any) -> Index | None:
    return None if value is None else (int(value[0]), int(value[1]), int(value[2]))


@dataclass(frozen=True)
class Side:
    """One side of a finding: an access of a kernel, or a call of the host.

    Texts that are not known are empty, and so are numbers 0.
    """

    access: tuple[str, ...]
    """Of ``read``, ``write``, ``atomic`` and ``free``."""
    bytes: int
    """Of the access."""
    kernel: str
    """Its name as the programmer wrote it; empty: the host."""
    call: str
    """The function of HIP, where it is the host."""
    function: str
    """Of the kernel's code that the access stands in."""
    file: str
    """Of the source."""
    line: int
    """From 1."""
    column: int
    """From 1, in bytes."""
    text: str
    """Of the line."""
    block: Index | None
    """Index of the block."""
    thread: Index | None
    """Index of the thread in its block."""
    stack: tuple[str, ...]
    """Of the host: a text a frame, the innermost first."""

    @property
    def place(self) -> str:
        """``saxpy.hip:7:12``, as far as it is known."""
        numbers = [self.line, self.column] if self.line else []
        return (
            ":".join([self.file, *(str(n) for n in numbers if n)]) if self.file else ""
        )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Side:
        """From an object of JSON."""
        values = {field.name: given[field.name] for field in dataclasses.fields(cls)}
        values["access"] = tuple(given["access"])
        values["block"] = _index(given["block"])
        values["thread"] = _index(given["thread"])
        values["stack"] = _frames(given["stack"])
        return cls(**values)


@dataclass(frozen=True)
class Memory:
    """The allocation that an address belongs to, or is nearest to."""

    space: str
    """``global``, ``shared``, ``local``, ``constant`` and so on."""
    name: str
    """Of a variable."""
    base: int
    """Its address."""
    bytes: int
    """Its size."""
    allocated: str
    """The call that made it."""
    allocated_by: tuple[str, ...]
    """The stack of that call."""
    freed: str
    """The call that freed it; empty where it is not."""
    freed_by: tuple[str, ...]
    """The stack of that call."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Memory:
        """From an object of JSON."""
        values = {field.name: given[field.name] for field in dataclasses.fields(cls)}
        values["base"] = int(given["base"], 16)
        values["allocated_by"] = _frames(given["allocated_by"])
        values["freed_by"] = _frames(given["freed_by"])
        return cls(**values)


@dataclass(frozen=True, repr=False)
class Finding:
    """A mistake of a kernel or of a call, with where it happened.

    ``str(finding)`` is the report that a terminal gets.
    """

    kind: str
    """``out-of-bounds``, ``race`` and so on: docs/check_kinds.md has all."""
    word: str
    """The word of HIPADAPT_CHECK that asks for it."""
    message: str
    """What is wrong, in one line."""
    advice: str
    """What to do."""
    count: int
    """How often it was made: equal ones are one."""
    device: int
    """Number of the device."""
    address: int
    """That was accessed."""
    here: Side
    """The access or call that is wrong."""
    other: Side | None
    """The second side; of a race, the earlier one."""
    memory: Memory | None
    """What the address belongs to, or is nearest to."""
    process: int
    """Number of the process."""
    number: int
    """Of the finding in its process, from 1."""
    report: str
    """Lines for people."""

    @property
    def kernel(self) -> str:
        """Of this side."""
        return self.here.kernel

    @property
    def file(self) -> str:
        """Of this side."""
        return self.here.file

    @property
    def line(self) -> int:
        """Of this side."""
        return self.here.line

    @property
    def about(self) -> Kind:
        """The row of the table of kinds."""
        return KINDS.get(self.kind) or Kind(self.kind, self.word, self.message, "")

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for findings that are one."""
        sides = [
            (side.access, side.kernel, side.call, side.place)
            for side in (self.here, self.other)
            if side is not None
        ]
        return (self.kind, self.device, *sorted(sides))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Finding:
        """From an object of JSON; KeyError, TypeError or ValueError for others."""
        values = {field.name: given[field.name] for field in dataclasses.fields(cls)}
        other, memory = given["other"], given["memory"]
        values["address"] = int(given["address"], 16)
        values["here"] = Side.of(given["here"])
        values["other"] = None if other is None else Side.of(other)
        values["memory"] = None if memory is None else Memory.of(memory)
        return cls(**values)

    def headline(self) -> str:
        """Kind and place: ``out-of-bounds, scale.hip:7:12 in scale(float*)``."""
        place = f", {self.here.place}" if self.here.place else ""
        who = self.here.kernel or self.here.call
        return f"{self.kind}{place}" + (f" in {who}" if who else "")

    def __str__(self) -> str:
        return self.report.rstrip("\n")

    def __repr__(self) -> str:
        times = f", {self.count} times" if self.count > 1 else ""
        return f"<Finding {self.headline()}{times}>"

    def _repr_html_(self) -> str:
        from .html import finding_html

        return finding_html(self)
