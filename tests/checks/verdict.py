# SPDX-License-Identifier: MIT
"""Findings against expectations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .finding import Finding, FoundSide
from .marks import Expectation, Side
from .pair import Pair
from .vocabulary import TWO_SIDED, bits_of


def named(demangled: str) -> str:
    """Name of a kernel without its arguments: k of "void k<float>(float*)"."""
    words = re.split(r"[<(]", demangled)[0].split()
    return words[-1] if words else ""


class Verdict:
    """What is wrong with the findings of a wrong twin."""

    def __init__(self, pair: Pair, memory: bool = True) -> None:
        self.pair = pair
        self.memory = memory  # whether the space and the name are compared
        self.file = pair.file.rpartition("/")[2]

    def complaints(self, findings: Sequence[Finding]) -> list[str]:
        """A text for each expectation that nothing fits, and each finding beyond."""
        fits = [
            [self.fits(expected, found) for found in findings]
            for expected in self.pair.expectations
        ]
        missing = [
            f"not found: {describe(expected)}"
            for expected, row in zip(self.pair.expectations, fits, strict=True)
            if not any(row)
        ]
        beyond = [
            f"not expected: {found}"
            for number, found in enumerate(findings)
            if not any(row[number] for row in fits)
        ]
        return missing + beyond

    def fits(self, expected: Expectation, found: Finding) -> bool:
        """Whether this is that finding."""
        if found.kind not in expected.kinds:
            return False
        memory = ((expected.space, found.space), (expected.name, found.name))
        if self.memory and any(want and want != got for want, got in memory):
            return False
        sides = [(expected.here, expected.other)]
        if expected.other is not None:
            sides.append((expected.other, expected.here))
        return any(self.both(here, other, found) for here, other in sides)

    def both(self, here: Side, other: Side | None, found: Finding) -> bool:
        if not self.side(here, found.here):
            return False
        if found.other is None:
            return found.kind not in TWO_SIDED
        return other is not None and self.side(other, found.other)

    def side(self, expected: Side, found: FoundSide) -> bool:
        """Whether the side is where it must be, and does what it must."""
        place = self.in_source if expected.in_source else self.on_host
        return place(expected, found) and all(
            not want or want == got
            for want, got in (
                (expected.bits, found.bits),
                (expected.bytes, found.bytes),
                (expected.block, found.block),
                (expected.thread, found.thread),
            )
        )

    def in_source(self, expected: Side, found: FoundSide) -> bool:
        kernel = named(found.kernel)
        return (
            (found.file, found.line) == (self.file, expected.line)
            and found.text == expected.text
            and not found.call
            and (kernel == expected.kernel or not expected.kernel)
            and kernel in self.pair.kernels
            and (not expected.function or named(found.function) == expected.function)
        )

    def on_host(self, expected: Side, found: FoundSide) -> bool:
        """By the call, and by the line of Python that the host's stack names first."""
        first = found.stack.partition("\n")[0]
        place = rf"\b{re.escape(self.file)}:{expected.line}\b"
        return (
            not found.kernel
            and found.call == expected.call
            and re.search(place, first) is not None
        )


def differences(first: Sequence[Finding], *others: Sequence[Finding]) -> list[str]:
    """Where further runs answered other than the first one; the first such run."""
    want = [found.steady() for found in first]
    for number, findings in enumerate(others, 2):
        got = [found.steady() for found in findings]
        if got == want:
            continue
        texts = [f"only in run 1: {found}" for found in want if found not in got]
        texts += [
            f"only in run {number}: {found}" for found in got if found not in want
        ]
        return texts or [f"run {number} has them in another order"]
    return []


def describe(expected: Expectation) -> str:
    """In a line what should have been found."""
    lines = [f"{side_text(expected.here)}"]
    if expected.other:
        lines.append(side_text(expected.other))
    memory = f" in {expected.space}" if expected.space else ""
    return f"{' or '.join(expected.kinds)}{memory}: " + " and ".join(lines)


def side_text(side: Side) -> str:
    access = f"{bits_of(side.bits)} " if side.bits else ""
    where = "".join(
        f" {word}={value}"
        for word, value in (("block", side.block), ("thread", side.thread))
        if value
    )
    return f"{access}line {side.line}{where} {side.call or side.text!r}"
