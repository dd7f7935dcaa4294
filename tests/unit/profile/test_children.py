# SPDX-License-Identifier: MIT
"""Children of a program that listens: each one listens for itself, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import dynolog
from tests.conftest import ROOT
from tests.unit.profile.test_attach import attach
from tests.unit.profile.test_daemon import BUSY, QUICK, busy, folder, until
from tests.unit.profile.test_profile import load, names

__all__ = ["folder"]  # a fixture

WORKERS = """
import multiprocessing, select, sys, time

def work(stop, launched):
    import hipadapt
    source = 'extern "C" __global__ void work(int *x) { x[threadIdx.x] += 1; }'
    kernel = hipadapt.compile_kernel(source, "work")
    x = hipadapt.zeros(64, dtype="int32")
    kernel[(1,), (64,)](x)
    launched.wait()
    while not stop.is_set():
        kernel[(1,), (64,)](x)
        hipadapt.Device().synchronize()

if __name__ == "__main__":
    import hipadapt  # without a call of HIP
    context = multiprocessing.get_context(sys.argv[1])
    stop, launched = context.Event(), context.Barrier(3)
    workers = [context.Process(target=work, args=(stop, launched)) for _ in range(2)]
    for worker in workers:
        worker.start()
    with open(sys.argv[2], "w") as file:
        print(*(worker.pid for worker in workers), file=file)
    launched.wait()
    print("ready", flush=True)
    sys.stdin.read()
    stop.set()
    for worker in workers:
        worker.join()
    sys.exit(max(worker.exitcode for worker in workers))
"""
ENDS = """
import multiprocessing, os, sys

def work(number, begun, folder):
    import hipadapt
    source = 'extern "C" __global__ void work%d(int *x) { x[threadIdx.x] += 1; }'
    kernel = hipadapt.compile_kernel(source % number, "work%d" % number)
    x = hipadapt.zeros(64, dtype="int32")
    if begun == "by the worker":
        hipadapt.profile(f"{folder}/{os.getpid()}.json").prepare().start()
    for _ in range(3):
        kernel[(1,), (64,)](x)
    hipadapt.Device().synchronize()

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    workers = [
        context.Process(target=work, args=(i, *sys.argv[2:])) for i in range(2)
    ]
    for worker in workers:
        worker.start()
    print(*(worker.pid for worker in workers))
    for worker in workers:
        worker.join()
    sys.exit(max(worker.exitcode for worker in workers))
"""
FORKED = BUSY.replace(
    'print("ready"',
    """
child = os.fork()
if child == 0:
    at = "/proc/self/fd/"
    links = [os.readlink(at + f) for f in os.listdir(at) if os.path.lexists(at + f)]
    with open(sys.argv[2], "w") as file:
        print(sum(link.startswith("socket:") for link in links), file=file)
    sys.stdin.read()
    os._exit(0)
while not (os.path.exists(sys.argv[2]) and os.path.getsize(sys.argv[2])):
    pass
with open(sys.argv[1], "w") as file:
    print(child, file=file)
print("ready\"\
""".rstrip(),
)


def pids(file: Path) -> list[int]:
    return [int(word) for word in file.read_text().split()]


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_workers_write_traces_of_their_own(
    folder: Path, tmp_path: Path, way: str
) -> None:
    script, numbers = tmp_path / "workers.py", tmp_path / "pids"
    script.write_text(WORKERS)
    settings = dynolog.settings(folder, tmp_path)
    words = [str(script), way, str(numbers)]

    with dynolog.daemon(folder) as daemon, busy(settings, words=words) as program:
        text = f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}"
        for pid in pids(numbers):
            daemon.deliver(pid, text)
        files = [tmp_path / f"t_{pid}.json" for pid in pids(numbers)]
        until(lambda: all(file.exists() for file in files))
        if way != "forkserver":
            assert program.pid in daemon.request_of(pids(numbers)[0]).pids

    assert all(names(load(file), "kernel")["work"] > 0 for file in files)


