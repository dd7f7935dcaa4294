# SPDX-License-Identifier: MIT
"""Numbers of 32 bits some of which have no value, as the oracle of fuzz_init has them."""

from __future__ import annotations

from dataclasses import dataclass

ALL = 0xFFFFFFFF


@dataclass(frozen=True)
class Bits:
    """A number as it happens to be, and which of its bits nobody wrote."""

    value: int
    without: int = 0

    @property
    def least(self) -> int:
        return self.value & ~self.without

    @property
    def most(self) -> int:
        return self.value | self.without


def both(a: Bits, b: Bits, value: int) -> Bits:
    """A result each bit of which needs the same bit of both."""
    return Bits(value & ALL, a.without | b.without)


def logical_and(a: Bits, b: Bits) -> Bits:
    # A zero that somebody wrote decides.
    decided = (~a.value & ~a.without) | (~b.value & ~b.without)
    return Bits(a.value & b.value, (a.without | b.without) & ~decided & ALL)


def logical_or(a: Bits, b: Bits) -> Bits:
    decided = (a.value & ~a.without) | (b.value & ~b.without)
    return Bits(a.value | b.value, (a.without | b.without) & ~decided & ALL)


def times(a: Bits, factor: int) -> Bits:
    """A product with a constant: zeros at its end are zeros of the result."""
    lowest = factor & -factor
    return Bits(a.value * factor & ALL, a.without * lowest & ALL)


def shifted(a: Bits, count: int) -> Bits:
    """To the left, or to the right by a negative count."""
    if count >= 0:
        return Bits(a.value << count & ALL, a.without << count & ALL)
    return Bits(a.value >> -count, a.without >> -count)


def signed_byte(a: Bits) -> Bits:
    def extended(bits: int) -> int:
        return (bits & 0xFF) | (0xFFFFFF00 if bits & 0x80 else 0)

    return Bits(extended(a.value), extended(a.without))


def summed(old: Bits, new: Bits) -> Bits:
    """What an atomic sum leaves: each bit needs all that are lower."""
    without = old.without | new.without
    lowest = without & -without
    return Bits((old.value + new.value) & ALL, (ALL & ~(lowest - 1)) if without else 0)


def compared(relation: str, a: Bits, b: Bits) -> tuple[bool, bool]:
    """What a comparison gives, and whether that is decided by bits that have a value."""
    if relation in ("==", "!="):
        known = ~(a.without | b.without)
        same = a.value == b.value
        differs = (a.value ^ b.value) & known & ALL != 0
        return (same == (relation == "==")), (differs or known & ALL == ALL)
    if relation in (">", "<="):
        gives, decided = compared("<", b, a)
        return gives == (relation == ">"), decided
    below = a.value < b.value
    decided = a.most < b.least or a.least >= b.most
    return below == (relation == "<"), decided
