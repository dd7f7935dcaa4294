# SPDX-License-Identifier: MIT
"""Random kernels whose accesses may race: as HIP, and as what each lane does.

A kernel is a list of statements, one a line.  A statement is text, and a generator that
gives the steps of one lane (race_oracle.py executes them).  What an atomic read gives
depends on the order in which lanes run, so the kernel logs it: the oracle is told, and
derives from it which write was read.  Values of atomic writes are unique for that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

BYTES = 48  # of each array that is accessed plainly
FLAGS = 3  # words of each array of flags
LOGS = 160  # words that a lane may log
HEAD = """#include <hip/hip_cooperative_groups.h>
typedef unsigned int u4;
typedef unsigned char u1;
typedef unsigned short u2;
typedef unsigned long long u8;
typedef unsigned int u16 __attribute__((ext_vector_type(4)));
#define SCOPE __HIP_MEMORY_SCOPE_AGENT
#define NOTED(value) (noted = (value), note[at++] = noted, noted)
"""
START = [
    f"    __shared__ __attribute__((aligned(16))) char s[{BYTES}];",
    f"    __shared__ unsigned sf[{FLAGS}];",
    "    extern __shared__ __attribute__((aligned(16))) char d[];",
    "    unsigned t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t;",
    f"    unsigned at = 0, noted = 0, k = 0; u8 x = 0; note += i * {LOGS};",
]


@dataclass(frozen=True)
class Step:
    """What a lane does next."""

    kind: str  # access, fence, warp, block, grid
    line: int = 0
    array: str = ""
    offset: int = 0
    size: int = 0
    reads: bool = False
    writes: bool = False
    atomic: bool = False
    acquire: bool = False
    release: bool = False
    value: bytes | None = None  # that is stored, where that is known
    seen: int | None = None  # what an atomic read gave
    made: int | None = None  # what an atomic write, or a plain one to a flag, leaves
    mask: int = 0


@dataclass
class Lane:
    """A lane as statements see it."""

    t: int
    b: int
    i: int
    warp_size: int
    noted: Callable[[], int]
    k: int = 0
    last: int = 0

    def eval(self, text: str) -> int:
        names = {"t": self.t, "b": self.b, "i": self.i, "k": self.k}
        return int(eval(text.replace("/", "//"), {}, names))


Steps = Iterator[Step]


@dataclass
class Statement:
    """Lines of the kernel, and what a lane does there, given the first line's number."""

    lines: list[str]
    run: Callable[[Lane, int], Steps]


@dataclass
class Kernel:
    name: str
    blocks: int
    lanes: int
    warp_size: int
    cooperative: bool
    option: str  # of the check: "", "equal", "relaxed-warps"
    statements: list[Statement]
    whole: bool  # lanes meet by whole warps and blocks only
    line: int = 0  # at which it begins

    def text(self, line: int) -> str:
        """Its source, if it begins at that line."""
        self.line = line
        head = f'extern "C" __global__ void {self.name}(char *g, unsigned *gf, '
        head += "unsigned *note) {"
        body = [f"    {x}" for s in self.statements for x in s.lines]
        return "\n".join([head, *START, *body, "    note[at] = (unsigned)x;", "}", ""])

    def steps(self, lane: Lane) -> Steps:
        """What the lane does."""
        line = self.line + 1 + len(START)
        for statement in self.statements:
            yield from statement.run(lane, line)
            line += len(statement.lines)


ORDERS = {
    "RELAXED": (False, False),
    "ACQUIRE": (True, False),
    "RELEASE": (False, True),
    "ACQ_REL": (True, True),
    "SEQ_CST": (True, True),
}
LOAD_ORDERS = ("RELAXED", "ACQUIRE", "ACQUIRE", "SEQ_CST")
STORE_ORDERS = ("RELAXED", "RELEASE", "RELEASE", "SEQ_CST")


