# SPDX-License-Identifier: MIT
"""`make t` takes the tests for which there is time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import changed_tests, native

TESTS = """
def test_first(): pass
def test_long(): pass
def test_last(): pass
"""
CODE = """
import sys, pytest
from tools.changed_tests import Clock
limit_s = None if sys.argv[1] == "none" else float(sys.argv[1])
sys.exit(pytest.main(["-v", "-c", "/dev/null", "test_it.py"], plugins=[Clock(limit_s)]))
"""


def passed(folder: Path, limit: str) -> list[str]:
    """The tests of TESTS that run with this limit, where one is known to be long."""
    times = folder / ".pytest_cache" / "v" / changed_tests.TIMES
    (folder / "test_it.py").write_text(TESTS)
    if not times.exists():
        times.parent.mkdir(parents=True)
        times.write_text(json.dumps({"test_it.py::test_long": 1000}))
    done = subprocess.run(
        [sys.executable, "-c", CODE, limit],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(native.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if " PASSED" in line]
    return [line.partition("::")[2].split()[0] for line in lines]


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [
        ("none", ["test_first", "test_long", "test_last"]),
        ("900", ["test_first", "test_last"]),
        ("-1", ["test_first"]),
    ],
)
def test_tests_longer_than_the_time_are_left_out(
    tmp_path: Path, limit: str, wanted: list[str]
) -> None:
    assert passed(tmp_path, limit) == wanted


def test_time_of_a_test_is_measured_whenever_it_runs(tmp_path: Path) -> None:
    assert "test_long" not in passed(tmp_path, "900")
    passed(tmp_path, "none")

    assert "test_long" in passed(tmp_path, "900")
