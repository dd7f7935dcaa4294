# SPDX-License-Identifier: MIT
"""Random expressions: indices, conditions, values."""

from __future__ import annotations

import random
from typing import Any

from .c_program import SCALARS, Buffer, Region
from .c_tree import (
    Expr,
    Tree,
    arith,
    cast,
    compare,
    inverted,
    joined,
    limits,
    name,
    negative,
    number,
)


class Values:
    """Random choices, and the expressions of one program."""

    def __init__(self, seed: int, name: str, features: frozenset[str]) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.name = name
        self.features = features
        self.favourites = [
            self.random.choice((1, 2, 4, 8, 16, 32, 64, 128)),
            self.random.choice((1, 2, 3, 4, 5, 7, 12, 17, 24, 64, 96, 100)),
        ]
        self.buffers: list[Buffer] = []
        self.regions: list[Region] = []
        self.integers: list[Expr] = []
        self.counters: list[Expr] = []
        self.loops: list[str] = []
        self.number = 0
        self.pace = 0  # bytes that accesses go on by in each round of the inner loop
        self.budget = self.random.choice((2, 2, 3, 4, 6, 10, 16, 24))
        # One or two guards or loops and nothing else: each further access may make the
        # compiler more careful with all of them.
        self.lean = self.chance(0.4)

    # ---- choices ----

    def has(self, feature: str) -> bool:
        return feature in self.features

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def fresh(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def constant(self) -> int:
        if self.chance(0.7):
            return self.pick(*self.favourites)
        return self.pick(0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127)

    # ---- indices: integers with a known interval ----

    def integer(self) -> Expr:
        """Often i."""
        if self.chance(0.5):
            return self.integers[0]
        return self.pick(*self.integers, *self.counters)

    def scalar(self, *names: str) -> Expr:
        chosen = self.pick(*names) if names else self.pick(*SCALARS)
        type, low, high = SCALARS[chosen]
        return name(chosen, type, low, high)

    def form(self, e: Expr) -> Expr:
        """One step of index arithmetic."""
        c = number(self.constant())
        if self.chance(0.15):
            c = cast(c, self.pick("unsigned", "long", "unsigned long"))
        kind = self.random.randrange(20)
        if kind < 3:
            return arith("+", e, c)
        if kind < 5:
            return arith("-", e, c)
        if kind < 7:
            return arith("^", e, c)
        if kind < 9:
            return arith("|", e, c)
        if kind == 9:
            return arith("&", e, inverted(c) if self.chance(0.5) else c)
        if kind == 10:
            scaled = arith("*", e, number(self.pick(2, 3, 4, -1, -2)))
            return arith("+", scaled, c)
        if kind == 11:
            return negative(e)
        if kind == 12:
            return inverted(e)
        if kind == 13:
            return arith(self.pick(">>", "<<"), e, number(self.random.randrange(6)))
        if kind == 14:
            divisor = number(self.pick(2, 3, 4, 5, 7, 8, 64))
            return arith(self.pick("%", "/"), e, divisor)
        if kind == 15:
            other = self.integer()
            return arith(self.pick("+", "-", "^", "|", "&"), e, other)
        if kind == 16:
            other = self.scalar("n", "items", "m", "k", "h")
            return arith(self.pick("+", "-", "-"), *self.swapped(e, other))
        if kind == 17 and self.has("narrow"):
            narrow = ("signed char", "unsigned char", "short", "unsigned short")
            return cast(e, self.pick(*narrow))
        return cast(e, self.pick("int", "unsigned", "long", "unsigned long"))

    def swapped(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        return (a, b) if self.chance(0.5) else (b, a)

    def index(self) -> Expr:
        e = self.integer()
        for _ in range(self.pick(0, 1, 1, 1, 2, 2, 3)):
            e = self.form(e)
        return e

    def bound(self) -> Expr:
        kind = self.random.randrange(10)
        if kind < 4:
            return self.scalar("n")
        if kind == 4:
            return number(self.pick(self.constant(), 64, 100, 128, -1, 200))
        if kind == 5:
            return arith(self.pick("+", "-"), self.scalar("n"), number(self.constant()))
        if kind == 6:
            return cast(self.scalar("n"), self.pick("unsigned", "long"))
        if kind == 7:
            return self.scalar("items")
        return self.scalar("m", "k", "h", "e")

    # ---- conditions ----

    def bits(self) -> Expr:
        """About bits of an index."""
        e = self.integer() if self.chance(0.8) else self.index()
        c = number(self.constant() or 1)
        masked = arith("&", e, c)
        kind = self.random.randrange(6)
        if kind < 2:
            return compare("==", masked, number(0))
        if kind == 2:
            return Expr(["!", masked], "int", 0, 1)
        if kind == 3:
            return compare(self.pick("!=", "=="), masked, c)
        if kind == 4:
            return compare("!=", masked, number(0))
        shifted = arith(">>", e, number(self.random.randrange(8)))
        return compare(self.pick("==", "<"), shifted, number(self.pick(0, 1, 2)))

    def bounded(self) -> Expr:
        op = self.pick("<", "<", "<", "<=", ">", ">=", "!=", "==")
        return compare(op, *self.swapped(self.index(), self.bound()))

    def condition(self, depth: int = 0) -> Expr:
        kind = self.random.randrange(10)
        if kind < 3:
            return self.bits()
        if kind < 7:
            return self.bounded()
        if kind == 7 and depth < 2:
            parts = [self.condition(depth + 1) for _ in range(2)]
            return joined(parts, self.pick("&&", "||"))
        if kind == 8 and depth < 2:
            return Expr(["!", self.condition(depth + 1)], "int", 0, 1)
        return compare(self.pick("<", ">=", "==", "!="), self.data(1), self.data(1))

    # ---- values: of type unsigned, anything ----

    def variable(self) -> Expr:
        return name(f"v{self.random.randrange(4)}", "unsigned")

    def data(self, depth: int = 0) -> Expr:
        if depth >= 3 or self.chance(0.25):
            kind = self.random.randrange(6)
            if kind == 0:
                return number(
                    self.pick(0, 1, 7, 255, 65535, 1 << 31, 2**32 - 1), "unsigned"
                )
            if kind == 1:
                return cast(self.index(), "unsigned")
            if kind == 2:
                return cast(self.scalar(), "unsigned")
            return self.variable()
        a, b = self.data(depth + 1), self.data(depth + 1)
        kind = self.random.randrange(14)
        if kind < 7:
            return arith(self.pick("+", "-", "*", "&", "|", "^", "^"), a, b)
        if kind == 7:
            return arith(self.pick("<<", ">>"), a, number(self.random.randrange(32)))
        if kind == 8:
            count = arith("&", b, number(31, "unsigned"))
            signed = self.chance(0.5)
            left = cast(a, "int") if signed else a
            return cast(arith(">>", left, count), "unsigned")
        if kind == 9:
            odd = arith("|", b, number(1, "unsigned"))
            odd.low = 1
            return arith(self.pick("/", "%"), a, odd)
        if kind == 10 and self.has("narrow"):
            types = ("signed char", "unsigned char", "short", "unsigned short")
            return cast(cast(a, self.pick(*types)), "unsigned")
        if kind == 11 and self.has("wide"):
            product = arith("*", cast(a, "unsigned long"), b)
            return cast(arith(">>", product, number(32)), "unsigned")
        if kind == 12:
            parts: list[str | Tree] = ["(", self.condition(2), " ? ", a, " : ", b, ")"]
            return Expr(parts, "unsigned", *limits("unsigned"))
        return self.shared_read() if self.has("read") else arith("+", a, b)

    def shared_read(self) -> Expr:
        """An element of an array that all lanes read."""
        buffer = self.pick(*(b for b in self.buffers if b.name == "x"))
        count = buffer.cells(1)
        e = self.index()
        if e.low < 0 or e.high >= count:
            e = arith("&", e, number(count - 1))
        return cast(Expr([buffer.name, "[", e, "]"], "int", 0, 0), "unsigned")
