# SPDX-License-Identifier: MIT
"""``trace run``: records a program from its first use of HIP to its end.

The program is a child of this process, which gives the traces their names and the exit
status when it is over.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._run import start
from .._run.libraries import TOOL
from .arguments import add_program, add_scan, as_called

HELP = "record a program from its first use of HIP to its end"
TEXT = (
    "Starts PROGRAM as `hipadapt run` does and records what it does on devices. A "
    "program of several processes gets a file each, named FILE with the process's "
    "number before its suffix; that of PROGRAM itself, or the only one, becomes FILE. "
    "A forked child that does not exec is not recorded. The exit status is the "
    "program's; 86 if that is 0 and no trace shows a kernel, a copy or a fill; 125 to "
    "127 if it could not be started. Signals are passed on. A program that is ended by "
    "SIGKILL or _exit has no trace."
)
USAGE = (
    "python -m hipadapt trace run -o FILE [--provider cpu|amd] [--] PROGRAM [ARGS]\n"
    "       python -m hipadapt trace run -o FILE [--provider cpu|amd] -m MODULE [ARGS]"
)
EXAMPLE = "example: python -m hipadapt trace run -o out.json -- python train.py"
EMPTY = 86
SUFFIXES = (".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", ".pftrace")
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the trace; its suffix says the format: .json, .json.gz, .pftrace",
    )
    parser.add_argument(
        "--provider",
        choices=("cpu", "amd"),
        help="the CPU device, or AMD's libraries, whose profiler gets hipadapt's tool "
        "(default: what hipadapt chooses here)",
    )
    add_scan(parser, "as of `hipadapt run`, for the CPU device")
    add_program(parser)


def split(path: Path) -> tuple[str, str]:
    """The absolute path without its suffix, and the suffix."""
    text = os.path.abspath(path)
    for suffix in SUFFIXES:
        if text.endswith(suffix) and not text.endswith("/" + suffix):
            return text[: -len(suffix)], suffix
    raise start.RunError(
        2, f"-o {path}: the suffix must be .json, .json.gz or .pftrace"
    )


def settings(
    provider: str, words: Sequence[str], scan: Sequence[str]
) -> dict[str, str]:
    """What changes in the program's environment, but for the file's name."""
    if provider == "cpu":
        return start.prepare(words, scan)
    named = os.environ.get("ROCP_TOOL_LIBRARIES")
    libraries = f"{TOOL},{named}" if named else str(TOOL)
    path = os.environ.get("PATH", os.defpath)
    return {"HIPADAPT_PROVIDER": "amd", "ROCP_TOOL_LIBRARIES": libraries, "PATH": path}


def chosen(asked: str | None) -> str:
    """The provider: as asked, or as hipadapt chooses."""
    if asked is None:
        from .. import provider

        asked = provider().name
    return "cpu" if asked == "cpu" else "amd"


class Files:
    """Traces that the program's processes write."""

    def __init__(self, path: Path) -> None:
        self.base, self.suffix = split(path)
        self.folder = os.path.dirname(self.base)
        if not os.path.isdir(self.folder):
            raise start.RunError(2, f"-o {path}: there is no folder {self.folder}")
        if not os.access(self.folder, os.W_OK):
            raise start.RunError(2, f"-o {path}: {self.folder} can't be written to")
        self.path = Path(self.base + self.suffix)
        if self.path.is_symlink() or self.path.is_dir():
            raise start.RunError(2, f"-o {path}: is a link or a folder")
        if "%" in self.base:
            raise start.RunError(2, f"-o {path}: the name must not have a %")
        self._before = self._found()

    @property
    def pattern(self) -> str:
        """What HIPADAPT_PROFILE says."""
        return f"{self.base}_%p{self.suffix}"

    def _found(self) -> dict[int, tuple[Path, int, int]]:
        found: dict[int, tuple[Path, int, int]] = {}
        start_of = os.path.basename(self.base) + "_"
        for entry in os.scandir(self.folder):
            name = entry.name
            number = name[len(start_of) : -len(self.suffix)]
            whole = name == f"{start_of}{number}{self.suffix}"
            if whole and number.isdecimal() and number.isascii():
                seen = entry.stat(follow_symlinks=False)
                found[int(number)] = (Path(entry.path), seen.st_ino, seen.st_mtime_ns)
        return found

    def collect(self, child: int) -> list[Path]:
        """New files; the child's, or the only one, gets the name that was asked for."""
        new = {
            number: entry[0]
            for number, entry in self._found().items()
            if self._before.get(number) != entry
        }
        first = child if child in new else next(iter(new)) if len(new) == 1 else None
        if first is None:
            return [new[number] for number in sorted(new)]
        os.replace(new.pop(first), self.path)
        return [self.path, *(new[number] for number in sorted(new))]


def begin(words: Sequence[str], changed: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts the program, which gets the signals of this process from now on."""
    program = start.find_program(words[0], changed["PATH"])
    try:
        child = subprocess.Popen(
            list(words),
            executable=program,
            env={**os.environ, **changed},
        )
    except OSError as error:
        text = f"{program}: {error.strerror}"
        raise start.RunError(start.NOT_RUNNABLE, text) from None
    for number in PASSED_ON:
        signal.signal(number, lambda got, _: child.send_signal(got))
    # The terminal gives Ctrl-C and Ctrl-\ to both; the program decides.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    return child


def run(words: Sequence[str], changed: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Runs the program to its end."""
    child = begin(words, changed)
    child.wait()
    return child


def note(text: str) -> None:
    """Prints a line for the user, unless HIPADAPT_LOG=0 asks for silence."""
    if os.environ.get("HIPADAPT_LOG") != "0":
        print(f"hipadapt trace run: {text}", file=sys.stderr)


def report(files: Sequence[Path], wanted: Path) -> bool:
    """Says which traces there are; whether one shows work."""
    from .._trace.opened import has_work

    if not files:
        note(f"{wanted} was not written: the program made no use of HIP")
        return False
    work = [path for path in files if has_work(path)]
    for path in files:
        empty = "" if path in work else "; no kernel, copy or fill is in it"
        note(f"{path} ({path.stat().st_size} bytes){empty}")
    if wanted not in files:
        names = " ".join(shlex.quote(str(path)) for path in files)
        note(as_called(f"to make one: python -m hipadapt trace merge {names} -o ..."))
    return bool(work)


def end_like(status: int) -> int:
    """Ends by the signal that ended the program."""
    if status >= 0:
        return status
    if -status not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-status, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    os.kill(os.getpid(), -status)
    return 128 - status


def main(choices: argparse.Namespace) -> int:
    """The program's exit status, or one of those above."""
    from .._run.root import RootError

    try:
        words = start.command_of(choices)
        if not words:
            raise start.RunError(2, "which program? trace run -o FILE -- PROGRAM ARGS")
        files = Files(choices.output)
        changed = settings(chosen(choices.provider), words, choices.scan)
        changed["HIPADAPT_PROFILE"] = files.pattern
        child = run(words, changed)
    except (start.RunError, RootError) as error:
        print(f"hipadapt trace run: {error}", file=sys.stderr)
        return error.status if isinstance(error, start.RunError) else start.FAILED
    worked = report(files.collect(child.pid), files.path)
    if child.returncode == 0 and not worked:
        print("hipadapt trace run: the profile is empty", file=sys.stderr)
        return EMPTY
    return end_like(child.returncode)
