# SPDX-License-Identifier: MIT
"""Times of single parts of the CPU device: `python -m benchmarks.inside [NAME ...]`.

A program is one file in C here.  It is linked with the device's own files, as the tests
in tests/c are, and prints a line for each time.  Nothing is measured beside it: compare
two builds, on a quiet machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.c import run

HERE = Path(__file__).resolve().parent


def main(wanted: list[str]) -> int:
    """Builds and runs these programs; all without any."""
    names = sorted(path.stem for path in HERE.glob("*.c"))
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        print(f"no program {unknown[0]!r}; there are {', '.join(names)}")
        return 2
    for name in wanted or names:
        print(f"--- {name}", flush=True)
        subprocess.run([str(run.build(HERE / f"{name}.c"))], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
