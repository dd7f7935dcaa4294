# SPDX-License-Identifier: MIT
"""``trace merge``: ranks lie beside each other, and nothing of one is another's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.test_trace_summary import numbers, trace
from tests.unit.cli.traces import HAND, START, hand


def load(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def two(folder: Path) -> list[Path]:
    return [hand(folder / f"r{rank}.json", rank=rank) for rank in (1, 0)]


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_merge_makes_numbers_distinct_and_keeps_the_rest(
    tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out.{suffix}"

    done = trace("merge", *two(tmp_path), "-o", out)

    assert done.returncode == 0, done.stderr
    merged = load(out)
    alone = load(tmp_path / "r0.json")
    assert len(merged["traceEvents"]) == 2 * len(alone["traceEvents"])
    assert merged["distributedInfo"] == {
        "backend": "rccl",
        "rank": 0,
        "world_size": 2,
        "ranks": [0, 1],
    }
    assert (merged["lost_events"], merged["out_of_window_events"]) == (4, 6)
    assert [m["file"] for m in merged["merged"]] == ["r0.json", "r1.json"]
    events = merged["traceEvents"]
    flows = [(e["ph"], e["id"]) for e in events if e["ph"] in "sf"]
    assert len(flows) == len(set(flows)) == 2 * 2 * len(HAND)
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    calls = {
        e["args"]["correlation"]: e["pid"]
        for e in events
        if e.get("cat") == "cuda_runtime" and e["args"].get("correlation")
    }
    assert len({e["args"]["correlation"] for e in work}) == len(work) == 2 * len(HAND)
    # Each device has the calls of one process.
    assert len({(e["pid"], calls[e["args"]["correlation"]]) for e in work}) == 2
    assert len(set(calls.values())) == 2
    labels = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert labels == {"rank 0: python", "rank 1: python"}


def test_the_summary_of_a_merged_trace_tells_ranks_apart(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    trace("merge", *two(tmp_path), "-o", out)

    found = numbers("summary", out)

    alone = numbers("summary", tmp_path / "r0.json")
    assert found["launch_latency"]["total_ns"] == 420_000
    assert [s["device"] for s in found["streams"]] == [
        f"rank {rank}: GPU 0" for rank in (0, 0, 1, 1)
    ]
    busy = [stream["busy_ns"] for stream in found["streams"]]
    assert busy == 2 * [stream["busy_ns"] for stream in alone["streams"]]
    assert found["kernels"][0]["count"] == 6


def test_merge_brings_times_to_one_base(tmp_path: Path) -> None:
    first, second = two(tmp_path)
    moved = load(second)
    moved["baseTimeNanoseconds"] += 1_000_000_000
    second.write_text(json.dumps(moved))

    trace("merge", first, second, "-o", tmp_path / "out.json")

    merged = load(tmp_path / "out.json")
    base = merged["baseTimeNanoseconds"]
    starts = {
        round(e["ts"] * 1000) + base
        for e in merged["traceEvents"]
        if e.get("cat") == "gpu_memcpy"
    }
    assert starts == {START + 100_000, START + 1_000_100_000}


def test_merge_gives_ranks_to_traces_without(tmp_path: Path) -> None:
    files = [hand(tmp_path / "a.json"), hand(tmp_path / "b.json", rank=0)]

    done = trace("merge", *files, "-o", tmp_path / "out.json")

    assert "a.json has no rank; it becomes rank 1" in done.stderr
    assert load(tmp_path / "out.json")["distributedInfo"]["ranks"] == [0, 1]


def test_merge_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    one = hand(tmp_path / "one.json", rank=0)
    perfetto = hand(tmp_path / "one.pftrace", rank=1)
    refused = {
        "is of rank 0, as": (one, one, "-o", tmp_path / "out.json"),
        "is Perfetto's format": (one, perfetto, "-o", tmp_path / "out.json"),
        "the suffix must be": (one, "-o", tmp_path / "out.pftrace"),
        "No such file": (one, tmp_path / "no.json", "-o", tmp_path / "out.json"),
    }
    for said, words in refused.items():
        done = trace("merge", *words)
        assert done.returncode == 2
        assert said in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*out*"))
