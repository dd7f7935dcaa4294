# SPDX-License-Identifier: MIT
"""How far work is that takes longer than a second: one line, on a terminal only."""

from __future__ import annotations

import sys
import time
from typing import Any

BAR = 30  # characters


class Progress:
    """One line on stderr that is drawn again and again; by rich where it is installed.

    Parameters
    ----------
    after_s
        What is done sooner shows nothing, in seconds.
    """

    def __init__(self, after_s: float = 1.0) -> None:
        self._shown = sys.stderr.isatty()
        self._from = time.monotonic() + after_s
        self._rich: Any = None
        self._task: Any = None
        self._drawn = False

    def show(self, what: str, done: int = 0, of: int = 0) -> None:
        """Replace the line; with `of` a bar is drawn."""
        if not self._shown or time.monotonic() < self._from:
            return
        if not self._drawn:
            self._begin()
        if self._rich is not None:
            total = of or None
            self._rich.update(self._task, description=what, completed=done, total=total)
            return
        bar = ""
        if of:
            filled = BAR * done // of
            bar = f" [{'#' * filled}{'.' * (BAR - filled)}] {done}/{of}"
        print(f"\r\x1b[K{what}{bar}", end="", file=sys.stderr, flush=True)

    def _begin(self) -> None:
        self._drawn = True
        try:
            from rich.console import Console
            from rich.progress import Progress as Bars
        except ImportError:
            return
        self._rich = Bars(console=Console(stderr=True), transient=True)
        self._task = self._rich.add_task("")
        self._rich.start()

    def clear(self) -> None:
        """Leave an empty line for what is printed next."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None
        elif self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self._drawn = False
