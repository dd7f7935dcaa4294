# SPDX-License-Identifier: MIT
"""Runs the tests of what changed since the last commit: `make t`.

A room of csrc has its tests in tests/unit/<room>; those in C are of core if their name
begins with core, and of cpu otherwise.  A changed test runs itself.  Whatever is not
known here runs everything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("adapters", "api", "core", "cpu", "module")
C_TEST = "tests/test_c.py::test_c_program_exits_with_success[{}]"
NO_TESTS = ("docs", "benchmarks", ".ci")


def changed() -> list[Path]:
    """Files that differ from the last commit, new ones included."""
    done = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(line[3:].strip('"')) for line in done.stdout.splitlines()]


def c_tests() -> list[str]:
    """All C tests, as pytest names them."""
    found = sorted((ROOT / "tests" / "c").glob("test_*.c"))
    return [C_TEST.format(path.stem.removeprefix("test_")) for path in found]


def room_of(test: str) -> str:
    """The room that a C test is about."""
    return "core" if "[core_" in test else "cpu"


def tests_of(path: Path) -> list[str] | None:
    """What to give pytest for one changed file; None for everything."""
    parts = path.parts
    if parts[0] in NO_TESTS or path.suffix == ".md":
        return ["tests/unit/docs"] if (ROOT / "tests/unit/docs").is_dir() else []
    if parts[0] == "csrc" and len(parts) > 2 and parts[1] in ROOMS:
        unit = ROOT / "tests" / "unit" / parts[1]
        own = [str(unit.relative_to(ROOT))] if unit.is_dir() else []
        return own + [test for test in c_tests() if room_of(test) == parts[1]]
    if parts[0] == "tests" and path.name.startswith("test_"):
        if not (ROOT / path).exists():
            return []
        if path.suffix == ".c":
            return [C_TEST.format(path.stem.removeprefix("test_"))]
        return [str(path)]
    return None


def main() -> int:
    """Runs pytest on the selection."""
    wanted: set[str] = set()
    for path in changed():
        found = tests_of(path)
        if found is None:
            wanted = {"tests"}
            break
        wanted.update(found)
    if not wanted:
        print("nothing that has tests changed")
        return 0
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *sorted(wanted)], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
