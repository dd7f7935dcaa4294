# SPDX-License-Identifier: MIT
"""Random kernels for fuzz_init, which read some memory that nobody wrote.

What a kernel does depends on its lane alone, and so does where it reads and writes, but
for statements whose effect nobody looks at.  So what is found does not depend on what
memory without a value happens to hold.  A statement is a tuple; fuzz_init prints it as
C++, init_oracle runs it.

Per phase, between barriers, shared memory is written and read by its own lane, or only
read.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

LANES = 8
BLOCKS = 2
WORDS = LANES * BLOCKS  # of each array in device memory
VARIABLES = 4
LOCALS = 4
ARRAYS = ("a", "b")
RELATIONS = ("==", "!=", "<", ">", "<=", ">=")
Statement = tuple[Any, ...]
Expression = tuple[Any, ...]


@dataclass
class Program:
    """One kernel, and what the host does before it is launched."""

    name: str
    body: list[Statement]
    # ("fill", array, first byte, bytes, value), ("write", ...), ("copy", to, from, ...)
    host: list[Statement] = field(default_factory=list)


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shared_writes = True
        self.line = 0  # of the statements that decide something

    # ---- expressions ----

    def constant(self) -> Expression:
        pick = self.random
        return (
            "const",
            pick.choice((0, 1, 2, 3, 7, 15, 255, 256, pick.getrandbits(32))),
        )

    def leaf(self) -> Expression:
        pick = self.random
        kind = pick.randrange(9)
        if kind < 3:
            return ("var", pick.randrange(VARIABLES))
        if kind < 5:
            return ("local", pick.choice((pick.randrange(LOCALS), "t")))
        if kind < 7:
            return ("global", pick.choice(ARRAYS))
        if kind == 7:
            other = 0 if self.shared_writes else pick.randrange(LANES)
            return ("shared", other)
        return pick.choice((("lane",), self.constant()))

    def expression(self, depth: int) -> Expression:
        pick = self.random
        if depth == 0 or pick.random() < 0.25:
            return self.leaf()
        kind = pick.randrange(12)
        deeper = self.expression(depth - 1)
        if kind < 7:
            operator = pick.choice(("+", "-", "&", "|", "^"))
            other = (
                self.expression(depth - 1) if pick.random() < 0.5 else self.constant()
            )
            return ("binary", operator, deeper, other)
        if kind == 7:
            return ("times", deeper, pick.choice((0, 1, 2, 3, 4, 12, 256)))
        if kind == 8:
            return ("shift", deeper, pick.choice((-17, -8, -1, 1, 3, 16)))
        if kind == 9:
            return (
                "cast",
                pick.choice(("unsigned char", "unsigned short", "signed char")),
                deeper,
            )
        if kind == 10:
            return ("call", deeper, self.constant(), pick.randrange(3))
        return ("choice", pick.randrange(1, LANES), deeper, self.expression(depth - 1))

    # ---- statements ----

    def place(self) -> Expression:
        """Where a lane may write."""
        pick = self.random
        kind = pick.randrange(8)
        if kind < 3:
            return ("var", pick.randrange(VARIABLES))
        if kind < 5:
            return ("local", pick.choice((pick.randrange(LOCALS), "t")))
        if kind < 6 and self.shared_writes:
            return ("shared", 0)
        return ("global", pick.choice(ARRAYS))

    def decision(self) -> Statement:
        pick = self.random
        kind = pick.randrange(6)
        if kind < 4:
            other = self.expression(1) if pick.random() < 0.4 else self.constant()
            return ("if", pick.choice(RELATIONS), self.expression(2), other)
        if kind == 4:
            return ("index", self.expression(2))
        return ("float", self.expression(1), self.expression(1))

    def simple(self) -> Statement:
        pick = self.random
        kind = pick.randrange(10)
        if kind < 4:
            return ("set", self.place(), self.expression(3))
        if kind == 4:
            size = pick.choice((1, 2))
            return (
                "part",
                self.place(),
                size,
                pick.randrange(4 // size),
                self.expression(2),
            )
        if kind == 5:
            size = pick.randrange(1, 5)
            start = pick.randrange(0, 5 - size)
            return ("copy", self.place(), self.place(), start, size)
        if kind == 6:
            what = pick.choice(("Add", "Or", "Exch", "Max", "Xor"))
            shared = self.shared_writes and pick.random() < 0.5
            place = ("shared", 0) if shared else ("global", pick.choice(ARRAYS))
            return (
                "atomic",
                what,
                pick.randrange(VARIABLES),
                place,
                self.expression(1),
            )
        return self.decision()

    def block(self, depth: int, count: int) -> list[Statement]:
        made: list[Statement] = []
        for _ in range(count):
            kind = self.random.random()
            if depth > 0 and kind < 0.12:
                mask = self.random.randrange(1, LANES)
                made.append(
                    ("branch", mask, self.block(depth - 1, 2), self.block(depth - 1, 2))
                )
            elif depth > 0 and kind < 0.2:
                made.append(
                    ("loop", self.random.randrange(1, 4), self.block(depth - 1, 2))
                )
            else:
                made.append(self.simple())
        return made

    def body(self) -> list[Statement]:
        made: list[Statement] = []
        for phase in range(self.random.randrange(1, 5)):
            if phase > 0:
                made.append(("barrier",))
                self.shared_writes = not self.shared_writes
            made += self.block(2, self.random.randrange(2, 7))
            if self.random.random() < 0.5:
                made.append(
                    (
                        "shuffle",
                        self.random.randrange(VARIABLES),
                        self.expression(1),
                        self.random.randrange(LANES),
                    )
                )
        self.shared_writes = True
        return [*made, self.decision(), self.decision()]

    def host(self) -> list[Statement]:
        pick, made = self.random, []
        for _ in range(pick.randrange(0, 5)):
            size = pick.randrange(1, 4 * WORDS + 1)
            first = pick.randrange(0, 4 * WORDS - size + 1)
            kind = pick.choice(("fill", "write", "copy"))
            array = pick.choice(ARRAYS)
            if kind == "copy":
                source = pick.randrange(0, 4 * WORDS - size + 1)
                made.append((kind, array, first, size, source))
            else:
                made.append((kind, array, first, size, pick.randrange(256)))
        return made


def program(seed: int, number: int) -> Program:
    maker = Maker(seed)
    return Program(f"k{number}", maker.body(), maker.host())
