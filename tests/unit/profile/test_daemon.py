# SPDX-License-Identifier: MIT
"""dynolog's datagrams: a stand-in of the daemon drives programs of their own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import dynolog
from tests.conftest import ROOT
from tests.unit.profile.test_profile import BEGIN, load, names

LIMIT_S = 60
BUSY = (
    BEGIN
    + """
launch()
print("ready", flush=True)
import select
while not select.select([sys.stdin], [], [], 0)[0]:
    launch()
    hipadapt.Device().synchronize()
"""
)
QUICK = "ACTIVITIES_WARMUP_PERIOD_SECS=0\nACTIVITIES_DURATION_MSECS=60\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Of sockets: names of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="hipadapt-", dir="/tmp") as name:
        yield Path(name)


@contextmanager
def busy(
    settings: dict[str, str],
    log: Path = Path(os.devnull),
    code: str = BUSY,
    words: Sequence[str] = (),
) -> Iterator[subprocess.Popen[str]]:
    """A program that launches kernels until the block is over, and then ends well.

    What it writes to stderr goes to the file.  `words` stand in the place of the code.
    """
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, *(words or ("-c", code))],
            cwd=ROOT,
            env=settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as program,
    ):
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            yield program
            if program.poll() is None:
                assert program.stdin is not None
                program.stdin.close()
                assert program.wait(LIMIT_S) == 0
        finally:
            program.kill()


def until(happens: Callable[[], bool], limit: float = LIMIT_S) -> None:
    end = time.monotonic() + limit
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("named", [True, False], ids=["folder", "abstract"])
def test_daemon_request_makes_a_trace(
    folder: Path, tmp_path: Path, named: bool
) -> None:
    place = folder if named else None
    with dynolog.daemon(place) as daemon:
        settings = dynolog.settings(place, tmp_path) | {"SLURM_JOB_ID": "17"}
        with busy(settings) as program:
            # When: it has asked, and gets a text.
            asked = daemon.request_of(program.pid)
            daemon.send(asked.client, "req", b"")
            daemon.deliver(
                program.pid, f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}"
            )
            # Then: it says so while it records, and the file is there.
            while daemon.request_of(program.pid).kinds & 2:
                pass
            file = tmp_path / f"t_{program.pid}.json"
            until(file.exists)
            if named:
                path = Path(os.fsdecode(asked.client))
                assert stat.S_IMODE(path.stat().st_mode) == 0o666
        assert not named or [entry.name for entry in folder.iterdir()] == ["dynolog"]

    assert asked.kinds == 3
    assert asked.job == 17
    assert asked.pids[:2] == (program.pid, os.getpid())
    assert set(daemon.contexts) == {(0, program.pid, 17)}  # again where it is slow
    name = os.fsdecode(asked.client).strip("\0").rpartition("/")[2]
    assert name.startswith("dynoconfigclient")
    assert len(name) == len("dynoconfigclient") + 36
    trace = load(file)
    assert names(trace, "kernel")["work"] > 0
    assert trace["trace_id"] == 4711


BAD = {
    "empty": b"",
    "short": b"x" * 39,
    "longer than it says": (1).to_bytes(8, "little") + b"req".ljust(32, b"\0") + b"ab",
    "shorter than it says": (1 << 62).to_bytes(8, "little") + b"req".ljust(32, b"\0"),
    "a type that does not end": bytes(8) + b"r" * 32,
    "an unknown type": bytes(8) + b"data".ljust(32, b"\0"),
    "an answer to ctxt that is too long": (9).to_bytes(8, "little")
    + b"ctxt".ljust(32, b"\0")
    + bytes(9),
    "NUL in a text": (3).to_bytes(8, "little") + b"req".ljust(32, b"\0") + b"a\0b",
    "too much": (70000).to_bytes(8, "little") + b"req".ljust(32, b"\0") + b"#" * 70000,
}


@pytest.mark.parametrize("datagram", BAD.values(), ids=BAD)
def test_bad_datagram_is_told_and_thrown_away(
    folder: Path, tmp_path: Path, datagram: bytes
) -> None:
    with dynolog.daemon(folder) as daemon:
        with busy(dynolog.settings(folder, tmp_path), folder / "log") as program:
            daemon.raw(daemon.request_of(program.pid).client, datagram)
            # It goes on as before.
            daemon.deliver(
                program.pid, f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}"
            )
            until((tmp_path / f"t_{program.pid}.json").exists)
    log = (folder / "log").read_text()
    assert "a datagram to the profiler is thrown away: " in log


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ACTIVITIES_LOG_FILE=/etc/t.json", "is not below"),
        ("ACTIVITIES_LOG_FILE={traces}/../t.json", "is not below"),
        ("ACTIVITIES_LOG_FILE={traces}er.json", "is not below"),
        ("ACTIVITIES_DURATION_MSECS=-1", "ACTIVITIES_DURATION_MSECS: '-1'"),
        ("ACTIVITIES_ENABLED=no", "ACTIVITIES_ENABLED: "),
    ],
)
def test_daemon_request_that_is_refused_starts_nothing(
    folder: Path, tmp_path: Path, text: str, reason: str
) -> None:
    text = text.format(traces=tmp_path)
    if "LOG_FILE" not in text:
        text += f"\nACTIVITIES_LOG_FILE={tmp_path}/t.json"
    with dynolog.daemon(folder) as daemon:
        with busy(dynolog.settings(folder, tmp_path), folder / "log") as program:
            daemon.deliver(program.pid, text, trace=12)
            assert all(daemon.request_of(program.pid).kinds == 3 for _ in range(5))
    (line,) = (folder / "log").read_text().splitlines()

    assert "the daemon's request" in line
    assert reason in line
    assert [entry.name for entry in tmp_path.iterdir()] == ["base.conf"]


def test_daemon_that_vanishes_and_comes_back(folder: Path, tmp_path: Path) -> None:
    with busy(dynolog.settings(folder, tmp_path)) as program:
        clients = set()
        for contexts in (1, 1):
            with dynolog.daemon(folder) as daemon:
                clients.add(daemon.request_of(program.pid).client)
                assert len(daemon.contexts) == contexts  # it registers each time
            time.sleep(0.1)
        assert len(clients) == 1
        # Its own file is removed, as by somebody who cleans up.
        Path(os.fsdecode(clients.pop())).unlink()
        with dynolog.daemon(folder) as daemon:
            daemon.deliver(
                program.pid, f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}"
            )
            until((tmp_path / f"t_{program.pid}.json").exists)
