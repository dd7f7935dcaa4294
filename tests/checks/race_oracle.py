# SPDX-License-Identifier: MIT
"""Which accesses of a random kernel race: by a clock of all lanes at each access.

An access is ordered before a later one if the later lane's clock then knew of it.
Clocks are joined where lanes meet, and where an atomic read gives what an atomic write
left that came with a release or behind a release fence, or a value that was made from
it by atomics that read and write.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .race_program import Kernel, Lane, Step, lanes_of

Key = tuple[str, int]  # an array, and the block that has it; -1: all blocks


@dataclass(frozen=True)
class Side:
    """One access."""

    lane: int
    step: Step
    stamp: int
    clock: np.ndarray


@dataclass
class Cell:
    """Bytes that the same accesses touch."""

    key: Key
    begin: int
    end: int
    accesses: list[Side]
    races: set[tuple[int, int]]  # numbers of accesses, the first one less


@dataclass
class State:
    """A lane while the kernel is executed."""

    lane: Lane
    steps: Iterator[Step]
    clock: np.ndarray
    pending: np.ndarray  # what it has read and not acquired
    fence: np.ndarray | None = None  # what it knew at its last release fence
    clean: bool = False  # only atomics since its own fence
    step: Step | None = None  # that it is at
    waits: bool = False

    def advance(self) -> None:
        self.step = next(self.steps, None)
        self.waits = False


@dataclass
class Oracle:
    kernel: Kernel
    notes: Any
    hands_over: bool = False  # something was acquired
    writes: dict[tuple[Key, int, int], np.ndarray | None] = field(default_factory=dict)
    accesses: dict[Key, list[Side]] = field(default_factory=lambda: defaultdict(list))

    def run(self) -> list[Cell]:
        """Execute the kernel; what each byte's accesses are, and which of them race."""
        count = self.kernel.blocks * self.kernel.lanes
        states = []
        for lane in lanes_of(self.kernel, self.notes):
            zero = np.zeros(count, np.int32)
            states.append(State(lane, self.kernel.steps(lane), zero, zero.copy()))
            states[-1].advance()
        while any(state.step for state in states):
            moved = [self.go(state) for state in states]
            if not any(moved) and not self.meet(states):
                raise AssertionError("the oracle comes to no end")
        return list(self.cells())

    # ---- steps ----

    def key(self, lane: Lane, array: str) -> Key:
        return (array, -1 if array in ("g", "gf") else lane.b)

    def go(self, state: State) -> bool:
        """Until the lane has to wait; false: it could do nothing."""
        moved = False
        while state.step is not None and not state.waits:
            step = state.step
            if step.kind == "access":
                if not self.access(state, step):
                    return moved
            elif step.kind == "fence":
                self.fence(state, step)
            else:
                state.waits = True
                return True
            state.advance()
            moved = True
        return moved

    def access(self, state: State, step: Step) -> bool:
        """False: what it reads was not written yet."""
        lane, clock = state.lane, state.clock
        key = self.key(lane, step.array)
        handed = None
        if step.seen:
            if (key, step.offset, step.seen) not in self.writes:
                return False
            handed = self.writes[key, step.offset, step.seen]
        clock[lane.i] += 1
        state.clean &= step.atomic
        if handed is not None:
            state.pending = np.maximum(state.pending, handed)
            if step.acquire:
                self.hands_over = True
                state.clock = clock = np.maximum(clock, handed)
        self.accesses[key].append(Side(lane.i, step, int(clock[lane.i]), clock.copy()))
        if step.made is not None:
            self.write(state, step, key, handed)
        return True

    def write(
        self, state: State, step: Step, key: Key, handed: np.ndarray | None
    ) -> None:
        left = None
        if step.atomic:
            left = state.clock.copy() if step.release else self.fenced(state)
        if step.reads and handed is not None:
            left = handed if left is None else np.maximum(left, handed)
        self.writes[key, step.offset, step.made or 0] = left

    @staticmethod
    def fenced(state: State) -> np.ndarray | None:
        """What an atomic write that is no release hands over, with itself if it may."""
        if state.fence is None or not state.clean:
            return state.fence
        left = state.fence.copy()
        left[state.lane.i] = state.clock[state.lane.i]
        return left

    def fence(self, state: State, step: Step) -> None:
        if step.acquire:
            self.hands_over |= bool((state.pending > state.clock).any())
            state.clock = np.maximum(state.clock, state.pending)
        if step.release:
            known = state.clock.copy()
            state.fence = (
                known if state.fence is None else np.maximum(state.fence, known)
            )
            state.clean = True

    # ---- lanes that meet ----

    def meet(self, states: list[State]) -> bool:
        """Lets those go that have all come; false: there are none."""
        groups: dict[tuple[int, ...], list[State]] = defaultdict(list)
        needs: dict[tuple[int, ...], list[State]] = defaultdict(list)
        for state in states:
            step = state.step
            if step is None or not state.waits:
                continue
            lane = state.lane
            warp = lane.t // lane.warp_size
            place = {
                "grid": (step.line,),
                "block": (step.line, lane.b),
                "warp": (step.line, lane.b, warp),
            }[step.kind]
            groups[place].append(state)
            if place not in needs:
                needs[place] = [
                    x for x in states if self.takes_part(x.lane, lane, step)
                ]
        met = False
        for place, group in groups.items():
            if len(group) == len(needs[place]):
                self.join(group)
                met = True
        return met

    @staticmethod
    def takes_part(lane: Lane, other: Lane, step: Step) -> bool:
        if step.kind == "grid":
            return True
        if step.kind == "block" or lane.b != other.b:
            return lane.b == other.b
        same = lane.t // lane.warp_size == other.t // lane.warp_size
        return same and bool(step.mask >> lane.t % lane.warp_size & 1)

    def join(self, group: list[State]) -> None:
        known = np.maximum.reduce([x.clock for x in group])
        handed = np.maximum.reduce([x.pending for x in group])
        self.hands_over |= bool((handed > known).any())
        fences = [x.fence for x in group if x.fence is not None]
        for state in group:
            state.fence = np.maximum.reduce(fences) if fences else None
            state.clock = np.maximum(known, handed)
            state.advance()

    # ---- races ----

    def cells(self) -> Iterator[Cell]:
        for key, sides in self.accesses.items():
            at = np.array([x.step.offset for x in sides])
            end = at + np.array([x.step.size for x in sides])
            edges = sorted({*at.tolist(), *end.tolist()})
            for begin, after in itertools.pairwise(edges):
                here = np.flatnonzero((at <= begin) & (begin < end))
                if len(here):
                    accesses = [sides[x] for x in here]
                    yield Cell(key, begin, after, accesses, self.races(accesses))

    def races(self, sides: list[Side]) -> set[tuple[int, int]]:
        lanes = np.array([x.lane for x in sides])
        stamps = np.array([x.stamp for x in sides])
        known = (
            np.array([x.clock for x in sides])[:, lanes] >= stamps
        )  # [later, before]
        writes = np.array([x.step.writes for x in sides])
        atomic = np.array([x.step.atomic for x in sides])
        race = ~known & ~known.T & (lanes[:, None] != lanes)
        race &= (writes[:, None] | writes) & ~(atomic[:, None] & atomic)
        if self.kernel.option == "relaxed-warps":
            block, lane = np.divmod(lanes, self.kernel.lanes)
            warps = block * 64 + lane // self.kernel.warp_size
            race &= warps[:, None] != warps
        return {(int(a), int(b)) for a, b in np.argwhere(race) if a < b}


def are_equal(one: Side, other: Side, at: int) -> bool:
    """Whether both leave the same in that byte."""
    if one.step.reads or other.step.reads or not one.step.writes * other.step.writes:
        return False
    left = [
        x.step.value[at - x.step.offset] if x.step.value else -1 for x in (one, other)
    ]
    return left[0] == left[1] >= 0
