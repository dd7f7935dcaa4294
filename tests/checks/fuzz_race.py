# SPDX-License-Identifier: MIT
"""Random kernels that race, beside an oracle that knows which accesses do.

`python -m tests.checks.fuzz_race --seconds 60 --seed 1` looks for a kernel in which
something is found that is no race, or a race is not found that csrc/cpu/check/race.h
promises.  It prints such a kernel and goes on.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.kernels.worker import Worker

from .finding import Finding
from .race_client import client, kernels_of
from .race_oracle import Cell, Oracle, Side, are_equal
from .race_program import BYTES, FLAGS, Kernel, source_of

OPTIONS = ("", "equal", "relaxed-warps")
WARPS = (32, 64)
SPACES = {("global", BYTES): "g", ("global", 4 * FLAGS): "gf"}


def array_of(found: Finding) -> str:
    if found.space == "shared":
        return re.sub(r"^_ZZ\d+k\d+E\d", "", found.name)
    return SPACES[found.space, found.bytes]


def sides_of(cell: Cell, pair: tuple[int, int]) -> tuple[Side, Side]:
    return cell.accesses[pair[0]], cell.accesses[pair[1]]


class Judge:
    """One kernel's findings against its oracle."""

    def __init__(self, kernel: Kernel, notes: object, findings: list[Finding]) -> None:
        self.kernel = kernel
        self.oracle = Oracle(kernel, notes)
        self.cells = self.oracle.run()
        self.findings = findings
        self.racing = sum(bool(cell.races) for cell in self.cells)
        self.promised = 0

    def complaints(self) -> list[str]:
        wrong = [f"is no race: {x}" for x in self.findings if not self.is_right(x)]
        for cell in self.cells:
            for at in range(cell.begin, cell.end):
                if text := self.missing(cell, at):
                    wrong.append(text)
        return wrong

    # ---- what is found is a race ----

    def is_right(self, found: Finding) -> bool:
        if found.here.block is None or found.other is None or found.other.block is None:
            return False
        name, block = array_of(found), found.here.block[0]
        key = (name, -1 if name in ("g", "gf") else block)
        for cell in self.cells:
            if cell.key == key and cell.begin <= found.offset < cell.end:
                # What atomics wrote since then hides that values were equal.
                hidden = any(x.step.atomic and x.step.writes for x in cell.accesses)
                return any(
                    self.is_that(sides_of(cell, pair), found, hidden)
                    for pair in cell.races
                )
        return False

    def is_that(self, sides: tuple[Side, Side], found: Finding, hidden: bool) -> bool:
        wanted = sorted(map(self.place, (found.here, found.other)))
        if sorted((x.lane, x.step.line) for x in sides) != wanted:
            return False
        equal = are_equal(*sides, found.offset)
        if found.kind == "equal-race":
            return equal
        if found.kind != "race":
            return False
        return hidden or not (equal and self.all_equal(*sides))

    def place(self, side: object) -> tuple[int, int]:
        block, thread = side.block[0], side.thread[0]  # type: ignore[attr-defined]
        return block * self.kernel.lanes + thread, side.line  # type: ignore[attr-defined]

    @staticmethod
    def all_equal(one: Side, other: Side) -> bool:
        """Of one value wherever either of them writes."""
        a, b = one.step, other.step
        return (a.offset, a.value) == (b.offset, b.value)

    # ---- races are found ----

    def missing(self, cell: Cell, at: int) -> str:
        """A text if the byte has a race that must have been found."""
        equal_too = self.kernel.option == "equal"
        pairs = [sides_of(cell, pair) for pair in cell.races]
        silent = [x for x in pairs if not equal_too and are_equal(*x, at)]
        loud = [x for x in pairs if equal_too or not are_equal(*x, at)]
        if not loud or not self.is_promised(cell, bool(silent)):
            return ""
        self.promised += 1
        lines = {frozenset(x.step.line for x in pair) for pair in loud}
        for found in self.findings:
            if found.other and frozenset((found.here.line, found.other.line)) in lines:
                return ""
        told = "; ".join(sorted(str(sorted(x)) for x in lines))
        return f"not found: byte {at} of {cell.key}: lines {told}"

    def is_promised(self, cell: Cell, silent: bool) -> bool:
        """As csrc/cpu/check/race.h says."""
        ordered = self.kernel.whole and not self.oracle.hands_over
        if silent or (self.kernel.option == "relaxed-warps" and not ordered):
            return False
        return ordered or all(
            len({x.lane for x in cell.accesses if self.sort(x) == sort}) <= 2
            for sort in ("read", "atomic read", "atomic write")
        )

    @staticmethod
    def sort(side: Side) -> str:
        words = ["atomic"] * side.step.atomic
        return " ".join([*words, "write" if side.step.writes else "read"])


def check(
    seed: int, worker: Worker, warp_size: int, option: str, seen: Counter[str]
) -> Iterable[str]:
    """A report for each kernel of the seed that differs."""
    kernels = kernels_of(seed, warp_size, option)
    source = source_of(kernels).splitlines()
    results = worker.ask("races", seed, warp_size)
    for kernel, (notes, findings) in zip(kernels, results, strict=True):
        judge = Judge(kernel, notes, findings)
        complaints = judge.complaints()
        seen["kernels"] += 1
        seen["findings"] += len(findings)
        seen["racing cells"] += judge.racing
        seen["promised bytes"] += judge.promised
        seen["clean kernels"] += judge.racing == 0
        seen["with hand-over"] += judge.oracle.hands_over
        if complaints:
            end = kernel.line + kernel.text(kernel.line).count("\n")
            text = [f"{n:4d} {source[n - 1]}" for n in range(kernel.line, end)]
            head = (
                f"seed {seed} {kernel.name}, {kernel.blocks} blocks of {kernel.lanes}"
            )
            head += f", warps of {warp_size}, option {option!r}"
            head += ", cooperative" * kernel.cooperative
            told = [f"found: {x}" for x in findings]
            yield "\n".join([head, *text, *complaints[:8], *told])


def main() -> int:
    """Exit status 1 when a kernel differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10**9, help="at most")
    parser.add_argument("--stop", action="store_true", help="at the first difference")
    chosen = parser.parse_args()
    end, seed, wrong = time.monotonic() + chosen.seconds, chosen.seed, 0
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        workers = {
            (warp, option): client(Path(folder), option, warp)
            for warp in WARPS
            for option in OPTIONS
        }
        while time.monotonic() < end and seed < chosen.seed + chosen.seeds:
            for (warp, option), worker in workers.items():
                for text in check(seed, worker, warp, option, seen):
                    print(text, "\n")
                    wrong += 1
                    if chosen.stop:
                        end = 0
            seed += 1
        for worker in workers.values():
            worker.close()
    told = ", ".join(f"{count} {word}" for word, count in seen.items())
    print(f"seeds {chosen.seed} to {seed - 1}: {told}; {wrong} kernels differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
