# SPDX-License-Identifier: MIT
"""How a profile looks, and its summary."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.unit.profile.test_profile import BEGIN

CODE = """
p = profile(*sys.argv[1:])
print(repr(p))
with p:
    launch(3)
print(json.dumps(p.summary()))
print(p._repr_html_())
"""


@pytest.mark.parametrize("suffix", ["json", "json.gz", "pftrace"])
def test_a_profile_shows_a_timeline_and_the_commands_numbers(
    run_python: Run, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"out.{suffix}"

    done = run_python(BEGIN + CODE, str(path))

    name, numbers, shown = done.stdout.splitlines()
    assert name == f"<hipadapt.profile '{path}'>"
    words = [sys.executable, "-m", "hipadapt", "trace", "summary", "--json", str(path)]
    command = subprocess.run(words, capture_output=True, check=True, cwd=ROOT).stdout
    assert json.loads(numbers) == json.loads(command)
    assert "<td" in shown and "script" not in shown
    picture = re.search("<svg.*</svg>", shown)
    assert picture is not None
    bars = ET.fromstring(picture[0]).findall("{*}rect")
    titles = [bar.findtext("{*}title") or "" for bar in bars]
    assert any(title.startswith("work: ") for title in titles)
    assert any(title.startswith("hipModuleLaunchKernel: ") for title in titles)


def test_a_kept_profile_is_shown_without_a_file(run_python: Run) -> None:
    done = run_python(BEGIN + CODE)

    name, numbers, shown = done.stdout.splitlines()
    assert name == "<hipadapt.profile in memory>"
    assert json.loads(numbers)["kernels"][0]["count"] == 3
    assert "<svg" in shown


def test_a_profile_that_was_not_run_says_so(run_python: Run, tmp_path: Path) -> None:
    path = tmp_path / "<b>.json"

    done = run_python(BEGIN + "print(profile(sys.argv[1])._repr_html_())", str(path))

    assert "No such file" in done.stdout
    assert "&lt;b&gt;.json" in done.stdout and "<svg" not in done.stdout


def test_a_large_trace_gives_a_picture_of_bounded_size(run_python: Run) -> None:
    code = """
from hipadapt._objects.profile_html import Timeline
from hipadapt._trace.slices import Slice
line = Timeline()
def slices():
    for i in range(200_000):
        yield Slice("kernel", "k<" * 500, i * 100, 50, i % 40, 0, 0, 0)
for _ in line.add(slices()):
    pass
print(len(line.svg()))
"""
    assert 0 < int(run_python(code).stdout) < 2_000_000
