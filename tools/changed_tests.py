# SPDX-License-Identifier: MIT
"""Runs the tests of what changed since the last commit: `make t`.

tools/rooms.py says which tests a room of csrc has, and PYTHON below which those of the
package are.  A changed test runs itself.  Whatever is not known runs everything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.c.run import name_of, names
from tools.rooms import ROOMS, Room, room_of

ROOT = Path(__file__).resolve().parent.parent
C_TEST = "tests/test_c.py::test_c_program_exits_with_success[{}]"
KERNEL_HEADERS = ("csrc", "cpu", "headers")
NO_TESTS = ("docs", "benchmarks", ".ci")
# How the path of a file of the package begins -> folders below tests/unit; the first
# that fits counts.
PYTHON = {
    "hipadapt/rocprofiler/": ("rocprofiler_python",),
    "hipadapt/raising/": ("errors",),
    "hipadapt/errors": ("errors",),
    "hipadapt/_notebook": ("notebook",),
    "hipadapt/_objects/html": ("notebook",),
    "hipadapt/_cc/": ("cli",),
    "hipadapt/_run/": ("cli",),
    "hipadapt/_cli/": ("cli",),
    "hipadapt/__main__": ("cli",),
    "hipadapt/_": ("objects",),
}


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
    return [C_TEST.format(name) for name in names()]


def tests_of_room(room: Room) -> list[str]:
    """The tests of a room of csrc."""
    folders = [f"tests/unit/{name}" for name in room.tests]
    names = tuple(C_TEST.format(word)[:-1] for word in room.c_tests)
    return folders + [test for test in c_tests() if test.startswith(names)]


def tests_of_package(path: Path) -> list[str] | None:
    """The tests of a file of the package; None for everything."""
    for start, folders in PYTHON.items():
        if path.as_posix().startswith(start):
            return [f"tests/unit/{name}" for name in folders]
    return None


def tests_of(path: Path) -> list[str] | None:
    """What to give pytest for one changed file; None for everything."""
    parts = path.parts
    if parts[0] in NO_TESTS or path.suffix == ".md":
        return ["tests/unit/docs"] if (ROOT / "tests/unit/docs").is_dir() else []
    room = room_of(path.relative_to("csrc")) if parts[0] == "csrc" else None
    if parts[:3] == KERNEL_HEADERS:
        room = "cpu/compile"
    if room is not None:
        return tests_of_room(ROOMS[room])
    if parts[0] == "hipadapt":
        return tests_of_package(path)
    if parts[0] == "tests" and path.name.startswith("test_"):
        if not (ROOT / path).exists():
            return []
        if path.suffix == ".c":
            return [C_TEST.format(name_of(ROOT / path))]
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
