# SPDX-License-Identifier: MIT
"""Whole runs, each in a process of its own, and what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import levels

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = Path("hipadapt") / "_lib" / "libhipadapt_cpu.so"
THREADS = (
    "HIPADAPT_CPU_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POCL_MAX_PTHREAD_COUNT",
    "CL_CONFIG_CPU_TBB_NUM_WORKERS",
)


class RunError(RuntimeError):
    """A run that did not come to its end, or can't begin."""


@dataclass(frozen=True)
class Plan:
    """What every run does, with as many threads for everyone."""

    rows: Sequence[str]
    contenders: Sequence[str]
    turns: int
    threads: int
    level: str | None
    folder: Path  # of what is built


class Side:
    """The CPU device of a checkout, and the rows it was measured with."""

    def __init__(self, name: str, checkout: Path, plan: Plan) -> None:
        self.name, self.plan, self.checkout = name, plan, checkout
        self.library = (checkout / LIBRARY).resolve()
        if not self.library.is_file():
            raise RunError(f"{checkout} has no {LIBRARY}: build it there")
        if plan.level and levels.OURS.encode() not in self.library.read_bytes():
            raise RunError(f"{self.library} does not know {levels.OURS}")
        self.rows: dict[str, Any] = {
            row: {"runs": [], "wrong": {}} for row in plan.rows
        }
        self.missing: dict[str, str] = {}

    def environment(self) -> dict[str, str]:
        """The same threads and level for all contenders."""
        return {
            **os.environ,
            **dict.fromkeys(THREADS, str(self.plan.threads)),
            **levels.environment(self.plan.level),
            "HIPADAPT_PROVIDER": str(self.library),
        }

    def __enter__(self) -> Side:
        """Start a process; it waits for lines."""
        module = f"{__package__}.run"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", module, str(self.plan.folder)],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        march = self.plan.level or "native"
        wanted = {"contenders": self.plan.contenders, "march": march}
        self.missing = self.ask(wanted)["missing"]
        return self

    def __exit__(self, *_: object) -> None:
        """The process ends with its input."""
        with self.process:
            pass

    def ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """One line, and its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            raise RunError(f"{self.name}: a run ended at {command}, status {status}")
        found: dict[str, Any] = json.loads(line)
        return found

    def finish(self, row: str) -> None:
        """Keep what was found."""
        one = self.ask({"close": True})
        self.show({"row": row, **one})
        self.rows[row]["runs"].append(one["seconds"])
        self.rows[row]["wrong"].update(one["wrong"])

    def show(self, one: Mapping[str, Any]) -> None:
        """Progress, for people."""
        times = ", ".join(f"{k} {v * 1e3:.3f}" for k, v in one["seconds"].items())
        print(f"{self.name}: {one['row']}: {times} ms", file=sys.stderr, flush=True)
        for contender, text in one["wrong"].items():
            print(f"  WRONG, {contender}: {text}", file=sys.stderr, flush=True)

    def commit(self) -> str:
        """The checkout's, with a mark where files differ from it; else its name."""
        command = ["git", "describe", "--always", "--dirty"]
        done = subprocess.run(
            command, cwd=self.checkout, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or self.name


def run_row(sides: Sequence[Side], row: str, turns: int) -> None:
    """One side has all turns at once; two change places after each."""
    for side in sides:
        side.ask({"open": row})
    if len(sides) == 1:
        sides[0].ask({"turns": turns})
    else:
        for turn in range(turns):
            for side in sides if turn % 2 == 0 else reversed(sides):
                side.ask({"turns": 1})
    for side in sides:
        side.finish(row)


def measure(sides: Sequence[Side], runs: int, rows: Sequence[str]) -> None:
    """Whole runs; the sides' processes are there together and work in turn."""
    for _ in range(runs):
        with ExitStack() as stack:
            for side in sides:
                stack.enter_context(side)
            for row in rows:
                run_row(sides, row, sides[0].plan.turns)
