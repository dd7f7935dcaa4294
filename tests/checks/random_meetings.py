# SPDX-License-Identifier: MIT
"""Random kernels with barriers and warp calls, and what is wrong with each of them.

    python -m tests.checks.random_meetings --kernels 500 --seed 1

The oracle walks through the program with one generator a lane, by the rules that
csrc/cpu/exec/workgroup.h and warp.h give; it knows nothing of the device.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.kernels.worker import Worker

from .finding import Finding
from .kernels import Outcome, Run, client

WARP = 32
FILE = "random.hip"
COUNTS = 3  # tables of rounds that loops go by


@dataclass
class Node:
    """A statement.  `line` is its own; loops and branches have bodies."""

    kind: str  # barrier, grid, return, call, if, loop
    line: int = 0
    op: str = ""
    mask: int = 0  # 0: none
    operand: int = 0
    width: int = WARP
    modulus: int = 1  # of conditions: thread % modulus < bound
    bound: int = 0
    table: int = 0
    body: list[Node] = field(default_factory=list)
    orelse: list[Node] = field(default_factory=list)


@dataclass
class Program:
    """A kernel: its statements, and the lanes of its one block."""

    name: str
    lanes: int
    nodes: list[Node]
    tables: np.ndarray  # COUNTS x lanes: rounds of loops


# ---- making ----


class Maker:
    """Random programs whose masks name at least the lanes that may come."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self, number: int) -> Program:
        """A program; about half of them have no mistake."""
        pick = self.random
        lanes = pick.choice([1, 7, 16, 32, 33, 40, 64, 70])
        even = np.full((COUNTS, lanes), pick.randrange(3))
        tables = np.array(
            [[pick.randrange(3) for _ in range(lanes)] for _ in range(COUNTS)]
        )
        rounds = tables if pick.random() < 0.4 else even
        self.wrong = pick.random() < 0.6
        self.rounds = rounds
        nodes = self.body(frozenset(range(lanes)), 0, pick.randrange(2, 6))
        return Program(f"k{number}", lanes, nodes, rounds.astype(np.int32))

    def body(self, lanes: frozenset[int], depth: int, count: int) -> list[Node]:
        return [self.node(lanes, depth) for _ in range(count)]

    def node(self, lanes: frozenset[int], depth: int) -> Node:
        pick = self.random
        whole = depth == 0 or self.wrong
        kinds = ["call"] * 5
        kinds += ["barrier"] * 3 if whole else []
        kinds += ["if", "if", "loop"] if depth < 3 else []
        if self.wrong:
            kinds += ["return"] if depth > 0 else []
            kinds += ["grid"] if pick.random() < 0.1 else []
        kind = pick.choice(kinds)
        if kind == "call":
            return self.call(lanes)
        if kind == "if":
            modulus = pick.choice([2, 3, 5, 16, 32, 48, 64])
            node = Node("if", modulus=modulus, bound=pick.randrange(modulus + 1))
            yes = frozenset(x for x in lanes if x % modulus < node.bound)
            node.body = self.body(yes, depth + 1, pick.randrange(1, 4))
            if pick.random() < 0.5:
                node.orelse = self.body(lanes - yes, depth + 1, pick.randrange(1, 3))
            return node
        if kind == "loop":
            node = Node("loop", table=pick.randrange(COUNTS))
            node.body = self.body(lanes, depth + 1, pick.randrange(1, 4))
            return node
        return Node(kind)

    def call(self, lanes: frozenset[int]) -> Node:
        pick = self.random
        op = pick.choice(["ballot", "any", "sync", "shfl", "up", "down", "xor"])
        # Each warp has the same lanes in a mask, so all warps' must be in it.
        mask = 0
        for lane in lanes:
            mask |= 1 << lane % WARP
        if not self.wrong and not self.alike(lanes):
            mask = 0
        elif self.wrong and pick.random() < 0.3:
            mask |= 1 << pick.randrange(WARP)
        if pick.random() < 0.4:
            mask = 0
        width = pick.choice([WARP, WARP, 16, 8])
        operand = pick.randrange(width) if self.wrong else 0
        return Node("call", op=op, mask=mask, operand=operand, width=width)

    def alike(self, lanes: frozenset[int]) -> bool:
        """Whether all loops go round equally often, so that all lanes come."""
        return bool((self.rounds == self.rounds[0, 0]).all())


# ---- text ----


