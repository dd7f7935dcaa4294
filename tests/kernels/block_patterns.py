# SPDX-License-Identifier: MIT
"""What people write with barriers and shuffles: reductions, scans, sorts, tiles, sums of
a warp, histograms.  Each is one statement for a place where the block is together; it
has shared arrays of its own, and a barrier before and behind.  Cells of lanes that have returned keep their old values."""

from __future__ import annotations

from collections.abc import Callable

from .block_functions import BlockFunctions
from .block_program import Function, Loop
from .c_program import Launch
from .c_tree import Block, Expr, Statement, Tree, limits, statement

SYNC = "__syncthreads();"
SHARED_BYTES = 24000  # of static arrays; no further pattern begins with more
TYPES = ("int", "unsigned", "unsigned long", "float", "double", "unsigned")


def line(text: str) -> Statement:
    return statement(text)


def loop(*parts: str | Tree) -> Loop:
    return Loop(list(parts), True)


class BlockPatterns(BlockFunctions):
    """Statements of many lines."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.top: list[Statement] = []  # what stands before the first barrier
        self.shared_bytes = 0
        self.shapes_made: list[Launch] = []
        self.stride = "lanes"  # lanes of the block that are there, from 0

    def pattern(self, depth: int) -> list[Statement]:
        if self.rounds > 8 or self.shared_bytes > SHARED_BYTES:
            return []
        made: list[Callable[[], list[Statement]]] = [
            self.tree_reduction,
            self.scan,
            self.double_buffer,
            self.sort,
            self.stencil,
            self.histogram,
            self.tiles,
            self.transpose,
            self.square,
            self.called,
        ]
        if self.warps:
            made += [self.warp_sums, self.warp_memory, self.in_step]
        chosen = self.random.choice(made)
        self.mark("pattern " + chosen.__name__.replace("_", " "))
        return [Statement([Block([line(SYNC), *chosen(), line(SYNC)])])]

    # ---- pieces ----

    def joined(self, type: str, a: str, b: str) -> str:
        """An operation on two values; that of signed ones does not overflow."""
        if type in ("float", "double"):
            return self.pick(
                f"{a} + {b}", f"{a} * 0.5f + {b}", f"({a} < {b} ? {b} : {a})"
            )
        if type == "int":
            return self.pick(
                f"max({a}, {b})", f"({a} ^ {b})", f"(int)((unsigned){a} + {b})"
            )
        return self.pick(f"({a} + {b})", f"min({a}, {b})", f"({a} * 3 ^ {b})")

    def taken_from(self, text: str, type: str) -> Statement:
        if type in ("float", "double"):
            return self.taken(Expr([text], type, 0, 0))
        return self.taken(Expr([text], type, *limits(type)))

    def filled_by_lane(self, s: str, type: str, where: str = "t") -> Statement:
        return statement(f"{s}[{where}] = ({type})", self.of(type, 1), ";")

    def fresh_array(self, type: str, length: int) -> str:
        """Declared where all lanes are there yet, so that each cell has a value."""
        s, q = self.fresh("s"), self.fresh("q")
        self.shared_bytes += 8 * length
        self.top.append(
            statement(
                f"SHARED {type} {s}[{length}]; for (int {q} = t; {q} < {length};"
                f" {q} += {self.stride}) {s}[{q}] = ({type})({q} & 7);"
            )
        )
        return s

    # ---- patterns ----

    def tree_reduction(self) -> list[Statement]:
        type, w = self.pick(*TYPES), self.fresh("w")
        s = self.fresh_array(type, self.most)
        half = (1 << (self.most - 1).bit_length()) // 2
        sum = self.joined(type, f"{s}[t]", f"{s}[t + {w}]")
        step = f"if (t < {w} && t + {w} < lanes) {s}[t] = {sum};"
        head = f"ENTER(@own@); for (int {w} = {half}; TRIP(@own@) {w} > 0; {w} >>= 1) "
        if self.chance(0.3):
            # From a width that is known when the kernel runs.
            head = f"ENTER(@own@); for (int {w} = 512; TRIP(@own@) {w} > 0; {w} /= 2) "
        return [
            self.filled_by_lane(s, type),
            line(SYNC),
            loop(head, Block([line(step), line(SYNC)])),
            self.taken_from(f"{s}[{self.pick('0', '0', 't')}]", type),
        ]

    def scan(self) -> list[Statement]:
        type, w, v = self.pick(*TYPES), self.fresh("w"), self.fresh("v")
        s = self.fresh_array(type, self.most)
        zero = f"({type})0"
        sum = self.joined(type, f"{s}[t]", v)
        inside = [
            line(f"{type} {v} = t >= {w} ? {s}[t - {w}] : {zero};"),
            line(SYNC),
            line(f"{s}[t] = {sum};"),
            line(SYNC),
        ]
        head = f"ENTER(@own@); for (int {w} = 1; TRIP(@own@) {w} < lanes; {w} *= 2) "
        take = self.taken_from(
            f"{s}[{self.pick('t', 'lanes - 1', 'lanes - 1 - t')}]", type
        )
        return [
            self.filled_by_lane(s, type),
            line(SYNC),
            loop(head, Block(inside)),
            take,
        ]

    def double_buffer(self) -> list[Statement]:
        """One barrier a round: what is written is not what slower lanes still read."""
        type, j, v = self.pick(*TYPES), self.fresh("j"), self.fresh("v")
        s = self.fresh_array(type, 2 * self.most)
        rounds = self.pick("3", "8", "(trips & 7)")
        other = self.pick("(t + 1) % lanes", f"(t + {j}) % lanes", "lanes - 1 - t")
        bank = f"({j} & 1) * {self.most}"
        inside = [
            line(f"{s}[{bank} + t] = {v};"),
            line(SYNC),
            line(f"{v} = {self.joined(type, v, f'{s}[{bank} + {other}]')};"),
        ]
        head = f"ENTER(@own@); for (int {j} = 0; TRIP(@own@) {j} < {rounds}; {j}++) "
        first = statement(f"{type} {v} = ({type})", self.of(type, 1), ";")
        return [first, loop(head, Block(inside)), self.taken_from(v, type)]

    def sort(self) -> list[Statement]:
        type = self.pick("int", "unsigned", "long")
        if self.chance(0.5):
            return self.bitonic(type)
        s = self.fresh_array(type, self.most)
        p, v = self.fresh("p"), self.fresh("v")
        rounds = self.pick(3, 7)
        inside = [
            line(
                f"if ((t & 1) == ({p} & 1) && t + 1 < lanes && {s}[t] > {s}[t + 1]) {{"
                f" {type} {v} = {s}[t]; {s}[t] = {s}[t + 1]; {s}[t + 1] = {v}; }}"
            ),
            line(SYNC),
        ]
        head = f"ENTER(@own@); for (int {p} = 0; TRIP(@own@) {p} < {rounds}; {p}++) "
        take = self.taken_from(f"{s}[t]", type)
        return [
            self.filled_by_lane(s, type),
            line(SYNC),
            loop(head, Block(inside)),
            take,
        ]

    def bitonic(self, type: str) -> list[Statement]:
        size = self.pick(16, 32, 64)
        s = self.fresh_array(type, size)
        i, o, v = self.fresh("i"), self.fresh("o"), self.fresh("v")
        j, k = self.fresh("j"), self.fresh("k")
        value = f"({type})(({i} * 7919 + b) % 101)"
        if type == "int" and self.chance(0.5):
            value = f"(int)(({i} * 2654435761u ^ m) >> 1)"
        filled = line(
            f"for (int {i} = t; {i} < {size}; {i} += lanes) {s}[{i}] = {value};"
        )
        swap = (
            f"for (int {i} = t; {i} < {size}; {i} += lanes) {{ int {o} = {i} ^ {j};"
            f" if ({o} > {i} && ({s}[{i}] > {s}[{o}]) == (({i} & {k}) == 0)) {{"
            f" {type} {v} = {s}[{i}]; {s}[{i}] = {s}[{o}]; {s}[{o}] = {v}; }} }}"
        )
        inner = loop(
            f"ENTER(@own@); for (int {j} = {k} / 2; TRIP(@own@) {j} > 0; {j} >>= 1) ",
            Block([line(swap), line(SYNC)]),
        )
        outer = loop(
            f"ENTER(@own@); for (int {k} = 2; TRIP(@own@) {k} <= {size}; {k} *= 2) ",
            Block([inner]),
        )
        take = self.taken_from(f"{s}[t & {size - 1}]", type)
        return [filled, line(SYNC), outer, take]

    def stencil(self) -> list[Statement]:
        type = self.pick(*TYPES)
        halo = self.pick(1, 2, 3)
        s = self.fresh_array(type, self.most + 2 * halo)
        edge = self.of(type, 1)
        first = statement(
            f"if (t < {halo}) {{ {s}[t] = ({type})",
            edge,
            f"; {s}[lanes + {halo} + t] = {s}[t]; }}",
        )
        a, b = f"{s}[t]", f"{s}[t + {2 * halo}]"
        take = self.taken_from(f"({self.joined(type, a, b)})", type)
        return [
            self.filled_by_lane(s, type, f"t + {halo}"),
            line(SYNC),
            first,
            line(SYNC),
            take,
        ]

    def histogram(self) -> list[Statement]:
        bins = self.pick(4, 8, 16)
        type = self.pick("int", "unsigned")
        s = self.fresh_array(type, bins)
        j = self.fresh("j")
        zero = line(f"if (t == 0) for (int {j} = 0; {j} < {bins}; {j}++) {s}[{j}] = 0;")
        if self.chance(0.5):
            zero = line(f"for (int {j} = t; {j} < {bins}; {j} += lanes) {s}[{j}] = 0;")
        place = self.bounded(bins)
        add = statement(f"atomicAdd(&{s}[", place, "], ", self.pick("1", "t & 3"), ");")
        counted: list[Statement] = [add]
        if self.chance(0.5):
            rounds = self.pick("t % 5", "trips & 3", "4")
            text = f"for (int {j} = 0; {j} < {rounds}; {j}++) "
            again = statement(f"atomicAdd(&{s}[({j} * 5 + t) & {bins - 1}], 1);")
            counted = [Statement([text, Block([add, again])])]
        return [
            zero,
            line(SYNC),
            *counted,
            line(SYNC),
            self.taken_from(f"{s}[t & {bins - 1}]", type),
        ]

    def tiles(self) -> list[Statement]:
        """As in a product of matrices: a part of the common array, and a loop over it."""
        type = self.pick("float", "float", "double", "int", "unsigned")
        wide = "unsigned" if type == "int" else type
        size = self.pick(4, 8, 16)
        s = self.fresh_array(wide, size)
        j, k, v, q = self.fresh("j"), self.fresh("k"), self.fresh("v"), self.fresh("q")
        source = f"({wide})x[({j} * {size} + {q}) & 63]"
        load = line(
            f"for (int {q} = t; {q} < {size}; {q} += lanes) {s}[{q}] = {source};"
        )
        factor = self.pick(
            f"({wide})(t + {k})", f"({wide})x[(t + {k}) & 63]", f"{s}[{k} ^ 1]"
        )
        sum = f"for (int {k} = 0; {k} < {size}; {k}++) {v} += {s}[{k}] * {factor};"
        inside = Block([load, line(SYNC), line(sum), line(SYNC)])
        rounds = self.pick("2", "4", "(trips & 3)")
        head = f"ENTER(@own@); for (int {j} = 0; TRIP(@own@) {j} < {rounds}; {j}++) "
        first = line(f"{wide} {v} = 0;")
        return [first, loop(head, inside), self.taken_from(v, wide)]

    def warp_sums(self) -> list[Statement]:
        """A sum in each warp, and then of the warps."""
        type = self.pick(*TYPES)
        v, w = self.fresh("v"), self.fresh("w")
        s, lanes = self.fresh_array(type, 32), self.warp
        first = statement(f"{type} {v} = ({type})", self.of(type, 1), ";")
        call = self.pick("__shfl_down", "__shfl_xor", "__shfl_up")
        self.mark(call)
        other = f"AT(@0@, {call}({v}, {w}))"
        o = self.fresh("o")
        inside = Block(
            [line(f"{type} {o} = {other};"), line(f"{v} = {self.joined(type, v, o)};")]
        )
        head = f"ENTER(@own@); for (int {w} = {lanes // 2}; TRIP(@own@) {w} > 0; {w} >>= 1) "
        if self.chance(0.4):
            head = (
                f"ENTER(@own@); for (int {w} = 1; TRIP(@own@) {w} < {lanes}; {w} *= 2) "
            )
        many = f"for (int {w} = 0; {w} < (lanes + {lanes - 1}) / {lanes}; {w}++) {v} = "
        many += self.joined(type, v, f"{s}[{w}]") + ";"
        return [
            first,
            loop(head, inside),
            line(f"if (t % {lanes} == 0) {s}[t / {lanes}] = {v};"),
            line(SYNC),
            line(f"if (t < {self.pick(1, 32, 1024)}) {many}"),
            self.taken_from(v, type),
        ]

    def warp_memory(self) -> list[Statement]:
        """The lanes of a warp exchange by shared memory, with barriers of the warp."""
        type, lanes = self.pick(*TYPES), self.warp
        s = self.fresh_array(type, -(-self.most // lanes) * lanes)
        v, j = self.fresh("v"), self.fresh("j")
        first = statement(f"{type} {v} = ({type})", self.of(type, 1), ";")
        other = self.pick(
            f"(t & ~{lanes - 1}) + ((t + 1 + {j}) & {lanes - 1})", f"t ^ ({j} + 1)"
        )
        meet = line("AT(@0@, __syncwarp());")
        sum = line(f"{v} = {self.joined(type, v, f'{s}[{other}]')};")
        inside = Block([line(f"{s}[t] = {v};"), meet, sum, meet])
        head = f"ENTER(@own@); for (int {j} = 0; TRIP(@own@) {j} < 3; {j}++) "
        return [first, loop(head, inside), self.taken_from(v, type)]

    def in_step(self) -> list[Statement]:
        """The lanes of a warp exchange by volatile memory without any call: hardware in
        lock step makes each access for all of them."""
        type, lanes = self.pick("int", "unsigned", "float", "unsigned long"), self.warp
        s = self.fresh_array(type, -(-self.most // lanes) * lanes + lanes)
        p, w, v = self.fresh("p"), self.fresh("w"), self.fresh("v")
        guard = self.pick("", f"if (t < {lanes}) ", f"if (t / {lanes} % 2 == 0) ")
        # The cells of the next warp, which stands aside, or of this one.
        behind = [f"t + {w}"] if guard else []
        inner = [f"t ^ {w}", f"(t & ~{lanes - 1}) | ({w} & {lanes - 1})"]
        other = self.pick(*inner, *behind)
        sum = self.joined(type, f"{p}[t]", f"{p}[{other}]")
        inside = Block(
            [
                line(f"{type} {v} = {sum};"),
                line("STEP(@0@);"),
                line(f"{p}[t] = {v};"),
                line("STEP(@0@);"),
            ]
        )
        head = f"ENTER(@own@); for (int {w} = {lanes // 2}; TRIP(@own@) {w} > 0; {w} >>= 1) "
        return [
            self.filled_by_lane(s, type),
            line(SYNC),
            line(f"volatile {type} *{p} = {s};"),
            statement(guard, Block([loop(head, inside)])),
            line(SYNC),
            self.taken_from(f"{s}[t]", type),
        ]

    def transpose(self) -> list[Statement]:
        type = self.pick(*TYPES)
        s = self.fresh_array(type, self.most + 32)
        rows = self.pick(2, 4, 8)
        read = f"{s}[(t % {rows}) * ((lanes + {rows - 1}) / {rows} + 1) + t / {rows}]"
        wrote = f"t + t / ((lanes + {rows - 1}) / {rows})"
        return [
            self.filled_by_lane(s, type, wrote),
            line(SYNC),
            self.taken_from(read, type),
        ]

    def square(self) -> list[Statement]:
        """An array of rows, by the two places of a lane."""
        type, k, v = self.pick(*TYPES), self.fresh("k"), self.fresh("v")
        wide, high = self.widest()
        s, q = self.fresh("s"), self.fresh("q")
        pitch = wide + self.pick(0, 1)
        self.shared_bytes += 8 * high * pitch
        fill = f"(&{s}[0][0])[{q}] = ({type})({q} & 7);"
        self.top.append(
            statement(
                f"SHARED {type} {s}[{high}][{pitch}]; for (int {q} = t;"
                f" {q} < {high * pitch}; {q} += {self.stride}) {fill}"
            )
        )
        row, rows = (
            "(threadIdx.z * blockDim.y + threadIdx.y)",
            "(blockDim.y * blockDim.z)",
        )
        other = self.pick(
            f"{s}[({row} + {k}) % {rows}][threadIdx.x]",
            f"{s}[{row}][(threadIdx.x + {k}) % blockDim.x]",
            f"{s}[threadIdx.x % {rows}][({row} + {k}) % blockDim.x]",
        )
        rounds = self.pick("3", "(int)blockDim.x", "1")
        sum = self.joined(type, v, other)
        return [
            self.filled_by_lane(s, type, f"{row}][threadIdx.x"),
            line(SYNC),
            line(f"{type} {v} = 0;"),
            line(f"for (int {k} = 0; {k} < {rounds}; {k}++) {v} = {sum};"),
            self.taken_from(v, type),
        ]

    def widest(self) -> tuple[int, int]:
        """The longest row of a block, and the most rows."""
        blocks = [launch.block for launch in self.shapes_made]
        return max(x for x, _, _ in blocks), max(y * z for _, y, z in blocks)

    def called(self) -> list[Statement]:
        """A function with barriers, for one of two arrays."""
        type = self.pick(*TYPES)
        one, two = (self.fresh_array(type, self.most) for _ in range(2))
        f, v = self.fresh("f"), self.fresh("v")
        other = self.pick(
            "lanes - 1 - t", "(t + 1) % lanes", "0", "t ^ (t + 1 < lanes)"
        )
        text = (
            f"FUNCTION {self.pick('', 'NOINLINE ')}{type} {self.name}{f}"
            f"({type} *s, {type} v, int t, int lanes) {{\n"
            f"    s[t] = v;\n    {SYNC}\n    v = {self.joined(type, 'v', f's[{other}]')};\n"
            f"    {SYNC}\n    return v;\n}}"
        )
        self.functions.append(Function([text], True, f))
        first = statement(f"{type} {v} = ({type})", self.of(type, 1), ";")
        array = self.pick(one, f"({self.same_condition().text()} ? {one} : {two})")
        call = line(f"{v} = CALL(@0@, {self.name}{f}({array}, {v}, t, lanes));")
        return [first, call, self.taken_from(v, type)]
