# SPDX-License-Identifier: MIT
"""Other people's readers open our traces: HolisticTraceAnalysis, the parser of
torch-tb-profiler, the protobuf classes of Perfetto, and jsonschema with our schema."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.interop import fetched
from tests.unit.tool.random_slices import START, random_trace
from tests.unit.tool.slices import ON_GPU, WORK, Event, Slice, Trace, try_write, write
from tests.unit.tool.test_chrome_format import (
    expected_args,
    expected_flows,
    shown_name,
    text,
)

pytestmark = pytest.mark.fetched
READ_LIMIT_S = 300
STEPS, OPS, STREAMS = 3, 40, 2
LAUNCHES = {
    "kernel": b"hipLaunchKernel",
    "gpu_memcpy": b"hipMemcpyAsync",
    "gpu_memset": b"hipMemsetAsync",
}


@pytest.fixture(scope="module")
def folder() -> Path:
    return fetched.fetch("trace-readers")


def read(folder: Path, *words: str) -> Any:
    """What a program prints as its last line, which is JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=READ_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def training() -> tuple[Trace, list[Slice]]:
    """Steps of a training: operations that launch kernels and copies on two streams."""
    rng = random.Random(1)
    slices: list[Slice] = []
    at, number = START + 10_000, 0
    free = [at] * STREAMS
    for step in range(STEPS):
        begin = at
        for op in range(OPS):
            number += 1
            kind = ("gpu_memcpy", "gpu_memset", *["kernel"] * 8)[op % 10]
            stream, begun = op % STREAMS, at
            name = (
                b"ncclDevKernel_AllReduce" if op % 20 == 3 else b"gemm<%d>" % (op % 4)
            )
            event = Event(device=0, bytes=1 << 20, grid=(4096, 1, 1), block=(256, 1, 1))
            launch = Slice("cuda_runtime", LAUNCHES[kind], at + 1000, at + 6000, 101)
            launch.launches = True
            start = max(free[stream], at + 9000)
            free[stream] = start + rng.randrange(20_000, 60_000)
            work = Slice(kind, name if kind == "kernel" else None, start, free[stream])
            work.device, work.stream, work.event = 0, stream, event
            for slice_ in (launch, work):
                slice_.correlation = slice_.external = number
            at += 8000
            operation = Slice("cpu_op", b"aten::mm", begun, at - 500, 101)
            operation.external = number
            slices += [launch, work, operation]
        at = max(at, *free) + 5000
        name = b"ProfilerStep#%d" % step
        slices.append(Slice("user_annotation", name, begin - 100, at - 3000, 101))
        slices.append(
            Slice("gpu_user_annotation", name, begin + 8000, at - 4000, device=0)
        )
        slices += [
            Slice("cuda_runtime", b"hipDeviceSynchronize", at - 4500, at - 3500, 101),
            Slice("cuda_sync", b"hipDeviceSynchronize", at - 4500, at - 3500, 101),
            Slice("python_function", b"train.py(3): step", begin - 50, at - 3200, 102),
            Slice("counter", b"memory in use", at, value=step * 1024.0),
            Slice("counter", b"occupancy", at, device=0, value=0.5),
            Slice("cpu_instant_event", b"step", at, thread=101),
        ]
        at += 2000
    info = b'{"backend":"rccl","rank":0,"world_size":1}'
    return Trace(START, at, pid=100, distributed=info), slices


HTA = """
import json, sys
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=sys.argv[2])
idle = trace.get_idle_time_breakdown(visualize=False)[0]
kinds, kernels = trace.get_gpu_kernel_breakdown(visualize=False)
launches = trace.get_cuda_kernel_launch_stats(visualize=False)[0]
graph, complete = trace.critical_path_analysis(
    rank=0, annotation="ProfilerStep", instance_id=1)
print(json.dumps({
    "busy": trace.get_temporal_breakdown(visualize=False)["compute_time_pctg"].tolist(),
    "idle_streams": sorted(set(idle["stream"].tolist())),
    "queue": len(trace.get_queue_length_summary()),
    "bandwidth": trace.get_memory_bw_summary().index.get_level_values("name").tolist(),
    "kinds": kinds["kernel_type"].tolist(),
    "kernels": sorted(set(kernels["name"].tolist())),
    "annotations": trace.get_gpu_user_annotation_breakdown(
        visualize=False)["name"].tolist(),
    "launches": len(launches),
    "delays": launches["launch_delay"].min() if len(launches) else None,
    "critical": bool(complete),
}, default=float))
"""


