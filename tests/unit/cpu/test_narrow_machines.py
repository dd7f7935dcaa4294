# SPDX-License-Identifier: MIT
"""Kernels on machines that refuse what most have: system calls, folders, cores."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., list[str]]
ROOT = Path(__file__).parents[3]
# What a session of tests or a user sets.
AWAY = {"HOME", "XDG_CACHE_HOME", "HIPADAPT_CACHE_DIR", "HIPADAPT_CPU_THREADS"}

PROGRAM = """
import numpy, os
import hipadapt
from hipadapt import hip

twice = hipadapt.compile_kernel('''
extern "C" __global__ void twice(int *x, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        x[i] = 2 * tile[threadIdx.x];
}
''', "twice")
x = hipadapt.array(numpy.arange(1000, dtype="i4"))
twice[16, 64](x, 1000)
print(x.numpy().sum(), hip.hipGetDeviceProperties(0)[1].multiProcessorCount,
      [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("hipadapt-")])
"""
WANT = str(999 * 1000)

# A filter of system calls, as containers have it: this one answers EPERM.
FILTER = """
import ctypes, platform, struct

memfd_create = {"x86_64": 319, "aarch64": 279}[platform.machine()]
rows = [(0x20, 0, 0, 0),               # the number of the call
        (0x15, 0, 1, memfd_create),
        (0x06, 0, 0, 0x00050000 | 1),  # EPERM
        (0x06, 0, 0, 0x7FFF0000)]      # go on
code = b"".join(struct.pack("=HBBI", *row) for row in rows)
text = ctypes.create_string_buffer(code, len(code))
program = struct.pack("@HxxxxxxP", len(rows), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS"
if libc.prctl(22, 2, program, 0, 0) != 0:
    print("no filters")
    raise SystemExit
"""


@pytest.fixture
def narrow(tmp_path: Path) -> Run:
    """narrow(commands, before, **settings): what the program prints, as words, where
    the commands of a shell have changed the machine for it alone."""

    def run(commands: str = "", before: str = "", **settings: str) -> list[str]:
        enter = ["unshare", "-rm", "sh", "-ec"]
        if commands and (
            shutil.which("unshare") is None
            or subprocess.run(
                [*enter, commands], capture_output=True, check=False
            ).returncode
        ):
            pytest.skip("this user mounts nothing")
        program = [sys.executable, "-c", before + PROGRAM]
        if commands:
            program = [*enter, commands + '\nexec "$@"', "sh", *program]
        (tmp_path / "tmp").mkdir()
        done = subprocess.run(
            program,
            env={
                **{name: os.environ[name] for name in os.environ if name not in AWAY},
                "TMPDIR": str(tmp_path / "tmp"),
                "HIPADAPT_CACHE": "0",
                **settings,
            },
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if done.stdout == "no filters\n":
            pytest.skip("this kernel has no filters of system calls")
        return done.stdout.split(maxsplit=2)

    return run


def test_without_files_in_memory(narrow: Run) -> None:
    total, _, left = narrow(before=FILTER)

    assert (total, left) == (WANT, "[]\n")


@pytest.mark.skipif(
    "HIPADAPT_SANITIZER" in os.environ, reason="sanitizers need /proc; run without"
)
@pytest.mark.parametrize("explain", ["0", "1"])
def test_without_proc(narrow: Run, explain: str) -> None:
    total, _, left = narrow("mount -t tmpfs none /proc", HIPADAPT_CPU_EXPLAIN=explain)

    assert (total, left) == (WANT, "[]\n")


def test_where_nothing_can_be_written_and_there_is_no_home(narrow: Run) -> None:
    total, _, left = narrow("mount -o remount,bind,ro /", HIPADAPT_CACHE="1")

    assert (total, left) == (WANT, "[]\n")


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("50000 100000", 1), ("max 100000", len(os.sched_getaffinity(0)))],
)
def test_cores_follow_the_quota(narrow: Run, quota: str, cores: int) -> None:
    total, units, _ = narrow(
        f"mount -t tmpfs none /sys/fs/cgroup\necho {quota} > /sys/fs/cgroup/cpu.max"
    )

    assert (total, units) == (WANT, str(cores))


def test_a_thousand_workers_on_a_small_machine(narrow: Run) -> None:
    total, units, _ = narrow(HIPADAPT_CPU_THREADS="1024")

    assert (total, units) == (WANT, "1024")


def test_a_folder_for_files_that_is_none_is_named(narrow: Run) -> None:
    with pytest.raises(AssertionError, match="nor one in '/nowhere'"):
        narrow(before=FILTER, TMPDIR="/nowhere")
