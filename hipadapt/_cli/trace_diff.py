# SPDX-License-Identifier: MIT
"""``trace diff``: two traces, kernel by kernel."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._trace.table import cut, progress, table, time_text

HELP = "what changed between two traces, kernel by kernel"
TEXT = (
    "Compares the kernels of two traces: which appeared, which vanished, which "
    "changed. A kernel has changed where its number of launches has, or its mean by "
    "more than the threshold. The ratio is that of the means, AFTER to BEFORE."
)
EXAMPLE = "example: python -m hipadapt trace diff before.json after.json"


def percent(text: str) -> float:
    """Argument type: a number that is not below zero."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"needs a number from 0 up, not {text!r}")
    return value


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    parser.add_argument(
        "--threshold",
        type=percent,
        default=10.0,
        metavar="PERCENT",
        help="of the mean (default: %(default)g)",
    )
    parser.add_argument(
        "--all", action="store_true", help="show kernels that are the same, too"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(choices: argparse.Namespace) -> int:
    """Exit status 0, whatever differs."""
    from .._trace.compare import compare
    from .._trace.summary import summarize

    before = summarize(choices.before, progress(choices.before))
    after = summarize(choices.after, progress(choices.after))
    found = compare(before, after, choices.threshold)
    if choices.json:
        print(json.dumps(found))
        return 0
    for line in lines(found, choices.all):
        print(line)
    return 0


def lines(found: dict[str, Any], same_too: bool) -> Iterator[str]:
    """The report, of 80 columns."""
    yield cut(f"before  {found['before']}", 80)
    yield cut(f"after   {found['after']}", 80)
    before, after = found["before_total_ns"], found["after_total_ns"]
    yield (
        f"all kernels: {time_text(before)} before, {time_text(after)} after, "
        f"ratio {_ratio(found['ratio'])}"
    )
    kernels = found["kernels"]
    same = sum(entry["status"] == "same" for entry in kernels)
    shown = [entry for entry in kernels if same_too or entry["status"] != "same"]
    if shown:
        yield ""
        head = ("kernel", "", "count", "mean before", "mean after", "ratio")
        yield from table(head, (10, 12, 12, 12, 8), map(_cells, shown))
    if same and not same_too:
        yield f"{same} the same"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _cells(entry: dict[str, Any]) -> list[str]:
    sides = (entry["before"], entry["after"])
    counts = [str(side["count"]) if side else "-" for side in sides]
    means = [time_text(side["mean_ns"]) if side else "-" for side in sides]
    return [
        entry["name"],
        entry["status"],
        " > ".join(counts) if counts[0] != counts[1] else counts[0],
        *means,
        _ratio(entry["ratio"]),
    ]