@pytest.mark.parametrize("names", ["hip", "cuda"])
def test_holistic_trace_analysis(folder: Path, tmp_path: Path, names: str) -> None:
    trace, slices = training()
    trace.cuda_names = names == "cuda"
    path = tmp_path / "rank0.json"
    write(path, trace, slices)

    found = read(folder, "-c", HTA, str(path), str(tmp_path))

    assert found["busy"][0] > 0
    assert found["idle_streams"] == [0, 1]
    assert found["queue"] == STREAMS
    assert {name.split()[0] for name in found["bandwidth"]} == {"Memcpy", "Memset"}
    assert "COMPUTATION overlapping COMMUNICATION" in found["kinds"]
    assert "ncclDevKernel_AllReduce" in found["kernels"]
    assert "ProfilerStep#0" in found["annotations"]
    assert found["critical"]
    if names == "cuda":
        assert found["launches"] >= (STEPS - 1) * OPS
        assert found["delays"] >= 0


TENSORBOARD = """
import json, sys
from torch_tb_profiler.profiler.data import RunProfileData
with open(sys.argv[1]) as file:
    run = RunProfileData("worker", "span", json.load(file))
run.process()
run.analyze()
print(json.dumps({
    "kernel": run.has_kernel,
    "memory": run.has_memcpy_or_memset,
    "steps": run.steps_names,
    "costs": run.avg_costs.costs,
    "kernels": int(run.kernel_stat["count"].sum()),
}))
"""


def test_torch_tb_profiler(folder: Path, tmp_path: Path) -> None:
    trace, slices = training()
    path = tmp_path / "worker.pt.trace.json"
    write(path, trace, slices)

    found = read(folder, "-c", TENSORBOARD, str(path))

    assert found["kernel"]
    assert found["memory"]
    assert {*found["steps"]} == {"0", "1", "2"}
    assert found["costs"][0] > 0
    assert found["kernels"] == sum(slice_.kind == "kernel" for slice_ in slices)


SCHEMA = """
import json, sys
import jsonschema
with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
with open(sys.argv[2]) as file:
    trace = json.load(file)
errors = [error.json_path + ": " + error.message[:300] for error in check.iter_errors(trace)]
trace["traceEvents"][-1]["ph"] = "?"
print(json.dumps({"errors": errors[:5], "notices": not check.is_valid(trace)}))
"""


@pytest.mark.parametrize("seed", range(2))
def test_schema_holds(folder: Path, tmp_path: Path, seed: int) -> None:
    trace, slices = random_trace(seed, 1000)
    path = tmp_path / "trace.json"
    write(path, trace, slices)
    schema = ROOT / "docs" / "trace.schema.json"

    found = read(folder, "-c", SCHEMA, str(schema), str(path))

    assert found == {"errors": [], "notices": True}


def read_pftrace(folder: Path, path: Path) -> Any:
    return read(folder, str(ROOT / "tests/interop/read_pftrace.py"), str(path))


def in_order(items: list[Any]) -> list[Any]:
    """By start, which no two spans of a random trace share, then by kind."""
    return sorted(items, key=lambda item: item["start"])


def expected_row(slice_: Slice) -> tuple[str, str | None]:
    """Name and parent of the track, without the number of a lane."""
    if slice_.kind in ON_GPU:
        more = " ranges" if slice_.kind == "gpu_user_annotation" else ""
        return f"stream {slice_.stream}{more}", f"GPU {slice_.device}"
    if slice_.kind == "cuda_sync":
        return f"thread {slice_.thread} waits", "python"
    return f"thread {slice_.thread}", None


