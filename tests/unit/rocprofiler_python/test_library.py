# SPDX-License-Identifier: MIT
"""libhipadapt_tool.so is opened when it is needed; where that fails an exception says so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hipadapt import _core
from tests.conftest import Run

LIBRARY = "libhipadapt_tool.so"

NEEDED = """
from hipadapt import _core, hip, rocprofiler
def loaded():
    return "libhipadapt_tool.so" in open("/proc/self/maps").read()
hip.hipGetDeviceCount()
print(loaded())
rocprofiler.EventCollector(1, 1)
print(loaded())
"""

# The extension from another folder, as hipadapt's own.
MOVED = """
import importlib.util, sys
import hipadapt
spec = importlib.util.spec_from_file_location("hipadapt._core", {path!r})
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
for call in (lambda: core.EventCollector(1, 1), core.rocprofiler_get_version,
             lambda: core.profiler_wait(0), lambda: core.profiler_name(1)):
    try:
        call()
    except RuntimeError as error:
        print(error)
"""


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    (tmp_path / "_lib").mkdir()
    return Path(shutil.copy(_core.__file__, tmp_path))


def test_library_is_opened_at_the_first_need(run_python: Run) -> None:
    done = run_python(NEEDED)

    assert done.stdout.split() == ["False", "True"], done.stderr


def test_missing_library_is_an_error_that_names_the_file(
    run_python: Run, moved: Path
) -> None:
    done = run_python(MOVED.format(path=str(moved)))

    lines = done.stdout.splitlines()
    wanted = f"the profiler can't be loaded: {moved.parent}/_lib/{LIBRARY} ("
    assert [line.startswith(wanted) for line in lines] == [True] * 4, done.stderr


def test_library_of_another_build_is_refused(run_python: Run, moved: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    library = moved.parent / "_lib" / LIBRARY
    code = b"const void *hipadapt_tool_table(unsigned long bytes) { return 0; }"
    command = ["gcc", "-shared", "-o", library, "-xc", "-"]
    subprocess.run(command, input=code, check=True)

    done = run_python(MOVED.format(path=str(moved)))

    wanted = f"{library} is of another build of hipadapt"
    assert done.stdout.splitlines() == [wanted] * 4, done.stderr
