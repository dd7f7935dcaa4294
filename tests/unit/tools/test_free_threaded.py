# SPDX-License-Identifier: MIT
"""Where a free-threaded Python is at hand, the tests of threads run on it too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.threads.__main__ import NAMES, NONE_HERE, VARIABLE, interpreter


@pytest.mark.slow
@pytest.mark.plain
def test_threads_on_a_free_threaded_python() -> None:
    if interpreter() is None:
        pytest.skip(
            f"no free-threaded Python: put {' or '.join(NAMES)} on the path or name it "
            f"by {VARIABLE}, then `python -m tests.threads`"
        )
    words = [sys.executable, "-m", "tests.threads", "--quick"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_free_threaded_python_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, sys.executable + "-that-is-not-there")
    words = [sys.executable, "-m", "tests.threads"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == NONE_HERE, done.stderr
    assert VARIABLE in done.stdout
