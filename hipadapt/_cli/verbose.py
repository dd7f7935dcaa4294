# SPDX-License-Identifier: MIT
"""``python -m hipadapt verbose``: what verbose lines come to."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from .arguments import positive

HELP = "count and time the kernels of verbose lines"
TEXT = (
    "Adds up what HIPADAPT_VERBOSE, or ONEDNN_VERBOSE, has printed: count, total, mean "
    "and p95 of each kernel. Lines of the program between are passed over. p95 is the "
    "smallest time that 95 of 100 don't exceed. Errors and lost lines are told at the "
    "end."
)
EXAMPLE = (
    "example: HIPADAPT_VERBOSE=profile_exec python train.py | "
    "python -m hipadapt verbose -"
)
UNREADABLE = 2


def columns(text: str) -> tuple[str, ...]:
    """Argument type: names of columns, with commas between."""
    names = tuple(text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(
            f"needs different names of columns, with commas between, not {text!r}"
        )
    return names


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument("file", metavar="FILE", help="a file, or - for stdin")
    parser.add_argument(
        "--by",
        type=columns,
        default=("primitive", "implementation"),
        metavar="COLUMNS",
        help="what a row is, as engine, primitive, implementation, prop_kind, "
        "problem_desc or component, with commas between (default: "
        "primitive,implementation)",
    )
    parser.add_argument(
        "--top",
        type=positive,
        default=20,
        metavar="N",
        help="rows of a table (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=main)


def main(choices: argparse.Namespace) -> int:
    """Exit status 0, whatever the lines say."""
    from .._trace.verbose import VerboseError

    try:
        numbers = _numbers(choices.file, choices.by)
    except BrokenPipeError:
        raise
    except VerboseError as error:
        text = str(error)
    except OSError as error:
        text = f"{choices.file}: {error.strerror or error}"
    else:
        if choices.json:
            print(json.dumps(numbers))
        else:
            for line in lines(numbers, choices.top):
                print(line)
        return 0
    print(f"hipadapt verbose: {text}", file=sys.stderr)
    return UNREADABLE


def _numbers(path: str, by: tuple[str, ...]) -> dict[str, Any]:
    from .._trace.table import progress
    from .._trace.verbose import Reader, VerboseError
    from .._trace.verbose_summary import summarize

    if path != "-":
        with open(path, "rb") as file:
            return summarize(Reader(file, path, progress(path)), by)
    # Python leaves it out where it is closed.
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise VerboseError("stdin: it is closed")
    return summarize(Reader(sys.stdin.buffer, "stdin"), by)


def lines(numbers: dict[str, Any], top: int) -> Iterator[str]:
    """The whole report, of 80 columns."""
    from .._trace.table import WIDTH, cut

    yield cut(numbers["file"], WIDTH)
    yield cut("; ".join(_about(numbers)), WIDTH)
    by = " ".join(numbers["by"])
    for name in ("exec", "create"):
        yield from _table(f"{name}: {by}", numbers["by"], numbers[name], top)
    yield from _errors(numbers, top)
    end = list(_missing(numbers))
    yield from ("", *end) if end else ()


def _about(numbers: dict[str, Any]) -> Iterator[str]:
    """Who wrote the lines."""
    yield from numbers["producers"]
    count = len(numbers["processes"])
    if count > 1:
        yield f"{count} processes"
    timed = numbers["exec"] + numbers["create"]
    yield f"{sum(entry['count'] for entry in timed)} lines with times"


def _table(
    title: str, by: list[str], entries: list[dict[str, Any]], top: int
) -> Iterator[str]:
    from .._trace.table import table, time_text

    if not entries:
        return
    rows: list[list[str]] = []
    for entry in entries[:top]:
        words = [entry.get("operation", "").partition(":")[2], *(entry[n] for n in by)]
        times = (time_text(entry[key]) for key in ("total_ns", "mean_ns", "p95_ns"))
        rows.append([" ".join(filter(None, words)), str(entry["count"]), *times])
    yield ""
    yield from table((title, "count", "total", "mean", "p95"), (8, 11, 11, 11), rows)
    if len(entries) > top:
        yield f"... and {len(entries) - top} more"


def _errors(numbers: dict[str, Any], top: int) -> Iterator[str]:
    from .._trace.table import WIDTH, cut

    entries = numbers["errors"]
    if not entries:
        return
    more = numbers["errors_not_listed"]
    yield ""
    yield f"errors: {sum(entry['count'] for entry in entries) + more}"
    for entry in entries[:top]:
        what = (entry[key] for key in ("operation", "primitive", "implementation"))
        why = (entry[key] for key in ("status", "message"))
        text = f"{' '.join(filter(None, what))}: {' '.join(filter(None, why))}"
        yield cut(f"{entry['count']:>6} x {text}", WIDTH)
    if len(entries) > top or more:
        yield f"... and {len(entries) - top + more} more"


def _missing(numbers: dict[str, Any]) -> Iterator[str]:
    """What the tables don't have."""
    for operation, count in numbers["told"].items():
        yield f"lines of {operation}, which have no time: {count}"
    if numbers["lost"]:
        yield f"lost lines, which could not be written in time: {numbers['lost']}"
    if numbers["damaged"]:
        yield f"damaged lines: {numbers['damaged']}"
    if numbers["headless"]:
        yield f"lines before any header: {numbers['headless']}"
    if not numbers["complete"]:
        yield "the last line has no end"
