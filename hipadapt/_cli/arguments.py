# SPDX-License-Identifier: MIT
"""Arguments that several commands take, and types of arguments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

_MODULE = "python -m hipadapt"


def as_called(text: str) -> str:
    """The text with the command as it was typed: `hipadapt`, or as a module."""
    script = Path(sys.argv[0]).name == "hipadapt"
    return text.replace(_MODULE, "hipadapt") if script else text


class Parser(argparse.ArgumentParser):
    """Shows the command as it was typed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.prog = as_called(self.prog)

    def format_usage(self) -> str:
        return as_called(super().format_usage())

    def format_help(self) -> str:
        return as_called(super().format_help())


def positive(text: str) -> int:
    """Argument type: a whole number above zero."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"needs a whole number above 0, not {text!r}")
    return value


def add_scan(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Option of the commands that start a program on the CPU device."""
    parser.add_argument(
        "--scan", action="append", default=[], metavar="PATH", help=help_text
    )


def add_program(parser: argparse.ArgumentParser) -> None:
    """A program or a module with its arguments; after all options."""
    parser.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        metavar="MODULE",
        help="a Python module, with its arguments",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM")
