# SPDX-License-Identifier: MIT
"""Command line: write the generated files, or check that they are fresh."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import (
    emit_abi,
    emit_calls,
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
    emit_stubs,
    emit_tables,
    emit_wrappers,
    model,
)

ROOT = Path(__file__).resolve().parents[2]
EMITTERS = (
    emit_abi,
    emit_calls,
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
    emit_stubs,
    emit_tables,
    emit_wrappers,
)


def main() -> int:
    """Returns the exit status: 1 when ``--check`` finds a stale file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.codegen", description=__doc__
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = parser.parse_args()
    api = model.load()
    files: dict[str, str] = {}
    for emitter in EMITTERS:
        files.update(emitter.emit(api))
    stale = []
    for name, content in sorted(files.items()):
        path = ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(name)
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
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
