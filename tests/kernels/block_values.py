# SPDX-License-Identifier: MIT
"""Random expressions of all types of integers and floats."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .c_program import SCALARS
from .c_tree import (
    NARROW,
    WIDTH,
    Expr,
    Tree,
    arith,
    cast,
    common,
    compare,
    inverted,
    joined,
    limits,
    name,
    negative,
    number,
)

INTEGERS = (*NARROW, *WIDTH)
FLOATS = ("float", "double")
PLAIN = ("int", "unsigned", "long", "unsigned long")


@dataclass
class Scope:
    """What can be read and written where the text has come to."""

    integers: list[Expr] = field(default_factory=list)  # may be read
    floats: list[Expr] = field(default_factory=list)
    targets: list[tuple[str, str]] = field(default_factory=list)  # name, type
    uniform: list[Expr] = field(default_factory=list)  # the same in all of the block
    uniform_targets: list[tuple[str, str]] = field(default_factory=list)
    private: list[tuple[str, str, int]] = field(default_factory=list)  # and length

    def mark(self) -> list[int]:
        return [len(part) for part in self.parts()]

    def back(self, mark: Sequence[int]) -> None:
        """Forget what came after a mark."""
        for part, size in zip(self.parts(), mark, strict=True):
            del part[size:]

    def parts(self) -> list[list[Any]]:
        return [
            self.integers,
            self.floats,
            self.targets,
            self.uniform,
            self.uniform_targets,
            self.private,
        ]


class BlockValues:
    """Random choices, and expressions."""

    def __init__(self, seed: int, name: str) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.name = name
        self.scope = Scope()
        self.number = 0
        self.warp = 32  # lanes
        self.seen: set[str] = set()

    # ---- choices ----

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def fresh(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def mark(self, *words: str) -> None:
        """The program has something of this kind."""
        self.seen.update(words)

    # ---- integers ----

    def constant(self) -> Expr:
        value = self.pick(0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 64, 100, 255, 1000)
        return number(value) if self.chance(0.8) else number(value, self.pick(*PLAIN))

    def leaf(self) -> Expr:
        kind = self.random.randrange(10)
        if kind < 6 and self.scope.integers:
            return self.random.choice(self.scope.integers)
        if kind < 8 and self.scope.uniform:
            return self.random.choice(self.scope.uniform)
        if kind == 8 and self.scope.private:
            return self.private_element()
        return self.constant()

    def integer(self, depth: int = 0) -> Expr:
        """Of any type; what it reads differs by lane."""
        if depth >= 3 or self.chance(0.3):
            return self.leaf()
        return self.combined(lambda: self.integer(depth + 1), depth)

    def of(self, type: str, depth: int = 0) -> Expr:
        """Of one type."""
        if type in FLOATS:
            return self.floating(type, depth)
        if type == "flag":
            return self.condition(depth)
        e = self.integer(depth)
        return e if e.type == type and self.chance(0.7) else cast(e, type)

    def same(self, depth: int = 0) -> Expr:
        """The same in all lanes of a block."""
        if depth >= 2 or self.chance(0.5):
            if self.scope.uniform and self.chance(0.8):
                return self.random.choice(self.scope.uniform)
            return self.constant()
        a, b = self.same(depth + 1), self.same(depth + 1)
        op = self.pick("+", "-", "*", "&", "|", "^")
        return arith(op, a, b)

    def combined(self, part: Any, depth: int) -> Expr:
        """An operation on parts."""
        kind = self.random.randrange(18)
        if kind < 7:
            return arith(self.pick("+", "-", "*", "&", "|", "^", "+"), part(), part())
        if kind < 9:
            return self.shifted(part())
        if kind == 9:
            return self.divided(part(), part())
        if kind == 10:
            return compare(self.pick("<", "<=", "==", "!=", ">"), part(), part())
        if kind == 11:
            a, b = part(), part()
            type = common(a, b)
            return Expr(
                [
                    "(",
                    self.condition(2),
                    " ? ",
                    cast(a, type),
                    " : ",
                    cast(b, type),
                    ")",
                ],
                type,
                *limits(type),
            )
        if kind == 12:
            return cast(part(), self.pick(*INTEGERS))
        if kind == 13:
            return self.pick(negative, inverted)(part())
        if kind == 14:
            return self.counted(part())
        if kind == 15:
            type = self.pick("int", "unsigned")
            a, b = cast(part(), type), cast(part(), type)
            op = self.pick("min", "max")
            return Expr([f"{op}(", a, ", ", b, ")"], type, *limits(type))
        if kind == 16 and self.scope.floats:
            return self.from_float(depth)
        return cast(part(), self.pick(*PLAIN))

    def shifted(self, a: Expr) -> Expr:
        count: Expr = number(self.random.randrange(WIDTH[a.type]))
        if self.chance(0.5):
            count = arith("&", self.leaf(), number(WIDTH[a.type] - 1, "unsigned"))
        return arith(self.pick("<<", ">>"), a, count)

    def divided(self, a: Expr, b: Expr) -> Expr:
        """Never by 0, and never the least integer by -1."""
        op = self.pick("/", "%")
        type = self.pick(*PLAIN)
        self.mark("division")
        a, b = cast(a, type), cast(b, type)
        kind = self.random.randrange(4)
        least, most = limits(type)
        if kind == 0:
            b = number(self.pick(2, 3, 5, 7, 8, 10, 64, 100, 1000), type)
        elif kind == 1 and least < 0:
            b = number(self.pick(-3, -2, -7), type)
        elif type.startswith("unsigned"):
            b = arith("|", b, number(1, type))
        else:
            mask = cast(arith("&", b, number(255, type)), type)
            b = arith("+", mask, number(self.pick(1, 2), type))
        return Expr(["(", a, f" {op} ", b, ")"], type, least, most)

    def counted(self, a: Expr) -> Expr:
        call = self.pick("__popc", "__clz", "__ffs", "__popcll", "__umulhi")
        if call == "__umulhi":
            other = cast(self.leaf(), "unsigned")
            parts = ["__umulhi(", cast(a, "unsigned"), ", ", other, ")"]
            return Expr(parts, "unsigned", *limits("unsigned"))
        type = {"__popcll": "unsigned long", "__ffs": "int"}.get(call, "unsigned")
        if call == "__clz":
            # HIP takes an int, gcc an unsigned.
            return Expr(["__clz((int)", cast(a, "int"), ")"], "int", 0, 32)
        return Expr([f"{call}(", cast(a, type), ")"], "int", 0, 64)

    def bounded(self, count: int) -> Expr:
        """An int from 0 to count - 1, of any expression."""
        e = self.integer(1)
        if 0 <= e.low and e.high < count:
            return cast(e, "int")
        u = cast(e, "unsigned")
        if count & (count - 1) == 0:
            return cast(arith("&", u, number(count - 1, "unsigned")), "int")
        return cast(arith("%", u, number(count, "unsigned")), "int")

    def private_element(self) -> Expr:
        known = [p for p in self.scope.private if p[1] not in FLOATS]
        if not known:
            return self.constant()
        array, type, length = self.random.choice(known)
        where = number(self.random.randrange(length))
        if self.chance(0.6):
            self.mark("private array, index of the lane")
            where = arith("&", self.variable(), number(length - 1, "unsigned"))
        e = name("", type)
        return Expr([f"{array}[", where, "]"], e.type, e.low, e.high)

    def variable(self) -> Expr:
        if self.scope.integers:
            return self.random.choice(self.scope.integers)
        return self.constant()

    # ---- floats ----

    def from_float(self, depth: int) -> Expr:
        self.mark("float to integer")
        if self.chance(0.5):
            f = self.floating("float", depth + 1)
            if self.chance(0.5):
                return Expr(["bits(", f, ")"], "unsigned", *limits("unsigned"))
            return Expr(["to_int(", f, ")"], "int", *limits("int"))
        d = self.floating("double", depth + 1)
        if self.chance(0.5):
            return Expr(
                ["bits_wide(", d, ")"], "unsigned long", *limits("unsigned long")
            )
        return Expr(["to_long(", d, ")"], "long", *limits("long"))

    def float_leaf(self, type: str) -> Expr:
        known = [f for f in self.scope.floats if f.type == type]
        if known and self.chance(0.7):
            return self.random.choice(known)
        arrays = [p for p in self.scope.private if p[1] == type]
        if arrays and self.chance(0.5):
            array, _, length = self.random.choice(arrays)
            where = arith("&", self.variable(), number(length - 1, "unsigned"))
            return Expr([f"{array}[", where, "]"], type, 0, 0)
        kind = self.random.randrange(5)
        if kind < 2:
            text = self.pick(
                "0.5", "1.25", "3.0", "-0.75", "1e-3", "1e20", "0.1", "-7.0"
            )
            return Expr([text + ("f" if type == "float" else "")], type, 0, 0)
        if kind == 2 and type == "float":
            return Expr(["as_float(", cast(self.leaf(), "unsigned"), ")"], type, 0, 0)
        if kind == 3 and self.scope.floats:
            return Expr(
                [f"({type})", self.random.choice(self.scope.floats)], type, 0, 0
            )
        return Expr([f"({type})", self.leaf()], type, 0, 0)

    def floating(self, type: str, depth: int = 0) -> Expr:
        self.mark(type)
        if depth >= 3 or self.chance(0.3):
            return self.float_leaf(type)
        f = "f" if type == "float" else ""
        a = self.floating(type, depth + 1)
        kind = self.random.randrange(12)
        if kind == 0:
            magnitude = Expr([f"fabs{f}(", a, ")"], type, 0, 0)
            return Expr([f"sqrt{f}(", magnitude, ")"], type, 0, 0)
        if kind == 1:
            return Expr(["(- ", a, ")"], type, 0, 0)
        if kind == 11:
            call = self.pick("floor", "ceil", "trunc", "rint", "fabs")
            return Expr([f"{call}{f}(", a, ")"], type, 0, 0)
        b = self.floating(type, depth + 1)
        if kind == 2:
            c = self.float_leaf(type)
            return Expr([f"fma{f}(", a, ", ", b, ", ", c, ")"], type, 0, 0)
        if kind == 3:
            # The sum makes one zero of both, for which C leaves the choice open.
            op = self.pick("fmin", "fmax")
            return Expr([f"({op}{f}(", a, ", ", b, f") + 0.0{f})"], type, 0, 0)
        if kind == 4:
            return Expr(["(", self.condition(2), " ? ", a, " : ", b, ")"], type, 0, 0)
        return Expr(
            ["(", a, self.pick(" + ", " - ", " * ", " * ", " / "), b, ")"], type, 0, 0
        )

    # ---- conditions ----

    def condition(self, depth: int = 0) -> Expr:
        """Differs by lane."""
        kind = self.random.randrange(10)
        if kind < 2:
            return self.by_place()
        if kind == 2 and depth < 2:
            self.mark("short circuit")
            parts = [self.condition(depth + 1) for _ in range(2)]
            return joined(parts, self.pick("&&", "||"))
        if kind == 3 and depth < 2:
            return Expr(["!", self.condition(depth + 1)], "int", 0, 1)
        if kind == 4 and self.scope.floats:
            a = self.random.choice(self.scope.floats)
            op = self.pick("<", ">=", "==", "!=")
            return compare(op, a, self.floating(a.type, 2))
        if kind < 7:
            mask = self.pick(1, 2, 3, 7, 12)
            masked = arith("&", self.variable(), number(mask))
            if mask == 2 or mask == 12 or self.chance(0.6):
                return compare(
                    self.pick("==", "!="), masked, number(self.pick(0, mask))
                )
            return compare(self.pick("<", ">="), masked, number(self.pick(1, mask)))
        op = self.pick("<", ">=", "<", ">=", "!=")
        return compare(op, self.integer(2), self.integer(2))

    def by_place(self) -> Expr:
        """Some lanes of each warp, or of the block."""
        t = name("t", "int", 0, 1023)
        kind = self.random.randrange(5)
        if kind == 0:
            modulus = number(self.pick(2, 3, 4, 5, 8, 32))
            return compare("==", arith("%", t, modulus), number(self.pick(0, 1)))
        if kind == 1:
            return compare(
                self.pick("<", ">="), t, self.pick(self.constant(), self.same())
            )
        if kind == 2:
            return compare(
                "!=", arith("&", t, number(self.pick(1, 4, 16, 32))), number(0)
            )
        if kind == 3:
            warp = arith("/", t, number(32))
            return compare("==", warp, number(self.pick(0, 1, 2)))
        return compare("==", t, number(self.pick(0, 1, 31, 32)))

    def same_condition(self) -> Expr:
        """The same in all lanes of a block."""
        masked = arith("&", self.same(), number(self.pick(1, 2, 3, 4)))
        if self.chance(0.5):
            return compare(self.pick("==", "!="), masked, number(self.pick(0, 1)))
        return compare(self.pick("<", ">=", "!="), self.same(), self.same())

    def scalars(self) -> list[Expr]:
        return [name(s, type, low, high) for s, (type, low, high) in SCALARS.items()]


Text = str | Tree
