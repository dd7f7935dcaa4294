# SPDX-License-Identifier: MIT
"""What devices count, as rows of a trace over time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

from .test_profile import load

FORBIDDEN = "perf_event_open is forbidden here: perf_event_paranoid must be below 3"

COUNTED = """
import sys, hipadapt
from hipadapt import profile
work = hipadapt.compile_kernel(
    "__global__ void work(int *x) { for (int i = 0; i < 100000; i++) x[i % 64] += i; }",
    "work")
x = hipadapt.zeros(64, "int32")
def run(url, counters):
    with profile(url, counters=counters) as p:
        for _ in range(30):
            work[1, 1](x)
            hipadapt.Device().synchronize()
    return p
"""


def counted(path: Path, name: str) -> list[tuple[float, float]]:
    """Times and values of a counter of device 0."""
    return sorted(
        (e["ts"], e["args"]["value"])
        for e in load(path)["traceEvents"]
        if e["ph"] == "C" and e["name"] == name and e["pid"] == "GPU 0 Counters"
    )


def test_counters_of_devices_are_rows(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        COUNTED
        + """
run(sys.argv[1], ["TASK_CLOCK", "PAGE_FAULTS"])
run(None, "TASK_CLOCK").save(sys.argv[2])
run(sys.argv[3], ())
""",
        *(str(tmp_path / f"{name}.json") for name in ("written", "kept", "none")),
        status=None,
    )
    if "on this system" in done.stderr:
        pytest.skip(FORBIDDEN)
    assert done.returncode == 0, done.stderr

    for name in ("written", "kept"):
        times, values = zip(
            *counted(tmp_path / f"{name}.json", "TASK_CLOCK"), strict=True
        )
        assert len(values) >= 2
        assert values[0] == 0
        assert list(values) == sorted(values)
        # It is the processor's time in ns of two threads at most, while it ran.
        assert 0 < values[-1] < 1000 * (times[-1] - times[0]) * 8
    assert counted(tmp_path / "written.json", "PAGE_FAULTS") != []
    assert counted(tmp_path / "kept.json", "PAGE_FAULTS") == []
    assert counted(tmp_path / "none.json", "TASK_CLOCK") == []


def test_counters_that_do_not_fit_are_refused(run_python: Run) -> None:
    done = run_python(
        COUNTED
        + """
for chosen in (["HEAT"], ["TASK_CLOCK", ""], ["TASK_CLOCK", 3]):
    try:
        profile("a.json", counters=chosen).prepare()
    except (TypeError, ValueError) as error:
        print(error, profile.status().state, sep="; ")
profile(counters=["CPU_MIGRATIONS"])
with profile():
    work[1, 1](x)
"""
    )

    listed = "there are: TASK_CLOCK, PAGE_FAULTS, CONTEXT_SWITCHES, CPU_MIGRATIONS"
    assert done.stdout.splitlines() == [
        f"no counter of the devices is named 'HEAT'; {listed}; idle",
        f"no counter of the devices is named ''; {listed}; idle",
        "profile: argument 'counters' must be names, not 3; idle",
    ]


def test_counters_end_with_their_recording(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        COUNTED
        + """
import os
def open_files():
    return len(os.listdir("/proc/self/fd"))
run(None, ())
before = open_files()
for end in ("cancel", "stop"):
    p = profile(counters=["TASK_CLOCK"]).prepare()
    during = open_files()
    if end == "stop":
        p.start()
        p.stop()
    profile.cancel()
    print(during > before, open_files() == before)
""",
        status=None,
    )
    if "on this system" in done.stderr:
        pytest.skip(FORBIDDEN)

    assert done.stdout.splitlines() == ["True True"] * 2, done.stderr
