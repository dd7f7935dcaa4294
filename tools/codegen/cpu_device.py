# SPDX-License-Identifier: MIT
"""Which functions the CPU device has: its exported entry points, read in its sources.

The list in the documents and the tests both come from here, and a test compares it with
the library that was built.
"""

from __future__ import annotations

import re
from pathlib import Path

from .model import Api, Function

SOURCES = Path(__file__).resolve().parents[2] / "csrc" / "cpu" / "entry"
ENTRY_POINT = re.compile(r"^HA_EXPORT\s[^;{(]*?\b(hip\w+)\(", re.MULTILINE)
# Rows of csrc/cpu/entry/spt.c.
ROW_OF_SPT = re.compile(r"^SPT\((hip\w+),", re.MULTILINE)


def provided() -> frozenset[str]:
    """Symbols of HIP and hiprtc that the CPU device's library exports."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.c"))]
    plain = {name for text in texts for name in ENTRY_POINT.findall(text)}
    rows = {f"{name}_spt" for text in texts for name in ROW_OF_SPT.findall(text)}
    return frozenset(n for n in plain | rows if not n.startswith("hipadapt"))


def lacking(api: Api) -> list[Function]:
    """Functions that answer that they are not supported, in the description's order."""
    symbols = provided()
    return [f for f in api.functions if f.symbol not in symbols]
