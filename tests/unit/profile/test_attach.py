# SPDX-License-Identifier: MIT
"""``trace attach``: another process records a program that runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unit.profile.test_daemon import BUSY, busy, until
from tests.unit.profile.test_profile import BEGIN, load, names

ON_DEMAND = {**os.environ, "HIPADAPT_PROFILE": "on-demand"}
SILENT = {k: v for k, v in os.environ.items() if not k.startswith("HIPADAPT_PROFILE")}
LISTENING = BUSY.replace('print("ready"', 'profile.listen()\nprint("ready"')
IDLE = BEGIN + 'launch()\nprint("ready", flush=True)\nsys.stdin.read()\n'


def attach(pid: int, file: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "hipadapt", "trace", "attach", str(pid)),
            *("-o", str(file), *more),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def line_to(pid: int) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(30)
    line.connect(f"\0hipadapt-profile-{pid}")
    return line


@pytest.mark.parametrize("way", ["variable", "call"])
def test_attach_writes_the_file_that_was_asked_for(way: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    settings, code = (ON_DEMAND, BUSY) if way == "variable" else (SILENT, LISTENING)
    with busy(settings, code=code) as program:
        done = attach(program.pid, out, "--duration", "100ms")

    assert (done.returncode, done.stderr) == (0, "")
    kernels = names(load(out), "kernel")["work"]
    assert done.stdout.startswith(f"{out}: {kernels} kernels, ")
    assert kernels > 0
    assert done.stdout.endswith(f" {out.stat().st_size} bytes\n")
    assert list(tmp_path.iterdir()) == [out]


def test_file_is_there_soon_after_the_asked_time(tmp_path: Path) -> None:
    late = []
    with busy(ON_DEMAND) as program:
        for i in range(5):
            text = (
                f"ACTIVITIES_LOG_FILE={tmp_path}/{i}.json\nACTIVITIES_DURATION_MSECS=200\n"
                "ACTIVITIES_WARMUP_PERIOD_SECS=0\n"
            )
            with line_to(program.pid) as line:
                begin = time.monotonic()
                line.send(text.encode())
                until((tmp_path / f"{i}.json").exists)
                late.append(time.monotonic() - begin - 0.2)
                assert line.recv(4096).startswith(b"accepted\0")
                assert line.recv(4096).startswith(b"over\0\0")
    print(late)
    assert min(late) <= 0.1


def test_attach_to_an_idle_program_says_that_the_trace_is_empty(
    tmp_path: Path,
) -> None:
    with busy(ON_DEMAND, code=IDLE) as program:
        done = attach(program.pid, tmp_path / "out.json", "--duration", "30ms")
        calls = attach(program.pid, tmp_path / "calls.json", "--activities", "overhead")

    assert calls.returncode == 0, calls.stderr
    assert done.returncode == 1
    assert (
        done.stderr == "hipadapt trace attach: no kernel was launched in the window\n"
    )
    assert "no_kernels" in load(tmp_path / "out.json")


def test_attach_to_who_does_not_listen_says_how_to(tmp_path: Path) -> None:
    with busy(SILENT) as program:
        done = attach(program.pid, tmp_path / "out.json")
    gone = attach(program.pid, tmp_path / "out.json")

    assert (done.returncode, gone.returncode) == (2, 2)
    assert "HIPADAPT_PROFILE=on-demand" in done.stderr
    assert "hipadapt.profile.listen()" in done.stderr
    assert f"there is no process {program.pid}" in gone.stderr


def test_attach_refusals_have_a_reason(tmp_path: Path) -> None:
    with busy(ON_DEMAND) as program:
        no_folder = attach(program.pid, tmp_path / "none/out.json")
        activity = attach(program.pid, tmp_path / "a.json", "--activities", "kernels")
        with line_to(program.pid) as line:
            line.send(f"ACTIVITIES_LOG_FILE={tmp_path}/b.json".encode())
            assert line.recv(4096).startswith(b"accepted\0")
            second = attach(program.pid, tmp_path / "c.json")
        # The caller is gone, and so is its recording, which would warm up for 5 s.
        end = time.monotonic() + 3
        while (third := attach(program.pid, tmp_path / "d.json")).returncode != 0:
            assert time.monotonic() < end, third.stderr

    assert [no_folder.returncode, activity.returncode, second.returncode] == [2, 2, 2]
    assert "cannot open the folder" in no_folder.stderr
    assert "'kernels'" in activity.stderr
    assert "pending" in second.stderr or "busy" in second.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["d.json"]


@pytest.mark.parametrize("packet", [b"a\0b", b"#" * 20000, b"KEY", b"\xff=\xfe=1"])
def test_bad_packet_is_refused(packet: bytes) -> None:
    with busy(ON_DEMAND) as program, line_to(program.pid) as line:
        line.send(packet)

        assert line.recv(4096).startswith(b"refused\0")
        assert line.recv(4096) == b""


def test_callers_beyond_those_that_fit_wait(tmp_path: Path) -> None:
    with busy(ON_DEMAND) as program:
        lines = [line_to(program.pid) for _ in range(4)]
        with line_to(program.pid) as late:
            late.send(b"KEY")
            lines.pop().close()
            assert late.recv(4096).startswith(b"refused\0")
        for line in lines:
            line.close()


def test_attach_survives_the_end_of_the_program(tmp_path: Path) -> None:
    with busy(ON_DEMAND) as program:
        with line_to(program.pid) as line:
            line.send(f"ACTIVITIES_LOG_FILE={tmp_path}/b.json".encode())
            assert line.recv(4096).startswith(b"accepted\0")
            program.send_signal(signal.SIGKILL)
            program.wait()
            try:
                assert line.recv(4096) == b""
            except ConnectionResetError:
                pass


@pytest.mark.parametrize(
    "words",
    [
        ["0", "-o", "a.json"],
        ["12", "-o", "a.txt"],
        ["12", "-o", "a=b.json"],
        ["12", "-o", "a.json", "--duration", "3"],
        ["12", "-o", "a.json", "--duration", "0.3ms"],
    ],
)
def test_arguments_without_sense_are_refused(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "trace", "attach", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "needs " in done.stderr
