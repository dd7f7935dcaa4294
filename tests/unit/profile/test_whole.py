# SPDX-License-Identifier: MIT
"""HIPADAPT_PROFILE=<url>: a process is recorded whole, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

BEGIN = """
import os, signal, sys, time
import hipadapt
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup leaves it ignored
SOURCE = 'extern "C" __global__ void work(int *x, int n) '
SOURCE += '{ for (int i = 0; i < n; i++) x[threadIdx.x] += i; }'
kernel = hipadapt.compile_kernel(SOURCE, "work")
x = hipadapt.zeros(64, dtype="int32")
for i in range(5):
    kernel[(1,), (64,)](x, 10)
"""
ENDS = {
    "end": ("pass", 0),
    "exit": ("sys.exit(3)", 3),
    "exception": ("raise ValueError", 1),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -15),
    "SIGHUP": ("os.kill(os.getpid(), signal.SIGHUP); time.sleep(60)", -1),
    "SIGINT": ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", -2),
    "own handler": (
        "signal.signal(15, lambda *a: os.write(1, b'own')); os.kill(os.getpid(), 15)",
        0,
    ),
    "fork": ("os.fork() or sys.exit(0); os.wait()", 0),
}


def run(code: str, url: object, begin: str = BEGIN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", begin + code],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "HIPADAPT_PROFILE": str(url)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=ROOT,
    )


def kernels(path: Path) -> Counter[str]:
    trace: dict[str, Any] = json.loads(path.read_text())
    events = trace["traceEvents"]
    return Counter(e["name"] for e in events if e.get("cat") == "kernel")


@pytest.mark.parametrize("end", ENDS)
def test_a_process_is_recorded_until_its_end(tmp_path: Path, end: str) -> None:
    code, status = ENDS[end]

    done = run(code, tmp_path / "out.json")

    assert done.returncode == status, done.stderr
    assert kernels(tmp_path / "out.json") == {"work": 5}
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert (done.stdout == "own") == (end == "own handler")


def test_a_signal_ends_a_forked_child_at_once(tmp_path: Path) -> None:
    code = """
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = run(code, tmp_path / "out.json")

    assert done.stdout == f"{-signal.SIGTERM}\n", done.stderr
    assert kernels(tmp_path / "out.json") == {"work": 5}


def test_the_name_has_the_number_of_the_process(tmp_path: Path) -> None:
    done = run("print(os.getpid())", tmp_path / "out_%p.json")

    assert kernels(tmp_path / f"out_{done.stdout.strip()}.json") == {"work": 5}


def test_a_file_that_cannot_be_written_is_told_and_the_program_runs(
    tmp_path: Path,
) -> None:
    done = run("print('ran')", tmp_path / "no" / "out.json")

    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "HIPADAPT_PROFILE: nothing is recorded" in done.stderr


@pytest.mark.parametrize("chosen", ["hip", "cuda", "other"])
def test_calls_have_the_names_that_were_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("HIPADAPT_PROFILE_API_NAMES", chosen)
    done = run("pass", tmp_path / "out.json")

    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    calls = Counter(e["name"] for e in events if e.get("cat") == "cuda_runtime")
    name = "cudaLaunchKernel" if chosen == "cuda" else "hipModuleLaunchKernel"
    assert calls[name] == 5
    assert ("'other' is neither hip nor cuda" in done.stderr) == (chosen == "other")


def test_clients_are_stopped_at_the_end(tmp_path: Path) -> None:
    begin = """
import hipadapt, time
class Library:
    def stop(self):
        client.hand_over("late", at, at + 1)
        print("stopped", flush=True)
client = hipadapt.profile.register_client(Library())
x = hipadapt.zeros(4)
at = time.monotonic_ns()
x.get()
"""
    done = run("client.hand_over('early', at, at + 1)", tmp_path / "out.json", begin)

    trace = json.loads((tmp_path / "out.json").read_text())
    operations = [e["name"] for e in trace["traceEvents"] if e.get("cat") == "cpu_op"]
    assert done.stdout == "stopped\n", done.stderr
    assert sorted(operations) == ["early", "late"]
    assert "client_failures" not in trace


def test_another_recording_within_is_refused(tmp_path: Path) -> None:
    code = """
try:
    hipadapt.profile("x.json").prepare()
except RuntimeError as error:
    print("refused")
"""
    done = run(code, tmp_path / "out.json")

    assert done.stdout == "refused\n", done.stderr
    assert kernels(tmp_path / "out.json") == {"work": 5}


def test_a_program_that_records_itself_first_has_its_own_alone(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.json"
    code = f"""
import hipadapt
with hipadapt.profile({str(own)!r}):
    hipadapt.zeros(64)
"""
    done = run(code, tmp_path / "out.json", begin="")

    assert done.returncode == 0, done.stderr
    assert "the program records itself" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["own.json"]
