# SPDX-License-Identifier: MIT
"""A kernel that is C as well as HIP C++, its buffers, and how it is launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .c_tree import Block, Expr

ITEMS_MOST = 1024  # values of i stay below
GUARD = 512  # bytes on each side of a buffer that nobody may touch
ROUNDS = 20  # values of `trips` stay below
ARENA_MOST = 1 << 18

# Types and macros that both compilers know.  A name that begins with `any` may alias.
PRELUDE = """
typedef unsigned char byte;
typedef unsigned short __attribute__((may_alias)) any16;
typedef unsigned __attribute__((may_alias)) any32;
typedef unsigned long __attribute__((may_alias)) any64;
typedef unsigned any128 __attribute__((vector_size(16), may_alias));
"""
SCALARS = {
    "n": ("int", -4096, 8192),
    "m": ("unsigned", None, None),
    "k": ("long", None, None),
    "h": ("short", None, None),
    "e": ("int", None, None),
    "trips": ("int", 0, ROUNDS),
    "items": ("int", 1, ITEMS_MOST),
}
SIZES = {
    "signed char": 1,
    "byte": 1,
    "short": 2,
    "unsigned short": 2,
    "any16": 2,
    "int": 4,
    "unsigned": 4,
    "any32": 4,
    "long": 8,
    "unsigned long": 8,
    "any64": 8,
    "any128": 16,
}
TWIN = {
    "signed char": "byte",
    "byte": "signed char",
    "short": "unsigned short",
    "unsigned short": "short",
    "int": "unsigned",
    "unsigned": "int",
    "long": "unsigned long",
    "unsigned long": "long",
}
ELEMENTS = tuple(TWIN)


@dataclass
class Buffer:
    """A parameter that points to memory; `cells` says how many there are for a launch."""

    name: str
    element: str
    cell: int  # bytes
    cells: Callable[[int], int]
    qualifier: str = ""
    shift: int = 0  # bytes between the start and where the parameter points
    same_as: str | None = None


@dataclass
class Launch:
    """Sizes and the values of scalars."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    scalars: dict[str, int]
    salt: int
    shared: int = 0  # bytes of dynamic shared memory

    @property
    def items(self) -> int:
        return self.scalars["items"]

    @property
    def lanes(self) -> int:
        """Of a block."""
        x, y, z = self.block
        return x * y * z


@dataclass
class Place:
    """Where a pointer points, in bytes from the start of a cell."""

    text: Callable[[], Expr] | str  # an index of cells, or a pointer's name
    element: str
    low: int = 0
    high: int = 0
    step: int = 16  # the distance is a multiple of this


@dataclass
class Region:
    """A lane's cell in a buffer."""

    buffer: Buffer
    cell: Callable[[], Expr]  # its number; forms differ, the value does not
    size: int
    places: list[Place] = field(default_factory=list)


@dataclass
class Program:
    """A kernel, and how to call it."""

    # What the device needs before the programs of a module.
    before: ClassVar[str] = '#define KERNEL extern "C" __global__\n' + PRELUDE
    options: ClassVar[Sequence[str]] = ()  # of the device's compiler

    name: str
    buffers: list[Buffer]
    body: Block
    launches: list[Launch]
    seed: int

    def parameters(self) -> str:
        pointers = [
            f"{b.element} *{b.qualifier}{b.name}"
            if not b.name == "x"
            else f"const {b.element} *{b.qualifier}{b.name}"
            for b in self.buffers
        ]
        return ", ".join(pointers + [f"{t} {s}" for s, (t, _, _) in SCALARS.items()])

    def source(self) -> str:
        return f"KERNEL void {self.name}({self.parameters()}) {self.body.text()}\n"

    def layout(self, launch: Launch) -> tuple[dict[str, tuple[int, int]], int]:
        """First byte and size of each buffer in the memory of a launch, and its size."""
        places: dict[str, tuple[int, int]] = {}
        end = GUARD
        for buffer in self.buffers:
            if buffer.same_as is not None:
                places[buffer.name] = places[buffer.same_as]
                continue
            size = buffer.cell * buffer.cells(launch.items)
            places[buffer.name] = (end, size)
            end += -(-size // 16) * 16 + GUARD
        return places, end


def power(value: int) -> int:
    """The smallest power of two that is larger than a value."""
    return 1 << value.bit_length()
