# SPDX-License-Identifier: MIT
"""Chrome traces: what goes in comes out of json.load, whatever its names and numbers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tool.random_slices import BASE_STEP_NS, START, random_trace
from tests.unit.tool.slices import ON_GPU, WORK, Event, Slice, Trace, try_write, write

BASE = START // BASE_STEP_NS * BASE_STEP_NS
SYNC_ROW = 1_000_000
DIRECTIONS = {
    (False, False): "HtoH",
    (False, True): "HtoD",
    (True, False): "DtoH",
    (True, True): "DtoD",
}
Json = dict[str, Any]


def text(name: bytes | None) -> str:
    return (name or b"").decode(errors="replace")


def time_ns(value: float) -> int:
    return round(value * 1000)


def direction(event: Event) -> str:
    if -1 != event.source_device != event.device != -1:
        return "PtoP"
    return DIRECTIONS[event.source_device != -1, event.device != -1]


def launch(event: Event) -> Json:
    blocks = [
        -(-grid // block) for grid, block in zip(event.grid, event.block, strict=True)
    ]
    return {"grid": blocks, "block": [*event.block], "shared memory": event.shared}


def copy(event: Event) -> Json:
    return {
        "kind": direction(event),
        "bytes": event.bytes,
        "src": event.source,
        "dst": event.address,
    }


def bandwidth(slice_: Slice, event: Event) -> Json:
    per_ns = event.bytes / max(slice_.end - slice_.start, 1)
    return {"memory bandwidth (GB/s)": pytest.approx(per_ns, abs=0.001)}


def form(slice_: Slice) -> Json:
    name, width, blocks = slice_.form or ("", 0, 0)
    found: Json = {"form": name} if name else {}
    if width:
        found["vector width"] = width
    if blocks:
        found["blocks in reference form"] = blocks
    return found


def of_work(slice_: Slice) -> Json:
    found: Json = {"device": slice_.device, "stream": slice_.stream}
    event = slice_.event
    if event and slice_.kind == "kernel":
        found |= {"kind": "Dispatch Kernel", **launch(event), "hsa_queue": event.queue}
        found |= form(slice_)
    elif event and slice_.kind == "gpu_memcpy":
        found |= {**copy(event), **bandwidth(slice_, event)}
    elif event and event.bytes and slice_.kind == "gpu_memset":
        found |= {"bytes": event.bytes, **bandwidth(slice_, event)}
    return found


def of_call(slice_: Slice) -> Json:
    found: Json = {}
    if slice_.event:
        found["cid"] = slice_.event.operation
        if slice_.event.result:
            found["result"] = slice_.event.result
    if slice_.work_name is not None:
        found["kernel"] = text(slice_.work_name)
    if slice_.work:
        found |= launch(slice_.work) if slice_.work.block[0] else copy(slice_.work)
    return found


def expected_args(slice_: Slice) -> Json:
    found: Json = {}
    if slice_.external:
        found["External id"] = slice_.external
    if slice_.correlation:
        found["correlation"] = slice_.correlation
    if slice_.kind in ON_GPU:
        found |= of_work(slice_)
    if slice_.kind == "cuda_runtime":
        found |= of_call(slice_)
    return found | json.loads(b"{%s}" % (slice_.args or b""))


def shown_name(slice_: Slice) -> str:
    if not slice_.name and slice_.kind == "gpu_memset":
        return "Memset (Device)"
    if not slice_.name and slice_.kind == "gpu_memcpy" and slice_.event:
        side = {"H": "Host", "D": "Device", "P": "Device"}
        kind = direction(slice_.event)
        return f"Memcpy {kind} ({side[kind[0]]} -> {side[kind[-1]]})"
    return text(slice_.name)


def check_counter(event: Json, slice_: Slice, pid: int) -> None:
    assert event["ph"] == "C"
    place = pid if slice_.device == -1 else f"GPU {slice_.device} Counters"
    assert event["pid"] == place
    assert event["args"] == {"value": slice_.value}


def check_row(event: Json, slice_: Slice, pid: int) -> None:
    if slice_.kind in ON_GPU:
        assert (event["pid"], event["tid"]) == (slice_.device, slice_.stream)
    else:
        more = SYNC_ROW if slice_.kind == "cuda_sync" else 0
        assert (event["pid"], event["tid"]) == (pid, slice_.thread + more)


def expected_flows(slice_: Slice) -> Iterator[tuple[str, str, int]]:
    if slice_.correlation and slice_.kind in WORK:
        yield "f", "ac2g", slice_.correlation
    if slice_.correlation and slice_.kind == "cuda_runtime" and slice_.launches:
        yield "s", "ac2g", slice_.correlation
    if slice_.flow and slice_.kind not in ("counter", "cpu_instant_event"):
        yield "s" if slice_.flow_starts else "f", slice_.flow, slice_.flow_id


def check_flows(flows: list[Json], event: Json, slice_: Slice) -> None:
    assert [(flow["ph"], flow["cat"], flow["id"]) for flow in flows] == [
        *expected_flows(slice_)
    ]
    for flow in flows:
        assert (flow["pid"], flow["tid"]) == (event["pid"], event["tid"])
        assert flow["ts"] == event["ts"]
        assert flow.get("bp") == ("e" if flow["ph"] == "f" else None)


def check_events(events: list[Json], slices: list[Slice], pid: int) -> None:
    """Events of slices come in their order, each with its flows behind it."""
    left = iter(event for event in events if event["ph"] != "M")
    event = next(left)
    for slice_ in slices:
        seen = event
        flows = []
        while (event := next(left))["ph"] in "sf":
            flows.append(event)
        assert seen["name"] == shown_name(slice_)
        assert time_ns(seen["ts"]) == slice_.start - BASE
        if slice_.kind == "counter":
            check_counter(seen, slice_, pid)
            continue
        check_row(seen, slice_, pid)
        assert seen["cat"] == slice_.kind
        if slice_.kind == "cpu_instant_event":
            assert (seen["ph"], seen["s"]) == ("i", "t")
            continue
        assert seen["ph"] == "X"
        assert time_ns(seen["dur"]) == slice_.end - slice_.start
        assert seen["args"] == expected_args(slice_)
        check_flows(flows, seen, slice_)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_random_slices_are_read_back(tmp_path: Path, suffix: str, seed: int) -> None:
    trace, slices = random_trace(seed, 2000)
    path = tmp_path / f"trace{suffix}"

    write(path, trace, slices)

    opened = gzip.open(path) if suffix.endswith(".gz") else path.open("rb")
    with opened as file:
        found = json.loads(file.read().decode("utf-8"))
    check_events(found["traceEvents"], slices, trace.pid)
    assert found["lost_events"] == trace.lost
    assert found["out_of_window_events"] == trace.outside
    assert found["traceName"] == path.name
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def small(tmp_path: Path) -> Json:
    """A trace of one slice."""
    trace, _ = random_trace(0, 1)
    path = tmp_path / "trace.json"
    write(path, trace, [Slice("kernel", b"k", START, START + 9, device=1, stream=2)])
    found: Json = json.loads(path.read_text())
    return found


def test_members_of_the_trace_are_in_libkinetos_order(small: Json) -> None:
    assert [*small] == [
        *("schemaVersion", "deviceProperties", "host_name", "hip_runtime_version"),
        *("hip_driver_version", "rocprofiler-sdk_version", "clock_offset_ns"),
        *("clock_error_ns", "trace_id", "odd \ufffd\n", "distributedInfo"),
        *("displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "errors"),
        *("metadata.traceEvents", "lost_events", "out_of_window_events", "traceName"),
    ]
    assert small["baseTimeNanoseconds"] == BASE
    assert small["trace_id"] == "abc"
    assert small["odd \ufffd\n"] == "no JSON \ufffd"
    assert small["errors"] == {"unexpected": [1, None]}
    assert small["metadata.traceEvents"] == 1
    assert small["distributedInfo"]["world_size"] == 2
    assert small["deviceProperties"][1]["name"] == 'hipadapt "CPU"'


def test_only_rows_in_use_are_described(small: Json) -> None:
    about = {
        (event["pid"], event["tid"], event["name"]): event["args"]
        for event in small["traceEvents"]
        if event["ph"] == "M"
    }

    assert about == {
        (4711, 0, "process_name"): {"name": "python"},
        (4711, 0, "process_labels"): {"labels": "CPU"},
        (4711, 0, "process_sort_index"): {"sort_index": 4711},
        (1, 0, "process_name"): {"name": "python"},
        (1, 0, "process_labels"): {"labels": "GPU 1"},
        (1, 0, "process_sort_index"): {"sort_index": 5000001},
        (1, 2, "thread_name"): {"name": "stream 2"},
        (1, 2, "thread_sort_index"): {"sort_index": 2},
    }


def test_window_is_marked(small: Json) -> None:
    span, first, last = small["traceEvents"][-3:]

    assert span["cat"] == "Trace" and span["pid"] == "Spans"
    assert span["args"] == {"Op count": 1}
    assert first["name"] == "Iteration Start: hipadapt.profile"
    assert first["pid"] == "Traces"
    assert time_ns(first["ts"]) == START - BASE
    assert last["name"] == "Record Window End"
    assert time_ns(last["ts"]) == START - BASE + 2000


def test_cuda_names_keep_the_true_name(tmp_path: Path) -> None:
    names = {
        b"hipLaunchKernel": "cudaLaunchKernel",
        b"hipModuleLaunchKernel": "cudaLaunchKernel",
        b"hipExtModuleLaunchKernel": "cudaLaunchKernel",
        b"hipMemcpyHtoDAsync": "cudaMemcpyAsync",
        b"hipMemcpyWithStream": "cudaMemcpyAsync",
        b"hipMemcpy": "cudaMemcpy",
        b"hipMemsetD32Async": "cudaMemsetAsync",
        b"hipStreamSynchronize": "cudaStreamSynchronize",
        b"hipGraphLaunch": "cudaGraphLaunch",
        b"hipCtxGetDevice": "hipCtxGetDevice",
    }
    calls = [Slice("cuda_runtime", name, START, START, thread=1) for name in names]

    write(tmp_path / "a.json", Trace(START, START, cuda_names=True), calls)

    found = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    seen = [event for event in found if event.get("cat") == "cuda_runtime"]
    assert [event["name"] for event in seen] == [*names.values()]
    for event, true in zip(seen, names, strict=True):
        renamed = event["name"] != true.decode()
        assert event["args"] == ({"api": true.decode()} if renamed else {})


def test_rows_get_the_names_they_are_given(tmp_path: Path) -> None:
    rows = [
        Slice("kernel", b"queue", device=7, stream=1, work_name=b"NPU 0", row=True),
        Slice("kernel", b"k", START, START + 1, device=7, stream=1),
        Slice("kernel", b"main \xff", thread=9, row=True),
        Slice("cpu_op", b"op", START, START + 1, thread=9),
    ]

    write(tmp_path / "a.json", Trace(START, START), rows)

    found = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    named = [event for event in found if event["name"] == "thread_name"]
    assert [event["args"]["name"] for event in named] == ["queue", "main \ufffd"]
    labels = [event for event in found if event["name"] == "process_labels"]
    assert [event["args"]["labels"] for event in labels] == ["CPU", "NPU 0"]


def test_times_outside_the_window_and_backwards_do_not_break_the_file(
    tmp_path: Path,
) -> None:
    slices = [
        Slice("kernel", b"old", 0, 5, device=0),
        Slice("kernel", b"huge", 2**63, 2**64 - 1, device=0),
        Slice("kernel", b"backwards", START + 10, START, device=0),
    ]

    write(tmp_path / "a.json", Trace(START, START), slices)

    found = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    old, huge, backwards = (event for event in found if event.get("cat") == "kernel")
    assert old["ts"] == 0
    assert huge["ts"] * 1000 == pytest.approx(2**63 - BASE)
    assert backwards["dur"] == 0


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("trace.txt", ".json, .json.gz, .pftrace"),
        ("foo://x", "there are: a path, file://"),
        ("missing/trace.json", "No such file or directory"),
        ("link.json", "is a link"),
        ("dangling.json", "is a link"),
        ("folder.json", "not a regular file"),
        (f"{'x' * 250}.json", "File name too long"),
    ],
)
def test_bad_place_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "target.json").write_text("kept")
    (tmp_path / "link.json").symlink_to("target.json")
    (tmp_path / "dangling.json").symlink_to("nothing")
    (tmp_path / "folder.json").mkdir()
    before = sorted(tmp_path.iterdir())

    done = try_write(url, Trace(START, START), [])

    assert done.returncode == 1
    assert words in done.stderr.decode()
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "target.json").read_text() == "kept"


def test_file_url_replaces_an_older_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("older")

    write(f"file://{path}", Trace(START, START), [])

    assert json.loads(path.read_text())["schemaVersion"] == 1
    assert path.stat().st_mode & 0o777 == 0o600
