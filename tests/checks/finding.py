# SPDX-License-Identifier: MIT
"""Findings of this process by the C API of csrc/abi/check.h."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import hipadapt

from .marks import Place
from .vocabulary import NOWHERE, bits_of, kind_of, space_of

LIBRARY = Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_cpu.so"


class CSide(c.Structure):
    _fields_ = [
        ("bits", c.c_uint32),
        ("bytes", c.c_uint32),
        ("kernel", c.c_char_p),
        ("call", c.c_char_p),
        ("function", c.c_char_p),
        ("file", c.c_char_p),
        ("text", c.c_char_p),
        ("line", c.c_uint32),
        ("column", c.c_uint32),
        ("block", c.c_uint32 * 3),
        ("thread", c.c_uint32 * 3),
        ("stack", c.c_char_p),
    ]


class CMemory(c.Structure):
    _fields_ = [
        ("space", c.c_int),
        ("name", c.c_char_p),
        ("base", c.c_uint64),
        ("bytes", c.c_uint64),
        ("allocated", c.c_char_p),
        ("allocated_by", c.c_char_p),
        ("freed", c.c_char_p),
        ("freed_by", c.c_char_p),
    ]


class CFinding(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("what", c.c_int),
        ("number", c.c_uint64),
        ("count", c.c_uint64),
        ("device", c.c_int),
        ("message", c.c_char_p),
        ("advice", c.c_char_p),
        ("address", c.c_uint64),
        ("here", CSide),
        ("other", CSide),
        ("memory", CMemory),
    ]


EACH = c.CFUNCTYPE(c.c_int, c.POINTER(CFinding), c.c_void_p)


@dataclass(frozen=True)
class FoundSide:
    """One side, with paths cut down to names so that texts do not name the machine."""

    bits: int
    bytes: int
    kernel: str
    call: str
    function: str
    file: str
    text: str
    line: int
    column: int
    block: Place | None
    thread: Place | None
    stack: str

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}:{self.column} in {self.kernel!r}"
        if self.call:
            at = f"call {self.call}"
        where = f" block={self.block} thread={self.thread}" if self.block else ""
        return f"{bits_of(self.bits)}, {self.bytes} bytes, {at}{where}"


@dataclass(frozen=True)
class Finding:
    """What was found; `offset` is that of the address in its memory, if that is known."""

    kind: str
    count: int
    message: str
    offset: int
    here: FoundSide
    other: FoundSide | None
    space: str
    name: str
    bytes: int

    def __str__(self) -> str:
        second = f"\n        other: {self.other}" if self.other else ""
        memory = f"{self.space} {self.name}".strip()
        return (
            f"{self.kind} ({self.count}x) in {memory} of {self.bytes} bytes at"
            f" {self.offset}: {self.message}\n        here: {self.here}{second}"
        )

    def steady(self) -> Finding:
        """Without what differs between runs: the stack and numbers in the message."""
        other = replace(self.other, stack="") if self.other else None
        here = replace(self.here, stack="")
        return replace(self, here=here, other=other, message="")


def text_of(value: bytes | None) -> str:
    if value is None:
        raise ValueError("a text of a finding is NULL")
    return value.decode()


def place_of(numbers: Any) -> Place | None:
    x, y, z = numbers
    return None if NOWHERE in (x, y, z) else (x, y, z)


def side_of(side: CSide) -> FoundSide:
    return FoundSide(
        bits=side.bits,
        bytes=side.bytes,
        kernel=text_of(side.kernel),
        call=text_of(side.call),
        function=text_of(side.function),
        file=Path(text_of(side.file)).name,
        text=text_of(side.text).strip(),
        line=side.line,
        column=side.column,
        block=place_of(side.block),
        thread=place_of(side.thread),
        stack=text_of(side.stack),
    )


def finding_of(found: CFinding) -> Finding:
    memory = found.memory
    return Finding(
        kind=kind_of(found.what),
        count=found.count,
        message=text_of(found.message),
        offset=found.address - memory.base if memory.base else 0,
        here=side_of(found.here),
        other=side_of(found.other) if found.other.kernel or found.other.bits else None,
        space=space_of(memory.space),
        name=text_of(memory.name),
        bytes=memory.bytes,
    )


@cache
def library() -> c.CDLL:
    """The CPU device that this process has loaded."""
    return c.CDLL(str(LIBRARY))


def findings() -> list[Finding]:
    """All that were made since the last `clear`."""
    found: list[Finding] = []
    errors: list[Exception] = []

    @EACH
    def each(finding: Any, context: Any) -> int:
        try:
            size = finding.contents.size
            if size != c.sizeof(CFinding):
                raise ValueError(f"a finding has {size} bytes; see csrc/abi/check.h")
            found.append(finding_of(finding.contents))
        except Exception as error:
            errors.append(error)
            return 1
        return 0

    library().hipadaptCheckFindings(each, None)
    if errors:
        raise errors[0]
    return found


def clear() -> None:
    """Forget all findings."""
    library().hipadaptCheckClear()
