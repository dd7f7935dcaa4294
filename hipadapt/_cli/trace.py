# SPDX-License-Identifier: MIT
"""``python -m hipadapt trace``: records programs, and reads what was recorded.

The table has a module a subcommand.  Each has HELP and TEXT, adds its arguments with
``add`` and does its work with ``main``.  Modules are imported when their subcommand is
asked for, or help about it.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any

SUBCOMMANDS = {
    "attach": "trace_attach",
    "run": "trace_run",
    "summary": "trace_summary",
    "diff": "trace_diff",
    "merge": "trace_merge",
}
NO_TRACE = 2


def add(parser: argparse.ArgumentParser) -> None:
    """All subcommands."""
    parts = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND")
    for name, module_name in SUBCOMMANDS.items():
        module: Any = import_module(f".{module_name}", __package__)
        part = parts.add_parser(
            name,
            help=module.HELP,
            description=module.TEXT,
            usage=getattr(module, "USAGE", None),
            epilog=getattr(module, "EXAMPLE", None),
        )
        module.add(part)
        part.set_defaults(run=guarded(name, module.main))

    def missing(_: argparse.Namespace) -> int:
        """Without a subcommand."""
        parser.print_help()
        return 0

    parser.set_defaults(run=missing)


def guarded(name: str, main: Any) -> Any:
    """Files that are no traces end a subcommand with a sentence."""

    def run(choices: argparse.Namespace) -> int:
        from .._trace.slices import TraceError

        try:
            status: int = main(choices)
            return status
        except BrokenPipeError:
            raise
        except TraceError as error:
            text = str(error)
        except OSError as error:
            text = (
                f"{error.filename}: {error.strerror}" if error.filename else str(error)
            )
        print(f"hipadapt trace {name}: {text}", file=sys.stderr)
        return NO_TRACE

    return run
