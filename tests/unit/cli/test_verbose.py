# SPDX-License-Identifier: MIT
"""``python -m hipadapt verbose``: its numbers are those worked out by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.unit.cli.verbose_lines import COLUMNS, HAND, header, line


def verbose(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "verbose", *map(str, words)],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def times(count: int, total: int, low: int, middle: int, high: int) -> dict[str, Any]:
    return {
        "count": count,
        "total_ns": total,
        "mean_ns": total / count,
        "min_ns": low,
        "p50_ns": middle,
        "p95_ns": high,
        "max_ns": high,
    }


def test_numbers_are_those_worked_out_by_hand() -> None:
    done = verbose("-", "--json", stdin=HAND)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    add = {"primitive": "kernel", "implementation": "add<float, 4>"}
    mul = {"primitive": "kernel", "implementation": "mul"}
    copy = {"primitive": "memcpy", "implementation": "HtoD"}
    assert found["exec"] == [
        {**copy, **times(1, 1_234_568, 1_234_568, 1_234_568, 1_234_568)},
        {**add, **times(3, 60_000, 10_000, 20_000, 30_000)},
        {**mul, **times(1, 45_000, 45_000, 45_000, 45_000)},
    ]
    program = {"primitive": "compile", "implementation": "p"}
    one = times(1, 12_300, 12_300, 12_300, 12_300)
    assert found["create"] == [
        {"operation": "create:cache_hit", **program, **one},
        {"operation": "create:cache_miss", **program, **one},
    ]
    assert found["errors"] == [
        {
            "operation": "exec:error",
            **add,
            "status": "hipErrorLaunchFailure",
            "message": "it stopped, at once",
            "count": 1,
        },
        {
            "operation": "error",
            "primitive": "call",
            "implementation": "hipFree",
            "status": "1",
            "message": "no memory",
            "count": 1,
        },
    ]
    told = ("lost", "foreign", "damaged", "headless", "complete", "processes")
    assert [found[key] for key in told] == [7, 1, 0, 0, True, [100]]
    assert found["producers"] == ["hipadapt v0.1.0"]


def test_text_has_80_columns_and_tells_what_is_missing_at_the_end() -> None:
    long = line(implementation="n" * 300) + line(implementation="\u202e\x1b[31m\n")
    cut = line()[:-1]

    done = verbose(
        "-", "--top", 3, stdin=HAND + long + b"hipadapt_verbose,v1,x\n" + cut
    )

    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout.splitlines()
    assert all(len(text) <= 80 and text.isprintable() for text in shown)
    assert shown[3:5] == [
        "exec: primitive implementation            count      total       mean        p95",
        "memcpy HtoD                                   1    1.23 ms    1.23 ms    1.23 ms",
    ]
    assert shown[7] == "... and 2 more"
    assert shown[-7:] == [
        "errors: 2",
        "     1 x exec:error kernel add<float, 4...ErrorLaunchFailure it stopped, at once",
        "     1 x error call hipFree: 1 no memory",
        "",
        "lost lines, which could not be written in time: 7",
        "damaged lines: 1",
        "the last line has no end",
    ]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("engine", {("gpu:0",): 3, ("gpu:1",): 1}),
        ("primitive", {("kernel",): 3, ("memcpy",): 1}),
        ("implementation", {("add<float, 4>",): 2, ("mul",): 1, ("HtoD",): 1}),
        ("operation", {("exec",): 3, ("exec:sync",): 1}),
        ("component", {("kernel",): 4}),
        ("engine,prop_kind", {("gpu:0", "stream:1"): 3, ("gpu:1", "stream:1"): 1}),
    ],
)
def test_rows_are_what_by_says(by: str, expected: dict[Any, int]) -> None:
    data = HAND.replace(line(implementation="add<float, 4>", exec_time="0.01"), b"")

    done = verbose("-", "--json", "--by", by, stdin=data)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = by.split(",")
    got = {tuple(row[name] for name in names): row["count"] for row in found["exec"]}
    assert got == expected


# What can't be read.

BROKEN = {
    "empty": (b"", "has no verbose lines"),
    "text": (b"hello\n\nworld\n", "has no verbose lines"),
    "no header": (line() * 3, "no header for them"),
    "cut header": (header()[:-20], "no header for them"),
    "operation": (header(COLUMNS[1:]), "line 3: the header has no column 'operation'"),
    "exec_time": (header(COLUMNS[:-1]), "line 3: the header has no column 'exec_time'"),
    "nothing": (header([]), "line 3: the header has no column 'operation'"),
    "version": (header().replace(b"v1", b"v2"), "version v2; this hipadapt reads v1"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_files_without_verbose_lines_get_a_sentence(tmp_path: Path, what: str) -> None:
    data, said = BROKEN[what]
    path = tmp_path / "file"
    path.write_bytes(data)

    done = verbose(path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hipadapt verbose: {path}: ")
    assert said in done.stderr and "Traceback" not in done.stderr


def test_files_that_cannot_be_opened_get_a_sentence(tmp_path: Path) -> None:
    no, folder = tmp_path / "no.txt", tmp_path

    missing, directory = verbose(no), verbose(folder)

    assert missing.stderr == f"hipadapt verbose: {no}: No such file or directory\n"
    assert directory.stderr == f"hipadapt verbose: {folder}: Is a directory\n"
    assert (missing.returncode, directory.returncode) == (2, 2)


def test_closed_stdin_gets_a_sentence() -> None:
    words = [sys.executable, "-m", "hipadapt", "verbose", "-"]

    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )

    assert (done.returncode, done.stderr) == (
        2,
        "hipadapt verbose: stdin: it is closed\n",
    )


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (
            "enigne",
            "no header has the column 'enigne'; there are attributes, auxiliary,",
        ),
        ("engine,engine", "needs different names of columns"),
        ("", "needs different names of columns"),
    ],
)
def test_unknown_columns_are_refused(by: str, said: str) -> None:
    done = verbose("-", "--by", by, stdin=HAND)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
