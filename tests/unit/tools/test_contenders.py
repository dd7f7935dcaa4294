# SPDX-License-Identifier: MIT
"""benchmarks.contenders: wrong results and slower rows are seen, and rows are whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.contenders import report
from benchmarks.contenders.cpu_device import text
from benchmarks.contenders.row import INTEL, OPENMP, OURS, Goal, Row
from benchmarks.contenders.rows import ROWS
from benchmarks.contenders.run import difference

ROOT = Path(__file__).resolve().parents[3]
LOOPS = ROOT / "benchmarks" / "contenders" / "loops"
ROW = ROWS[0]


def measured(*runs: dict[str, float], wrong: dict[str, str] | None = None) -> Any:
    return {"runs": list(runs), "wrong": wrong or {}}


@pytest.mark.parametrize("value", [1.01, np.nan, np.inf, -1.0])
def test_difference_of_one_element_is_told_with_its_place(value: float) -> None:
    right = np.ones((10, 100), np.float32)
    found = right.copy()
    found[3, 7] = value

    told = difference(ROW, "out", found, right)

    assert told.startswith("1 of 1000 differ; out[307] is ")


def test_difference_within_tolerance_is_none() -> None:
    right = np.linspace(0.5, 1, 100, dtype=np.float32)
    assert difference(ROW, "out", right * np.float32(1.0001), right) == ""


def test_integers_may_not_differ_at_all_but_for_the_odd_ones() -> None:
    right = np.full(1000, 10**6, np.int32)
    found = right.copy()
    found[:4] += 1

    assert difference(ROW, "out", found, right).startswith("4 of 1000 differ")
    assert difference(replace(ROW, odd=0.004), "out", found, right) == ""
    found[4] += 1
    assert difference(replace(ROW, odd=0.004), "out", found, right) != ""


def test_result_of_another_size_is_told() -> None:
    told = difference(ROW, "out", np.ones(3), np.ones(4))
    assert told == "out has 3 elements, not 4"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([{OURS: 1.0, INTEL: 1.0}] * 2 + [{OURS: 9.0, INTEL: 1.0}], True),  # the median
        ([{OURS: 1.0, INTEL: 1.0}] + [{OURS: 9.0, INTEL: 1.0}] * 2, False),
        ([{OURS: 1.0}], None),
    ],
)
def test_goal_beside_a_contender_goes_by_the_median(runs: Any, expected: Any) -> None:
    row = replace(ROW, goal=Goal({INTEL: 1.3}))
    assert report.reached(row, {row.name: measured(*runs)}) is expected


def test_goal_is_not_reached_by_a_wrong_result() -> None:
    row = replace(ROW, goal=Goal())
    rows = {row.name: measured({}, wrong={OURS: "1 of 4 differ"})}

    assert report.reached(row, rows) is False
    assert "**wrong**" in report.row_line(row, rows, [])


@pytest.mark.parametrize(
    ("ours", "others", "bad"),
    [
        (1.0, 1.0, 0),
        (1.2, 1.0, 1),  # slower
        (1.5, 1.5, 0),  # so is the whole machine
        (0.5, 1.0, 0),
    ],
)
def test_slower_row_is_one_that_others_are_not(
    ours: float, others: float, bad: int
) -> None:
    old = {OURS: 1.0, INTEL: 2.0, OPENMP: 3.0}
    new = {OURS: ours, INTEL: 2 * others, OPENMP: 3 * others}

    told, count = report.against(
        {"rows": {"x": measured(new)}},
        {"rows": {"x": measured(old)}, "about": {"commit": "abc"}},
    )

    assert count == bad
    assert ("slower: `x`, 1.20 x the time" in told) == bool(bad)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_names_what_there_is(row: Row) -> None:
    for launch in row.launches:
        for dialect in ("hip",) if row.hip_only else ("hip", "opencl"):
            assert re.search(rf"\b{launch.kernel}\(", text(dialect, row.file))
        assert len(launch.grid) == len(launch.block)
    assert row.openmp is not None or row.expect is not None
    if row.openmp is not None:
        code = (LOOPS / f"{row.openmp.file}.c").read_text()
        assert f"\n{row.openmp.function}(" in code
    if row.goal.row:
        assert row.goal.row in {other.name for other in ROWS}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the loops need gcc")
def test_row_is_checked_and_timed(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    command = [sys.executable, "-m", "benchmarks.contenders", "--row", "saxpy 256K"]
    command += ["--quick", "--only", OPENMP, "--json", str(file)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    row = json.loads(file.read_text())["rows"]["saxpy 256K"]
    assert row["wrong"] == {}
    assert {*row["runs"][0]} == {OURS, OPENMP}
    assert all(0 < seconds < 10 for seconds in row["runs"][0].values())
