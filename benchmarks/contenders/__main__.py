# SPDX-License-Identifier: MIT
"""Kernels on the CPU device beside Intel's OpenCL, PoCL, OpenMP in C, and numpy.

Each whole run is a process in which all contenders take turns, row by row.  Every
result is compared with the OpenMP loop's or numpy's before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables import processor

from . import levels, report
from .row import CONTENDERS, OURS, Row
from .rows import ROWS

ROOT = Path(__file__).resolve().parent.parent.parent


def choices() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contenders", description=__doc__
    )
    parser.add_argument(
        "--row",
        action="append",
        metavar="NAME",
        help="rows with these words in their name; may be repeated",
    )
    parser.add_argument("--list", action="store_true", help="print the rows' names")
    parser.add_argument("--runs", type=int, default=3, help="whole runs (3)")
    parser.add_argument("--turns", type=int, default=7, help="turns of a run (7)")
    parser.add_argument("--quick", action="store_true", help="one run of three turns")
    parser.add_argument(
        "--only",
        action="append",
        choices=CONTENDERS[1:],
        help="leave other contenders out; may be repeated",
    )
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each"
    )
    parser.add_argument(
        "--cpu", choices=levels.LEVELS, help="compile for this level, all contenders"
    )
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    parser.add_argument("--table", type=Path, help="write the table to this file")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="JSON",
        help="say what is slower than in this file; exit status 3 if anything is",
    )
    return parser.parse_args()


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
            raise SystemExit(f"contenders: no row {text!r}; --list prints them all")
        found += [row for row in named if row not in found]
    return found


def environment(chosen: argparse.Namespace) -> dict[str, str]:
    """The same number of threads for everyone, and the same processor."""
    threads = str(chosen.threads)
    names = (
        "HIPADAPT_CPU_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "POCL_MAX_PTHREAD_COUNT",
        "CL_CONFIG_CPU_TBB_NUM_WORKERS",
    )
    same = dict.fromkeys(names, threads)
    return {
        **os.environ,
        **same,
        **levels.environment(chosen.cpu),
        "HIPADAPT_PROVIDER": "cpu",
    }


def one_run(
    folder: Path, wanted: Mapping[str, Any], variables: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """What a run prints, as it comes."""
    command = [sys.executable, "-W", "ignore", "-m", f"{__package__}.run", str(folder)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(wanted))
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        raise SystemExit(f"contenders: a run ended with status {process.returncode}")


def measure(chosen: argparse.Namespace, rows: Sequence[Row]) -> dict[str, Any]:
    """All runs."""
    contenders = [OURS, *(chosen.only or CONTENDERS[1:])]
    wanted = {
        "rows": [row.name for row in rows],
        "turns": chosen.turns,
        "contenders": contenders,
        "march": chosen.cpu or "native",
    }
    found: dict[str, Any] = {row.name: {"runs": [], "wrong": {}} for row in rows}
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="hipadapt-bench-") as folder:
        for run in range(chosen.runs):
            for one in one_run(Path(folder), wanted, environment(chosen)):
                if "missing" in one:
                    missing = one["missing"]
                    continue
                show(run, one)
                found[one["row"]]["runs"].append(one["seconds"])
                found[one["row"]]["wrong"].update(one["wrong"])
    return {"about": about(chosen), "rows": found, "missing": missing}


def show(run: int, one: Mapping[str, Any]) -> None:
    """Progress, for people."""
    times = ", ".join(f"{k} {v * 1e3:.3f}" for k, v in one["seconds"].items())
    print(f"run {run + 1}: {one['row']}: {times} ms", file=sys.stderr, flush=True)
    for contender, text in one["wrong"].items():
        print(f"  WRONG, {contender}: {text}", file=sys.stderr, flush=True)


def commit() -> str:
    """The checkout's, with a mark where files differ from it."""
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def about(chosen: argparse.Namespace) -> dict[str, Any]:
    """Where and how."""
    return {
        "processor": processor(),
        "threads": chosen.threads,
        "cpu": chosen.cpu or "this processor",
        "commit": commit(),
        "runs": chosen.runs,
        "turns": chosen.turns,
    }


def main() -> int:
    """Status 0; 1 where a result of ours is wrong, 3 where a row became slower."""
    chosen = choices()
    if chosen.list:
        print("\n".join(row.name for row in ROWS))
        return 0
    if chosen.quick:
        chosen.runs, chosen.turns = 1, 3
    old = json.loads(chosen.against.read_text()) if chosen.against else None
    measurement = measure(chosen, rows_of(chosen.row))
    text = report.table(measurement)
    print(text)
    if chosen.json:
        chosen.json.write_text(json.dumps(measurement, indent=1) + "\n")
    if chosen.table:
        chosen.table.write_text(text + "\n")
    for name, how in measurement["missing"].items():
        print(f"contenders: {name} IS MISSING: {how}", file=sys.stderr)
    if any(OURS in one["wrong"] for one in measurement["rows"].values()):
        return 1
    if old is not None:
        told, bad = report.against(measurement, old)
        print(f"\n{told}")
        return 3 if bad else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
