# SPDX-License-Identifier: MIT
"""``watch``: runs a program and prints the tensors that it sends to debug streams.

The program's own process prints them (csrc/tool/debug/watch.h): nobody else may read
its streams.
"""

from __future__ import annotations

import argparse
import sys

from .._run import start
from . import trace_run
from .arguments import add_program, add_scan

HELP = "run a program and print the tensors that its kernels send"
TEXT = (
    "Starts PROGRAM as `hipadapt run` does and prints a line for each tensor that it "
    "sends to a debug stream: prefix, dtype, shape, device, min, max and mean of the "
    "finite elements, how many are NaN and infinite, the first values. Tensors of pipe "
    "2 go to stderr, others to stdout. A last line on stderr counts tensors and what "
    "was dropped. Exit status and signals are the program's; 125 to 127 if it could "
    "not be started."
)
USAGE = (
    "python -m hipadapt watch [--provider cpu|amd] [--] PROGRAM [ARGS]\n"
    "       python -m hipadapt watch [--provider cpu|amd] -m MODULE [ARGS]"
)
EXAMPLE = "example: python -m hipadapt watch -- python train.py"


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments."""
    parser.add_argument(
        "--provider",
        choices=("cpu", "amd"),
        help="the CPU device, or AMD's libraries (default: what hipadapt chooses here)",
    )
    add_scan(parser, "as of `hipadapt run`, for the CPU device")
    add_program(parser)


def main(choices: argparse.Namespace) -> int:
    """Exit status 2 to 127 where the program could not be started."""
    from .._run.root import RootError

    try:
        words = start.command_of(choices)
        if not words:
            raise start.RunError(2, "which program? hipadapt watch -- PROGRAM ARGS")
        provider = trace_run.chosen(choices.provider)
        changed = trace_run.settings(provider, words, choices.scan)
        changed["HIPADAPT_DEBUG_STREAM_WATCH"] = "1"
        start.start(words, changed)
    except (start.RunError, RootError) as error:
        print(f"hipadapt watch: {error}", file=sys.stderr)
        return error.status if isinstance(error, start.RunError) else start.FAILED
    return start.FAILED
