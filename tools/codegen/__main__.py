# SPDX-License-Identifier: MIT
"""Command line: write the generated files, or check that they are fresh.

The pages of every function and type, below docs/api, are not committed: `tools.docs`
writes them when it makes the site.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import (
    emit_abi,
    emit_calls,
    emit_checks,
    emit_dispatch,
    emit_docs,
    emit_enums,
    emit_methods,
    emit_names,
    emit_profiler,
    emit_profiler_calls,
    emit_profiler_docs,
    emit_profiler_enums,
    emit_program_headers,
    emit_raising_stubs,
    emit_results,
    emit_stubs,
    emit_tables,
    emit_version,
    emit_wrappers,
    model,
)

ROOT = Path(__file__).resolve().parents[2]
EMITTERS = (
    emit_abi,
    emit_calls,
    emit_checks,
    emit_dispatch,
    emit_docs,
    emit_enums,
    emit_methods,
    emit_names,
    emit_profiler,
    emit_profiler_calls,
    emit_profiler_docs,
    emit_profiler_enums,
    emit_program_headers,
    emit_raising_stubs,
    emit_results,
    emit_stubs,
    emit_tables,
    emit_version,
    emit_wrappers,
)


PAGES = "docs/api/"


def generated(api: model.Api | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """Path -> content of the committed files, and of the pages of the site."""
    api = api or model.load()
    files: dict[str, str] = {}
    for emitter in EMITTERS:
        files.update(emitter.emit(api))
    pages = {path: text for path, text in files.items() if path.startswith(PAGES)}
    return {path: text for path, text in files.items() if path not in pages}, pages


def stale_files(files: dict[str, str]) -> list[str]:
    """Those that are not there as they should be."""
    return [
        name
        for name, content in sorted(files.items())
        if not (ROOT / name).exists()
        or (ROOT / name).read_text(encoding="utf-8") != content
    ]


def write(files: dict[str, str]) -> list[str]:
    """Writes what is stale; returns the paths."""
    stale = stale_files(files)
    for name in stale:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(files[name], encoding="utf-8")
    return stale


def write_pages() -> None:
    """The pages of the site, and no others in their folder."""
    _, pages = generated()
    write(pages)
    for path in (ROOT / PAGES).iterdir():
        if path.relative_to(ROOT).as_posix() not in pages:
            path.unlink()


def main() -> int:
    """Returns the exit status: 1 when ``--check`` finds a stale file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.codegen", description=__doc__
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = parser.parse_args()
    files, _ = generated()
    stale = stale_files(files) if arguments.check else write(files)
    # Families that are split otherwise than before leave files behind.
    for path in sorted(ROOT.glob("csrc/api/generated/call_*.c")):
        name = path.relative_to(ROOT).as_posix()
        if name not in files:
            stale.append(name)
            if not arguments.check:
                path.unlink()
    for name in stale:
        print(("stale: " if arguments.check else "wrote ") + name)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
