# SPDX-License-Identifier: MIT
"""The command line: ``python -m hipadapt demo`` and ``python -m hipadapt info``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def positive(text: str) -> int:
    """Argument type: a whole number above zero."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"needs a whole number above 0, not {text!r}")
    return value


def build_parser() -> argparse.ArgumentParser:
    """Every command adds its own sub-parser and names the function that runs it."""
    parser = argparse.ArgumentParser(
        prog="python -m hipadapt",
        description="HIP from Python, on a machine with or without a GPU.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="compile two kernels, run them on a field, compare with numpy",
        description="Heat spreads over a plate: a stencil kernel with shared memory "
        "does the steps, a reduction adds up the heat, numpy checks both.",
    )
    demo.add_argument(
        "--input",
        type=Path,
        metavar="FILE.npy",
        help="two-dimensional array of real numbers (default: a generated field)",
    )
    demo.add_argument(
        "--size",
        type=positive,
        default=512,
        metavar="N",
        help="edge of the generated field (default: %(default)s)",
    )
    demo.add_argument(
        "--steps",
        type=positive,
        default=40,
        metavar="N",
        help="time steps (default: %(default)s)",
    )
    demo.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="draw the field before and after"
    )
    demo.add_argument(
        "--json", action="store_true", help="print the results as one JSON object"
    )
    demo.set_defaults(run=run_demo)

    info = commands.add_parser(
        "info",
        help="say which provider and devices there are",
        description="The provider that was chosen, why, and its devices.",
    )
    info.add_argument("--json", action="store_true", help="print one JSON object")
    info.set_defaults(run=run_info)
    return parser


def run_demo(choices: argparse.Namespace) -> int:
    """Import late: the other commands need no numpy."""
    try:
        from . import _demo
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        print(
            "hipadapt demo needs numpy to check the kernels' results; install it with\n"
            "    python -m pip install numpy",
            file=sys.stderr,
        )
        return 2
    return _demo.main(choices)


def run_info(choices: argparse.Namespace) -> int:
    """Report on the provider; see `hipadapt._info`."""
    from . import _info

    return _info.main(choices)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status is the result."""
    choices = build_parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], int] = choices.run
        return command(choices)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough.  Python would complain at exit.
        sys.stdout = None
        return 0


if __name__ == "__main__":
    sys.exit(main())
