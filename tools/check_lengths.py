# SPDX-License-Identifier: MIT
"""Refuses functions that are longer than a person reads at once.

C is read by its layout, which clang-format keeps: a function is what stands between a
brace that opens a line and the next one that closes it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("hipadapt", "csrc", "tools", "tests", "benchmarks", "examples")
LINES_MAX = 80


def python_functions(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of each function, those inside of others as well."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.end_lineno or node.lineno


def c_functions(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of each function's body, braces included."""
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            first = number
        elif line == "}" and first:
            yield first, number
            first = 0


def too_long(path: Path) -> list[str]:
    """A line of text for each function that is too long."""
    text = path.read_text(encoding="utf-8")
    found = python_functions(text) if path.suffix == ".py" else c_functions(text)
    sizes = [(first, last - first + 1) for first, last in found]
    return [
        f"{path}:{first}: a function of {size} lines; {LINES_MAX} are enough"
        for first, size in sizes
        if size > LINES_MAX
    ]


def files() -> Iterator[Path]:
    """Hand-written Python and C."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".c", ".h") and "generated" not in path.parts:
                yield path


def main() -> int:
    """Prints what is too long; status 1 if anything is."""
    found = [line for path in files() for line in too_long(path)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
