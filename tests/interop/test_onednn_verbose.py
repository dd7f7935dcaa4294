# SPDX-License-Identifier: MIT
"""`hipadapt verbose` and what torch's oneDNN prints at that moment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")

LIMIT_S = 300
LAYERS = 7
PROGRAM = f"""
import torch
x = torch.ones(2, 8, 16, 16).to_mkldnn()
with torch.no_grad():
    for number in range({LAYERS}):
        print("layer", number, flush=True)
        x = torch.relu(x)
print(x.to_dense().sum().item())
"""


def output(setting: str, timestamp: str) -> bytes:
    """What a program prints, with oneDNN's lines between."""
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    words = {"ONEDNN_VERBOSE": setting, "ONEDNN_VERBOSE_TIMESTAMP": timestamp}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        env={**os.environ, **words},
        timeout=LIMIT_S,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("timestamp", ["0", "1"])
@pytest.mark.parametrize("setting", ["1", "profile", "all,dispatch"])
def test_numbers_are_those_of_the_lines(setting: str, timestamp: str) -> None:
    printed = output(setting, timestamp)
    stamp = rb"[0-9.]+," if timestamp == "1" else b""
    # The last columns are times; layer names and headers have none.
    expected = [
        round(float(time) * 1e6)
        for time in re.findall(
            rb"^onednn_verbose,v1,%bprimitive,exec,.*,([0-9.e+-]+)$" % stamp,
            printed,
            re.MULTILINE,
        )
    ]

    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "verbose", "-", "--json"],
        input=printed,
        capture_output=True,
        cwd=ROOT,
        timeout=LIMIT_S,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {row["primitive"]: row for row in found["exec"]}
    assert rows["eltwise"]["count"] == LAYERS
    assert sum(row["count"] for row in found["exec"]) == len(expected)
    assert sum(row["total_ns"] for row in found["exec"]) == sum(expected)
    assert bool(found["create"]) == (setting != "1")
    assert found["foreign"] == LAYERS + 1
    assert (found["damaged"], found["headless"], found["complete"]) == (0, 0, True)
    assert found["producers"][0].startswith("oneDNN v")