@dataclass
class Writer:
    """Makes the statements of a kernel."""

    random: random.Random
    warp_size: int
    lanes: int
    blocks: int
    cooperative: bool
    handing: bool  # with atomics that hand over
    whole: bool = True
    number: int = 0
    depth: int = 0
    loops: bool = False
    made: list[Statement] = field(default_factory=list)

    # ---- expressions ----

    def index(self) -> str:
        choices = ["t", "t", "t / 2", "t ^ 1", "t + 1", "i", "b", "t % 3", "0", "5"]
        choices += [f"t + {self.random.randrange(1, self.lanes + 1)}", "t / 32"]
        choices += ["i + 1", "i / 3", f"{self.random.randrange(16)}"]
        return self.random.choice(choices + ["t + k"] * 3 * self.loops)

    def condition(self) -> str:
        n = self.random.randrange(self.lanes)
        few = [f"t == {n}", f"i == {n}", "t == 0", "t % 32 == 0", f"t < {n + 1}"]
        few += [f"t >= {n}", "t % 2 == 0", f"b == {self.random.randrange(self.blocks)}"]
        few += [
            f"(t ^ {n}) % 5 == 1",
            f"(t == {n}) & (b == 0)",
            f"t == {self.lanes - 1}",
        ]
        return self.random.choice(few)

    def offset(self, step: int, size: int) -> str:
        places = (BYTES - size) // step + 1
        return f"({self.index()}) % {places} * {step}"

    # ---- plain accesses ----

    def plain(self) -> Statement:
        array = self.random.choice("gggssd")
        if self.random.random() < 0.12:
            return self.copy(array)
        size = self.random.choice((1, 2, 4, 4, 4, 4, 8, 16))
        place = self.offset(size, size)
        volatile = size < 16 and self.random.random() < 0.06
        target = f"*({'volatile ' * volatile}u{size} *)({array} + {place})"
        if self.random.random() < 0.5:
            return self.read(array, size, place, volatile, target)
        return self.store(array, size, place, volatile, target)

    def read(
        self, array: str, size: int, place: str, volatile: bool, target: str
    ) -> Statement:
        def run(lane: Lane, line: int) -> Steps:
            yield Step(
                "access",
                line,
                array,
                lane.eval(place),
                size,
                reads=True,
                atomic=volatile,
            )

        part = ".x" if size == 16 else ""
        return Statement([f"x += ({target}){part};"], run)

    def store(
        self, array: str, size: int, place: str, volatile: bool, target: str
    ) -> Statement:
        value = self.random.choice(("3", "3", "7", "t", "i", "t / 2"))

        def run(lane: Lane, line: int) -> Steps:
            number = lane.eval(value)
            low = number & ((1 << 8 * min(size, 8)) - 1)
            stored = low.to_bytes(size, "little") if size <= 8 else None
            yield Step(
                *("access", line, array, lane.eval(place), size),
                writes=True,
                atomic=volatile,
                value=stored,
            )

        return Statement([f"{target} = (u{size})({value});"], run)

    def copy(self, array: str) -> Statement:
        """memcpy of some bytes, from another array."""
        source = self.random.choice([x for x in "gsd" if x != array])
        size = self.random.choice((3, 5, 8, 12))
        to, by = self.offset(1, size), self.offset(2, size)

        def run(lane: Lane, line: int) -> Steps:
            yield Step("access", line, array, lane.eval(to), size, writes=True)
            yield Step("access", line, source, lane.eval(by), size, reads=True)

        call = f"__builtin_memcpy({array} + {to}, {source} + {by}, {size});"
        return Statement([call], run)

    # ---- atomics ----

    def value(self) -> tuple[str, Callable[[Lane], int]]:
        """A value that no other write leaves."""
        self.number += 1
        number = self.number
        text = f"{number << 16}u + k * 1024u + i + 1u"
        return text, lambda lane: (number << 16) + lane.k * 1024 + lane.i + 1

    def atomic(self) -> Statement:
        array = self.random.choice(("gf", "gf", "sf"))
        place = self.random.choice(("0", "0", "1", f"({self.index()}) % {FLAGS - 1}"))
        how = self.random.choice(
            (self.atomic_load, self.atomic_store, self.exchange, self.add, self.swap)
            * 4
            + (self.flag_plain, self.flag_volatile)
        )
        return how(array, place)

    def atomic_load(self, array: str, place: str) -> Statement:
        order = self.random.choice(LOAD_ORDERS)
        acquire, _ = ORDERS[order]

        def run(lane: Lane, line: int) -> Steps:
            lane.last = lane.noted()
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                reads=True,
                atomic=True,
                acquire=acquire,
                seen=lane.last,
            )

        call = f"__hip_atomic_load({array} + {place}, __ATOMIC_{order}, SCOPE)"
        return Statement([f"NOTED({call});"], run)

    def atomic_store(self, array: str, place: str) -> Statement:
        order = self.random.choice(STORE_ORDERS)
        text, value = self.value()

        def run(lane: Lane, line: int) -> Steps:
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                writes=True,
                atomic=True,
                release=ORDERS[order][1],
                made=value(lane),
            )

        call = f"__hip_atomic_store({array} + {place}, {text}, __ATOMIC_{order}, SCOPE)"
        return Statement([f"{call};"], run)

    def exchange(self, array: str, place: str) -> Statement:
        order = self.random.choice(tuple(ORDERS))
        text, value = self.value()
        call = (
            f"__hip_atomic_exchange({array} + {place}, {text}, __ATOMIC_{order}, SCOPE)"
        )
        return self.both(array, place, order, call, lambda lane, old: value(lane))

    def add(self, array: str, place: str) -> Statement:
        """A counter, the last one of its array: it only grows."""
        array = "gc" if array == "gf" else "sc"
        order = self.random.choice(tuple(ORDERS))
        where = f"{'gf' if array == 'gc' else 'sf'} + {FLAGS - 1}"
        call = f"__hip_atomic_fetch_add({where}, 1u, __ATOMIC_{order}, SCOPE)"
        if order == "RELAXED":
            call = f"atomicAdd({where}, 1u)"
        return self.both(array, "", order, call, lambda lane, old: old + 1)

    def both(
        self,
        array: str,
        place: str,
        order: str,
        call: str,
        leaves: Callable[[Lane, int], int],
    ) -> Statement:
        counter = array in ("gc", "sc")
        acquire, release = ORDERS[order]

        def run(lane: Lane, line: int) -> Steps:
            old = lane.last = lane.noted()
            offset = 4 * (FLAGS - 1) if counter else 4 * lane.eval(place)
            yield Step(
                *(
                    "access",
                    line,
                    {"gc": "gf", "sc": "sf"}.get(array, array),
                    offset,
                    4,
                ),
                reads=True,
                writes=True,
                atomic=True,
                acquire=acquire,
                release=release,
                seen=old,
                made=leaves(lane, old),
            )

        return Statement([f"NOTED({call});"], run)

    def swap(self, array: str, place: str) -> Statement:
        """Compare and swap, which stores where nothing was stored before."""
        order = self.random.choice(tuple(ORDERS))
        fails = "ACQUIRE" if order in ("ACQUIRE", "ACQ_REL", "SEQ_CST") else "RELAXED"
        text, value = self.value()

        def run(lane: Lane, line: int) -> Steps:
            old = lane.last = lane.noted()
            stores = old == 0
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                reads=True,
                writes=stores,
                atomic=True,
                acquire=ORDERS[order if stores else fails][0],
                release=stores and ORDERS[order][1],
                seen=old,
                made=value(lane) if stores else None,
            )

        call = f"__hip_atomic_compare_exchange_strong({array} + {place}, &e, {text}, "
        call += f"__ATOMIC_{order}, __ATOMIC_{fails}, SCOPE)"
        return Statement([f"{{ unsigned e = 0; {call}; NOTED(e); }}"], run)

    def flag_plain(self, array: str, place: str) -> Statement:
        """A flag that is written as if it were none."""
        text, value = self.value()

        def run(lane: Lane, line: int) -> Steps:
            made = value(lane)
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                writes=True,
                value=made.to_bytes(4, "little"),
                made=made,
            )

        return Statement([f"{array}[{place}] = {text};"], run)

    def flag_volatile(self, array: str, place: str) -> Statement:
        text, value = self.value()

        def store(lane: Lane, line: int) -> Steps:
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                writes=True,
                atomic=True,
                made=value(lane),
            )

        def load(lane: Lane, line: int) -> Steps:
            lane.last = lane.noted()
            yield Step(
                *("access", line, array, 4 * lane.eval(place), 4),
                reads=True,
                atomic=True,
                seen=lane.last,
            )

        target = f"((volatile unsigned *){array})[{place}]"
        if self.random.random() < 0.5:
            return Statement([f"{target} = {text};"], store)
        return Statement([f"NOTED({target});"], load)

    def fence(self) -> Statement:
        order = self.random.choice(("ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST", ""))
        text = f'__builtin_amdgcn_fence(__ATOMIC_{order}, "agent");'
        acquire, release = ORDERS[order or "SEQ_CST"]

        def run(lane: Lane, line: int) -> Steps:
            yield Step("fence", line, acquire=acquire, release=release)

        return Statement([text if order else "__threadfence();"], run)

    # ---- lanes that meet ----

    def meeting(self) -> Statement:
        choice = self.random.random()
        if self.cooperative and choice < 0.3:
            return self.simple("cooperative_groups::this_grid().sync();", "grid")
        if choice < 0.55:
            return self.simple("__syncthreads();", "block")
        if choice < 0.8 or self.whole:
            return self.simple("__syncwarp();", "warp")
        width = self.warp_size
        mask = self.random.choice(
            (0xFFFF, 0x5555, 0xF0F0, 1 << 5 | 3, self.random.getrandbits(width) | 1)
        )

        def run(lane: Lane, line: int) -> Steps:
            if mask >> lane.t % width & 1:
                yield Step("warp", line, mask=mask)

        kind = "ull" if width == 64 else "u"
        text = f"if ({mask}{kind} >> t % {width} & 1) __syncwarp({mask}{kind});"
        return Statement([text], run)

    def simple(self, text: str, kind: str) -> Statement:
        mask = (1 << self.warp_size) - 1

        def run(lane: Lane, line: int) -> Steps:
            yield Step(kind, line, mask=mask)

        return Statement([text], run)

    # ---- statements of statements ----

    def inner(self) -> list[Statement]:
        self.depth += 1
        made = [self.statement() for _ in range(self.random.randrange(1, 4))]
        self.depth -= 1
        return made

    def branch(self) -> Statement:
        condition, body = self.condition(), self.inner()
        other = self.inner() if self.random.random() < 0.25 else []
        return self.choose(
            condition, lambda lane: lane.eval(condition) != 0, body, other
        )

    def handed(self) -> Statement:
        """What follows is done where something was read from a flag."""
        return self.choose("noted != 0", lambda lane: lane.last != 0, self.inner(), [])

    @staticmethod
    def choose(
        condition: str,
        holds: Callable[[Lane], bool],
        body: list[Statement],
        other: list[Statement],
    ) -> Statement:
        lines = [f"if ({condition}) {{", *(x for s in body for x in s.lines)]
        start_of_other = len(lines) + 1
        if other:
            lines += ["} else {", *(x for s in other for x in s.lines)]

        def run(lane: Lane, line: int) -> Steps:
            right = holds(lane)
            at = line + (1 if right else start_of_other)
            for statement in body if right else other:
                yield from statement.run(lane, at)
                at += len(statement.lines)

        return Statement([*lines, "}"], run)

    def loop(self) -> Statement:
        count = self.random.randrange(2, 4)
        self.loops = True
        body = self.inner()
        if self.depth == 0 and self.random.random() < 0.5:
            body.append(self.meeting())
        self.loops = False

        def run(lane: Lane, line: int) -> Steps:
            for lane.k in range(count):
                at = line + 1
                for statement in body:
                    yield from statement.run(lane, at)
                    at += len(statement.lines)
            lane.k = 0

        lines = [
            f"for (k = 0; k < {count}; k++) {{",
            *(x for s in body for x in s.lines),
        ]
        return Statement([*lines, "} k = 0;"], run)

    def statement(self) -> Statement:
        choice = self.random.random()
        if self.depth == 0 and choice < 0.27:
            return self.meeting()
        if self.depth < 2 and choice < 0.4:
            return self.branch()
        if self.depth == 0 and choice < 0.48:
            return self.loop()
        if self.handing and choice < 0.75:
            return self.random.choice(
                (self.atomic, self.atomic, self.atomic, self.fence)
                + (self.handed,) * (self.depth < 2)
            )()
        return self.plain()

    def start(self) -> list[Statement]:
        """Flags in shared memory begin with 0."""

        def run(lane: Lane, line: int) -> Steps:
            if lane.t == 0:
                for word in range(FLAGS):
                    yield Step("access", line, "sf", 4 * word, 4, writes=True, made=0)

        text = f"if (t == 0) for (k = 0; k < {FLAGS}; k++) sf[k] = 0; k = 0;"
        return [Statement([text], run), self.simple("__syncthreads();", "block")]

    def statements(self, count: int) -> list[Statement]:
        return self.start() + [self.statement() for _ in range(count)]


