# SPDX-License-Identifier: MIT
"""libhipadapt_tool.so: opened when it is needed, and a tool if somebody wants it."""

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

AS_TOOL = """
import ctypes, sys
from hipadapt import _core, hip, rocprofiler
print(hip.hipGetDeviceCount()[1], rocprofiler.rocprofiler_is_initialized()[1])
try:
    rocprofiler.load_tool({path!r})
    print("loaded")
except rocprofiler.RocprofilerError as error:
    print(error.status.name)
"""

CONFIGURED = """
import ctypes
class Id(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("handle", ctypes.c_uint32)]
class Result(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("initialize", ctypes.c_void_p),
                ("finalize", ctypes.c_void_p), ("data", ctypes.c_void_p)]
configure = ctypes.CDLL({path!r}).rocprofiler_configure
configure.restype = ctypes.POINTER(Result)
client = Id(ctypes.sizeof(Id))
result = configure(10201, b"1.2.1", 0, ctypes.byref(client))
print(client.name, bool(result) and result.contents.size == ctypes.sizeof(Result))
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


OWN = Path(_core.__file__).with_name("_lib") / LIBRARY


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


def test_library_takes_part_where_it_is_named_as_a_tool(run_python: Run) -> None:
    done = run_python(AS_TOOL.format(path=str(OWN)), ROCP_TOOL_LIBRARIES=str(OWN))

    assert done.stdout.splitlines() == [
        "1 1",
        "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED",
    ], done.stderr
    assert done.stderr == ""


def test_library_takes_no_part_where_python_only_reads_events(run_python: Run) -> None:
    code = f"import hipadapt.rocprofiler as r\nr.EventCollector(1, 1)\n{AS_TOOL}"

    done = run_python(code.format(path=str(OWN)))

    assert done.stdout.splitlines() == ["1 0", "loaded"], done.stderr


def test_library_is_the_client_hipadapt_if_somebody_wants_it(run_python: Run) -> None:
    code = CONFIGURED.format(path=str(OWN))

    assert run_python(code).stdout == "None False\n"
    for variable in ("HIPADAPT_PROFILE", "KINETO_USE_DAEMON", "ROCP_TOOL_LIBRARIES"):
        done = run_python(code, **{variable: str(OWN)})
        assert done.stdout == "b'hipadapt' True\n", done.stderr
