# SPDX-License-Identifier: MIT
"""What checks cost: rows of the speed table with and without, and beside Oclgrind.

`python -m benchmarks.checked` prints the tables, `--doc` puts them into
docs/checking_speed.md.  Each column is a process; they take turns, row by row.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import oclgrind
from .rows import FROM_MEMORY, SMALL, TEN, row_of

DOC = Path(__file__).resolve().parents[2] / "docs" / "checking_speed.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
# Of each column: what the environment says.
PLAIN: dict[str, str] = {}
MEMORY = {"HIPADAPT_CHECK": "memory,quiet"}
RACE = {"HIPADAPT_CHECK": "memory,race,quiet"}
OBSERVED = {"HIPADAPT_CHECK_PROOF": "0"}


class Column:
    """A process that runs rows, and the best that it has told of each."""

    def __init__(self, environment: dict[str, str]) -> None:
        kept = {k: v for k, v in os.environ.items() if k != "HIPADAPT_CHECK"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.checked.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**kept, "HIPADAPT_PROVIDER": "cpu", **environment},
        )
        self.best: dict[str, dict[str, Any]] = {}

    def turn(self, row: str, seconds: float) -> None:
        """Run a row for so long."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(
            json.dumps({"row": row, "seconds": seconds}),
            file=self.process.stdin,
            flush=True,
        )
        answer = json.loads(self.process.stdout.readline())
        if answer["findings"]:
            raise RuntimeError(
                f"{row}: {answer['findings']} findings in a right kernel"
            )
        best = self.best.setdefault(row, answer)
        best["seconds"] = min(best["seconds"], answer["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def time_text(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def cell(plain: dict[str, Any], checked: dict[str, Any]) -> str:
    """A ratio, and how it came about."""
    how = "proved" if checked["observed"] == 0 else "observed"
    if how == "observed" and checked["proved"] > 0:
        how = "partly proved"
    return f"{checked['seconds'] / plain['seconds']:.3g} x, {how}"


def table_rows(turns: int, seconds: float) -> list[str]:
    """Rows of the speed table."""
    columns = [Column(PLAIN), Column(MEMORY), Column(RACE)]
    lines = ["| kernel | without | memory | memory, race |", "|---|---|---|---|"]
    for name in (*TEN, *FROM_MEMORY):
        for turn in range(turns):
            for column in columns:
                # What is observed takes seconds: one turn tells enough.
                if turn > 0 and column.best[name]["seconds"] > 1:
                    continue
                column.turn(name, seconds)
        plain, memory, race = (column.best[name] for column in columns)
        lines.append(
            f"| {name} | {time_text(plain['seconds'])} | {cell(plain, memory)} | "
            f"{cell(plain, race)} |"
        )
        print(lines[-1], flush=True)
    for column in columns:
        column.close()
    return lines


def oclgrind_rows(turns: int, seconds: float) -> list[str]:
    """The same kernels as OpenCL, smaller."""
    if not oclgrind.is_there():
        return [f"Oclgrind is not installed: `{oclgrind.HOW_TO_GET}`."]
    proved, observed = Column(RACE), Column({**RACE, **OBSERVED})
    lines = [
        "| kernel | Oclgrind | memory, race | each access observed |",
        "|---|---|---|---|",
    ]
    for row in SMALL:
        theirs = oclgrind.seconds_of(row_of(row.name), 1)
        for _ in range(turns):
            proved.turn(row.name, seconds)
            observed.turn(row.name, seconds)
        texts = []
        for column in (proved, observed):
            best = column.best[row.name]
            how = "proved" if best["observed"] == 0 else "observed"
            faster = theirs / best["seconds"]
            texts.append(f"{time_text(best['seconds'])}, {faster:.3g} x faster, {how}")
        lines.append(f"| {row.name} | {time_text(theirs)} | {' | '.join(texts)} |")
        print(lines[-1], flush=True)
    proved.close()
    observed.close()
    return lines


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checked")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn")
    parser.add_argument(
        "--doc", action="store_true", help="write docs/checking_speed.md"
    )
    arguments = parser.parse_args()
    lines = table_rows(arguments.turns, arguments.seconds)
    lines += ["", *oclgrind_rows(arguments.turns, arguments.seconds)]
    if arguments.doc:
        old = DOC.read_text(encoding="utf-8")
        head, tail = old[: old.index(BEGIN)], old[old.index(END) :]
        DOC.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{tail}", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
