# SPDX-License-Identifier: MIT
"""The check of lengths sees a function of one line too many, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_lengths import LINES_MAX, ROOT, files, too_long

C = "static int\nlong_one(void)\n{{\n{body}}}\n\nint\nshort(void)\n{{\n}}\n"
PYTHON = "class C:\n    def long_one(self):\n{body}\n\ndef short():\n    pass\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "around"),
    [("a.c", C, "    x();\n", 2), ("a.py", PYTHON, "        x()\n", 1)],
)
def test_function_of_one_line_too_many_is_refused(
    tmp_path: Path, name: str, text: str, line: str, around: int
) -> None:
    path, most = tmp_path / name, LINES_MAX - around

    path.write_text(text.format(body=line * most))
    good = too_long(path)
    path.write_text(text.format(body=line * (most + 1)))

    assert good == []
    assert [word.split(": ")[1] for word in too_long(path)] == [
        f"a function of {LINES_MAX + 1} lines; {LINES_MAX} are enough"
    ]


def test_files_of_both_halves_are_looked_at() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in files()}

    assert {"hipadapt/_cli/demo.py", "csrc/cpu/exec/exec.c"} <= found
    assert not [name for name in found if "/generated/" in name]