def check_slice(seen: dict[str, Any], slice_: Slice) -> None:
    assert seen["name"] == shown_name(slice_)
    assert seen["category"] == [slice_.kind]
    assert (seen["start"], seen["end"]) == (slice_.start, slice_.end)
    wanted = expected_args(slice_)
    if slice_.kind == "kernel":
        wanted.pop("kind", None)  # the category says it
    assert seen["args"] == wanted
    track = seen["track"]
    name, parent = expected_row(slice_)
    assert track["name"].split(" (")[0] == name
    assert track["parent"] == parent
    flows = [*expected_flows(slice_)]
    assert len(seen["flows"]) == sum(kind == "s" for kind, _, _ in flows)
    assert len(seen["ends"]) == sum(kind == "f" for kind, _, _ in flows)


def check_stage(stage: dict[str, Any], slice_: Slice) -> None:
    assert stage["name"] == shown_name(slice_)
    assert (stage["start"], stage["end"]) == (slice_.start, slice_.end)
    assert stage["device"] == slice_.device
    assert stage["queue"] == f"GPU {slice_.device} stream {slice_.stream}"
    stages = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}
    assert stage["stage"] == stages[slice_.kind]
    assert stage["compute"] == (slice_.kind == "kernel")
    assert (stage["api"], stage["pid"]) == ("HIP", 4711)
    if slice_.correlation:
        assert stage["id"] == slice_.correlation
    if slice_.kind == "kernel" and slice_.event:
        args = expected_args(slice_)
        assert stage["grid"] == [
            -(-grid // block)
            for grid, block in zip(slice_.event.grid, slice_.event.block, strict=True)
        ]
        assert stage["block"] == [*slice_.event.block]
        shared = slice_.event.shared
        assert stage["args"] == ({"shared_mem_bytes": shared} if shared else {})
        assert args["stream"] == slice_.stream


@pytest.mark.parametrize("seed", range(5))
def test_perfetto_reads_random_slices_back(
    folder: Path, tmp_path: Path, seed: int
) -> None:
    trace, slices = random_trace(seed, 2000)
    path = tmp_path / "trace.pftrace"
    write(path, trace, slices)

    found = read_pftrace(folder, path)

    points = ("counter", "cpu_instant_event")
    spans = sorted((s for s in slices if s.kind not in points), key=lambda s: s.start)
    seen = in_order(found["slices"])
    assert len(seen) == len(spans)
    for one, slice_ in zip(seen, spans, strict=True):
        check_slice(one, slice_)
    work = [slice_ for slice_ in spans if slice_.kind in WORK]
    stages = in_order(found["stages"])
    for stage, slice_ in zip(stages, work, strict=True):
        check_stage(stage, slice_)
    assert len({stage["id"] for stage in stages}) == len(stages)
    assert found["clocks"] == {"1": START, "6": START - trace.clock_offset}


@pytest.mark.parametrize("seed", range(2))
def test_perfetto_reads_points_back(folder: Path, tmp_path: Path, seed: int) -> None:
    trace, slices = random_trace(seed, 2000)
    path = tmp_path / "trace.pftrace"
    write(path, trace, slices)

    found = read_pftrace(folder, path)

    values = sorted((s for s in slices if s.kind == "counter"), key=lambda s: s.start)
    counters = sorted(found["counters"], key=lambda counter: counter["time"])
    for counter, slice_ in zip(counters, values, strict=True):
        assert counter["name"] == text(slice_.name)
        assert counter["time"] == slice_.start
        assert counter["value"] == slice_.value
        assert counter.get("device", -1) == slice_.device
    instants = in_order(found["instants"])
    first, last = instants[0], instants[-1]
    assert first["name"] == "Record Window Start"
    assert first["args"]["trace_id"] == "abc"
    assert first["args"]["odd \ufffd\n"] == "no JSON \ufffd"
    assert first["args"]["distributedInfo"]["world_size"] == 2
    assert last["name"] == "Record Window End"
    assert last["args"]["lost_events"] == trace.lost
    assert last["args"]["out_of_window_events"] == trace.outside
    assert last["args"]["errors"] == {"unexpected": [1, None]}
    wanted = sorted(
        (s for s in slices if s.kind == "cpu_instant_event"), key=lambda s: s.start
    )
    for instant, slice_ in zip(instants[1:-1], wanted, strict=True):
        assert instant["name"] == text(slice_.name)
        assert instant["start"] == slice_.start


def test_perfetto_flows_lead_from_launches_to_kernels(
    folder: Path, tmp_path: Path
) -> None:
    trace, slices = training()
    path = tmp_path / "trace.pftrace"
    write(path, trace, slices)

    found = read_pftrace(folder, path)

    begun = {flow: one for one in found["slices"] for flow in one["flows"]}
    ended = {flow: one for one in found["slices"] for flow in one["ends"]}
    assert begun.keys() == ended.keys()
    assert len(begun) == STEPS * OPS
    for flow, call in begun.items():
        assert call["correlation"] == ended[flow]["correlation"]
        assert call["start"] < ended[flow]["start"]
    stages = {stage["id"]: stage for stage in found["stages"]}
    for flow, call in begun.items():
        assert [stages[id]["start"] for id in call["submits"]] == [ended[flow]["start"]]


def test_perfetto_takes_slices_in_any_order(folder: Path, tmp_path: Path) -> None:
    trace, slices = random_trace(7, 3000)
    random.Random(7).shuffle(slices)
    path = tmp_path / "trace.pftrace"
    write(path, trace, slices)

    found = read_pftrace(folder, path)  # which checks that times never go back

    spans = [s for s in slices if s.kind not in ("counter", "cpu_instant_event")]
    assert len(found["slices"]) == len(spans)


def test_overlapping_work_of_a_stream_lies_on_tracks_of_its_own(
    folder: Path, tmp_path: Path
) -> None:
    slices = [
        Slice("kernel", b"a", START, START + 10, device=0),
        Slice("kernel", b"b", START + 5, START + 15, device=0),
        Slice("kernel", b"c", START + 15, START + 20, device=0),
    ]
    path = tmp_path / "trace.pftrace"
    write(path, Trace(START, START + 20), slices)

    found = in_order(read_pftrace(folder, path)["slices"])

    assert [(one["name"], one["end"] - START) for one in found] == [
        ("a", 10),
        ("b", 15),
        ("c", 20),
    ]
    assert [one["track"]["name"] for one in found] == [
        "stream 0",
        "stream 0 (2)",
        "stream 0",
    ]


def test_perfetto_gets_stages_of_a_graph_with_ids_of_their_own(
    folder: Path, tmp_path: Path
) -> None:
    slices = [
        Slice("kernel", b"node", START + 10 * i, START + 10 * i + 5, device=0)
        for i in range(20)
    ]
    for slice_ in slices:
        slice_.correlation = 42
    path = tmp_path / "trace.pftrace"
    done = try_write(path, Trace(START, START + 200), slices)
    assert done.returncode == 0

    stages = read_pftrace(folder, path)["stages"]

    assert len({stage["id"] for stage in stages}) == 20
    assert 42 in {stage["id"] for stage in stages}


def test_hta_reads_merged_ranks(folder: Path, tmp_path: Path) -> None:
    ranks = []
    for rank in range(2):
        trace, slices = training()
        trace.distributed = b'{"backend":"rccl","rank":%d,"world_size":2}' % rank
        ranks.append(str(tmp_path / f"rank{rank}.json"))
        write(ranks[-1], trace, slices)
    path = tmp_path / "merged.json"
    words = [sys.executable, "-m", "hipadapt", "trace", "merge", *ranks]
    subprocess.run([*words, "-o", str(path)], check=True, cwd=ROOT)

    alone = read(folder, "-c", HTA, ranks[0], str(tmp_path))
    found = read(folder, "-c", HTA, str(path), str(tmp_path))

    assert found["queue"] == alone["queue"] > 0
    assert found["kernels"] == alone["kernels"]
    assert found["idle_streams"] == alone["idle_streams"]
