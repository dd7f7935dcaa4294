# SPDX-License-Identifier: MIT
"""Random kernels: indices from coordinates and numbers, conditions, loops, barriers."""

from __future__ import annotations

import random

from .kernel import (
    BUFFERS,
    Code,
    Expr,
    Kernel,
    arithmetic,
    both,
    cast,
    choice,
    compare,
    looked_up,
    number,
)

ARITHMETIC = ("int", "int", "int", "unsigned", "unsigned", "long", "unsigned long")
ORDERS = ("<", "<", "<", "<=", ">", ">=", "!=", "==")


def coordinate(name: str) -> Expr:
    return Expr("unsigned", name, name)


class Maker:
    """Makes one kernel."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.code = Code()
        self.names = 0
        self.values: list[Expr] = []  # that may be indices
        self.limits = [
            Expr("int", "n", "n"),
            Expr("int", "m", "m"),
            Expr("long", "p", "p"),
            Expr("unsigned", "u", "u"),
            Expr("short", "w", "w"),
        ]
        self.returned = False

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def kind(self) -> str:
        return self.rng.choice(ARITHMETIC)

    # ---- values ----

    def start_value(self) -> Expr:
        """A linear index of one, two or three dimensions, as programs have it."""
        rng = self.rng
        axis = rng.choice("xxxxyyz")
        kind = rng.choice(("int", "int", "unsigned", "long"))
        b, d, t = (coordinate(x + axis) for x in "bdt")
        if rng.random() < 0.15:
            return cast(kind, rng.choice((b, t)))
        return cast(
            kind, arithmetic("+", "unsigned", arithmetic("*", "unsigned", b, d), t)
        )

    def small(self) -> Expr:
        return number("int", self.rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 7, 8, 16, 31)))

    def derived(self) -> Expr:
        """From values that there are."""
        rng = self.rng
        kind = self.kind()
        a = rng.choice(self.values)
        b = rng.choice(self.values)
        limit = rng.choice(self.limits)
        way = rng.randrange(15)
        if way < 4:
            return arithmetic(rng.choice("+-"), kind, a, self.small())
        if way < 6:
            return arithmetic("+", kind, arithmetic("*", kind, a, limit), b)
        if way == 6:
            return arithmetic("*", kind, a, self.small())
        if way == 7:
            return arithmetic(rng.choice(("<<", ">>")), kind, a, self.small())
        if way == 8:
            return arithmetic(rng.choice("%/&|^"), kind, a, self.small())
        if way == 9:
            return arithmetic(rng.choice("%/"), kind, a, limit)
        if way == 10:
            return cast(rng.choice(("short", "unsigned char", "int", "long")), a)
        if way == 11:
            least = arithmetic("-", kind, limit, number("int", 1))
            order = compare(rng.choice("<>"), kind, a, least)
            return choice(order, cast(kind, a), least)
        if way == 12:
            return arithmetic("-", kind, limit, arithmetic("+", kind, a, self.small()))
        if way == 13:
            return arithmetic("&", "int", looked_up(a), number("int", 7))
        return arithmetic("+", kind, a, b)

    def index(self) -> Expr:
        value = self.rng.choice(self.values[-4:])
        return self.derived() if self.rng.random() < 0.35 else value

    def condition(self, of: Expr | None = None) -> Expr:
        rng = self.rng
        value = of if of is not None else self.rng.choice(self.values)
        limit = rng.choice(self.limits[:2] if rng.random() < 0.7 else self.limits)
        kind = self.kind()
        if rng.random() < 0.25:
            limit = arithmetic("-", kind, limit, self.small())
        if rng.random() < 0.1:
            limit = self.small()
        one = compare(rng.choice(ORDERS), kind, value, limit)
        if rng.random() < 0.3:
            other = compare(">", "int", value, number("int", rng.randrange(-1, 3)))
            return both("&&" if rng.random() < 0.85 else "||", other, one)
        return one

    # ---- statements ----

    def access(self, index: Expr | None = None) -> None:
        rng = self.rng
        place = index if index is not None else self.index()
        if rng.random() < 0.25:
            small = rng.choice((coordinate("tx"), coordinate("tx"), place))
            buffer = rng.choice("st")
            self.code.access(buffer, small, rng.choice(("write", "read", "read")))
            return
        buffer = rng.choice(list(BUFFERS))
        what = "read" if buffer == "d" else rng.choice(("read", "read", "write"))
        if buffer == "a" and rng.random() < 0.2:
            what = "atomic"
        self.code.access(buffer, place, what)

    def loop(self, depth: int) -> None:
        rng = self.rng
        name = self.name()
        kind = rng.choice(("int", "int", "unsigned", "long"))
        limit = cast(
            kind, rng.choice((*self.limits[:2], number("int", 5), self.values[-1]))
        )
        step = rng.choice((1, 1, 1, 2, 3, 16))
        way = rng.randrange(5)
        value = Expr(kind, name, name)
        start = number(kind, rng.choice((0, 0, 0, 1, 2)))
        following: Expr = arithmetic("+", kind, value, number(kind, step))
        test = compare("<", kind, value, limit)
        if way == 1:  # over the grid
            start = cast(kind, self.values[0])
            stride = arithmetic("*", "unsigned", coordinate("gx"), coordinate("dx"))
            following = arithmetic("+", kind, value, stride)
        elif way == 2:
            start = arithmetic("-", kind, limit, number(kind, 1))
            following = arithmetic("-", kind, value, number(kind, step))
            test = compare(">=", "int", value, number("int", rng.choice((0, 0, 1))))
        elif way == 3:
            test = compare("!=", kind, value, limit)
        elif way == 4:
            start = number(kind, 1)
            following = arithmetic("<<", kind, value, number(kind, 1))
        self.code.add(f"{kind} {name} = {start.text};", f"{name} = {start.python}")
        self.code.add(f"int {name}r = 0;", f"{name}r = 0")
        self.code.begin(
            f"for (; {test.text} && {name}r < 40; {name} = {following.text}, {name}r++)"
            if rng.random() < 0.15
            else f"for (; {test.text}; {name} = {following.text})",
            f"while {test.python}",
        )
        limited = f"{name}r <" in self.code.text[-1]
        self.code.python.append(
            "    " * self.code.depth
            + (
                f"if {name}r >= 40: break"
                if limited
                else f"if {name}r > 60: raise TooLong"
            )
        )
        self.values.append(value)
        self.block(depth + 1, rng.randrange(1, 3))
        self.values = [other for other in self.values if other is not value]
        self.code.python.append(
            "    " * self.code.depth + f"{name} = {following.python}"
        )
        self.code.python.append("    " * self.code.depth + f"{name}r += 1")
        self.code.end()

    def statement(self, depth: int) -> None:
        rng = self.rng
        way = rng.random()
        if way < 0.2:
            self.values.append(self.code.declare(self.name(), self.derived()))
        elif way < 0.45 and depth < 3:
            condition = self.condition()
            self.code.begin(f"if {condition.text}", f"if {condition.python}")
            self.block(depth + 1, rng.randrange(1, 3))
            self.code.end()
        elif way < 0.6 and depth < 2:
            self.loop(depth)
        elif way < 0.66 and depth == 0 and not self.returned:
            self.code.add("__syncthreads();", "yield")
        else:
            self.access()

    def block(self, depth: int, count: int) -> None:
        kept = len(self.values)
        for _ in range(count):
            self.statement(depth)
        if depth > 0:
            del self.values[kept:]

    def make(self, name: str) -> Kernel:
        rng = self.rng
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            self.values.append(self.code.declare(self.name(), self.start_value()))
        if len(self.values) > 1 and rng.random() < 0.6:
            kind = rng.choice(("int", "int", "long", "unsigned"))
            row, column = self.values[0], self.values[1]
            linear = arithmetic(
                "+", kind, arithmetic("*", kind, row, self.limits[1]), column
            )
            guard = both(
                "&&",
                compare("<", "int", row, self.limits[0]),
                compare("<", "int", column, self.limits[1]),
            )
            self.begin_guard(guard)
            self.values.append(self.code.declare(self.name(), linear))
        elif rng.random() < 0.7:
            self.begin_guard(self.condition(self.values[0]))
        self.block(1 if self.code.depth > 1 else 0, rng.randrange(1, 5))
        while self.code.depth > 1:
            self.code.end()
        return Kernel(name, self.code)

    def begin_guard(self, condition: Expr) -> None:
        if self.rng.random() < 0.5:
            self.code.begin(f"if {condition.text}", f"if {condition.python}")
        else:
            self.code.add(
                f"if (!{condition.text}) return;", f"if not {condition.python}: return"
            )
            self.returned = True


def kernel_of(seed: str, name: str) -> Kernel:
    return Maker(random.Random(seed)).make(name)
