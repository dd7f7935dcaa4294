# SPDX-License-Identifier: MIT
"""Names for the numbers of csrc/abi/check.h, in the order in which they stand there."""

from __future__ import annotations

KINDS = (
    "out-of-bounds",
    "use-after-free",
    "unknown-memory",
    "read-only",
    "misaligned",
    "double-free",
    "invalid-free",
    "leak",
    "race",
    "equal-race",
    "uninitialised",
    "diverged-barrier",
    "left-barrier",
    "absent-lanes",
    "absent-source",
    "not-cooperative",
    "nan",
    "infinity",
)  # the first is 1
TWO_SIDED = frozenset({"race", "equal-race", "diverged-barrier"})
BITS = {"read": 1, "write": 2, "atomic": 4, "free": 8}
SPACES = (
    "unknown",
    "global",
    "shared",
    "local",
    "constant",
    "variable",
    "managed",
    "pinned",
    "argument",
    "heap",
)
NOWHERE = 0xFFFFFFFF


def kind_of(what: int) -> str:
    """Name of an `enum ha_check_what`."""
    return KINDS[what - 1] if 0 < what <= len(KINDS) else f"kind {what}"


def space_of(space: int) -> str:
    """Name of an `enum ha_check_space`."""
    return SPACES[space] if 0 <= space < len(SPACES) else f"space {space}"


def bits_of(bits: int) -> str:
    """What an access does, in words."""
    return " ".join(word for word, bit in BITS.items() if bits & bit) or "no access"
