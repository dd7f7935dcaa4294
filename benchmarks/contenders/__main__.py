# SPDX-License-Identifier: MIT
"""Kernels on the CPU device beside Intel's OpenCL, PoCL, OpenMP in C, and numpy.

Each whole run is a process in which all contenders take turns, row by row.  Every
result is compared with the OpenMP loop's or numpy's before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.__main__ import put
from benchmarks.native import BuildError
from benchmarks.tables import processor

from . import levels, report
from .row import CONTENDERS, OURS, Row
from .rows import ROWS
from .runs import ROOT, Plan, RunError, Side, measure

ALONE = "none"
TURNS, TURNS_BESIDE = 7, 21  # two builds may differ by some percent only
AGAIN = 4  # more runs at most, of rows that look slower


def positive(text: str) -> int:
    """A number of which there must be one at least."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def measurement_of(text: str) -> dict[str, Any]:
    """The numbers in a file that --json wrote."""
    try:
        found = json.loads(Path(text).read_text(encoding="utf-8"))
        return {"about": found["about"], "rows": found["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{text}: not of --json: {error!r}") from None


def parser() -> argparse.ArgumentParser:
    """Command line."""
    found = argparse.ArgumentParser(
        prog="python -m benchmarks.contenders", description=__doc__
    )
    add = found.add_argument
    add("--list", action="store_true", help="print the rows' names")
    add(
        "--row",
        action="append",
        metavar="NAME",
        help="rows with these words in their name; may be repeated",
    )
    add("--runs", type=positive, default=3, help="whole runs (3)")
    add("--turns", type=positive, help="turns of a run (7, with --beside 21)")
    add("--quick", action="store_true", help="one run of three turns")
    add(
        "--only",
        action="append",
        choices=[*CONTENDERS[1:], ALONE],
        help="leave other contenders out; may be repeated",
    )
    add(
        "--threads",
        type=positive,
        default=len(os.sched_getaffinity(0)),
        help="of each contender (one a core)",
    )
    add("--cpu", choices=levels.LEVELS, help="all contenders compile for this level")
    add("--json", type=Path, metavar="FILE", help="write the numbers")
    add("--table", type=Path, metavar="FILE", help="write the table")
    add("--docs", action="store_true", help="put the table into docs/kernel_speed.md")
    add(
        "--against",
        type=measurement_of,
        metavar="FILE",
        help="say what is slower than in this file of --json; status 3 if a row is",
    )
    add(
        "--beside",
        type=Path,
        metavar="CHECKOUT",
        help="run that checkout's CPU device in turn, and say what is slower than it; "
        "status 3 if a row is",
    )
    return found


def rows_of(wanted: Sequence[str] | None) -> list[Row]:
    """Rows by the words of their names; one whose name it is exactly comes alone."""
    if not wanted:
        return list(ROWS)
    found: list[Row] = []
    for text in wanted:
        words = text.lower().split()
        named = [row for row in ROWS if row.name.lower() == text.lower()] or [
            row for row in ROWS if all(word in row.name.lower() for word in words)
        ]
        if not named:
            raise RunError(f"there is no row {text!r}; --list prints them all")
        found += [row for row in named if row not in found]
    return found


def measurement(side: Side, chosen: argparse.Namespace) -> dict[str, Any]:
    """What a side found, where and how."""
    about = {
        "processor": processor(),
        "threads": chosen.threads,
        "cpu": chosen.cpu or "this processor",
        "commit": side.commit(),
        "runs": chosen.runs,
        "turns": chosen.turns,
    }
    return {"about": about, "rows": side.rows, "missing": side.missing}


def sides_of(chosen: argparse.Namespace, folder: Path) -> list[Side]:
    """This checkout, and the one beside it; that one needs no contenders."""
    if chosen.docs and (chosen.row or chosen.only or chosen.quick):
        raise RunError("--docs needs everything: leave --row, --only, --quick out")
    if chosen.quick:
        chosen.runs, chosen.turns = 1, 3
    chosen.turns = chosen.turns or (TURNS_BESIDE if chosen.beside else TURNS)
    others = [name for name in chosen.only or CONTENDERS[1:] if name != ALONE]
    common = {
        "rows": [row.name for row in rows_of(chosen.row)],
        "turns": chosen.turns,
        "threads": chosen.threads,
        "level": chosen.cpu,
        "folder": folder,
    }
    sides = [Side("this", ROOT, Plan(contenders=[OURS, *others], **common))]
    if chosen.beside:
        plan = Plan(contenders=[OURS], **common)
        sides.append(Side(str(chosen.beside), chosen.beside, plan))
    return sides


def again(chosen: argparse.Namespace, sides: Sequence[Side]) -> None:
    """Rows that look slower than the other checkout's may have had bad luck."""
    for _ in range(AGAIN if chosen.beside else 0):
        new, old = (measurement(side, chosen) for side in sides)
        suspected = report.slower_rows(new, old)
        if not suspected:
            break
        measure(sides, 1, suspected)


def tell(chosen: argparse.Namespace, sides: Sequence[Side]) -> int:
    """Print and write everything; the exit status."""
    ours = measurement(sides[0], chosen)
    text = report.table(ours)
    print(text)
    if chosen.json:
        chosen.json.write_text(json.dumps(ours, indent=1) + "\n", encoding="utf-8")
    if chosen.table:
        chosen.table.write_text(text + "\n", encoding="utf-8")
    if chosen.docs:
        put(ROOT / "docs" / "kernel_speed.md", text)
    for name, how in ours["missing"].items():
        print(f"contenders: {name} IS MISSING: {how}", file=sys.stderr)
    status = 1 if any(OURS in row["wrong"] for row in ours["rows"].values()) else 0
    olds = [chosen.against] if chosen.against else []
    olds += [measurement(side, chosen) for side in sides[1:]]
    for old in olds:
        told, bad = report.against(ours, old)
        print(f"\n{told}")
        status = status or (3 if bad else 0)
    return status


def main() -> int:
    """Status 0; 1 where a result is wrong, 2 without any, 3 where a row is slower."""
    chosen = parser().parse_args()
    if chosen.list:
        print("\n".join(row.name for row in ROWS))
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="hipadapt-bench-") as folder:
            sides = sides_of(chosen, Path(folder))
            measure(sides, chosen.runs, sides[0].plan.rows)
            again(chosen, sides)
        return tell(chosen, sides)
    except (BuildError, RunError) as error:
        print(f"contenders: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
