# SPDX-License-Identifier: MIT
"""How numbers of traces look on a terminal: tables of 80 columns, and progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from .slices import Progress

WIDTH = 80
_SHOW_AFTER_S, _EVERY_S = 1.0, 0.2


def time_text(ns: float | None) -> str:
    """Three digits and a unit."""
    if ns is None:
        return "-"
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if abs(ns) < limit:
            return f"{ns / limit * 1e3:.{0 if unit == 'ns' else 2}f} {unit}"
    return f"{ns / 1e9:.3f} s"


def bytes_text(count: int) -> str:
    """In powers of 1024."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def cut(text: str, width: int) -> str:
    """A text in one line that is no wider; its middle goes."""
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[: width - 3 - half]}...{text[-half:]}"


def table(
    head: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]
) -> Iterable[str]:
    """Lines of a table; the first column gets what the others leave."""
    first = WIDTH - sum(widths)
    for row in (head, *rows):
        rest = "".join(
            f"{cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True)
        )
        yield f"{cut(row[0], first - 1):<{first}}{rest}".rstrip()


def progress(path: object) -> Progress | None:
    """Percents on a terminal, if reading takes long; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None
    begun = last = time.monotonic()
    shown = False

    def show(done: int, whole: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if shown and done >= whole:
            sys.stderr.write("\r\x1b[K")
            shown = False
        elif now - begun > _SHOW_AFTER_S and now - last > _EVERY_S and done < whole:
            sys.stderr.write(f"\r{cut(str(path), 60)}: {done * 100 // whole} %")
            sys.stderr.flush()
            last, shown = now, True

    return show
