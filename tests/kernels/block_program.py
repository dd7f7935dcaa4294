# SPDX-License-Identifier: MIT
"""A kernel with barriers and warp calls that is C as well as HIP C++.

What the lanes of a block do together is told to gcc's side by macros, which are nothing
for the device: `ENTER(k)` stands before a loop, `TRIP(k)` where a round begins, and
`AT(k, call)` around a warp call, where k counts the loops around in this function.  After
`STEP(k)` all lanes of the warp have made the accesses before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from .c_program import PRELUDE as TYPES
from .c_program import Program
from .c_tree import Block, Statement, Tree

DEVICE = """#pragma clang fp contract(off)
#define KERNEL extern "C" __global__
#define FUNCTION static __device__
#define NOINLINE __noinline__
#define LAUNCH_BOUNDS(lanes) __launch_bounds__(lanes)
#define SHARED __shared__
extern __shared__ __attribute__((aligned(64))) char dynamic_memory[];
#define DYNAMIC_SHARED(type, name) type *name = (type *)dynamic_memory
#define ENTER(k)
#define TRIP(k)
#define AT(k, e) (e)
#define STEP(k)
#define CALL(k, e) (e)
"""
# What comes out of floats without the bits of a NaN, which IEEE 754 leaves open.
PRELUDE = (
    TYPES
    + """
typedef unsigned long long word64;
typedef bool flag;
FUNCTION float clean(float f) { return f == f ? f : 0.5f; }
FUNCTION double clean_wide(double f) { return f == f ? f : 0.5; }
FUNCTION float tame(float f) { return f > -1e6f && f < 1e6f ? f : 1.5f; }
FUNCTION double tame_wide(double f) { return f > -1e9 && f < 1e9 ? f : 1.5; }
FUNCTION unsigned bits(float f) { f = clean(f); unsigned u; __builtin_memcpy(&u, &f, 4); return u; }
FUNCTION unsigned long bits_wide(double f)
{ f = clean_wide(f); unsigned long u; __builtin_memcpy(&u, &f, 8); return u; }
FUNCTION float as_float(unsigned u) { float f; __builtin_memcpy(&f, &u, 4); return clean(f); }
FUNCTION int to_int(float f) { return f > -2e9f && f < 2e9f ? (int)f : 77; }
FUNCTION long to_long(double f) { return f > -9e18 && f < 9e18 ? (long)f : 77; }
"""
)
LEVEL = re.compile(r"@(\d+)@")


@dataclass
class Loop(Statement):
    """A loop; `@own@` in its own text is its level, `@0@` that of what is inside."""

    def text(self, indent: str = "") -> str:
        inside = LEVEL.sub(lambda m: f"@{int(m[1]) + 1}@", super().text(indent))
        return inside.replace("@own@", "@0@")


@dataclass
class Function(Statement):
    """A device function."""

    name: str = ""


@dataclass
class BlockProgram(Program):
    """A kernel and the functions that it calls; `body` has all of their text."""

    before: ClassVar[str] = DEVICE + PRELUDE
    warp: int = 32  # lanes
    seen: set[str] = field(default_factory=set)  # what it contains, for statistics

    def source(self) -> str:
        return LEVEL.sub(lambda m: m[1], self.body.text()) + "\n"


def whole(functions: list[Function], head: str, body: Block) -> Tree:
    """The text of a program as one tree."""
    parts: list[str | Tree] = []
    for function in functions:
        parts += [function, "\n"]
    return Tree([*parts, head, body])
