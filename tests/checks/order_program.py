# SPDX-License-Identifier: MIT
"""Random programs of streams, events, graphs and waits, and which of their accesses race.

What is ordered is said by sets of all that is known, step by step; nothing of it is
shared with the checks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

STEPS = {  # and how often they are made
    **{"enqueue": 10.0, "call": 2, "record": 5, "wait": 5, "launch": 2, "give": 1.5},
    **{"take": 2, "stream": 1, "event": 1, "device": 0.4, "function": 0.7},
}
CELLS = 16  # ints that the operations of a program touch
LEGACY, OWN = 0, 1  # streams of every program: the default one, and that of the thread
KINDS = ("device", "managed", "pinned", "pool")

Range = tuple[int, int]
Way = str  # R, W or A: an atomic addition


@dataclass(frozen=True)
class Operation:
    """What touches memory: a kernel, a copy, a fill, a copy from or to the host, or what
    frees it, which counts as a write of all."""

    what: str
    number: int = 0  # of the kernel
    reads: Range = (0, 0)
    writes: Range = (0, 0)
    atomics: Range = (0, 0)

    def ways(self, cell: int) -> set[Way]:
        """How it touches the cell."""
        ranges = (("R", self.reads), ("W", self.writes), ("A", self.atomics))
        return {way for way, (first, end) in ranges if first <= cell < end}


@dataclass(frozen=True)
class Step:
    """One call of a program."""

    what: str
    stream: int = LEGACY
    event: int = 0
    graph: int = 0
    value: int = 0  # that one stream gives and another one takes
    operation: Operation | None = None


@dataclass(frozen=True)
class Node:
    """Of a graph; `befores` are numbers of nodes before it."""

    operation: Operation
    befores: tuple[int, ...]


@dataclass
class Program:
    """What is run: a line of Python for each step."""

    kind: str
    blocking: list[bool]  # of the streams
    events: int
    graphs: list[list[Node]]
    steps: list[Step] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.kind}, blocking streams {self.blocking}"]
        lines += [f"graph {n}: {nodes}" for n, nodes in enumerate(self.graphs)]
        lines += [f"{n}: {step}" for n, step in enumerate(self.steps, 1)]
        return "\n".join(lines)


# ---- making ----


def some_range(rng: random.Random, most: int = 5) -> Range:
    first = rng.randrange(CELLS)
    return first, min(CELLS, first + rng.randint(1, most))


def some_kernel(rng: random.Random, number: int) -> Operation:
    chosen = {
        name: some_range(rng)
        for name in ("reads", "writes", "atomics")
        if rng.random() < 0.45
    }
    return Operation("kernel", number, **(chosen or {"writes": some_range(rng)}))


def some_copy(rng: random.Random) -> Operation:
    count = rng.randint(1, CELLS // 2)
    source, target = rng.randint(0, CELLS // 2 - count), CELLS // 2
    target += rng.randint(0, CELLS // 2 - count)
    if rng.random() < 0.5:
        source, target = target, source
    return Operation(
        "copy", reads=(source, source + count), writes=(target, target + count)
    )


class Maker:
    """Makes one program."""

    def __init__(self, seed: int, kernels: int) -> None:
        self.rng = random.Random(seed)
        self.kernels = kernels
        self.number = 0
        self.value = 0

    def operation(self, calls: tuple[str, ...]) -> Operation:
        what = self.rng.choice(("kernel", "kernel", *calls))
        if what == "kernel" and self.number < self.kernels:
            self.number += 1
            return some_kernel(self.rng, self.number - 1)
        if what == "copy":
            return some_copy(self.rng)
        if what == "fetch":
            return Operation("fetch", reads=some_range(self.rng))
        if what == "put":
            return Operation("put", writes=some_range(self.rng))
        return Operation("fill", writes=some_range(self.rng))

    def graph(self) -> list[Node]:
        nodes: list[Node] = []
        for number in range(self.rng.randint(1, 5)):
            befores = [n for n in range(number) if self.rng.random() < 0.35]
            nodes.append(Node(self.operation(("copy", "fill")), tuple(befores)))
        return nodes

    def step(self, program: Program) -> Step:
        rng = self.rng
        what = rng.choices(list(STEPS), list(STEPS.values()))[0]
        stream = rng.randrange(len(program.blocking))
        event = rng.randrange(program.events)
        if what == "enqueue":
            operation = self.operation(("copy", "fill", "put"))
            return Step(what, stream, operation=operation)
        if what == "call":
            rng_calls = ("copy", "fill", "fetch")
            operation = self.operation(rng_calls)
            if operation.what == "kernel":
                return Step("enqueue", stream, operation=operation)
            return Step(what, operation=operation)
        if what == "launch" and program.graphs:
            return Step(what, stream, graph=rng.randrange(len(program.graphs)))
        if what == "launch":
            what = "record"
        if what == "take" and self.value > 0:
            return Step(what, stream, value=rng.randint(1, self.value))
        if what in ("give", "take"):
            self.value += 1
            return Step("give", stream, value=self.value)
        if what in ("stream", "event") and rng.random() < 0.3:
            what = f"ask {what}"
        return Step(what, stream, event)

    def program(self) -> Program:
        rng = self.rng
        blocking = [
            False,
            True,
            *(rng.random() < 0.4 for _ in range(rng.randint(1, 3))),
        ]
        graphs = [self.graph() for _ in range(rng.choice((0, 0, 1, 2)))]
        made = Program(rng.choice(KINDS), blocking, rng.randint(1, 3), graphs)
        for _ in range(rng.randint(5, 18)):
            made.steps.append(self.step(made))
        if made.kind == "pool":
            free = Operation("free", writes=(0, CELLS))
            stream = rng.randrange(len(blocking))
            made.steps.append(Step("enqueue", stream, operation=free))
        return made


def program_of(seed: int, kernels: int) -> Program:
    """The program of a number."""
    return Maker(seed, kernels).program()


# ---- what races ----


@dataclass(frozen=True)
class Done:
    """An operation that was enqueued, with the numbers of those that it knows."""

    operation: Operation
    line: int  # of the program
    knows: int  # a bit each

    @property
    def key(self) -> str:
        """As findings tell it."""
        kernel = self.operation.what == "kernel"
        return f"k{self.operation.number}" if kernel else f"line {self.line}"


class Order:
    """Walks through a program, and remembers for each place what is known there."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.done: list[Done] = []
        self.host = 0
        self.streams = [0] * len(program.blocking)
        self.events: list[int | None] = [None] * program.events
        self.graphs = [0] * len(program.graphs)
        self.given: dict[int, int] = {}
        for line, step in enumerate(program.steps, 1):
            self.take(line, step)

    def known(self, stream: int) -> int:
        """What the next operation of the stream knows."""
        known = self.host | self.streams[stream]
        if stream == LEGACY:
            for other, blocks in enumerate(self.program.blocking):
                known |= self.streams[other] if blocks else 0
        elif self.program.blocking[stream]:
            known |= self.streams[LEGACY]
        return known

    def add(self, operation: Operation, line: int, knows: int) -> int:
        """What knows the operation knows this."""
        self.done.append(Done(operation, line, knows))
        return knows | 1 << (len(self.done) - 1)

    def launch(self, line: int, step: Step) -> None:
        begin = self.known(step.stream) | self.graphs[step.graph]
        ends: list[int] = []
        for node in self.program.graphs[step.graph]:
            knows = begin
            for before in node.befores:
                knows |= ends[before]
            ends.append(self.add(node.operation, line, knows))
        for end in ends:
            begin |= end
        self.streams[step.stream] = self.graphs[step.graph] = begin

    def take(self, line: int, step: Step) -> None:
        known = self.known(step.stream)
        if step.operation is not None:
            self.streams[step.stream] = self.add(step.operation, line, known)
            if step.what == "call" or (
                self.program.kind == "pinned" and step.operation.what == "copy"
            ):
                self.host |= self.streams[step.stream]
        elif step.what == "record":
            self.streams[step.stream] = self.events[step.event] = known
        elif step.what == "wait":
            event = self.events[step.event]
            if event is not None:
                self.streams[step.stream] = known | event
        elif step.what == "launch":
            self.launch(line, step)
        elif step.what == "give":
            self.streams[step.stream] = self.given[step.value] = known
        elif step.what == "take":
            self.streams[step.stream] = known | self.given[step.value]
        elif step.what == "function":
            self.streams[step.stream] = known
            self.host |= known
        elif step.what in ("stream", "ask stream"):
            self.host |= known
        elif step.what in ("event", "ask event"):
            self.host |= self.events[step.event] or 0
        else:
            for stream in self.streams:
                self.host |= stream

    def knows(self, later: int, earlier: int) -> bool:
        return bool(self.done[later].knows >> earlier & 1)


