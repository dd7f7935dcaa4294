# SPDX-License-Identifier: MIT
"""Text of C programs as trees, and integer arithmetic that is never undefined.

A program is a tree of blocks, statements and expressions, whose leaves are text.  So a
program can be cut down piece by piece.  Each expression knows its type and the interval
that its value lies in; `arith` makes signed arithmetic only where it cannot overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = {"int": 32, "unsigned": 32, "long": 64, "unsigned long": 64}
RANK = ("int", "unsigned", "long", "unsigned long")
NARROW = {
    "signed char": (-128, 127),
    "unsigned char": (0, 255),
    "short": (-32768, 32767),
    "unsigned short": (0, 65535),
}


@dataclass
class Tree:
    """Text with parts that can be replaced."""

    parts: list[str | Tree]

    def text(self, indent: str = "") -> str:
        return "".join(
            part if isinstance(part, str) else part.text(indent) for part in self.parts
        )


@dataclass
class Expr(Tree):
    """An expression, its type after promotion, and the interval of its value."""

    type: str
    low: int
    high: int


@dataclass
class Statement(Tree):
    """A statement; `kept` says that it must not be taken out."""

    kept: bool = False


@dataclass
class Block(Tree):
    """Statements in braces."""

    parts: list[str | Tree] = field(default_factory=list)

    def text(self, indent: str = "") -> str:
        inner = indent + "    "
        lines = "".join(
            f"{inner}{part if isinstance(part, str) else part.text(inner)}\n"
            for part in self.parts
        )
        return f"{{\n{lines}{indent}}}"


def limits(type: str) -> tuple[int, int]:
    """The smallest and the largest value of a type."""
    if type in NARROW:
        return NARROW[type]
    bits = WIDTH[type]
    if type.startswith("unsigned"):
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def unsigned(type: str) -> str:
    """The unsigned type of the same width."""
    return {"int": "unsigned", "long": "unsigned long"}.get(type, type)


def fits(low: int, high: int, type: str) -> bool:
    least, most = limits(type)
    return least <= low and high <= most


def converted(e: Expr, type: str) -> tuple[int, int]:
    """The interval of a value after conversion."""
    return (e.low, e.high) if fits(e.low, e.high, type) else limits(type)


def number(value: int, type: str = "int") -> Expr:
    suffix = {"int": "", "unsigned": "u", "long": "L", "unsigned long": "UL"}[type]
    text = f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"
    return Expr([text], type, value, value)


def name(text: str, type: str, low: int | None = None, high: int | None = None) -> Expr:
    """A variable or parameter; without an interval, of any value."""
    least, most = limits(type)
    promoted = "int" if type in NARROW else type
    return Expr(
        [text], promoted, least if low is None else low, most if high is None else high
    )


def cast(e: Expr, type: str) -> Expr:
    low, high = converted(e, type)
    return Expr([f"({type})", e], "int" if type in NARROW else type, low, high)


def common(a: Expr, b: Expr) -> str:
    """The type that both operands of an operator are converted to."""
    return RANK[max(RANK.index(a.type), RANK.index(b.type))]


def interval(op: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int] | None:
    """Of the exact result; None where little is known."""
    positive = a[0] >= 0 and b[0] >= 0
    if op == "+":
        return a[0] + b[0], a[1] + b[1]
    if op == "-":
        return a[0] - b[1], a[1] - b[0]
    if op == "*":
        ends = [x * y for x in a for y in b]
        return min(ends), max(ends)
    if op == "&" and (a[0] >= 0 or b[0] >= 0):
        return 0, min(x[1] for x in (a, b) if x[0] >= 0)
    if op in "|^" and positive:
        return 0, (1 << max(a[1], b[1]).bit_length()) - 1
    if op == "/" and b[0] > 0:
        ends = [abs(x) // y * (1 if x >= 0 else -1) for x in a for y in b]
        return min(*ends, 0) if a[0] < 0 else min(ends), max(ends)
    if op == "%" and b[0] > 0:
        return (1 - b[1] if a[0] < 0 else 0), b[1] - 1
    if op == ">>" and b[0] == b[1]:
        return a[0] >> b[0], a[1] >> b[0]
    if op == "<<" and b[0] == b[1] and a[0] >= 0:
        return a[0] << b[0], a[1] << b[0]
    return None


def arith(op: str, a: Expr, b: Expr) -> Expr:
    """`a op b` in C's types, by way of unsigned where it might overflow."""
    shift = op in ("<<", ">>")
    type = a.type if shift else common(a, b)
    exact = interval(op, converted(a, type), (b.low, b.high))
    if not shift:
        exact = interval(op, converted(a, type), converted(b, type))
    plain = ["(", a, f" {op} ", b, ")"]
    if exact is not None and fits(*exact, type):
        return Expr(plain, type, *exact)
    wide = unsigned(type)
    if type == wide or op in "&|^" or op == ">>":
        return Expr(plain, type, *limits(type))
    middle = ["(", cast(a, wide), f" {op} ", b if shift else cast(b, wide), ")"]
    return Expr([f"({type})", *middle], type, *limits(type))


def negative(e: Expr) -> Expr:
    return arith("-", number(0, "int"), e)


def inverted(e: Expr) -> Expr:
    if e.type.startswith("unsigned"):
        return Expr(["~", e], e.type, *limits(e.type))
    return Expr(["~", e], e.type, ~e.high, ~e.low)


def compare(op: str, a: Expr, b: Expr) -> Expr:
    return Expr(["(", a, f" {op} ", b, ")"], "int", 0, 1)


def statement(*parts: str | Tree, kept: bool = False) -> Statement:
    return Statement(list(parts), kept)


def joined(parts: Sequence[Expr], word: str) -> Expr:
    """Conditions with && or || between them."""
    inside: list[str | Tree] = ["("]
    for part in parts:
        inside += [part, f" {word} "]
    inside[-1] = ")"
    return Expr(inside, "int", 0, 1)
