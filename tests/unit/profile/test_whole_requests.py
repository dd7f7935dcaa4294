# SPDX-License-Identifier: MIT
"""A request to a program that HIPADAPT_PROFILE=<url> records: refused, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from tests import dynolog
from tests.unit.profile import test_signal
from tests.unit.profile.test_attach import attach
from tests.unit.profile.test_daemon import QUICK, busy, folder, until
from tests.unit.profile.test_profile import BEGIN, load, names

__all__ = ["folder"]  # a fixture
REASON = "the profiler is busy: HIPADAPT_PROFILE records the whole program\n"
WORKING = (
    BEGIN
    + """
import select
count = 0
def work():
    global count
    launch()
    hipadapt.Device().synchronize()
    count += 1
work()
profile.listen()
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    work()
for _ in range(3):
    try:
        profile.request(f"ACTIVITIES_LOG_FILE={sys.argv[1]}.own.json")
    except RuntimeError as error:
        refused = str(error)
    work()
with open(sys.argv[1], "w") as file:
    print(json.dumps([count, refused]), file=file)
"""
)


@contextmanager
def recorded(
    tmp_path: Path, settings: dict[str, str]
) -> Iterator[tuple[Popen[str], Callable[[], str]]]:
    """A program that is recorded whole, and what it has written to stderr so far.  At
    its end all that it launched is in the trace, and there is no other file."""
    traces, log = tmp_path / "traces", tmp_path / "log"
    traces.mkdir()
    settings = {
        **settings,
        "HIPADAPT_PROVIDER": "cpu",
        "HIPADAPT_PROFILE": str(traces / "whole.json"),
        "HIPADAPT_LOG": "1",
    }
    words = ["-c", WORKING, str(tmp_path / "count")]
    with busy(settings, log, words=words) as program:
        yield program, log.read_text
        time.sleep(0.1)  # a request that was taken would end what is there
    launched, refused = json.loads((tmp_path / "count").read_text())
    assert REASON.strip() in refused
    assert [path.name for path in traces.iterdir()] == ["whole.json"]
    trace = load(traces / "whole.json")
    assert names(trace, "kernel") == {"work": launched}
    assert trace["lost_events"] == trace["out_of_window_events"] == 0
    assert "trace_id" in trace and str(trace["trace_id"]) != "4711"


def test_signal_is_refused(tmp_path: Path) -> None:
    settings = test_signal.settings(tmp_path)
    with recorded(tmp_path, settings) as (program, log):
        program.send_signal(signal.SIGUSR2)
        until(lambda: "refused" in log())

    assert (
        f"signal {signal.SIGUSR2:d}: the profile request is refused: {REASON}" in log()
    )


def test_signal_that_would_end_the_program_is_a_request(tmp_path: Path) -> None:
    settings = test_signal.settings(tmp_path, "HUP")
    with recorded(tmp_path, settings) as (program, log):
        program.send_signal(signal.SIGHUP)
        until(lambda: "refused" in log())


def test_attach_is_refused(tmp_path: Path) -> None:
    with recorded(tmp_path, dict(os.environ)) as (program, _):
        done = attach(program.pid, tmp_path / "traces/out.json", "--duration", "20ms")

    assert done.returncode == 2
    assert done.stderr.endswith(REASON)


@pytest.mark.parametrize("times", [1, 3])
def test_daemon_is_refused(folder: Path, tmp_path: Path, times: int) -> None:
    settings = dynolog.settings(folder, tmp_path)
    with dynolog.daemon(folder) as daemon:
        with recorded(tmp_path, settings) as (program, log):
            for i in range(times):
                # It says that it can't, and gets a text all the same.
                asked = daemon.request_of(program.pid)
                assert not asked.kinds & 2
                text = f"ACTIVITIES_LOG_FILE={tmp_path}/traces/t.json\n{QUICK}"
                daemon.send(asked.client, "req", text.encode())
                until(lambda: log().count("refused") > i)  # noqa: B023

    assert log().count(f"the daemon's request is refused: {REASON}") == times
