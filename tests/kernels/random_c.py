# SPDX-License-Identifier: MIT
"""Random kernels that are C as well as HIP C++, with exactly one result each.

Each lane owns *cells*: a cell is a few bytes of a buffer, found from the lane's index i
by a function that gives no two lanes the same cell.  A lane reads and writes its cells
in any order and width, and reads what nobody writes.  So lanes may run in any order, and
a loop over lanes in plain C gives the result.  Nothing in a program is undefined:
`c_tree.arith` keeps signed arithmetic in range, and accesses of other types than a
buffer's go through character types and types that may alias.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .c_program import (
    ARENA_MOST,
    ELEMENTS,
    ITEMS_MOST,
    ROUNDS,
    SIZES,
    Buffer,
    Launch,
    Place,
    Program,
    Region,
    power,
)
from .c_statements import Statements
from .c_tree import Block, Expr, Statement, arith, cast, name, number, statement

# Kinds of statements and of expressions; each module has some of them only.
FEATURES = (
    "chain",
    "guard",
    "bound",
    "pair",
    "loop",
    "sweep",
    "leave",
    "return",
    "assume",
    "read",
    "local",
    "switch",
    "root",
    "alias",
    "narrow",
    "wide",
    "planes",
    "else",
    "step",
    "restrict",
)


class Writer(Statements):
    """Makes one random program."""

    def own_buffers(self) -> None:
        """Buffers of cells, and one that all lanes read."""
        for place in range(1 if self.lean else self.pick(1, 1, 2, 3)):
            self.cell_buffer(place)
        c = self.favourites[0]
        if self.has("pair"):
            element = self.pick(*ELEMENTS, "unsigned")
            size = SIZES[element]
            pairs = Buffer("z", element, size, lambda count: power(max(count, c)) + 1)
            self.buffers.append(pairs)
        element = self.pick(*ELEMENTS)
        common = Buffer("x", element, SIZES[element], lambda count: 64)
        common.qualifier = self.restrict()
        out = Buffer("out", "unsigned", 4, lambda count: count)
        out.qualifier = self.restrict()
        self.buffers += [common, out]

    def restrict(self) -> str:
        """Stores that may be to any buffer hide what the compiler does with others."""
        if self.has("restrict"):
            return "__restrict__ "
        return self.pick("", "", "", "__restrict__ ")

    def cell_buffer(self, place: int) -> None:
        """A buffer, perhaps with a second parameter that points there, and the cells
        that each lane has in it."""
        element = self.pick(*ELEMENTS, "unsigned", "unsigned")
        size = SIZES[element]
        # The compiler gathers elements of up to eight neighbours into wide accesses.
        few = self.pick(2, 3, 4, 4, 6, 8) * size
        cell = max(size, self.pick(size, size, few, few, 16, 16, 32, 64, 256, 1024))
        if self.has("sweep") and self.chance(0.6):
            cell = max(few, self.pick(4, 4, 6, 8) * size)
        buffer = Buffer(f"y{place}", element, cell, lambda count: count)
        cells = [self.cell_of(buffer)]
        if self.has("planes") and buffer.cells(1) == 1 and self.chance(0.5):
            buffer.cells = lambda count: 3 * count
            cells += [self.plane(1), self.plane(2)]
        pointers = [buffer]
        if self.has("alias") and self.chance(0.5):
            second = Buffer(f"s{place}", element, cell, buffer.cells)
            second.shift, second.same_as = self.pick(0, 0, size, 16), buffer.name
            pointers.append(second)
        else:
            buffer.qualifier = self.restrict()
        self.buffers += pointers
        for made in cells:
            for pointer in pointers:
                self.regions.append(Region(pointer, made, cell, [Place(made, element)]))

    def cell_of(self, buffer: Buffer) -> Callable[[], Expr]:
        """Which cell belongs to i, and how many cells there are."""
        i = self.integers[0]
        c = self.pick(*self.favourites)
        kind = self.pick("same", "same", "same", "shift", "reverse", "xor")
        if kind == "same" or buffer.cell > 32:
            return lambda: i
        if kind == "shift":
            buffer.cells = lambda count: count + c
            return lambda: arith("+", i, number(c))
        if kind == "xor":
            buffer.cells = lambda count: power(max(count, c))
            return lambda: arith("^", i, number(c))
        last = arith("-", name("items", "int", 1, ITEMS_MOST), number(1))
        reverse = arith("-", cast(last, "long"), cast(i, "long"))
        reverse = Expr(reverse.parts, "long", 0, ITEMS_MOST)
        return lambda: cast(reverse, "int") if self.chance(0.5) else reverse

    def plane(self, which: int) -> Callable[[], Expr]:
        """Cells behind those of all lanes."""
        far = arith("*", name("items", "int", 1, ITEMS_MOST), number(which))
        return lambda: arith("+", cast(self.integers[0], "long"), far)

    def lane_index(self) -> tuple[list[str], str, int, int]:
        """Lines that declare i and other places; what stands before the braces of the
        rest; dimensions; the block's width if it is a constant of the program."""
        type = self.pick(
            *("int",) * (8 if self.lean else 3),
            "unsigned",
            "long",
            "unsigned long",
            "short",
        )
        self.integers.append(name("i", type, 0, ITEMS_MOST - 1))
        row = "blockIdx.x * blockDim.x + threadIdx.x"
        kind = 0 if self.lean else self.random.randrange(12)
        if kind < 5:
            return [f"{type} i = {row};"], "", 1, 0
        if kind == 5:
            self.integers.append(name("t", "int", 0, 1023))
            line = "int t = threadIdx.x, b = blockIdx.x, d = blockDim.x;"
            return [line, f"{type} i = b * d + t;"], "", 1, 0
        if kind == 6:
            return (
                [f"{type} i = ({type})blockIdx.x * blockDim.x + threadIdx.x;"],
                "",
                1,
                0,
            )
        if kind == 7:
            width = self.pick(32, 64, 128)
            shift = width.bit_length() - 1
            form = self.pick(
                f"blockIdx.x * {width} + threadIdx.x",
                f"(blockIdx.x << {shift}) + threadIdx.x",
                f"blockIdx.x << {shift} | threadIdx.x",
            )
            return [f"{type} i = {form};"], "", 1, width
        if kind == 8:
            # Each lane has several values of i, one after the other.
            if type == "short":
                type = "int"
                self.integers[0] = name("i", type, 0, ITEMS_MOST - 1)
            loop = f"for ({type} i = {row}; i < items; i += gridDim.x * blockDim.x) "
            return [], loop, 1, -1
        self.integers.append(name("px", "int", 0, ITEMS_MOST - 1))
        self.integers.append(name("py", "int", 0, ITEMS_MOST - 1))
        lines = [f"int px = {row};", "int py = blockIdx.y * blockDim.y + threadIdx.y;"]
        if kind < 11:
            width = self.pick("gridDim.x * blockDim.x", "gridDim.x * blockDim.x")
            return [*lines, f"{type} i = py * (int)({width}) + px;"], "", 2, 0
        self.integers.append(name("pz", "int", 0, ITEMS_MOST - 1))
        lines.append("int pz = blockIdx.z * blockDim.z + threadIdx.z;")
        form = "(pz * (int)(gridDim.y * blockDim.y) + py) * (int)(gridDim.x * blockDim.x) + px"
        return [*lines, f"{type} i = {form};"], "", 3, 0

    def launch(self, dimensions: int, width: int) -> Launch:
        while True:
            x = (
                width
                if width > 0
                else self.pick(1, 5, 16, 31, 32, 33, 48, 64, 96, 100, 128, 160, 256)
            )
            block = [x, 1, 1]
            grid = [self.pick(1, 1, 2, 3, 4, 5, 6), 1, 1]
            if dimensions > 1:
                block = [
                    self.pick(1, 4, 8, 16, 17, 32, 64),
                    self.pick(1, 2, 3, 4, 8),
                    1,
                ]
                grid = [self.pick(1, 2, 3), self.pick(1, 2, 3), 1]
            if dimensions > 2:
                block[2], grid[2] = self.pick(1, 2, 3), self.pick(1, 2)
            lanes = 1
            for size in (*grid, *block):
                lanes *= size
            items = lanes
            if width == -1:
                items = self.random.randrange(1, 3 * lanes + 1)
            if items <= ITEMS_MOST and lanes <= 2 * ITEMS_MOST:
                break
        c, d = self.favourites
        near = (items, items - 1, items + 1, items + c, items + d, items - c, items - d)
        n = self.pick(
            *near,
            *near,
            0,
            1,
            -1,
            c,
            d,
            -c,
            self.random.randrange(2 * items),
            items + 4,
        )
        scalars = {
            "n": n,
            "m": self.pick(0, items, n % 2**32, 2**31, 2**31 - 1, 2**32 - 1, c),
            "k": self.pick(
                n, items, 0, -1, 2**31, 2**32, -(2**31), 2**63 - 1, -(2**63)
            ),
            "h": self.pick(n % 32768, 0, -1, 32767, -32768, items % 32768),
            "e": self.pick(2**31 - 1, -(2**31), n, items, -1, 0),
            "trips": self.pick(0, 1, 2, 3, 4, 5, 9, 17, ROUNDS),
            "items": items,
        }
        return Launch(tuple(grid), tuple(block), scalars, self.random.randrange(256))

    def program(self) -> Program:
        lines, loop, dimensions, width = self.lane_index()
        self.own_buffers()
        if loop:
            self.loops.append("for")
        declared = "unsigned v0 = i * 2654435761u, v1 = v0 >> 7, v2 = n, v3 = m;"
        body = Block()
        body.parts += [statement(declared, kept=True)]
        body.parts += [
            statement("unsigned long w = v0 * 0x9E3779B97F4A7C15UL;", kept=True)
        ]
        if self.lean:
            self.budget = self.pick(1, 1, 2)
        while self.budget > 0:
            self.budget -= 1
            body.parts += self.statements(0)
        last = "out[i] = (v0 ^ v1 * 3 ^ v2 * 5 ^ v3 * 7) + (unsigned)(w ^ w >> 32);"
        if self.chance(0.4 if self.lean else 0.7):
            body.parts.append(statement(last))
        if loop:
            whole = Block([Statement([loop, body])])
        else:
            whole = Block(
                [*(statement(line, kept=True) for line in lines), *body.parts]
            )
        program = Program(self.name, self.buffers, whole, [], self.seed)
        for _ in range(40):
            launch = self.launch(dimensions, width)
            if program.layout(launch)[1] <= ARENA_MOST:
                program.launches.append(launch)
            if len(program.launches) == 5:
                break
        return program


def features_of(source: random.Random) -> frozenset[str]:
    """Some of the kinds: programs of few kinds have more of each."""
    share = source.choice((0.3, 0.5, 0.8))
    chosen = {f for f in FEATURES if source.random() < share}
    if not chosen & {"guard", "bound", "pair", "loop"}:
        chosen.add(source.choice(("guard", "bound", "pair", "loop")))
    return frozenset(chosen)


def programs_of(
    seed: int, count: int, kinds: frozenset[str] | None = None
) -> list[Program]:
    """Programs of one seed, each with kinds of its own, or all with the given ones."""
    made = []
    for place in range(count):
        own = seed * 1000 + place
        features = kinds or features_of(random.Random(own))
        made.append(Writer(own, f"kernel{place}", features).program())
    return made
