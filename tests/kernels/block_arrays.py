# SPDX-License-Identifier: MIT
"""Arrays of a block, and who may do what with them until the next barrier.

Between two barriers an array has one *mode*, so that no two lanes race:
own: each lane has cells of its own, and reads and writes them;
read: all lanes read everything;
atomic: all lanes do one operation that commutes, and do not look at what comes out;
one: a single lane reads and writes everything;
head: the first of each few lanes has the cells of them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .block_values import BlockValues
from .c_tree import (
    NARROW,
    WIDTH,
    Block,
    Expr,
    Statement,
    arith,
    cast,
    compare,
    limits,
    name,
    number,
    statement,
)

MODES = ("own", "own", "read", "read", "atomic", "one", "head")
ATOMICS = ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")
ATOMIC_TYPES = ("int", "unsigned", "unsigned long")
HEADS = (2, 4, 8)


@dataclass
class Array:
    """Cells 0 to `length` - 1; a length of 0 means one cell for each lane of the block."""

    text: str
    element: str
    length: int
    mode: str = "read"
    cells: list[Expr] = field(default_factory=list)  # of the lane, in mode own
    operation: str = "Add"
    group: int = 2  # in mode head
    leader: Expr | None = None


def signature(array: Array) -> tuple[object, ...]:
    """What must be the same at both ends of a loop."""
    texts = tuple(cell.text() for cell in array.cells)
    leader = array.leader.text() if array.leader else ""
    return array.mode, texts, array.operation, array.group, leader


class BlockArrays(BlockValues):
    """Accesses of arrays that lanes have in common."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.arrays: list[Array] = []
        self.most = 64  # lanes of a block
        self.dimensions = 1

    # ---- indices ----

    def lane(self) -> Expr:
        return name("t", "int", 0, self.most - 1)

    def lanes(self) -> Expr:
        return name("lanes", "int", 1, self.most)

    def ways(self, length: int) -> list[Callable[[], list[Expr]]]:
        """Functions that give different lanes different cells."""
        t, most = self.lane, self.most
        room = length - most

        def turned() -> list[Expr]:
            far = arith("+", t(), number(self.pick(1, 2, 5, 31, 32)))
            return [Expr([far, " % lanes"], "int", 0, most - 1)]

        def crossed() -> list[Expr]:
            self.mark("transposed")
            low = "(int)(threadIdx.x * blockDim.y + threadIdx.y)"
            if self.dimensions > 2:
                low += " + (int)(threadIdx.z * blockDim.x * blockDim.y)"
            return [Expr([f"({low})"], "int", 0, most - 1)]

        def backwards() -> list[Expr]:
            return [Expr(["(lanes - 1 - t)"], "int", 0, most - 1)]

        found = [lambda: [t()], lambda: [t()], turned, backwards]
        if self.dimensions > 1:
            found += [crossed, crossed]
        if length == 0:
            return found
        power = 1 << (length.bit_length() - 1)
        start = self.random.randrange(room + 1)
        found.append(lambda: [arith("+", t(), number(start))])
        found.append(lambda: [arith("-", number(length - 1), t())])
        if power >= most:
            key = self.random.randrange(power)
            factor = self.pick(3, 5, 7, 17)
            found.append(lambda: [Expr([f"(t ^ {key})"], "int", 0, power - 1)])
            spread = f"(t * {factor} & {power - 1})"
            found.append(lambda: [Expr([spread], "int", 0, power - 1)])
        if room >= most:
            two = [arith("*", t(), number(2))]
            two.append(arith("+", two[0], number(1)))
            found.append(lambda: list(two))
            found.append(lambda: [t(), arith("+", t(), self.lanes())])
        if room >= most // 32:
            found.append(lambda: [Expr(["(t + t / 32)"], "int", 0, most + most // 32)])
        return found

    def anywhere(self, array: Array) -> Expr:
        """The index of any cell."""
        if array.length:
            if self.chance(0.4):
                near = arith(
                    self.pick("+", "^"), self.lane(), number(self.pick(0, 1, 2, 32))
                )
                near = near if near.high < array.length else self.lane()
                return near
            return self.bounded(array.length)
        kind = self.random.randrange(4)
        if kind == 0:
            return self.lane()
        if kind == 1:
            distance = number(self.pick(1, 2, 16, 31))
            return Expr(
                [arith("+", self.lane(), distance), " % lanes"], "int", 0, self.most
            )
        if kind == 2:
            return Expr(["(lanes - 1 - t)"], "int", 0, self.most)
        whole = cast(self.integer(2), "unsigned")
        return Expr(["(int)(", whole, " % (unsigned)lanes)"], "int", 0, self.most)

    # ---- modes ----

    def enter_mode(self, array: Array) -> None:
        """Any mode, as there is nothing that another lane has yet to do."""
        array.mode = self.pick(*MODES)
        if array.element not in ATOMIC_TYPES and array.mode == "atomic":
            array.mode = "own"
        if array.mode == "head" and array.length < self.most + max(HEADS):
            array.mode = "own"
        array.cells = []
        array.leader = None
        if array.mode == "own":
            array.cells = self.pick(*self.ways(array.length))()
        elif array.mode == "atomic":
            array.operation = self.pick(*ATOMICS)
            if array.operation == "Sub" and array.element == "unsigned long":
                array.operation = "Add"
        elif array.mode == "one":
            fixed = number(self.pick(0, 0, 1, 31, 32))
            array.leader = fixed
        elif array.mode == "head":
            array.group = self.pick(*HEADS)
        self.mark(f"mode {array.mode}")

    # ---- accesses ----

    def element(self, array: Array, where: Expr) -> Expr:
        if array.element in ("float", "double"):
            return Expr([f"{array.text}[", where, "]"], array.element, 0, 0)
        kept = name("", array.element)
        return Expr([f"{array.text}[", where, "]"], kept.type, kept.low, kept.high)

    def access(self) -> list[Statement]:
        """What the array's mode allows, at a place that any lanes may come to."""
        if not self.arrays:
            return []
        array = self.random.choice(self.arrays)
        if array.mode == "own":
            return self.access_own(array, self.random.choice(array.cells))
        if array.mode == "read":
            return [self.taken(self.element(array, self.anywhere(array)))]
        if array.mode == "atomic":
            self.mark("atomic")
            place = f"&{array.text}["
            return [
                self.atomic(array, array.operation, [place, self.anywhere(array), "]"])
            ]
        t = self.lane()
        if array.mode == "one":
            assert array.leader is not None
            guard = compare("==", t, array.leader)
            body = [
                s
                for _ in range(2)
                for s in self.access_own(array, self.anywhere(array))
            ]
            return [statement("if (", guard, ") ", Block(list(body)))]
        guard = compare("==", arith("%", t, number(array.group)), number(0))
        made = []
        for _ in range(2):
            inside = self.bounded(array.group)
            made += self.access_own(array, arith("+", t, inside))
        return [statement("if (", guard, ") ", Block(list(made)))]

    def taken(self, e: Expr) -> Statement:
        """A value goes into a variable."""
        return self.given(*self.random.choice(self.scope.targets), e)

    def given(self, target: str, type: str, e: Expr) -> Statement:
        """A value goes into this variable, mostly together with the old one."""
        if type in ("float", "double") and self.chance(0.7):
            # Sums of such values stay finite for long.
            tame = "tame" if type == "float" else "tame_wide"
            part = self.pick(f"{target} * 0.5f + ", f"{target} - ", "", "-0.25f * ")
            return statement(f"{target} = {tame}({part}({type})", e, ");")
        if type in ("float", "double"):
            return statement(f"{target} = ({type})", e, ";")
        if e.type in ("float", "double"):
            call = "to_int((float)" if e.type == "float" else "to_long((double)"
            return statement(f"{target} = ({type}){call}", e, ");")
        op = self.pick("=", "^", "+", "^", "+", "*")
        if op == "=":
            return statement(f"{target} = ({type})", e, ";")
        if op == "*":
            # Shifts what was there, so that it is not lost.
            return statement(
                f"{target} = ({type})((unsigned long){target} * 33 + ", e, ");"
            )
        wide = "unsigned long"
        return statement(f"{target} = ({type})(({wide}){target} {op} ({wide})", e, ");")

    def access_own(self, array: Array, where: Expr) -> list[Statement]:
        """An access that nobody else meets."""
        place = self.element(array, where)
        kind = self.random.randrange(8)
        if kind < 2:
            return [self.taken(place)]
        if kind == 2 and array.element in ATOMIC_TYPES:
            return self.fetched(array, where)
        if kind == 3:
            return self.by_pointer(array, where)
        if kind == 5 and array.element in WIDTH and self.chance(0.4):
            return [self.in_parts(array, where)]
        value = self.of(array.element, 1)
        if kind == 4 and array.element in ("float", "double"):
            return [statement(place, self.pick(" += ", " *= "), value, ";")]
        if kind == 4 and array.element in WIDTH and array.element.startswith("u"):
            return [
                statement(place, self.pick(" += ", " ^= ", " -= ", " *= "), value, ";")
            ]
        return [statement(place, " = ", value, ";")]

    def fetched(self, array: Array, where: Expr) -> list[Statement]:
        """An atomic operation whose result is used."""
        self.mark("atomic with result")
        kind = self.pick(*ATOMICS, "Exch", "CAS")
        if kind == "Sub" and array.element == "unsigned long":
            kind = "Add"
        given = "word64" if array.element == "unsigned long" else array.element
        before = f"({array.element})atomic{kind}(({given} *)&{array.text}["
        parts = [before, where, f"], ({given})", self.integer(2)]
        if kind == "CAS":
            parts += [f", ({given})", self.integer(2)]
        return [self.taken(Expr([*parts, ")"], *self.kind(array.element)))]

    @staticmethod
    def kind(type: str) -> tuple[str, int, int]:
        """Type and interval of a value of some type."""
        if type in ("float", "double"):
            return (type, 0, 0)
        if type == "flag":
            return ("int", 0, 1)
        return ("int" if type in NARROW else type, *limits(type))

    def in_parts(self, array: Array, where: Expr) -> Statement:
        """A cell as bytes or words of other types."""
        self.mark("cell as another type")
        part, many = self.pick(("byte", 4), ("any32", 1), ("any16", 2))
        inside = arith("&", self.variable(), number(many - 1))
        cell = [f"(({part} *)&{array.text}[", where, "])[", inside, "]"]
        if self.chance(0.5):
            kind = "unsigned char" if part == "byte" else "unsigned"
            return self.taken(Expr([*cell], *self.kind(kind)))
        return Statement(
            [*cell, self.pick(" = ", " ^= ", " += "), self.integer(1), ";"]
        )

    def by_pointer(self, array: Array, where: Expr) -> list[Statement]:
        """Through a pointer, which may point into one of two arrays."""
        p, value = self.fresh("p"), self.of(array.element, 1)
        self.mark("pointer")
        parts = [f"{{ {array.element} *{p} = &{array.text}[", where, "]; "]
        others = [
            a for a in self.arrays if a.element == array.element and a.mode == "own"
        ]
        if array.mode == "own" and others and self.chance(0.6):
            other = self.random.choice(others)
            cell = self.random.choice(other.cells)
            self.mark("one of two arrays")
            parts = [f"{{ {array.element} *{p} = ", self.condition(1)]
            parts += [f" ? &{array.text}[", where, f"] : &{other.text}[", cell, "]; "]
        parts += [
            f"*{p} = ",
            value,
            "; ",
            self.taken(name(f"*{p}", array.element))
            if array.element not in ("float", "double")
            else self.taken(Expr([f"*{p}"], array.element, 0, 0)),
            " }",
        ]
        return [Statement(parts)]

    def atomic(
        self, array: Array, operation: str, place: list[str | Expr]
    ) -> Statement:
        given = "word64" if array.element == "unsigned long" else array.element
        value = self.integer(2)
        first, *rest = place
        return Statement(
            [
                f"atomic{operation}(({given} *){first}",
                *rest,
                f", ({given})",
                value,
                ");",
            ]
        )
