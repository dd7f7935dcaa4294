# SPDX-License-Identifier: MIT
"""``check``: runs a program and shows what its kernels do wrong.

The program's processes append their findings to one file, which this process reads
while they run: what a process has found is shown even if it is killed right after.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from .._check.finding import Finding
from .._check.findings import again_lines
from .._check.here import HERE, WORDS, refusal
from .._check.kinds import CHECKS, OPTIONS
from .._check.pools import separate
from .._check.read import Reader
from .._run import start
from . import trace_run
from .arguments import add_program, add_scan

HELP = "run a program and show what its kernels do wrong, with lines of source"
TEXT = (
    "Starts PROGRAM as `hipadapt run` does, on the CPU device, with kernels that are "
    "checked. Each finding is shown once, on stderr, when it is made; a summary "
    "follows. The exit status is 86 if something was found, else the program's own; "
    "125 to 127 if it could not be started. Signals are passed on."
)
USAGE = (
    "python -m hipadapt check [--kinds K] [--format F] [-o FILE] [--] PROGRAM [ARGS]\n"
    "       python -m hipadapt check [--kinds K] [--format F] [-o FILE] -m MODULE ..."
)
EXAMPLE = "example: python -m hipadapt check --kinds memory,race -- python train.py"
FOUND = 86
_STEP_S = 0.05  # between looks at the file


def words_of(text: str) -> str:
    """Argument type: words of HIPADAPT_CHECK."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    for why in filter(None, map(refusal, words)):
        raise argparse.ArgumentTypeError(why)
    if not words:
        raise argparse.ArgumentTypeError(f"needs some of {', '.join(WORDS)}")
    return ",".join(words)


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    checks = [(word, CHECKS[word]) for word in HERE]
    rows = [*checks, ("all", "all of these"), *OPTIONS.items()]
    parser.add_argument(
        "--kinds",
        type=words_of,
        default="all",
        metavar="K,K",
        help="what is checked (default: %(default)s): "
        + "; ".join(f"{word}: {text}" for word, text in rows),
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif"),
        default="text",
        help="text for people, on stderr; json and sarif (2.1.0) go to stdout, when "
        "the program has ended (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="they go to FILE instead"
    )
    add_scan(parser, "as of `hipadapt run`")
    add_program(parser)


class Tail:
    """The file of findings, read while it grows."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115
        self.reader = Reader()

    def new(self) -> list[Finding]:
        """Findings since the last look."""
        return self.reader.feed(self._file.read())

    def close(self) -> None:
        """Ends it."""
        self._file.close()


def follow(
    child: subprocess.Popen[bytes], tail: Tail, show: Callable[[Finding], None]
) -> None:
    """Shows findings until the program has ended."""
    running = True
    while running:
        try:
            child.wait(_STEP_S)
            running = False
        except subprocess.TimeoutExpired:
            pass
        for finding in tail.new():
            show(finding)


def notes(reader: Reader) -> list[str]:
    """What a reader of the summary has to know."""
    lines: list[str] = []
    if reader.processes == 0:
        lines.append("nothing was checked: no process has used HIP")
    for number in reader.unfinished:
        lines.append(
            f"process {number} has no summary: it was killed, or still runs; how often "
            "its findings were made is not known"
        )
    if reader.damaged:
        lines.append(f"{reader.damaged} damaged lines of findings were left out")
    return lines


def name_of(words: Sequence[str]) -> str:
    """The program: of a script in Python, the script."""
    script = words[0] == sys.executable and len(words) > 1 and words[1][:1] != "-"
    return words[1] if script else words[0]


class Shown:
    """Reports as text: all of them in a file, the first ones on a terminal."""

    MOST = 100  # as without the command: HA_OUTPUT_SHOWN_MAX

    def __init__(self, file: TextIO, bounded: bool) -> None:
        self.file, self.bounded, self.count = file, bounded, 0

    def add(self, finding: object) -> None:
        self.count += 1
        if not self.bounded or self.count <= self.MOST:
            write_text(self.file, str(finding))

    def end(self) -> None:
        if self.bounded and self.count > self.MOST:
            write_text(
                self.file,
                f"hipadapt check: {self.count - self.MOST} more findings are not "
                "shown; -o FILE gets all",
            )


def write_text(file: TextIO, text: str) -> None:
    """At once; a reader that has gone stops no program."""
    try:
        print(text, file=file, flush=True)
    except (BrokenPipeError, ValueError):  # the latter from then on
        file.close()


def run(choices: argparse.Namespace, words: Sequence[str], out: TextIO | None) -> int:
    """The program, with its findings; `out` is the file that was asked for."""
    changed = start.prepare(words, choices.scan)
    text = choices.format == "text"
    shown = Shown(out or sys.stderr, bounded=out is None)
    with tempfile.TemporaryDirectory(prefix="hipadapt-check-") as folder:
        path = os.path.join(folder, "findings")
        Path(path).touch()
        changed["HIPADAPT_CHECK"] = choices.kinds
        changed["HIPADAPT_CHECK_OUTPUT"] = path
        separate(changed)
        tail = Tail(path)
        try:
            child = trace_run.begin(words, changed)
            follow(
                child,
                tail,
                lambda finding: shown.add(finding) if text else None,
            )
        finally:
            tail.close()
    tail.reader.end()
    found = tail.reader.result()
    if text:
        shown.end()
        for line in again_lines(found):
            write_text(shown.file, line)
    elif choices.format == "json":
        write_text(out or sys.stdout, found.json())
    else:
        write_text(out or sys.stdout, found.sarif(name_of(words)))
    if text and out is not None:
        write_text(out, f"hipadapt check: {found.summary}")
    for line in [str(found.summary), *notes(tail.reader)]:
        write_text(sys.stderr, f"hipadapt check: {line}")
    return FOUND if found else trace_run.end_like(child.returncode)


def main(choices: argparse.Namespace) -> int:
    """Exit status 2 to 127 where the program could not be started."""
    from .._run.root import RootError

    try:
        words = start.command_of(choices)
        if not words:
            raise start.RunError(2, "which program? hipadapt check -- PROGRAM ARGS")
        if choices.output is None:
            return run(choices, words, None)
        try:
            out = open(choices.output, "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            text = f"--output {choices.output}: {error.strerror}"
            raise start.RunError(2, text) from None
        with out:
            return run(choices, words, out)
    except (start.RunError, RootError) as error:
        print(f"hipadapt check: {error}", file=sys.stderr)
        return error.status if isinstance(error, start.RunError) else start.FAILED
