# SPDX-License-Identifier: MIT
"""How a profile looks in a notebook: a timeline and a table of kernels."""

from __future__ import annotations

import html
import zlib
from collections.abc import Iterable
from typing import Any

from .._trace.slices import CALLS, KERNEL, WORK, Slice
from .._trace.table import cut, time_text

_WIDTH, _LABEL, _ROW, _GAP = 900, 150, 18, 4  # pixels
_ROWS_MAX, _BARS_MAX, _TITLE_MAX = 16, 4000, 120
_KERNELS_MAX = 20


class Timeline:
    """Bars by stream and thread, of the whole trace.

    A bar is a pixel wide at least.  Of those that begin on the same pixel of a row the
    longest is drawn, and of too many the longest are.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[int, str], dict[int, Slice]] = {}
        self._slices: list[tuple[tuple[int, str], Slice]] = []

    def add(self, slices: Iterable[Slice]) -> Iterable[Slice]:
        """Passes them on, and keeps what is drawn."""
        for one in slices:
            if one.category in WORK:
                row = (0, f"GPU {one.device} stream {one.row}")
            elif one.category in CALLS or one.category == "user_annotation":
                row = (1, f"thread {one.row}")
            else:
                yield one
                continue
            self._slices.append((row, one))
            yield one

    def svg(self) -> str:
        """The picture; "" where there is nothing."""
        if not self._slices:
            return ""
        begin = min(one.start for _, one in self._slices)
        end = max(one.start + one.duration for _, one in self._slices)
        scale = (_WIDTH - _LABEL) / max(end - begin, 1)
        rows = sorted({row for row, _ in self._slices})[:_ROWS_MAX]
        height = (_ROW + _GAP) * len(rows) + 20
        parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' "
            f"width='{_WIDTH}' style='max-width:100%' font-family='sans-serif' "
            "font-size='11' fill='currentColor'>"
        ]
        for index, row in enumerate(rows):
            y = index * (_ROW + _GAP)
            label = html.escape(cut(row[1], 24))
            parts.append(f"<text x='0' y='{y + 13}'>{label}</text>")
        parts += self._bars(rows, begin, scale)
        parts.append(f"<text x='{_LABEL}' y='{height - 5}'>0</text>")
        parts.append(
            f"<text x='{_WIDTH}' y='{height - 5}' text-anchor='end'>"
            f"{time_text(end - begin)}</text></svg>"
        )
        return "".join(parts)

    def _bars(
        self, rows: list[tuple[int, str]], begin: int, scale: float
    ) -> Iterable[str]:
        places = {row: index * (_ROW + _GAP) for index, row in enumerate(rows)}
        longest: dict[tuple[int, int], Slice] = {}
        for row, one in self._slices:
            if row in places:
                at = (places[row], int((one.start - begin) * scale))
                known = longest.get(at)
                if known is None or one.duration > known.duration:
                    longest[at] = one
        drawn = sorted(longest.items(), key=lambda bar: -bar[1].duration)[:_BARS_MAX]
        for (y, x), one in drawn:
            width = max(1.0, one.duration * scale)
            title = html.escape(cut(one.name, _TITLE_MAX))
            yield (
                f"<rect x='{x + _LABEL}' y='{y}' width='{width:.1f}' height='{_ROW}' "
                f"fill='{_colour(one)}'><title>{title}: {time_text(one.duration)}"
                "</title></rect>"
            )


def _colour(one: Slice) -> str:
    """Of kernels by their name; of the rest by what they are."""
    if one.category == KERNEL:
        return f"hsl({zlib.crc32(one.name.encode()) % 360},65%,50%)"
    return "#999" if one.category in WORK else "#7aa6c2"


def kernel_table(numbers: dict[str, Any]) -> str:
    """Kernels with count, total, mean and p95."""
    style = "style='text-align:left;background:none'"
    head = "".join(
        f"<th {style}>{word}</th>"
        for word in ("kernel", "count", "total", "mean", "p95")
    )
    lines: list[str] = []
    for entry in numbers["kernels"][:_KERNELS_MAX]:
        times = (time_text(entry[key]) for key in ("total_ns", "mean_ns", "p95_ns"))
        words = [cut(entry["name"], 80), str(entry["count"]), *times]
        cells = "".join(f"<td {style}>{html.escape(word)}</td>" for word in words)
        lines.append(f"<tr>{cells}</tr>")
    more = len(numbers["kernels"]) - _KERNELS_MAX
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    return f"<table style='color:inherit'><tr>{head}</tr>{''.join(lines)}</table>{rest}"
