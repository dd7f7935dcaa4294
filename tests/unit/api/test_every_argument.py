# SPDX-License-Identifier: MIT
"""Every argument of every function reaches C in its place, and every output comes back.

The provider here is a generated library that notes what it is given, so this holds for
functions that the CPU device lacks as well; record_calls.py makes the calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_arguments_and_outputs_of_every_function(recording_library: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.api.record_calls", str(recording_library)],
        cwd=ROOT,
        env={**os.environ, "HIPADAPT_PROVIDER": str(recording_library)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    problems = json.loads(done.stdout)
    lines = [f"{name}: {text}" for name, texts in problems.items() for text in texts]
    assert not lines, "\n".join(lines)
