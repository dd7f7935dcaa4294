# SPDX-License-Identifier: MIT
"""Traces of several processes say which one they are of, and become one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PROGRAM = """
import sys, hipadapt
with hipadapt.profile(sys.argv[1], **eval(sys.argv[2])):
    hipadapt.full(1000, 1.0).get()
"""
NONE = {"RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"}


def environment(**variables: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in NONE}
    return {**kept, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT), **variables}


def profile(path: Path, arguments: str = "{}", **variables: str) -> Any:
    words = [sys.executable, "-c", PROGRAM, str(path), arguments]
    done = subprocess.run(
        words, env=environment(**variables), capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("variables", "rank", "size"),
    [
        ({"RANK": "1", "WORLD_SIZE": "2"}, 1, 2),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3"}, 2, 3),
        ({"PMI_RANK": "0", "PMI_SIZE": "4"}, 0, 4),
        ({"SLURM_PROCID": "4", "SLURM_NTASKS": "5"}, 4, 5),
        ({"RANK": "5", "PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2),
    ],
)
def test_the_environment_says_which_rank_a_trace_is_of(
    tmp_path: Path, variables: dict[str, str], rank: int, size: int
) -> None:
    trace = profile(tmp_path / "out.json", **variables)

    assert trace["distributedInfo"] == {"rank": rank, "world_size": size}


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"RANK": "1"},
        {"RANK": "2", "WORLD_SIZE": "2"},
        {"RANK": "-1", "WORLD_SIZE": "2"},
        {"RANK": "0x", "WORLD_SIZE": "2"},
        {"RANK": "0", "WORLD_SIZE": "99999999999999999999"},
    ],
)
def test_what_is_no_rank_is_not_taken_for_one(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    assert "distributedInfo" not in profile(tmp_path / "out.json", **variables)


def test_a_profile_can_say_it_itself(tmp_path: Path) -> None:
    info = {"backend": "rccl", "rank": 7, "world_size": 8}

    trace = profile(
        tmp_path / "out.json", f"dict(distributed={info})", RANK="1", WORLD_SIZE="2"
    )

    assert trace["distributedInfo"] == info


def test_what_is_no_dict_is_refused(run_python: Any) -> None:
    done = run_python(
        "import hipadapt\n"
        "try:\n    hipadapt.profile('x.json', distributed=[1]).prepare()\n"
        "except ValueError as error:\n    print(error)"
    )

    assert "argument 'distributed' must be a JSON object" in done.stdout


def test_two_processes_make_one_trace(tmp_path: Path) -> None:
    files = [tmp_path / f"rank{rank}.json" for rank in range(2)]
    words = [sys.executable, "-c", PROGRAM]
    running = [
        subprocess.Popen(
            [*words, str(path), "{}"],
            env=environment(RANK=str(rank), WORLD_SIZE="2"),
        )
        for rank, path in enumerate(files)
    ]
    assert [child.wait(120) for child in running] == [0, 0]

    out = tmp_path / "out.json"
    merge = [sys.executable, "-m", "hipadapt", "trace", "merge", "-o", str(out)]
    subprocess.run([*merge, *map(str, files)], check=True, env=environment())

    merged = json.loads(out.read_text())
    assert merged["distributedInfo"]["ranks"] == [0, 1]
    copies = [e for e in merged["traceEvents"] if e.get("cat") == "gpu_memcpy"]
    assert len(copies) > 2
    assert len({copy["pid"] for copy in copies}) == 2
    assert len({copy["args"]["correlation"] for copy in copies}) == len(copies)
