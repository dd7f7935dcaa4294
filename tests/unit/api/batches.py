# SPDX-License-Identifier: MIT
"""Runs the probe over many functions and says which call ended the process, if one did.

A process tries a whole batch; when it dies, the call that it was making is noted and a
new process goes on without that call.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.conftest import ROOT

from .probe import PROGRESS_BYTES

CRASHES_MAX = 40
LIMIT_S = 60
# Python's allocator looks for writes past the end of what it gave.
SETTINGS = {
    "HIPADAPT_PROVIDER": "cpu",
    "PYTHONMALLOC": "debug",
    "PYTHONPATH": str(ROOT),
}
NAME = re.compile(r"\w+")


def ended_by(status: int) -> str:
    """A process's exit status in words."""
    if status < 0:
        return signal.Signals(-status).name
    return f"exit status {status}"


def run(
    mode: str, functions: Iterable[str], **environment: str
) -> tuple[int, list[str]]:
    """Number of calls and problems; a crash is a problem."""
    names = list(functions)
    done, problems, skip = 0, list[str](), list[str]()
    while True:
        with tempfile.TemporaryDirectory() as folder:
            progress = Path(folder) / "progress"
            progress.write_bytes(bytes(PROGRESS_BYTES))
            wanted = json.dumps({"functions": names, "skip": skip})
            words = [sys.executable, "-X", "faulthandler"]
            words += ["-m", "tests.unit.api.probe", mode, str(progress)]
            try:
                child = subprocess.run(
                    words,
                    cwd=folder,  # some calls write files of odd names
                    env={**os.environ, **SETTINGS, **environment},
                    input=wanted,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_S,
                    check=False,
                )
                status, output, errors = child.returncode, child.stdout, child.stderr
            except subprocess.TimeoutExpired:
                status, output, errors = 124, "", f"not done within {LIMIT_S} s"
            at = progress.read_bytes().rstrip(b"\0").decode("ascii")
        answers = [json.loads(line) for line in output.splitlines()]
        problems += [answer for answer in answers if isinstance(answer, str)]
        done += sum(answer for answer in answers if isinstance(answer, int))
        if status == 0:
            break
        tail = errors.strip().splitlines()[-1:] or [""]
        problems.append(f"{at}: {ended_by(status)} {tail[0]}")
        if not at or at in ("end", *skip) or len(skip) == CRASHES_MAX:
            problems.append(errors)
            break
        skip.append(at)
        # What was tried before need not be tried again.
        current = NAME.match(at)
        if current and current[0] in names:
            names = names[names.index(current[0]) :]
    return done, list(dict.fromkeys(problems))
