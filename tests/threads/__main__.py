# SPDX-License-Identifier: MIT
"""Runs the tests on a free-threaded Python, with an environment of its own.

    python -m tests.threads [--quick] [pytest's words ...]

HIPADAPT_FREE_THREADED_PYTHON names the interpreter; else the first of python3.14t and
python3.13t on the path is taken.  `_core` is built for it beside the others, with the
libraries that are there already.  All tests run with PYTHON_GIL=0: those of this folder
also with each test on several threads at once, by pytest-run-parallel.  Exit status 3:
there is no such interpreter here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tools.build_backend import ZIGLANG

VARIABLE, NAMES = "HIPADAPT_FREE_THREADED_PYTHON", ("python3.14t", "python3.13t")
FOLDER = ROOT / "build" / "threads"
NONE_HERE = 3
PACKAGES = ("numpy", "pytest", "pytest-xdist", "hypothesis", "pytest-run-parallel")
IS_FREE = "import sys; sys.exit(sys._is_gil_enabled())"
AT_ONCE = ["--parallel-threads=4", "--iterations=2", "tests/threads/test_shared.py"]
SETS = ["tests/threads", "tests/unit/adapters", "tests/unit/api", "tests/unit/objects"]


def interpreter() -> str | None:
    """The one that is named or on the path, if it has no GIL."""
    named = os.environ.get(VARIABLE)
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found is not None:
            words = [found, "-c", IS_FREE]
            environment = {**os.environ, "PYTHON_GIL": "0"}
            if subprocess.run(words, env=environment, check=False).returncode == 0:
                return found
            print(f"{found} has a GIL", file=sys.stderr)
    return None


def environment_of(found: str) -> Path:
    """Python of an environment with what the tests need, and `_core` built for it."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        subprocess.run([found, "-m", "venv", str(FOLDER)], check=True)
    # What kernels are compiled with is in the package of one version.
    pip = [str(python), "-m", "pip", "install", "-q", *PACKAGES, ZIGLANG]
    subprocess.run(pip, check=True)
    subprocess.run([str(python), "-m", "tests.threads.build"], cwd=ROOT, check=True)
    return python


def main() -> int:
    """All sets, or with --quick the first two steps."""
    words = sys.argv[1:]
    quick = "--quick" in words
    words = [word for word in words if word != "--quick"]
    found = interpreter()
    if found is None:
        print(f"no free-threaded Python: neither {VARIABLE} nor {' nor '.join(NAMES)}")
        return NONE_HERE
    pytest = [str(environment_of(found)), "-X", "faulthandler", "-m", "pytest", "-q"]
    pytest += ["-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHON_GIL": "0", "PYTHONPATH": str(ROOT)}
    worst = 0
    for arguments in [AT_ONCE, SETS[:1]] if quick else [AT_ONCE, SETS]:
        done = subprocess.run(
            [*pytest, *arguments, *words], cwd=ROOT, env=environment, check=False
        )
        worst = max(worst, abs(done.returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main())
