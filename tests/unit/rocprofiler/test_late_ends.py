# SPDX-License-Identifier: MIT
"""Tools are told of an end after who waits for the work may go on: nobody misses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Observe, Tool

PROGRAM = """
import sys
import hipadapt
from hipadapt import hip, rocprofiler

kernel = hipadapt.compile_kernel(
    'extern "C" __global__ void touch(int *x) { x[threadIdx.x] = 1; }', "touch"
)
x = hipadapt.zeros(64, dtype="int32")

def work():
    kernel[1, 64](x)
    hip.hipDeviceSynchronize()
"""

SWITCHED_OFF = """
with hipadapt.verbose("profile_exec", file=sys.argv[1]):
    work()
"""
FLUSHED = """
hipadapt.verbose.set("profile_exec", file=sys.argv[1])
work()
hipadapt.verbose.flush()
print(open(sys.argv[1]).read().count("touch"))
"""
OTHER_FILE = """
hipadapt.verbose.set("profile_exec", file=sys.argv[1])
work()
hipadapt.verbose.set("profile_exec", file=sys.argv[1] + ".2")
"""
TRACED = """
trace = rocprofiler.trace(kinds=["KERNEL_DISPATCH"]).start()
work()
trace.flush()
events = trace.poll()
print(0 if events is None else len(events))
"""

PROFILED = """
with hipadapt.profile(sys.argv[1]):
    work()
"""


@pytest.fixture
def late(tool: Tool) -> Path:
    """The first tool that is told of an end, for 200 ms."""
    return tool("slow.c")


@pytest.mark.parametrize(
    "way",
    [SWITCHED_OFF, FLUSHED, OTHER_FILE],
    ids=["switched off", "flushed", "other file"],
)
def test_what_was_waited_for_has_its_line(
    way: str, late: Path, observe: Observe, tmp_path: Path
) -> None:
    path = tmp_path / "lines"

    done = observe(f"import sys; sys.argv.append({str(path)!r})\n{PROGRAM}{way}", late)

    assert done.returncode == 0, done.stderr
    assert path.read_text().count(",touch,") == 1, done.stderr
    if way is FLUSHED:
        assert done.stdout == "1\n"


def test_what_was_waited_for_is_flushed_to_a_trace(
    late: Path, observe: Observe
) -> None:
    done = observe(PROGRAM + TRACED, late)

    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_what_was_waited_for_is_in_a_profile(
    late: Path, observe: Observe, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"

    done = observe(
        f"import sys; sys.argv.append({str(path)!r})\n{PROGRAM}{PROFILED}", late
    )

    assert done.returncode == 0, done.stderr
    events = json.loads(path.read_text())["traceEvents"]
    assert [e["name"] for e in events if e.get("cat") == "kernel"] == ["touch"]
