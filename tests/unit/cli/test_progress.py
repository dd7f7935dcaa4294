# SPDX-License-Identifier: MIT
"""The line that says how far work is."""

from __future__ import annotations

import io
import sys

import pytest

from hipadapt._progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(patch: pytest.MonkeyPatch) -> Terminal:
    """Takes the place of stderr; in the test itself, since pytest takes it, too."""
    made = Terminal()
    patch.setattr(sys, "stderr", made)
    return made


def test_plain_line_has_a_bar_and_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    shown_on = terminal(monkeypatch)
    progress = Progress(after_s=0)

    progress.show("work", 1, 2)
    shown = shown_on.getvalue()
    progress.clear()

    assert shown.endswith("work [" + "#" * 15 + "." * 15 + "] 1/2")
    assert shown_on.getvalue().endswith("\r\x1b[K")


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on = terminal(monkeypatch)
    progress = Progress(after_s=1000)

    progress.show("work", 1, 2)
    progress.clear()

    assert shown_on.getvalue() == ""


def test_nothing_is_shown_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    progress = Progress(after_s=0)

    progress.show("work")
    progress.clear()

    assert file.getvalue() == ""


def test_rich_draws_the_line_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("rich")
    shown_on = terminal(monkeypatch)
    progress = Progress(after_s=0)

    for done in range(3):
        progress.show("work", done, 3)
    progress.clear()
    progress.show("more")
    progress.clear()

    assert "work" in shown_on.getvalue()
    assert "more" in shown_on.getvalue()
    assert "#" not in shown_on.getvalue()
