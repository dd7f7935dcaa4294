# SPDX-License-Identifier: MIT
"""Random statements."""

from __future__ import annotations

from collections.abc import Callable

from .c_cells import Cells
from .c_program import ITEMS_MOST, ROUNDS, SIZES, Place, Region
from .c_tree import (
    Block,
    Expr,
    Statement,
    Tree,
    arith,
    cast,
    compare,
    inverted,
    joined,
    limits,
    name,
    number,
    statement,
)


class Statements(Cells):
    """Statements of one program."""

    def block(self, depth: int, most: int = 4) -> Block:
        """Statements; what they declare is known inside of them only."""
        made = Block()
        integers = len(self.integers)
        places = [len(r.places) for r in self.regions]
        regions = len(self.regions)
        for _ in range(self.random.randrange(1, most + 1)):
            if self.budget <= 0:
                break
            self.budget -= 1
            made.parts += self.statements(depth)
        del self.integers[integers:]
        del self.regions[regions:]
        for region, count in zip(self.regions, places, strict=True):
            del region.places[count:]
        return made

    def statements(self, depth: int) -> list[Statement]:
        kinds: list[Callable[[int], list[Statement]]] = [self.assign, self.new_integer]
        if self.regions:
            kinds += [lambda depth: self.touch()] * 5
        extra = {
            "chain": self.chain,
            "read": self.read,
            "return": self.early_return,
            "local": self.local,
        }
        nested = {
            "guard": self.guard,
            "bound": self.bound_guard,
            "pair": self.pair,
            "loop": self.loop,
            "sweep": self.sweep,
            "switch": self.switch,
        }
        kinds += [extra[f] for f in extra if self.has(f)]
        inner = [nested[f] for f in nested if self.has(f)]
        if self.lean and depth == 0 and inner:
            return self.random.choice(inner)(depth)
        if depth < 4:
            kinds += inner * 2
        if self.has("root") and self.regions:
            kinds.append(
                lambda depth: self.pointer_to(
                    r := self.pick(*self.regions),
                    self.pick(r.buffer.element, "byte", "any32", "any16"),
                )
            )
        if self.loops and self.has("leave"):
            kinds.append(self.leave)
        if self.has("assume"):
            kinds.append(self.assume)
        return self.random.choice(kinds)(depth)

    def assign(self, depth: int) -> list[Statement]:
        if self.chance(0.15):
            return [statement("w = w * 0x9E3779B97F4A7C15UL + ", self.data(2), ";")]
        op = self.pick(" = ", " ^= ", " += ")
        return [statement(self.variable(), op, self.data(), ";")]

    def new_integer(self, depth: int) -> list[Statement]:
        """A name for an index."""
        e = self.index()
        type = self.pick(e.type, "int", "unsigned", "long")
        least, most = limits(type)
        low, high = (
            (e.low, e.high) if least <= e.low and e.high <= most else (least, most)
        )
        new = self.fresh("p")
        self.integers.append(name(new, type, low, high))
        return [statement(f"{type} {new} = ", e, ";")]

    def chain(self, depth: int, rounds: int = 1) -> list[Statement]:
        """Many operations.  With so many, the front end leaves a loop of some rounds as
        it is, and the back end unrolls it."""
        made = []
        for _ in range(self.pick(4, 12, 70, 90, 110) // rounds + 1):
            v, c = f"v{self.random.randrange(4)}", self.random.randrange(1, 32)
            u, d = f"v{self.random.randrange(4)}", self.random.randrange(3, 1 << 20) | 1
            text = self.pick(
                f"{v} = {v} * {d}u ^ {u} >> {c};",
                f"{v} ^= {v} << {c};",
                f"{v} = ({v} << {c} | {v} >> {32 - c}) + {u};",
                f"{v} += {u} * {d}u;",
                f"{v} -= {u} ^ {d}u;",
            )
            made.append(statement(text))
        return made

    def read(self, depth: int) -> list[Statement]:
        """An element of the common array, in bounds by a condition or by itself."""
        return [
            statement(
                self.variable(), self.pick(" ^= ", " += "), self.shared_read(), ";"
            )
        ]

    def local(self, depth: int) -> list[Statement]:
        a = self.fresh("a")
        made = [statement(f"unsigned {a}[4] = {{v0, v1, v2, v3}};")]
        for _ in range(self.random.randrange(1, 3)):
            where = arith("&", self.data(2), number(3, "unsigned"))
            made.append(statement(f"{a}[", where, "] ^= ", self.data(2), ";"))
        where = arith("&", self.data(2), number(3, "unsigned"))
        made.append(statement(self.variable(), f" += {a}[", where, "];"))
        return made

    def early_return(self, depth: int) -> list[Statement]:
        if self.chance(0.5):
            return []
        return [statement("if (", self.condition(), ") return;")]

    def assume(self, depth: int) -> list[Statement]:
        """Something true: intervals of integers and scalars, or a condition inside of
        its own guard."""
        kind = self.random.randrange(4)
        if kind == 0:
            e = self.pick(*self.integers, *self.counters)
            return [
                statement(
                    "__builtin_assume(", compare("<=", e, number(e.high, e.type)), ");"
                )
            ]
        if kind == 1:
            e = self.pick(*self.integers, *self.counters)
            return [
                statement(
                    "__builtin_assume(", compare(">=", e, number(e.low, e.type)), ");"
                )
            ]
        if kind == 2:
            return [statement("__builtin_assume(n >= -4096 && items > 0);")]
        if depth >= 4:
            return []
        c = self.bits() if self.chance(0.6) else self.bounded()
        inside = self.block(depth + 1)
        inside.parts.insert(0, statement("__builtin_assume(", c, ");"))
        return [statement("if (", c, ") ", inside)]

    def branch(self, condition: Expr, depth: int) -> Statement:
        parts: list[str | Tree] = ["if (", condition, ") ", self.block(depth + 1)]
        if self.has("else") and self.chance(0.4):
            parts += [" else ", self.block(depth + 1)]
        return Statement(parts)

    def guard(self, depth: int) -> list[Statement]:
        c = self.bits() if self.chance(0.5) else self.condition()
        return [self.branch(c, depth)]

    def bound_guard(self, depth: int) -> list[Statement]:
        """A name for an index, and a bound for it."""
        made = self.new_integer(depth) if self.chance(0.5) else []
        if made:
            new = self.integers[-1]
            op = self.pick("<", "<", "<=", ">", ">=")
            c = compare(op, *self.swapped(new, self.bound()))
        else:
            c = self.bounded()
        if self.chance(0.3):
            c = joined(
                self.random.sample([c, self.bounded()], 2), self.pick("&&", "||")
            )
        return [*made, self.branch(c, depth)]

    def switch(self, depth: int) -> list[Statement]:
        e = self.data(2) if self.chance(0.5) else self.integer()
        parts: list[str | Tree] = ["switch (", arith("&", e, number(3)), ") { case 0: "]
        parts += [self.block(depth + 1), self.pick(" break;", "")]
        parts += [" case 2: ", self.block(depth + 1), " break; default: "]
        parts += [self.block(depth + 1), " }"]
        return [Statement(parts)]

    def pair(self, depth: int) -> list[Statement]:
        """Lanes without some bit, or those with it, own their cell and that of the lane
        whose index differs in this bit."""
        buffer = next((b for b in self.buffers if b.name == "z"), None)
        if buffer is None or any(r.buffer is buffer for r in self.regions):
            return []
        c, i = self.favourites[0], self.integers[0]
        mask = number(c)
        upper = self.seed & 1
        if upper:
            guard = self.pick(
                compare("==", arith("&", i, mask), mask),
                compare("!=", arith("&", i, mask), number(0)),
                arith("&", i, mask),
            )
            forms = (
                arith("^", i, mask),
                arith("-", i, mask),
                arith("&", i, inverted(mask)),
            )
        else:
            guard = self.pick(
                compare("==", arith("&", i, mask), number(0)),
                Expr(["!", arith("&", i, mask)], "int", 0, 1),
                compare("!=", arith("&", i, mask), mask),
            )
            forms = (arith("^", i, mask), arith("+", i, mask), arith("|", i, mask))
        other = [Expr(f.parts, f.type, 0, 2 * ITEMS_MOST) for f in forms]
        integers = len(self.integers)
        inside = Block()
        partner = self.pick(*other)
        if self.chance(0.6):
            type = self.pick("int", "unsigned", "long", i.type)
            new = self.fresh("p")
            inside.parts.append(statement(f"{type} {new} = ", partner, ";"))
            named = name(new, type, 0, 2 * ITEMS_MOST)
            self.integers.append(named)
            other.append(named)
        regions = len(self.regions)
        for cell in (lambda: i, lambda: self.pick(*other)):
            self.regions.append(
                Region(buffer, cell, buffer.cell, [Place(cell, buffer.element)])
            )
        body = self.block(depth + 1, 5)
        if self.chance(0.5):
            c2 = compare("<", self.pick(*other), self.bound())
            body = Block([Statement(["if (", c2, ") ", body])])
        del self.regions[regions:]
        del self.integers[integers:]
        inside.parts += body.parts
        return [statement("if (", guard, ") ", inside)]

    def leave(self, depth: int) -> list[Statement]:
        words = ["break"] if self.loops[-1] != "for" else ["break", "continue"]
        return [statement("if (", self.condition(), f") {self.pick(*words)};")]

    def sweep(self, depth: int) -> list[Statement]:
        """A loop over the elements of a cell."""
        wide = [r for r in self.regions if r.size >= 3 * SIZES[r.buffer.element]]
        return self.loop(depth, self.pick(*wide)) if wide else []

    def swept(self, region: Region) -> Block:
        """Accesses of a cell that go on together, a load and a store among them."""
        others = [r for r in self.regions if r.buffer.element == region.buffer.element]
        size = SIZES[region.buffer.element]
        self.pace = self.pick(size, size, size, 2 * size, max(size, 4))
        made = Block()
        count = len(region.places)
        if self.chance(0.7):
            made.parts += self.pointer_to(region, region.buffer.element)
        # Often all of them go by this pointer.
        narrow = Region(region.buffer, region.cell, region.size, region.places[count:])
        if not narrow.places or self.chance(0.3):
            narrow = region
        more = self.pick(0, 0, 1, 1, 3)
        kinds = [0, 4, *(self.random.randrange(10) for _ in range(more))]
        if self.chance(0.5):
            self.random.shuffle(kinds)
        for kind in kinds:
            made.parts += self.touch(
                narrow if self.chance(0.9) else self.pick(*others), kind
            )
        del region.places[count:]
        self.pace = 0
        return made

    def loop(self, depth: int, swept: Region | None = None) -> list[Statement]:
        """With a constant number of rounds, or one that is known when the kernel runs."""
        if len(self.loops) >= 3:
            return []
        j = self.fresh("j")
        type = self.pick("int", "int", "unsigned", "long", "unsigned char")
        if self.chance(0.5):
            rounds = (
                self.pick(2, 2, 3, 4, 4, 5, 8, 16)
                if not self.loops
                else self.pick(2, 3, 4)
            )
            if swept:
                rounds = min(
                    rounds,
                    self.pick(2, 3, rounds),
                    swept.size // SIZES[swept.buffer.element] - 1,
                )
            limit: Expr = number(rounds)
        else:
            rounds = ROUNDS
            limit = self.scalar("trips")
            if self.loops or (self.chance(0.2) and not swept):
                rounds = 3
                limit = cast(arith("&", self.data(2), number(3, "unsigned")), "int")
        if type in ("unsigned", "unsigned char"):
            limit = cast(limit, "unsigned")
        if limit.high != limit.low:
            bound = self.fresh("e")
            before = [statement("int " + bound + " = ", cast(limit, "int"), ";")]
            limit = name(bound, "int", 0, rounds)
            if type.startswith("unsigned"):
                limit = cast(limit, "unsigned")
        else:
            before = []
        counter = name(j, type, 0, rounds - 1)
        form = self.pick("up", "up", "up", "down", "while", "do")
        if form == "do" and limit.low != limit.high:
            form = "up"
        self.counters.append(counter)
        self.loops.append("for" if form in ("up", "down") else "while")
        running = None if swept else self.running(rounds)
        body = self.block(depth + 1, 6) if swept is None else self.swept(swept)
        if not body.parts:
            body.parts += self.touch() if self.regions else self.assign(depth)
        if self.chance(0.7 if swept else 0.4) and (swept or self.has("chain")):
            # Behind, or somewhere in between, so that stores write what comes out.
            between = self.random.randrange(len(body.parts) + 1)
            place = self.pick(len(body.parts), between, between)
            body.parts[place:place] = self.chain(depth, rounds)
        after = running[1] if running else []
        if running:
            running[2].places.pop()
        body.parts += after
        self.loops.pop()
        self.counters.pop()
        pragma = self.pick(*[""] * 7, "\n#pragma unroll\n", "\n#pragma unroll 1\n")
        before += running[0] if running else []
        if form == "up":
            head: list[str | Tree] = [
                f"{pragma}for ({type} {j} = 0; {j} < ",
                limit,
                f"; {j}++) ",
            ]
            return [*before, Statement([*head, body])]
        if form == "down":
            head = [f"{pragma}for ({type} {j} = ", limit, f"; {j}-- > 0; ) "]
            return [*before, Statement([*head, body])]
        body.parts.append(statement(f"{j}++;", kept=True))
        declare = f"{{ {type} {j} = 0; "
        if form == "while":
            return [
                *before,
                Statement([f"{declare}while ({j} < ", limit, ") ", body, " }"]),
            ]
        return [
            *before,
            Statement([f"{declare}do ", body, f" while ({j} < ", limit, "); }"]),
        ]

    def running(
        self, rounds: int
    ) -> tuple[list[Statement], list[Statement], Region] | None:
        """A pointer that moves on in each round of a loop."""
        if not self.has("step") or not self.regions or self.chance(0.5):
            return None
        region = self.pick(*self.regions)
        element = self.pick(region.buffer.element, "byte", "any16")
        size = SIZES[element]
        step = self.pick(1, 1, 2)
        if (rounds * step + 1) * size > region.size:
            return None
        made = self.pointer_to(region, element, fixed=True)
        if not made:
            return None
        place = region.places[-1]
        if place.low + rounds * step * size > region.size:
            region.places.pop()
            return None
        place.high = place.low + (rounds - 1) * step * size
        place.step = step * size
        move = statement(f"{place.text} += {step};")
        region.places.remove(place)
        region.places.append(place)
        return made, [move], region
