# SPDX-License-Identifier: MIT
"""``trace summary`` and ``trace diff``: their numbers are those worked out by hand."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.unit.cli.traces import HAND, hand

SUFFIXES = ("json", "json.gz", "pftrace")


def trace(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", "trace", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )


def numbers(*words: object) -> Any:
    done = trace(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def times(count: int, total: int, low: int, middle: int, high: int) -> dict[str, float]:
    return {
        "count": count,
        "total_ns": total,
        "mean_ns": total / count,
        "min_ns": low,
        "p50_ns": middle,
        "p95_ns": high,
        "max_ns": high,
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_summary_equals_what_was_worked_out_by_hand(
    tmp_path: Path, suffix: str
) -> None:
    path = hand(tmp_path / f"hand.{suffix}")

    found = numbers("summary", path)

    assert found["window_ns"] == 300_000
    assert (found["lost_events"], found["out_of_window_events"]) == (2, 3)
    assert found["complete"] is True
    assert found["kernels"] == [
        {"name": "add", **times(3, 50_000, 10_000, 10_000, 30_000)},
        {"name": "mul<float>", **times(1, 1000, 1000, 1000, 1000)},
    ]
    (copy,) = found["copies"]
    assert copy["name"].startswith("Memcpy")
    assert (copy["bytes"], copy["total_ns"], copy["gb_per_s"]) == (8000, 4000, 2.0)
    (fill,) = found["fills"]
    assert (fill["bytes"], fill["total_ns"], fill["gb_per_s"]) == (500, 2000, 0.25)
    assert found["streams"] == [
        # 100-104, 110-125, 130-160: 49 of 60 us.
        {
            "device": 0,
            "stream": 0,
            "count": 4,
            "span_ns": 60_000,
            "busy_ns": 49_000,
            "idle_ns": 11_000,
        },
        {
            "device": 0,
            "stream": 1,
            "count": 2,
            "span_ns": 3000,
            "busy_ns": 3000,
            "idle_ns": 0,
        },
    ]
    assert found["launch_latency"] == times(6, 210_000, 10_000, 30_000, 60_000)
    calls = {entry["name"]: entry for entry in found["calls"]}
    assert calls["hipLaunchKernel"]["total_ns"] == 4000
    assert calls["hipGetDevice"]["mean_ns"] == 250
    assert found["calls"][0]["name"] == "hipLaunchKernel"


def test_summary_on_a_terminal_has_80_columns(tmp_path: Path) -> None:
    work = [(0, "kernel", b"n" * 300, 1, 2, 0), *HAND]
    path = hand(tmp_path / "hand.json", work)

    done = trace("summary", path, "--top", 2)

    assert done.returncode == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[1:])
    assert "... and 1 more" in done.stdout
    assert "device 0 stream 0" in done.stdout


def test_diff_says_what_appeared_vanished_and_changed(tmp_path: Path) -> None:
    before = hand(tmp_path / "before.json")
    work = [
        (0, "kernel", b"add", 110, 130, 0),
        (0, "kernel", b"add", 130, 150, 0),
        (0, "kernel", b"add", 150, 180, 0),
        (1, "kernel", b"new", 150, 180, 0),
    ]
    after = hand(tmp_path / "after.pftrace", work)

    found = numbers("diff", before, after)

    assert [(k["name"], k["status"]) for k in found["kernels"]] == [
        ("new", "appeared"),
        ("mul<float>", "vanished"),
        ("add", "changed"),
    ]
    add = found["kernels"][2]
    assert add["ratio"] == pytest.approx(70 / 50)
    assert (add["before"]["count"], add["after"]["total_ns"]) == (3, 70_000)
    assert found["ratio"] == pytest.approx(100 / 51)
    shown = trace("diff", before, after, "--threshold", 50).stdout
    assert "1 the same" in shown and "appeared" in shown and "1.400" not in shown


def test_summary_reads_a_file_that_was_cut_as_far_as_it_goes(tmp_path: Path) -> None:
    for suffix in SUFFIXES[::2]:
        path = hand(tmp_path / f"hand.{suffix}", HAND * 200)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])

        found = numbers("summary", path)

        assert found["complete"] is False
        assert 0 < found["kernels"][0]["count"] < 600, suffix


BROKEN = {
    "empty": (b"", "is empty"),
    "text": (b"hello", "neither JSON"),
    "object": (b'{"a": 1}', "no 'traceEvents'"),
    "number": (b'{"traceEvents": 1}', "no array"),
    "event": (b'{"traceEvents": [1]}', "no object"),
    "time": (b'{"traceEvents": [{"ph":"X","ts":"x"}]}', "'ts' of an event"),
    "infinite": (b'{"traceEvents": [{"ph":"X","ts":1e999}]}', "'ts' of an event"),
    "comma": (b'{"traceEvents": [{} {}, {}, {}, {}]}', "comma"),
    "bad": (b'{"traceEvents": [{a}, {"b": 1}, {"c": 2}]}', "is no JSON"),
    "deep": (b"[" * 100_000, "too many brackets"),
    "packet": (b"\x0a\xff\xff\xff\xff\x7f", "too long"),
    "field": (b"\x0a\x03\x62\x7f\x01", "longer than its message"),
    "gzip": (b"\x1f\x8b" + bytes(30), "is no trace"),
    "zipped text": (gzip.compress(b"hello"), "neither JSON"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_files_that_are_no_traces_get_a_sentence(tmp_path: Path, what: str) -> None:
    data, said = BROKEN[what]
    path = tmp_path / "file"
    path.write_bytes(data)

    done = trace("summary", path)

    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith(f"hipadapt trace summary: {path}")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    done = trace("diff", tmp_path / "no.json", tmp_path / "no.json")

    assert done.returncode == 2
    assert done.stderr == (
        f"hipadapt trace diff: {tmp_path}/no.json: No such file or directory\n"
    )
