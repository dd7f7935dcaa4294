# SPDX-License-Identifier: MIT
"""Clients that take too long, in recordings of a request by time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.unit.profile.test_client import LIBRARY
from tests.unit.profile.test_profile import load, names, slices

SLOW = (
    LIBRARY
    + """
out, method, seconds, duration, last = sys.argv[1:]
usual, gate = getattr(library, method), threading.Event()
def slow(*args):
    gate.wait(float(seconds))
    usual(*args)
def request(file, duration):
    begin = time.monotonic()
    profile.request(f"ACTIVITIES_LOG_FILE={file}\\nACTIVITIES_WARMUP_PERIOD_SECS=0\\n"
                    f"ACTIVITIES_DURATION_MSECS={duration}")
    states = set()
    while profile.status().request_waits or profile.status().state != "idle":
        states.add(profile.status().state)
        try:
            library.run("op", 1, "late" if method == "stop" else "now")
        except RuntimeError as error:
            assert "nothing is recorded with this client" in str(error), error
        hipadapt.Device().synchronize()
        time.sleep(0.005)
    assert "collecting" in states, states
    assert profile.status().message == "", profile.status()
    return time.monotonic() - begin
setattr(library, method, slow)
took = request(f"{out}/first.json", duration)
gate.set()
quick = Library()
profile.register_client(quick, name="quick")
deadline = time.monotonic() + 30
while library.told[-1:] != [last]:
    assert time.monotonic() < deadline, library.told
    time.sleep(0.01)
library.told.clear()
setattr(library, method, usual)
request(f"{out}/second.json", 100)
print(json.dumps([os.getpid(), took, library.told]))
"""
)


@pytest.mark.parametrize(
    ("method", "seconds", "duration", "late", "limit"),
    [
        ("prepare", 60, 200, "prepare took more than 1 s", (1, 4)),
        ("prepare", 60, 2000, "prepare took more than 1 s", (2, 5)),
        ("start", 60, 200, "start took more than 1 s", (1, 4)),
        ("start", 2, 3000, "start took more than 1 s", (3, 6)),
        ("stop", 60, 200, "stop took more than 10 s", (10, 15)),
        ("prepare", 0.3, 900, None, (0.9, 3)),
        ("start", 0.3, 600, None, (0.6, 3)),
        ("stop", 2, 200, None, (2, 6)),
    ],
)
def test_recording_goes_on_without_who_is_late(
    run_python: Run,
    tmp_path: Path,
    method: str,
    seconds: float,
    duration: int,
    late: str | None,
    limit: tuple[float, float],
) -> None:
    last = "cancel" if late else "stop"  # of what the client is told
    done = run_python(SLOW, str(tmp_path), method, str(seconds), str(duration), last)
    pid, took, told = json.loads(done.stdout.splitlines()[-1])
    first, second = (load(tmp_path / f"{n}_{pid}.json") for n in ("first", "second"))

    # Then: the file is whole, comes in time, and says who was left out.
    assert limit[0] <= took <= limit[1]
    assert names(first, "kernel")["work"] > 0
    assert first["lost_events"] == 0
    failures = [f"'ops' was left out: {late}"] if late else None
    assert first.get("client_failures") == failures
    if late is None:
        assert slices(first, "cpu_op")

    # And the next recording has the client again.
    assert "client_failures" not in second
    assert slices(second, "cpu_op")
    assert [one if isinstance(one, str) else one[0] for one in told] == [
        "prepare",
        "start",
        "stop",
    ]
