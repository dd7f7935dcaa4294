# SPDX-License-Identifier: MIT
"""What a trace says of where it comes from."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from tests.conftest import Run

from .test_profile import BEGIN, load


def test_metadata_names_job_host_and_versions(run_python: Run, tmp_path: Path) -> None:
    # Given: a job whose name needs escapes.
    run_python(
        BEGIN
        + """
launch() # HIP is there before the first trace
with profile(sys.argv[1] + "/a.json"):
    launch()
with profile(sys.argv[1] + "/b.json", memory=True):
    launch()
print(int(hip.hipRuntimeGetVersion()[1]), int(hip.hipDriverGetVersion()[1]))
open(sys.argv[1] + "/versions", "w").write(
    f"{int(hip.hipRuntimeGetVersion()[1])} {int(hip.hipDriverGetVersion()[1])}")
""",
        str(tmp_path),
        PT_PROFILER_JOB_NAME='night "run"',
        PT_PROFILER_JOB_VERSION="7",
    )
    first, second = load(tmp_path / "a.json"), load(tmp_path / "b.json")
    runtime, driver = (tmp_path / "versions").read_text().split()

    assert first["host_name"] == socket.gethostname()
    assert first["hip_runtime_version"] == int(runtime) > 0
    assert first["hip_driver_version"] == int(driver) > 0
    assert re.fullmatch(r"\d+\.\d+\.\d+", first["rocprofiler-sdk_version"])
    assert first["PT_PROFILER_JOB_NAME"] == 'night "run"'
    assert first["PT_PROFILER_JOB_VERSION"] == "7"
    assert "PT_PROFILER_JOB_ATTEMPT_INDEX" not in first
    assert (first["with_stack"], first["record_shapes"]) == (0, 0)
    assert (first["profile_memory"], second["profile_memory"]) == (0, 1)
    assert re.fullmatch("[0-9A-F]{32}", first["trace_id"])
    assert first["trace_id"] != second["trace_id"]


def test_versions_are_those_of_hip_that_comes_after_the_start(
    run_python: Run, tmp_path: Path
) -> None:
    run_python(
        """
import sys
import hipadapt
with hipadapt.profile(sys.argv[1]):
    hipadapt.zeros(4)
""",
        str(tmp_path / "out.json"),
    )
    assert load(tmp_path / "out.json")["hip_runtime_version"] > 0
