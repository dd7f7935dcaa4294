# SPDX-License-Identifier: MIT
"""torch's DataLoader, whose workers use HIP: each one is recorded, into its own file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import dynolog
from tests.conftest import ROOT
from tests.unit.profile.test_attach import ON_DEMAND, attach
from tests.unit.profile.test_daemon import QUICK, busy, folder, until
from tests.unit.profile.test_profile import load, names

__all__ = ["folder"]  # a fixture
LIMIT_S = 120
OFTEN = 3

# Worker i launches work0 or work1, so that a trace shows whose it is.  `endless` goes on
# until the parent's input ends.
PROGRAM = '''
import os, select, sys
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

ITEMS = 12

class Doubled(Dataset):
    """Its items are made by a kernel, in the worker that asks for them."""

    kernel = None

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        import hipadapt

        number = get_worker_info().id
        if self.kernel is None:
            name = f"work{number}"
            source = 'extern "C" __global__ void ' + name
            source += "(int *x, int i) { *x = 2 * i; }"
            self.kernel = hipadapt.compile_kernel(source, name)
            self.x = hipadapt.zeros(1, dtype="int32")
        self.kernel[(1,), (1,)](self.x, i)
        return torch.tensor([os.getpid(), number, i, int(self.x.get()[0])])

if __name__ == "__main__":
    import hipadapt  # as a program would; it calls nothing of HIP

    way, endless = sys.argv[1], len(sys.argv) > 2
    loader = DataLoader(
        Doubled(1 << 20 if endless else ITEMS),
        num_workers=2,
        batch_size=2,
        multiprocessing_context=way if way != "default" else None,
    )
    pids = {}
    for batch in loader:
        for pid, number, i, value in batch.tolist():
            assert value == 2 * i
            pids[number] = pid
        if endless and len(pids) == 2:
            if not os.path.exists(sys.argv[2]):
                with open(sys.argv[2], "w") as file:
                    print(pids[0], pids[1], file=file)
                print("ready", flush=True)
            if select.select([sys.stdin], [], [], 0)[0]:
                break
    if not endless:
        print(pids[0], pids[1])
'''
WAYS = ["default", "fork", "spawn", "forkserver"]


@pytest.fixture(scope="module", autouse=True)
def needs_torch() -> None:
    """In an interpreter of its own: torch in this one would change other tests."""
    words = [sys.executable, "-c", "import torch.utils.data"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        pytest.skip(f"NOT TESTED: torch, of the extra 'interop', is not there: {last}")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "loader.py"
    path.write_text(PROGRAM)
    return path


@contextmanager
def loading(
    script: Path, way: str, settings: dict[str, str]
) -> Iterator[tuple[int, list[int]]]:
    """Pids of a program that loads until the block is over, and of its workers."""
    numbers = script.with_name("pids")
    words = [str(script), way, str(numbers)]
    settings = {**settings, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)}
    with busy(settings, script.with_name("log"), words=words) as program:
        yield program.pid, [int(word) for word in numbers.read_text().split()]


def deliver(daemon: dynolog.Daemon, pid: int, text: str) -> None:
    """Hands the text to hipadapt.  torch's own libkineto asks too in a worker that has
    imported torch, but seldom, and would take the text."""
    asked: Counter[str | bytes] = Counter()
    while True:
        one = daemon.request_of(pid)
        asked[one.client] += 1
        if asked[one.client] == OFTEN and one.kinds & 2:
            config = f"{text}\nREQUEST_TRACE_ID={pid}\n"
            daemon.send(one.client, "req", config.encode())
            return
        daemon.send(one.client, "req", b"")


def check(path: Path, number: int, count: int | None = None) -> None:
    """The file has what this worker has launched, and nothing of the other one."""
    trace = load(path)
    kernels = names(trace, "kernel")
    assert set(kernels) == {f"work{number}"}
    if count is not None:
        assert kernels[f"work{number}"] == count
    copies = names(trace, "gpu_memcpy")
    assert copies.total() > 0
    assert trace["lost_events"] == 0
    pids = {e["pid"] for e in trace["traceEvents"] if e.get("cat") == "cuda_runtime"}
    assert pids == {int(re.findall(r"\d+", path.name)[-1])}


@pytest.mark.parametrize("way", WAYS)
def test_workers_are_attached_to(script: Path, tmp_path: Path, way: str) -> None:
    with loading(script, way, ON_DEMAND) as (parent, workers):
        for number, pid in enumerate(workers):
            out = tmp_path / f"worker_{pid}.json"
            done = attach(pid, out, "--duration", "150ms")
            assert (done.returncode, done.stderr) == (0, "")
            check(out, number)
        # The parent has not used HIP, and so does not listen.
        refused = attach(parent, tmp_path / "parent.json", "--duration", "50ms")

    assert refused.returncode == 2
    assert len(set(workers) | {parent}) == 3


@pytest.mark.parametrize("way", WAYS)
def test_workers_register_with_the_daemon(
    script: Path, tmp_path: Path, folder: Path, way: str
) -> None:
    settings = dynolog.settings(folder, tmp_path)
    with (
        dynolog.daemon(folder) as daemon,
        loading(script, way, settings) as (parent, workers),
    ):
        for pid in workers:
            text = f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}"
            deliver(daemon, pid, text)
        files = [tmp_path / f"t_{pid}.json" for pid in workers]
        until(lambda: all(file.exists() for file in files))
        # Who asks for the program gets its workers.
        if way != "forkserver":
            assert parent in daemon.request_of(workers[0]).pids
        registered = {pid for _, pid, _ in daemon.contexts}

    assert registered == set(workers)
    for number, (pid, file) in enumerate(zip(workers, files, strict=True)):
        check(file, number)
        assert load(file)["trace_id"] == pid


@pytest.mark.parametrize("way", WAYS)
def test_workers_are_recorded_whole(script: Path, tmp_path: Path, way: str) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    done = subprocess.run(
        [sys.executable, str(script), way],
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "HIPADAPT_PROFILE": f"{traces}/w_%p.json",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    files = [traces / f"w_{pid}.json" for pid in done.stdout.split()]
    assert sorted(traces.iterdir()) == sorted(files)
    for number, file in enumerate(files):
        check(file, number, count=6)
        assert load(file)["out_of_window_events"] == 0
