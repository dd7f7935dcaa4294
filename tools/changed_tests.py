# SPDX-License-Identifier: MIT
"""Builds, and runs the tests of what changed since the last commit: `make t`.

    python -m tools.changed_tests           those that are closest to the files that
                                            changed, as many as fit into 3 seconds
    python -m tools.changed_tests --all     all tests of the rooms of these files

tools/rooms.py says which tests a room of csrc has, and PYTHON below which those of the
package are.  A test is close to a file if their names share words, as `memory_pool.c`
and `cpu/memory/test_pool.c` do; without one the first tests of the room are taken.  A
changed test runs itself.  How long a test took is kept in pytest's cache.  Whatever is
not known runs everything.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path, PurePath

import pytest

from tests.c.run import name_of, names
from tools import native, rooms

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "tests" / "unit"
C_TEST = "tests/test_c.py::test_c_program_exits_with_success[{}]"
NO_TESTS = ("docs", "benchmarks", ".ci")
# How the path of a file begins -> its tests, as in tools/rooms.py; the first that fits
# counts.
PYTHON = {
    "hipadapt/rocprofiler/": "rocprofiler_python/test_trace rocprofiler_python",
    "hipadapt/raising/": "errors",
    "hipadapt/errors": "errors",
    "hipadapt/compat": "test_compat",
    "hipadapt/_notebook": "notebook",
    "hipadapt/_objects/html": "notebook",
    "hipadapt/_cc/code_object": "cli/test_code_object objects",
    "hipadapt/_cc/": "cli/test_cc cli",
    "hipadapt/_run/": "cli/test_run cli",
    "hipadapt/_cli/compile": "cli/test_code_object cli",
    "hipadapt/_cli/trace": "cli/test_trace_summary cli",
    "hipadapt/_trace/": "cli/test_trace_summary cli",
    "hipadapt/_cli/": "cli/test_cli cli",
    "hipadapt/__main__": "cli/test_cli cli",
    "hipadapt/_": "objects",
    "hipadapt/": "api/test_results objects api",
    "tools/": "tools",
}
LIMIT_S = 2.5  # from the start of this program
CLOSEST_C, CLOSEST_PYTHON = 3, 2
GUESS_S, GUESS_C_S = 0.01, 0.3  # of a test that never ran
TIMES = "hipadapt/seconds"
begin_s = time.monotonic()


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


@functools.cache
def python_tests(places: str) -> list[str]:
    """The files of these folders, or whose paths begin so; each once."""
    found: dict[str, None] = {}
    for place in places.split():
        pattern = f"{place}/**/test_*.py" if (UNIT / place).is_dir() else f"{place}*.py"
        for path in sorted(UNIT.glob(pattern)):
            found[path.relative_to(ROOT).as_posix()] = None
    return list(found)


def tests_of_folder(folder: str) -> list[str]:
    """The tests of a folder of csrc that stands in the list of rooms."""
    c_tests = [C_TEST.format(name) for name in names() if name.startswith(f"{folder}/")]
    return c_tests + python_tests(rooms.TESTS[folder])


def tests_of(path: Path) -> list[str] | None:
    """All tests of the room of a changed file; None for everything."""
    parts = path.parts
    if parts[0] in NO_TESTS or path.suffix == ".md":
        return python_tests("docs")
    folder = rooms.tested(path.relative_to("csrc")) if parts[0] == "csrc" else None
    if folder is not None:
        return tests_of_folder(folder)
    if parts[0] == "tests" and path.name.startswith("test_"):
        if not (ROOT / path).exists():
            return []
        in_c = path.suffix == ".c"
        return [C_TEST.format(name_of(ROOT / path)) if in_c else str(path)]
    for start, places in PYTHON.items():
        if path.as_posix().startswith(start):
            return python_tests(places)
    return None


def words_of(test: str) -> set[str]:
    """The words of the name of a file or a test, in singular."""
    name = PurePath(test.rpartition("[")[2].rstrip("]")).stem.removeprefix("test_")
    return {word.rstrip("s") for word in name.split("_")} - {""}


def closeness(one: str, other: str) -> float:
    """How many of all the words of two names they share."""
    words, others = words_of(one), words_of(other)
    return len(words & others) / len(words | others)


def close_tests(path: Path) -> list[str] | None:
    """Those that run at once after each edit of the file; None for everything."""
    tests = tests_of(path)
    if tests is None or path.parts[0] == "tests":
        return tests
    order = sorted(tests, key=lambda test: -closeness(path.parent.name, test))
    if path.parts[:2] == ("csrc", "cpu"):  # its rooms are tested through each other
        order += [test for test in tests_of_folder("cpu") if test not in tests]
    order.sort(key=lambda test: -closeness(path.name, test))
    close = [test for test in order if closeness(path.name, test) > 0] or order
    in_c = [test for test in close if "[" in test]
    in_python = [test for test in close if "[" not in test]
    return in_c[:CLOSEST_C] + in_python[:CLOSEST_PYTHON]


class Clock:
    """Leaves out tests for which there is no time; notes how long the others take."""

    def __init__(self, limit_s: float | None) -> None:
        """Without a limit nothing is left out."""
        self.limit_s = limit_s
        self.took_s: dict[str, float] = defaultdict(float)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Takes what fits, and the quickest test if nothing does."""
        if self.limit_s is None or not items:
            return
        assert config.cache is not None
        known = config.cache.get(TIMES, {})
        left_s = self.limit_s - (time.monotonic() - begin_s)

        def need_s(item: pytest.Item) -> float:
            guess_s = GUESS_C_S if "test_c.py" in item.nodeid else GUESS_S
            return float(known.get(item.nodeid, guess_s))

        quickest = min(items, key=need_s)
        kept: list[pytest.Item] = []
        for item in items:
            if need_s(item) <= left_s:
                kept.append(item)
                left_s -= need_s(item)
        kept = kept or [quickest]
        late = list(dict.fromkeys(items).keys() - set(kept))
        items[:] = kept
        config.hook.pytest_deselected(items=late)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds set-up, call and end."""
        self.took_s[report.nodeid] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keeps the times for the next run."""
        cache = session.config.cache
        assert cache is not None
        cache.set(TIMES, {**cache.get(TIMES, {}), **self.took_s})


def main(arguments: list[str]) -> int:
    """Builds, and runs pytest on the selection."""
    native.build_package(ROOT / "hipadapt")
    every = arguments == ["--all"]
    wanted: dict[str, None] = {}
    for path in changed():
        found = tests_of(path) if every else close_tests(path)
        if found is None:
            print(f"{path} is in no room: everything runs")
            return pytest.main(["-q", "-n", "auto", "tests"])
        wanted.update(dict.fromkeys(found))
    if not wanted:
        print("nothing that has tests changed")
        return 0
    if not every:
        print("\n".join(wanted), "\nall tests of these rooms: make tt", sep="")
    return pytest.main(["-q", *wanted], plugins=[Clock(None if every else LIMIT_S)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
