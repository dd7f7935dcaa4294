# SPDX-License-Identifier: MIT
"""One stand-in of dynolog's daemon drives hipadapt, and the kineto within torch."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import dynolog
from tests.unit.profile.test_daemon import BUSY, busy, until

# torch looks for requests once a second at most, and begins a second later.
LIMIT_S = 90
POLL = "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n"
TEXT = """PROFILE_START_TIME=0
ACTIVITIES_LOG_FILE={traces}/trace.json
ACTIVITIES_WARMUP_PERIOD_SECS=1
ACTIVITIES_DURATION_MSECS=500"""
TORCH = """
import select, sys
import torch
print("ready", flush=True)
x = torch.ones(64, 64)
while not select.select([sys.stdin], [], [], 0)[0]:
    x @ x
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hipadapt-", dir="/tmp") as name:
        yield Path(name)


@pytest.mark.parametrize("named", [True, False], ids=["folder", "abstract"])
@pytest.mark.parametrize("program", ["torch", "hipadapt"])
def test_daemon_drives_both_by_the_same_messages(
    program: str, folder: Path, tmp_path: Path, named: bool
) -> None:
    if program == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("NOT TESTED: torch is not installed, of the extra 'interop'")
    place = folder if named else None
    settings = dynolog.settings(place, tmp_path)
    (tmp_path / "base.conf").write_text(POLL)
    code = TORCH if program == "torch" else BUSY

    with dynolog.daemon(place) as daemon, busy(settings, folder / "log", code) as child:
        first = daemon.request_of(child.pid)
        daemon.send(first.client, "req", b"")
        daemon.deliver(child.pid, TEXT.format(traces=tmp_path), trace=99)
        file = tmp_path / f"trace_{child.pid}.json"
        until(file.exists, LIMIT_S)

    assert first.kinds == 3
    assert first.pids[:2] == (child.pid, os.getpid())
    assert first.job == 0
    trace = json.loads(file.read_text())
    assert str(trace["trace_id"]) == "99"
    kind = "cpu_op" if program == "torch" else "kernel"
    assert sum(event.get("cat") == kind for event in trace["traceEvents"]) > 0