class Text:
    """Writes programs, and gives each statement its line."""

    def __init__(self) -> None:
        self.lines = [
            "#include <hip/hip_cooperative_groups.h>",
        ]

    def add(self, depth: int, line: str) -> int:
        self.lines.append("    " * depth + line)
        return len(self.lines)

    def program(self, program: Program) -> None:
        self.add(0, f'extern "C" __global__ void {program.name}(const int *n, int *y)')
        self.add(0, "{")
        self.add(1, "int t = threadIdx.x, v = t;")
        self.nodes(program.nodes, 1, program.lanes)
        self.add(1, "y[t] = v;")
        self.add(0, "}")

    def nodes(self, nodes: Sequence[Node], depth: int, lanes: int) -> None:
        for node in nodes:
            self.node(node, depth, lanes)

    def node(self, node: Node, depth: int, lanes: int) -> None:
        if node.kind == "if":
            self.add(depth, f"if (t % {node.modulus} < {node.bound}) {{")
            self.nodes(node.body, depth + 1, lanes)
            if node.orelse:
                self.add(depth, "} else {")
                self.nodes(node.orelse, depth + 1, lanes)
            self.add(depth, "}")
        elif node.kind == "loop":
            name, at = f"i{depth}", f"n[{node.table * lanes} + t]"
            self.add(depth, f"for (int {name} = 0; {name} < {at}; {name}++) {{")
            self.nodes(node.body, depth + 1, lanes)
            self.add(depth, "}")
        else:
            node.line = self.add(depth, self.statement(node))

    @staticmethod
    def statement(node: Node) -> str:
        mask = f"0x{node.mask:x}ull"
        lane = f"{node.operand}, {node.width}"
        masked = {
            "ballot": f"v += __ballot_sync({mask}, v > 3) != 0;",
            "any": f"v += __any_sync({mask}, v > 3);",
            "sync": f"__syncwarp({mask});",
            "shfl": f"v += __shfl_sync({mask}, v, {lane});",
            "up": f"v += __shfl_up_sync({mask}, v, {lane});",
            "down": f"v += __shfl_down_sync({mask}, v, {lane});",
            "xor": f"v += __shfl_xor_sync({mask}, v, {lane});",
        }
        free = {
            "ballot": "v += __ballot(v > 3) != 0;",
            "any": "v += __any(v > 3);",
            "sync": "__syncwarp();",
            "shfl": f"v += __shfl(v, {lane});",
            "up": f"v += __shfl_up(v, {lane});",
            "down": f"v += __shfl_down(v, {lane});",
            "xor": f"v += __shfl_xor(v, {lane});",
        }
        other = {
            "barrier": "__syncthreads();",
            "grid": "cooperative_groups::this_grid().sync();",
            "return": "return;",
        }
        if node.kind != "call":
            return other[node.kind]
        return (masked if node.mask else free)[node.op]


# ---- the oracle ----

Place = tuple[int, ...]  # statement, round, statement ...: the order of the program


@dataclass
class Lane:
    number: int
    steps: Iterator[tuple[Node, Place]]
    node: Node | None = None  # where it waits
    place: Place = ()
    ready: bool = True
    over: bool = False

    @property
    def warp(self) -> int:
        return self.number // WARP

    @property
    def bit(self) -> int:
        return 1 << self.number % WARP


def walk(
    nodes: Sequence[Node], thread: int, tables: np.ndarray, at: Place
) -> Iterator[tuple[Node, Place]]:
    """The calls that a lane comes to."""
    for number, node in enumerate(nodes):
        if node.kind == "if":
            inside = thread % node.modulus < node.bound
            body = node.body if inside else node.orelse
            yield from walk(body, thread, tables, (*at, 2 * number + (not inside)))
        elif node.kind == "loop":
            for turn in range(int(tables[node.table, thread])):
                yield from walk(node.body, thread, tables, (*at, 2 * number, turn))
        else:
            yield node, (*at, 2 * number)
            if node.kind == "return":
                return


Found = tuple[str, int]  # kind and line


