# SPDX-License-Identifier: MIT
"""Traces with operations of clients and devices of children, by readers of others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.interop import fetched
from tests.interop.test_trace_readers import SCHEMA, read, read_pftrace
from tests.unit.profile.test_client import CHILDREN, LIBRARY

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
