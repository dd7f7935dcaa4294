# SPDX-License-Identifier: MIT
"""Counters over time: lengths of streams, and memory in use."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.conftest import Run

from .test_profile import BEGIN, load, slices


def lengths(trace: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Time and length, by stream."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "C" and event["name"].startswith("queue length"):
            assert event["pid"] == "GPU 0 Counters"
            found[event["name"]].append((event["ts"], event["args"]["value"]))
    return dict(found)


def test_length_is_what_was_launched_and_has_not_ended(
    run_python: Run, tmp_path: Path
) -> None:
    # Given: two streams, of which one waits for a long kernel.
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
import time
streams = [hipadapt.Stream() for _ in range(2)]
arrays = [hipadapt.zeros(64, dtype="int32") for _ in range(2)]
gate = threading.Event()
with profile(sys.argv[1], queue_length=True) as p:
    hip.hipLaunchHostFunc(streams[0], lambda _: gate.wait(), None)
    for i in range(600):
        for stream, array, work in zip(streams, arrays, (50_000_000, 10)):
            if work == 10 or i < 20:
                kernel[(1,), (64,), 0, stream](array, work if i == 0 else 10)
        if i == 20:
            gate.set() # so that the first stream had work that waited
        if i % 50 == 0:
            time.sleep(0.015) # batches of the writer
assert p.status().lost_events == 0
""",
        str(out),
    )
    trace = load(out)
    told = lengths(trace)

    # Then: each is what calls and kernels say, and none is below 0.
    calls = {
        e["args"]["correlation"]: e["ts"]
        for e in slices(trace, "cuda_runtime")
        if e["name"].endswith("LaunchKernel")
    }
    kernels = slices(trace, "kernel")
    assert len(kernels) == len(calls) == 620
    assert sum(len(values) for values in told.values()) == 2 * 620
    for stream in (1, 2):
        values = told[f"queue length of stream {stream}"]
        own = [e for e in kernels if e["args"]["stream"] == stream]
        assert [at for at, _ in values] == sorted(at for at, _ in values)
        assert values[-1][1] == 0
        assert min(value for _, value in values) == 0
        steps = [(calls[e["args"]["correlation"]], 1) for e in own]
        steps += [(e["ts"] + e["dur"], -1) for e in own]
        # Ends are told as they come: a time before the last one counts from there.
        assert sum(step for _, step in steps) == 0
        assert max(value for _, value in values) == highest(steps)
    assert max(v for _, v in told["queue length of stream 1"]) > 10


def highest(steps: list[tuple[float, int]]) -> int:
    """The longest that a stream was."""
    length = most = 0
    for _, step in sorted(steps):
        length += step
        most = max(most, length)
    return most


def test_no_lengths_where_none_are_wanted(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(BEGIN + "with profile(sys.argv[1]): launch(3)\n", str(out))
    assert lengths(load(out)) == {}


def test_a_graph_counts_its_pieces(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
stream = hipadapt.Stream()
raw = stream
def good(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) > 1 else None
good(hip.hipStreamBeginCapture(raw, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal))
for _ in range(5):
    kernel[(1,), (64,), 0, stream](x, 10)
ready = good(hip.hipGraphInstantiate(good(hip.hipStreamEndCapture(raw)), 0)[:2])
with profile(sys.argv[1], queue_length=True):
    good(hip.hipGraphLaunch(ready, raw))
""",
        str(out),
    )
    (values,) = lengths(load(out)).values()

    assert [value for _, value in values] == [5, 4, 3, 2, 1, 0]


def test_allocations_have_address_bytes_and_sum(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        BEGIN
        + """
with profile(sys.argv[1], memory=True):
    first = hip.hipMalloc(4096)[1]
    second = hip.hipMalloc(1000)[1]
    hip.hipFree(first)
    hip.hipFree(second)
print(int(first), int(second))
""",
        str(out),
    )
    first, second = map(int, done.stdout.split())
    trace = load(out)
    instants = [e for e in trace["traceEvents"] if e["name"] == "[memory]"]
    rows = [
        (e["args"]["Addr"], e["args"]["Bytes"], e["args"]["Total Allocated"])
        for e in instants
    ]

    size = rows[1][1]
    assert 1000 <= size <= 4096
    assert rows == [
        (first, 4096, 4096),
        (second, size, 4096 + size),
        (first, -4096, size),
        (second, -size, 0),
    ]
    assert all(e["ph"] == "i" and e["s"] == "t" for e in instants)
    assert {(e["args"]["Device Type"], e["args"]["Device Id"]) for e in instants} == {
        (1, 0)
    }