def kernel_of(seed: int, name: str, warp_size: int, option: str) -> Kernel:
    """The random kernel of a seed."""
    source = random.Random(f"{seed} {warp_size} {option}")
    blocks = source.choice((1, 1, 2, 3))
    lanes = source.choice((2, 5, 8, 33, 40, 66, 70))
    cooperative = source.random() < 0.2
    handing, whole = source.random() < 0.6, source.random() < 0.6
    writer = Writer(source, warp_size, lanes, blocks, cooperative, handing, whole)
    statements = writer.statements(source.randrange(2, 14))
    return Kernel(
        *(name, blocks, lanes, warp_size, cooperative, option, statements), whole=whole
    )


def source_of(kernels: list[Kernel]) -> str:
    """One source with all of them."""
    text = HEAD
    for kernel in kernels:
        text += kernel.text(text.count("\n") + 1)
    return text


def lanes_of(kernel: Kernel, notes: Any) -> list[Lane]:
    """All lanes; `notes[i]` is what lane i logged."""
    lanes = []
    for i in range(kernel.blocks * kernel.lanes):
        noted = iter(notes[i].tolist())
        lanes.append(
            Lane(
                i % kernel.lanes, i // kernel.lanes, i, kernel.warp_size, noted.__next__
            )
        )
    return lanes
