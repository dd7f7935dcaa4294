# SPDX-License-Identifier: MIT
"""``trace merge``: traces of several ranks as one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .._trace.table import progress

HELP = "make one trace of those of several ranks"
TEXT = (
    "Makes one trace of those of several processes, in Chrome's format. Each keeps its "
    "rank, by distributedInfo; one without gets the lowest that is free. Processes, "
    "flows and correlations get numbers that are distinct. Times are Unix time, so the "
    "machines' clocks must agree."
)
EXAMPLE = "example: python -m hipadapt trace merge rank0.json rank1.json -o all.json.gz"
SUFFIXES = (".json", ".json.gz")


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="RANK", help=".json or .json.gz"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT",
        help=".json or .json.gz",
    )


def main(choices: argparse.Namespace) -> int:
    """Exit status 0."""
    from .._trace.merge import Merge, write
    from .._trace.slices import TraceError

    out: Path = choices.output
    if not out.name.endswith(SUFFIXES):
        raise TraceError(f"-o {out}: the suffix must be .json or .json.gz")
    merge = Merge(choices.files, progress)
    for note in merge.notes:
        print(f"hipadapt trace merge: {note}", file=sys.stderr)
    count = write(merge, out)
    print(f"{out}: {count} events of {len(merge.heads)} ranks")
    return 0
