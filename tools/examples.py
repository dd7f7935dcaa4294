# SPDX-License-Identifier: MIT
"""Runs the Python examples of the documents and of docstrings.

    python -m tools.examples docs/arrays.md hipadapt.types

In a document every block marked as `python` is run, in order, in one namespace and in
an interpreter of its own: blocks with `>>>` by doctest, others as they are.  A comment
in the line above a block changes that:

    <!-- not run: needs an AMD GPU -->      the block is left out
    <!-- needs: torch -->                   ... unless these modules can be imported

A block marked as `text` behind the comment `<!-- output -->` must be what the example
above it printed; `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
OPEN = re.compile(r"^(?P<indent> *)(?P<fence>```+) ?(?P<language>\w*) *$")
COMMENT = re.compile(r"^ *<!-- (not run|needs|output)(?:: (.*?))? -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, what it is, and the comment above it."""

    line: int
    language: str
    rule: str
    value: str
    text: str


def blocks(document: str) -> Iterator[Block]:
    """The fenced blocks of a Markdown document."""
    lines = document.splitlines()
    at = 0
    while at < len(lines):
        begin = OPEN.match(lines[at])
        if begin is None:
            at += 1
            continue
        comment = COMMENT.match(lines[at - 1]) if at else None
        cut = len(begin["indent"])
        body = []
        first = at + 1
        at = first
        while at < len(lines) and lines[at].strip() != begin["fence"]:
            body.append(lines[at][cut:])
            at += 1
        at += 1
        rule, value = (comment[1], comment[2] or "") if comment else ("", "")
        text = "\n".join([*body, ""])
        yield Block(first, begin["language"], rule, value, text)


def missing(names: str) -> list[str]:
    """Which of these modules are not installed."""
    wanted = re.findall(r"[\w.]+", names)
    return [name for name in wanted if importlib.util.find_spec(name) is None]


def run_doctest(text: str, names: dict[str, Any], path: str, line: int) -> str:
    """What doctest has to say against an example; nothing if it is right."""
    test = doctest.DocTestParser().get_doctest(text, names, path, path, line)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    return "".join(report)


def run_document(path: Path) -> list[str]:
    """Runs all examples of a document; returns what is wrong."""
    # As the main module, so that classes and futures behave as in a program.
    names: dict[str, Any] = {"__name__": "__main__"}
    failures = []
    printed = ""
    for block in blocks(path.read_text(encoding="utf-8")):
        place = f"{path}, line {block.line}"
        if block.language == "text" and block.rule == "output":
            checker = doctest.OutputChecker()
            if not checker.check_output(block.text, printed, FLAGS):
                failures.append(f"{place}: printed was\n{printed}")
        if block.language != "python" or block.rule == "not run":
            continue
        if block.rule == "needs" and missing(block.value):
            print(f"{place}: not run, {', '.join(missing(block.value))} is missing")
            continue
        if ">>>" in block.text:
            report = run_doctest(block.text, names, str(path), block.line)
            if report:
                failures.append(report)
            continue
        code = compile("\n" * block.line + block.text, str(path), "exec")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, names)
        printed = output.getvalue()
    return failures


def documented(module: Any) -> Iterator[tuple[str, str]]:
    """Names and docstrings of a module, its public names, and their members."""
    yield module.__name__, module.__doc__ or ""
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        place = f"{module.__name__}.{name}"
        if inspect.isclass(value):
            yield place, value.__doc__ or ""
            for inner, member in vars(value).items():
                yield f"{place}.{inner}", getattr(member, "__doc__", None) or ""
        elif callable(value):
            yield place, value.__doc__ or ""


def run_docstrings(name: str) -> list[str]:
    """Runs the examples in the docstrings of a module; returns what is wrong."""
    failures = []
    module = importlib.import_module(name)
    for place, text in documented(module):
        if ">>>" in text:
            names = dict(vars(module))
            report = run_doctest(inspect.cleandoc(text), names, place, 0)
            failures += [report] if report else []
    return failures


def main(names: list[str]) -> int:
    """Each name is a document or a module; returns the exit status."""
    failures: list[str] = []
    for name in names:
        path = Path(name)
        failures += run_document(path) if path.suffix == ".md" else run_docstrings(name)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.setdefault("HIPADAPT_PROVIDER", "cpu")
    sys.exit(main(sys.argv[1:]))
