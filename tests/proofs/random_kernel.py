# SPDX-License-Identifier: MIT
"""Random kernels: indices from coordinates and numbers, conditions, loops, barriers."""

from __future__ import annotations

import random
from collections.abc import Callable

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

    # ---- loops with barriers, as sums of a block have them ----

    def together(self) -> Expr:
        """A number that all lanes have alike; nearly always."""
        rng = self.rng
        if rng.random() < 0.08:
            return cast("int", rng.choice(self.values))
        half = arithmetic("/", "int", coordinate("dx"), number("int", 2))
        fixed = number("int", rng.choice((2, 3, 4, 8, 16, 32)))
        return cast(
            "int", rng.choice((fixed, half, half, coordinate("dx"), self.limits[0]))
        )

    def shared_access(self, value: Expr, now: Expr | None) -> None:
        rng = self.rng
        x = cast("int", coordinate("tx"))
        places = [x, x, arithmetic("+", "int", x, value)]
        places.append(arithmetic(rng.choice("-^"), "int", x, value))
        places.append(rng.choice((value, number("int", 0), cast("int", self.index()))))
        if now is not None:
            other = arithmetic("-", "int", number("int", 1), now)
            for side in (now, other, other):
                row = arithmetic("*", "int", side, number("int", 32))
                places.append(arithmetic("+", "int", row, rng.choice((x, places[3]))))
        what = rng.choice(("write", "read", "read"))
        self.code.access(rng.choice("sst"), rng.choice(places), what)

    def guarded_access(self, value: Expr, now: Expr | None) -> None:
        rng = self.rng
        x = cast("int", coordinate("tx"))
        limit = rng.choice((value, value, number("int", 0), self.together()))
        order = compare(rng.choice(("<", "<", ">=", "==")), "int", x, limit)
        guarded = rng.random() < 0.7
        if guarded:
            self.code.begin(f"if ({order.text})", f"if {order.python}")
        for _ in range(rng.choice((1, 1, 2))):
            self.shared_access(value, now)
        if guarded:
            self.code.end()

    def parts(self, parts: str, stop: Expr, access: Callable[[], None]) -> None:
        """Of a round: accesses, barriers, and where it may be the last."""
        for part in parts:
            if part == "a":
                access()
            elif part == "b":
                self.code.barrier()
            else:
                self.code.add(f"if ({stop.text}) break;", f"if {stop.python}: break")

    def tree(self) -> None:
        """Over halves of the block, or steps that double, with one or two buffers."""
        rng = self.rng
        name = self.name()
        value = Expr("int", name, name)
        two, one = number("int", 2), number("int", 1)
        way = rng.randrange(4)
        if way < 2:
            start, test = self.together(), compare(">", "int", value, number("int", 0))
            following = arithmetic("/", "int", value, two)
            if way == 1:
                following = arithmetic(">>", "int", value, one)
        elif way == 2:
            start, test = one, compare("<", "int", value, self.together())
            following = arithmetic("*", "int", value, two)
        else:
            start = number("int", 0)
            test = compare("<", "int", value, self.together())
            following = arithmetic("+", "int", value, rng.choice((one, two)))
        now = None
        if rng.random() < 0.4:
            now = self.code.declare(self.name(), number("int", 0))
        if rng.random() < 0.7:
            self.guarded_access(value=one, now=now)
            self.code.barrier()
        self.code.add(f"int {name} = {start.text};", f"{name} = {start.python}")
        self.code.add("", f"{name}r = 0")
        self.code.begin(
            f"for (; {test.text}; {name} = {following.text})", f"while {test.python}"
        )
        self.code.add("", f"if {name}r > 60: raise TooLong")
        parts = rng.choice(("ab", "ab", "ab", "bab", "abab", "ba", "abx", "axb"))
        stop = compare("<", "int", value, number("int", rng.randrange(4)))
        self.parts(parts, stop, lambda: self.guarded_access(value, now))
        if now is not None:
            turned = arithmetic("-", "int", one, now)
            self.code.add(
                f"{now.text} = {turned.text};", f"{now.text} = {turned.python}"
            )
        self.code.add("", f"{name} = {following.python}")
        self.code.add("", f"{name}r += 1")
        self.code.end()
        if rng.random() < 0.8:
            self.guarded_access(number("int", 0), now)

    def simple_access(self, often: int = 2) -> None:
        """Lanes differ, so often, or all meet in one element."""
        rng = self.rng
        x = cast("int", coordinate("tx"))
        one = number("int", rng.choice((0, 1, 3)))
        place = rng.choice((*[x] * often, one))
        one = compare("==", "int", x, number("int", rng.choice((0, 1, 3))))
        guarded = place is not x and rng.random() < 0.6
        if guarded:
            self.code.begin(f"if ({one.text})", f"if {one.python}")
        self.code.access("s", place, rng.choice(("write", "read")))
        if guarded:
            self.code.end()

    def sums(self) -> None:
        """Few accesses around loops with barriers: what is proved of them is so by
        the barriers alone."""
        rng = self.rng
        x = cast("int", coordinate("tx"))
        self.values = [x]
        for _ in range(rng.choice((1, 1, 1, 2))):
            if rng.random() < 0.3:
                self.simple_access()
            if rng.random() < 0.3:
                self.code.barrier()
            limit = rng.choice((x, x, x, cast("int", self.limits[0])))
            some = compare("<", "int", limit, number("int", rng.choice((1, 4, 8))))
            guarded = rng.random() < 0.5
            if guarded:
                self.code.begin(f"if ({some.text})", f"if {some.python}")
            self.round(rng.choice(("ab", "ab", "ab", "ba", "aba", "axb", "axb", "bax")))
            if guarded:
                self.code.end()
            if rng.random() < 0.9:
                self.simple_access(often=0 if rng.random() < 0.7 else 2)

    def round(self, parts: str) -> None:
        """A loop of few rounds, as many for each lane as for others, or not."""
        rng = self.rng
        name = self.name()
        count = number("int", rng.choice((1, 1, 3, 3, 2)))
        if rng.random() < 0.25:
            count = arithmetic("&", "int", cast("int", coordinate("tx")), count)
        elif rng.random() < 0.8:  # or it is unrolled
            count = arithmetic("&", "int", rng.choice(self.limits), count)
        value = Expr("int", name, name)
        following = arithmetic("+", "int", value, number("int", 1))
        test = compare("<", "int", value, count)
        self.code.add(f"int {name} = 0;", f"{name} = 0")
        first = rng.random() < 0.3  # the body comes before the test
        head = f"for (; {test.text}; {name} = {following.text})"
        if first:
            self.code.begin("for (;;)", "while True")
        else:
            self.code.begin(head, f"while {test.python}")
        last = arithmetic("&", "int", rng.choice(self.limits), count)
        self.parts(parts, compare("==", "int", value, last), self.simple_access)
        self.code.add("", f"{name} = {following.python}")
        if first:
            self.code.add(
                f"if (!(({name} = {following.text}) < {count.text})) break;",
                f"if not ({test.python}): break",
            )
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
            self.code.barrier()
        elif way < 0.72 and depth == 0:
            self.tree()
        elif way < 0.725:
            self.code.barrier()  # lanes may have parted
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
        if rng.random() < 0.35:
            self.sums()
            return Kernel(name, self.code)
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
