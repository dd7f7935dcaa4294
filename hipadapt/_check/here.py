# SPDX-License-Identifier: MIT
"""What can be checked on this machine."""

from __future__ import annotations

from platform import machine

from .kinds import CHECKS, OPTIONS

_ONLY = {"nan": "x86_64"}  # by traps of the processor

HERE: tuple[str, ...] = tuple(
    word for word in CHECKS if _ONLY.get(word, machine()) == machine()
)
"""Words of checks; ``all`` is these."""
WORDS: tuple[str, ...] = (*HERE, "all", *OPTIONS)
"""All that may be asked for."""


def refusal(word: str) -> str | None:
    """Why this is no check on this machine, or None: it is one, or an option."""
    if word in WORDS:
        return None
    known = ", ".join(WORDS)
    if word in _ONLY:
        return f"{word!r} is checked on {_ONLY[word]} only; here there are {known}"
    return f"{word!r} is no kind of check; there are {known}"