def test_program_that_replaces_itself_registers_anew(
    folder: Path, tmp_path: Path
) -> None:
    code = BUSY.replace(
        'print("ready"',
        "time = __import__('time')\ntime.sleep(0.2)\n"
        "if len(sys.argv) == 1:\n"
        "    os.execv(sys.executable, [*sys.orig_argv, 'again'])\n"
        'print("ready"',
    )
    with (
        dynolog.daemon(folder) as daemon,
        busy(dynolog.settings(folder, tmp_path), code=code) as program,
    ):
        clients = {daemon.request_of(program.pid).client}
        while len(clients) == 1:
            asked = daemon.request_of(program.pid)
            clients.add(asked.client)
        daemon.deliver(program.pid, f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}")
        until((tmp_path / f"t_{program.pid}.json").exists)
        # The file of the first one's socket is gone.
        assert len(list(folder.iterdir())) == 2


def test_forked_child_of_a_program_that_used_hip_does_not_listen(
    folder: Path, tmp_path: Path
) -> None:
    numbers = tmp_path / "pids"
    settings = dynolog.settings(folder, tmp_path) | {"HIPADAPT_PROFILE": "on-demand"}
    words = ["-c", FORKED, str(numbers), str(tmp_path / "sockets")]

    with dynolog.daemon(folder) as daemon, busy(settings, words=words) as program:
        (child,) = pids(numbers)
        refused = attach(child, tmp_path / "child.json")
        recorded = attach(program.pid, tmp_path / "out.json", "--duration", "50ms")
        asked = [daemon.next_request().pids[0] for _ in range(20)]

    assert (tmp_path / "sockets").read_text() == "0\n"
    assert refused.returncode == 2
    assert "forked" in refused.stderr
    assert recorded.returncode == 0, recorded.stderr
    assert set(asked) == {program.pid}


@pytest.mark.parametrize("imported", ["by the worker", "before"])
@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("begun", ["by the variable", "by the worker"])
def test_trace_of_a_worker_is_complete_at_its_end(
    tmp_path: Path, begun: str, way: str, imported: str
) -> None:
    # When: workers end, which record from their first call of HIP, or have not stopped.
    script = tmp_path / "ends.py"
    script.write_text(
        "\n".join(["import hipadapt"] * (imported == "before")) + "\n" + ENDS
    )
    traces = tmp_path / "traces"
    traces.mkdir()
    variable = f"{traces}/%p.json" if begun == "by the variable" else "on-demand"
    done = subprocess.run(
        [sys.executable, str(script), way, begun, str(traces)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HIPADAPT_PROFILE": variable},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    # Then: each has a whole trace, of what it has launched, and nothing else is there.
    assert done.returncode == 0, done.stderr
    workers = [int(word) for word in done.stdout.split()]
    assert sorted(entry.name for entry in traces.iterdir()) == sorted(
        f"{pid}.json" for pid in workers
    )
    for number, pid in enumerate(workers):
        trace = load(traces / f"{pid}.json")
        assert names(trace, "kernel") == {f"work{number}": 3}
        assert trace["out_of_window_events"] == 0
    told = done.stderr.count("the program ended while")
    assert told == (2 if begun == "by the worker" else 0)


@pytest.mark.parametrize("way", ["fork", "forkserver"])
def test_worker_that_ends_leaves_no_socket(
    folder: Path, tmp_path: Path, way: str
) -> None:
    script, numbers = tmp_path / "workers.py", tmp_path / "pids"
    script.write_text(WORKERS)
    settings = dynolog.settings(folder, tmp_path)

    with dynolog.daemon(folder) as daemon:
        with busy(settings, words=[str(script), way, str(numbers)]):
            asked = [daemon.request_of(pid) for pid in pids(numbers)]
            sockets = {Path(os.fsdecode(one.client)).name for one in asked}
            assert sockets <= {entry.name for entry in folder.iterdir()}

        assert [entry.name for entry in folder.iterdir()] == ["dynolog"]