class Oracle:
    """Runs a program, lane by lane."""

    def __init__(self, program: Program) -> None:
        self.found: set[Found] = set()
        self.lines: set[int] = set()  # of a diverged barrier
        self.over = False
        self.lanes = [
            Lane(thread, self.steps(program, thread)) for thread in range(program.lanes)
        ]

    @staticmethod
    def steps(program: Program, thread: int) -> Iterator[tuple[Node, Place]]:
        for node, place in walk(program.nodes, thread, program.tables, ()):
            if node.kind == "return":
                return
            yield node, place

    def run(self) -> Oracle:
        while not self.over and self.step():
            pass
        return self

    def step(self) -> bool:
        """Whatever can go on does; False when all lanes are over."""
        for lane in self.lanes:
            if lane.ready:
                self.advance(lane)
        self.complete()
        if any(lane.ready for lane in self.lanes):
            return True
        live = [lane for lane in self.lanes if not lane.over]
        if not live:
            return False
        if all(lane.node and lane.node.kind != "call" for lane in live):
            self.meet(live)
            return True
        for warp in range(len(self.lanes) // WARP + 1):
            calling = [x for x in self.waiting(warp) if x.node and not x.node.mask]
            if calling:
                first = min(lane.place for lane in calling)
                self.serve([lane for lane in calling if lane.place == first])
                return True
        self.force()
        return True

    def advance(self, lane: Lane) -> None:
        lane.ready = False
        reached = next(lane.steps, None)
        if reached is None:
            lane.over, lane.node = True, None
        else:
            lane.node, lane.place = reached

    def waiting(self, warp: int) -> list[Lane]:
        """Lanes of the warp at its calls."""
        return [
            lane
            for lane in self.lanes
            if lane.warp == warp
            and not lane.ready
            and lane.node
            and lane.node.kind == "call"
        ]

    def named(self, leader: Lane) -> list[Lane]:
        """Those that wait with its mask and operation."""
        assert leader.node
        key = (leader.node.mask, leader.node.op)
        return [
            lane
            for lane in self.waiting(leader.warp)
            if lane.node and (lane.node.mask, lane.node.op) == key
        ]

    def complete(self) -> None:
        """Masks of which all living lanes are there."""
        for lane in self.lanes:
            if lane.ready or not lane.node or lane.node.kind != "call":
                continue
            if lane.node.mask:
                present = self.named(lane)
                live = [x for x in self.lanes if x.warp == lane.warp and not x.over]
                wanted = lane.node.mask & sum(x.bit for x in live)
                if not wanted & ~sum(x.bit for x in present):
                    self.serve(present)

    def force(self) -> None:
        """Nothing goes on without giving up lanes: the first warp's first call."""
        for warp in range(len(self.lanes) // WARP + 1):
            waiting = self.waiting(warp)
            if waiting:
                self.serve(self.named(min(waiting, key=lambda lane: lane.place)))
                return

    def serve(self, present: list[Lane]) -> None:
        first = present[0]
        assert first.node
        there = sum(x.bit for x in self.lanes if x.warp == first.warp)
        bits = sum(x.bit for x in present)
        if first.node.mask & there & ~bits:
            self.found.add(("absent-lanes", first.node.line))
        for lane in present:
            source = self.source(lane)
            if source is not None and not bits >> source & 1:
                assert lane.node
                self.found.add(("absent-source", lane.node.line))
                break
        for lane in present:
            lane.ready = True

    @staticmethod
    def source(lane: Lane) -> int | None:
        """The lane of the warp that it reads from."""
        node, self_ = lane.node, lane.number % WARP
        assert node
        begin = self_ - self_ % node.width
        from_ = {
            "shfl": begin + node.operand % node.width,
            "up": self_ - node.operand,
            "down": self_ + node.operand,
            "xor": self_ ^ node.operand,
        }.get(node.op)
        if from_ is None or from_ >= begin + node.width:
            return None
        if from_ < begin and node.op != "xor":
            return None
        return from_

    def meet(self, live: list[Lane]) -> None:
        """All living lanes wait at barriers."""
        nodes = {id(lane.node): lane.node for lane in live}
        first = live[0].node
        assert first
        if len(nodes) > 1:
            self.lines = {node.line for node in nodes.values() if node}
            self.over = True
            return
        if len(live) < len(self.lanes):
            self.found.add(("left-barrier", first.line))
        if first.kind == "grid":
            self.found.add(("not-cooperative", first.line))
            self.over = True
        for lane in live:
            lane.ready = True


# ---- comparing ----


def difference(program: Program, outcome: Outcome) -> str:
    """What the device found otherwise than the oracle; empty: nothing."""
    oracle = Oracle(program).run()
    want, got = set(oracle.found), set()
    for found in outcome.findings:
        if found.kind == "diverged-barrier":
            if problem := diverged(found, oracle.lines):
                return problem
            oracle.lines = set()
        else:
            got.add((found.kind, found.here.line))
    if oracle.lines:
        return f"not found: diverged-barrier at {sorted(oracle.lines)}"
    if want != got:
        return f"not found: {sorted(want - got)}, too much: {sorted(got - want)}"
    if bool(outcome.failure) != oracle.over:
        return f"failed: {outcome.failure!r}, over: {oracle.over}"
    return ""


def diverged(found: Finding, lines: set[int]) -> str:
    here, other = found.here.line, found.other.line if found.other else 0
    if here != other and {here, other} <= lines:
        return ""
    return f"diverged-barrier at {here} and {other}; the lanes are at {sorted(lines)}"


def differences(worker: Worker, seed: int, kernels: int) -> list[str]:
    """A report for each kernel that differs."""
    maker = Maker(seed)
    programs = [maker.program(number) for number in range(kernels)]
    text = Text()
    for program in programs:
        text.program(program)
    runs = [
        Run(p.name, 1, p.lanes, [p.tables.ravel(), np.zeros(p.lanes, np.int32)])
        for p in programs
    ]
    source = "\n".join(text.lines) + "\n"
    reports = []
    for program, outcome in zip(programs, worker.ask(FILE, source, runs), strict=True):
        if problem := difference(program, outcome):
            one = Text()
            one.program(program)
            listing = "\n".join(one.lines[1:])
            reports.append(f"{program.lanes} lanes: {problem}\n{listing}\n")
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.checks.random_meetings")
    parser.add_argument("--kernels", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    count, at_once = 0, 20
    with tempfile.TemporaryDirectory() as folder:
        worker = client(Path(folder), "sync,strict")
        for number in range(0, arguments.kernels, at_once):
            for report in differences(worker, 1000 * arguments.seed + number, at_once):
                count += 1
                sys.stdout.write(report)
        worker.close()
    sys.stdout.write(f"{arguments.kernels} kernels, {count} differences\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
