# SPDX-License-Identifier: MIT
"""Real traces, by readers of others: with operations of clients and devices of children,
and of a whole program."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Run
from tests.interop import fetched
from tests.interop.test_trace_readers import SCHEMA, read, read_pftrace
from tests.unit.profile.test_client import CHILDREN, LIBRARY
from tests.unit.profile.test_profile import BEGIN, load, names, slices

pytestmark = pytest.mark.fetched

PROGRAM = (
    LIBRARY
    + CHILDREN[CHILDREN.index("import time") :]
    + """
profile.register_child(Device("npu", 3), clock="realtime")
with profile(sys.argv[1]):
    for i in range(12):
        library.run(f"op {i}", i % 3)
    time.sleep(0.01)
"""
)


@pytest.fixture(scope="module")
def folder() -> Path:
    return fetched.fetch("trace-readers")


def test_perfetto_joins_operations_and_kernels(
    folder: Path, run_python: Run, tmp_path: Path
) -> None:
    path = tmp_path / "trace.pftrace"
    run_python(PROGRAM, str(path))

    found = read_pftrace(folder, path)["slices"]

    flows = {one["name"]: one["flows"] for one in found if "cpu_op" in one["category"]}
    assert len(flows) == 12
    joined = Counter(
        flow
        for one in found
        if "kernel" in one["category"] and one["name"] == "work"
        for flow in one["flows"]
    )
    for i in range(12):
        (flow,) = flows[f"op {i}"]
        assert joined[flow] == i % 3
    assert sum(one["name"] == "npu work" for one in found) == 3


def test_schema_holds(folder: Path, run_python: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    run_python(PROGRAM, str(path))
    schema = ROOT / "docs" / "trace.schema.json"

    found = read(folder, "-c", SCHEMA, str(schema), str(path))

    assert found == {"errors": [], "notices": True}


# The client registers before the first use of HIP, with which a whole recording begins.
IMPORTS, USE = BEGIN.partition("SOURCE = ")[::2]
FIRST = f"{IMPORTS}profile = hipadapt.profile\n{LIBRARY[len(BEGIN) :]}\nSOURCE = {USE}"
# Steps whose operations launch kernels, a fill and a copy.  Child "npu" has 3 kernels.
TRAINING = (
    FIRST
    + CHILDREN[CHILDREN.index("import time") :]
    + """
y = hipadapt.zeros(1 << 14, dtype="float32")
def train():
    for step in range(4):
        with hipadapt.annotate(f"ProfilerStep#{step}"):
            for i in range(6):
                library.run(f"aten::op{i}", 1 + i % 2)
                hip.hipMemset(y, 0, y.nbytes)
                y.get()
            hipadapt.Device().synchronize()
if sys.argv[2] == "whole":
    train()
else:
    if sys.argv[2] == "children":
        profile.register_child(Device("npu", 3), clock="realtime")
    with profile(sys.argv[1], api_names="cuda"):
        train()
        time.sleep(0.01)
"""
)
KERNELS, STEPS = 4 * 9, 4
HTA = """
import json, sys
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=sys.argv[2])
kinds, kernels = trace.get_gpu_kernel_breakdown(visualize=False)
launches = trace.get_cuda_kernel_launch_stats(visualize=False)[0]
frame = trace.t.get_trace(0)
symbols = trace.t.symbol_table.get_sym_table()
category = frame["cat"].map(lambda i: symbols[i])
named = frame["name"].map(lambda i: symbols[i])
print(json.dumps({
    "kernels": {k: int(n) for k, n in zip(kernels["name"], kernels["count"])}
        if "count" in kernels else sorted(set(kernels["name"].tolist())),
    "idle": len(trace.get_idle_time_breakdown(visualize=False)[0]),
    "queue": len(trace.get_queue_length_summary()),
    "annotations": trace.get_gpu_user_annotation_breakdown(
        visualize=False)["name"].tolist(),
    "launches": len(launches),
    "delay": float(launches["launch_delay"].min()) if len(launches) else None,
    "operations": sorted(named[category == "cpu_op"].tolist()),
}, default=float))
"""
TENSORBOARD = """
import json, sys
from torch_tb_profiler.profiler.data import RunProfileData
with open(sys.argv[1]) as file:
    run = RunProfileData("worker", "span", json.load(file))
run.process()
run.analyze()
def walk(node):
    yield node.name
    for child in node.children:
        yield from walk(child)
print(json.dumps({
    "memory": run.has_memcpy_or_memset,
    "steps": sorted(set(run.steps_names)),
    "kernels": {k: int(n) for k, n in run.kernel_stat["count"].items()},
    "operations": sorted({n: o.calls for o in run.op_list_groupby_name
                          for n in [o.name]}.items()),
}))
"""


def trained(run_python: Run, path: Path, way: str) -> dict[str, Any]:
    """The trace of a training: with operations, a child as well, or whole."""
    variables = {"HIPADAPT_PROFILE": str(path), "HIPADAPT_PROFILE_API_NAMES": "cuda"}
    run_python(TRAINING, str(path), way, **(variables if way == "whole" else {}))
    trace = load(path)
    others = {"npu work": 3} if way == "children" else {}
    assert names(trace, "kernel") == {"work": KERNELS, **others}
    return trace


@pytest.mark.parametrize("way", ["operations", "children", "whole"])
def test_holistic_trace_analysis(
    folder: Path, run_python: Run, tmp_path: Path, way: str
) -> None:
    path = tmp_path / "rank0.json"
    trace = trained(run_python, path, way)

    found = read(folder, "-c", HTA, str(path), str(tmp_path))

    assert found["launches"] > 0
    assert found["delay"] >= 0
    assert found["idle"] > 0
    assert found["queue"] > 0
    assert "work" in found["kernels"]
    assert ("npu work" in found["kernels"]) == (way == "children")
    # Without the last step, which it always leaves out.
    steps = {f"ProfilerStep#{i}" for i in range(STEPS - 1)}
    assert steps <= {*found["annotations"]}
    operations = sorted(e["name"] for e in slices(trace, "cpu_op"))
    assert len(operations) == STEPS * 6
    left = (STEPS - 1) * 6
    assert left <= len(found["operations"]) <= len(operations)
    assert {*found["operations"]} == {*operations}


# It has room for devices 0 to 63.
@pytest.mark.parametrize("way", ["operations", "children", "whole"])
def test_torch_tb_profiler(
    folder: Path, run_python: Run, tmp_path: Path, way: str
) -> None:
    path = tmp_path / "worker.pt.trace.json"
    trained(run_python, path, way)

    found = read(folder, "-c", TENSORBOARD, str(path))

    assert found["memory"]
    assert found["steps"] == [str(i) for i in range(STEPS)]
    others = {"npu work": 3} if way == "children" else {}
    assert found["kernels"] == {"work": KERNELS, **others}
    operations = dict(found["operations"])
    assert operations == {f"aten::op{i}": STEPS for i in range(6)}
