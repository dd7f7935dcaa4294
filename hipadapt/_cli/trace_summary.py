# SPDX-License-Identifier: MIT
"""``trace summary``: what a trace comes to."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .._trace.table import bytes_text, cut, progress, table, time_text
from .arguments import positive

HELP = "kernels, copies, idle time and calls of a trace"
TEXT = (
    "Adds up a trace: .json, .json.gz or .pftrace of hipadapt, or PyTorch's. "
    "p95 is the smallest duration that 95 of 100 don't exceed. A stream is idle where "
    "it runs nothing between its first and its last work. The latency is from the "
    "start of a call to the start of its first work. Files that end early are "
    "read as far as they go."
)
EXAMPLE = "example: python -m hipadapt trace summary out.json --top 5"


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--top",
        type=positive,
        default=20,
        metavar="N",
        help="rows of a table (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def main(choices: argparse.Namespace) -> int:
    """Exit status 0."""
    from .._trace.summary import summarize

    numbers = summarize(choices.file, progress(choices.file))
    if not numbers["complete"]:
        print(
            f"hipadapt trace summary: {choices.file} ends early; this is what it has",
            file=sys.stderr,
        )
    if choices.json:
        print(json.dumps(numbers))
    else:
        for line in lines(numbers, choices.top):
            print(line)
    return 0


def lines(numbers: dict[str, Any], top: int) -> Iterator[str]:
    """The whole report, of 80 columns."""
    yield from head(numbers)
    times = ("count", "total", "mean", "p95")
    widths = (8, 12, 12, 12)
    yield from part("kernels", times, widths, numbers["kernels"], top, _times)
    for name in ("copies", "fills"):
        columns = ("count", "bytes", "total", "GB/s")
        yield from part(name, columns, (8, 13, 12, 11), numbers[name], top, _moved)
    used = ("work", "span", "busy", "idle", "idle %")
    wide = (8, 12, 12, 12, 9)
    yield from part("streams", used, wide, numbers["streams"], top, _stream)
    latency = numbers["launch_latency"]
    if latency is not None:
        row = {"name": "all calls with work", **latency}
        columns = ("count", "p50", "mean", "p95")
        yield from part("launch to start", columns, widths, [row], top, _latency)
    yield from part("calls", times, widths, numbers["calls"], top, _times)


def head(numbers: dict[str, Any]) -> Iterator[str]:
    """What is said about the trace."""
    yield cut(numbers["file"], 80)
    window = numbers["window_ns"]
    lost = numbers.get("lost_events", 0)
    outside = numbers.get("out_of_window_events", 0)
    yield (
        f"recorded {time_text(window)}; {lost} events lost, {outside} out of the window"
    )
    if "no_kernels" in numbers:
        yield cut(f"{numbers['no_kernels']}", 80)


def part(
    title: str,
    columns: tuple[str, ...],
    widths: tuple[int, ...],
    entries: list[dict[str, Any]],
    top: int,
    cells: Any,
) -> Iterable[str]:
    """One table, if it has rows."""
    if not entries:
        return
    yield ""
    yield from table((title, *columns), widths, map(cells, entries[:top]))
    if len(entries) > top:
        yield f"... and {len(entries) - top} more"


def _times(entry: dict[str, Any]) -> list[str]:
    words = (time_text(entry[key]) for key in ("total_ns", "mean_ns", "p95_ns"))
    return [entry["name"], str(entry["count"]), *words]


def _latency(entry: dict[str, Any]) -> list[str]:
    words = (time_text(entry[key]) for key in ("p50_ns", "mean_ns", "p95_ns"))
    return [entry["name"], str(entry["count"]), *words]


def _moved(entry: dict[str, Any]) -> list[str]:
    speed = entry["gb_per_s"]
    return [
        entry["name"],
        str(entry["count"]),
        bytes_text(entry["bytes"]),
        time_text(entry["total_ns"]),
        "-" if speed is None else f"{speed:.3f}",
    ]


def _stream(entry: dict[str, Any]) -> list[str]:
    span = entry["span_ns"]
    words = (time_text(entry[key]) for key in ("span_ns", "busy_ns", "idle_ns"))
    return [
        f"{'device ' if isinstance(entry['device'], int) else ''}"
        f"{entry['device']} stream {entry['stream']}",
        str(entry["count"]),
        *words,
        f"{entry['idle_ns'] * 100 / span if span else 0:.1f}",
    ]