def race(one: set[Way], two: set[Way]) -> bool:
    """Whether accesses to one cell without an order are a race."""
    plain = ("W" in one and two) or ("W" in two and one)
    return bool(plain or {"A", "R"} in ({*a, *b} for a in one for b in two))


def sides(order: Order, later: int, earlier: int) -> list[tuple[int, int]]:
    """The later one and the earlier one; nodes of one launch may change places."""
    same = order.done[later].line == order.done[earlier].line
    return [(later, earlier), (earlier, later)] if same else [(later, earlier)]


Found = tuple[str, str, int]  # both keys, the later one first, and the cell


def complaints(program: Program, found: set[Found]) -> list[str]:
    """What is wrong with the findings.

    Each has to be a race of two operations at its cell.  A race of a later operation
    with an earlier one may stand for those with others that the earlier one knows.
    """
    order = Order(program)
    real: dict[tuple[int, int], set[int]] = {}
    for later in range(len(order.done)):
        for earlier in range(later):
            ways = (order.done[later].operation, order.done[earlier].operation)
            cells = {c for c in range(CELLS) if race(ways[0].ways(c), ways[1].ways(c))}
            if cells and not order.knows(later, earlier):
                real[later, earlier] = cells
    keys = [done.key for done in order.done]
    true = {frozenset((keys[a], keys[b])): set[int]() for a, b in real}
    for (a, b), cells in real.items():
        true[frozenset((keys[a], keys[b]))] |= cells
    told = {frozenset(pair[:2]) for pair in found}
    texts = [
        f"no race: {one} and {two} at cell {cell}"
        for one, two, cell in sorted(found)
        if cell not in true.get(frozenset((one, two)), ())
    ]
    for (later, earlier), cells in real.items():
        for cell in cells:
            stands = [
                (one, m)
                for one, other in sides(order, later, earlier)
                for m in range(len(keys))
                if (m < one or order.done[m].line == order.done[one].line)
                and (m == other or order.knows(m, other))
                and cell in real.get((max(one, m), min(one, m)), ())
            ]
            if not any(frozenset((keys[one], keys[m])) in told for one, m in stands):
                texts.append(
                    f"not found: {keys[later]} and {keys[earlier]} at cell {cell}"
                )
    return texts
