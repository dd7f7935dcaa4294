# SPDX-License-Identifier: MIT
"""Tools are found, configured, initialized and finalized, in order and once."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hipadapt._run.libraries

from .conftest import ROOT, TOOLS, Observe, Tool, compiler, headers, said

PROGRAM = """
from hipadapt import hip
for _ in range(5):
    status, count = hip.hipGetDeviceCount()
print("result", int(status), count)
"""
RESULT = "result 0 1\n"


@pytest.mark.parametrize("cxx", [False, True], ids=["c11", "c++17"])
@pytest.mark.parametrize("separator", [":", ",", " ", "::,"])
def test_all_tools_are_configured_before_any_is_initialized(
    tool: Tool, observe: Observe, separator: str, cxx: bool
) -> None:
    first = tool("calls.c", '-DTOOL_NAME="a"', cxx=cxx)
    second = tool("calls.c", '-DTOOL_NAME="b"', "-DTOOL_DECLINES", cxx=cxx)
    third = tool("calls.c", '-DTOOL_NAME="c"', cxx=cxx)

    done = observe(
        PROGRAM, ROCP_TOOL_LIBRARIES=separator.join(map(str, (first, second, third)))
    )

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    lines = said(done)
    assert lines == [
        "a: configure 10201 1.2.1 priority 0 size 24",
        "b: configure 10201 1.2.1 priority 1 size 24",
        "c: configure 10201 1.2.1 priority 2 size 24",
        "a: initialize: initialized -1",
        "c: initialize: initialized -1",
        "a: finalize: finalized -1 calls paired",
        "c: finalize: finalized -1 calls paired",
    ]


def test_tool_that_asks_while_it_is_loaded_is_told_that_somebody_configures(
    tool: Tool, observe: Observe
) -> None:
    done = observe(PROGRAM, tool("early.c"))

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert said(done) == [
        "tool: loaded: initialized -1",
        "tool: configure 10201 1.2.1 priority 0 size 24",
        "tool: initialize",
        "tool: finalize",
    ]


def test_a_list_that_ends_with_a_separator_loads_all(
    tool: Tool, observe: Observe
) -> None:
    path = tool("calls.c")

    done = observe(PROGRAM, ROCP_TOOL_LIBRARIES=f"{path}:")

    assert done.stdout == RESULT
    assert said(done)[-1] == "tool: finalize: finalized -1 calls paired"


def test_no_tool_no_word(observe: Observe) -> None:
    done = observe(PROGRAM, ROCP_TOOL_LIBRARIES=" : ,")

    assert (done.stdout, done.stderr) == (RESULT, "")


def test_a_tool_whose_initialize_fails_is_told_nothing(
    tool: Tool, observe: Observe
) -> None:
    bad = tool("calls.c", '-DTOOL_NAME="bad"', "-DTOOL_INITIALIZE_ANSWERS=-1")
    good = tool("calls.c", '-DTOOL_NAME="good"')

    done = observe(PROGRAM, bad, good)

    assert done.stdout == RESULT
    lines = said(done)
    assert not any(line.startswith("bad: finalize") for line in lines)
    assert f"hipadapt: tool '{bad}' is dropped: its initialize answered -1" in lines
    assert lines[-1] == "good: finalize: finalized -1 calls paired"


def test_finalizer_of_the_only_tool_finalizes_all(tool: Tool, observe: Observe) -> None:
    path = tool("calls.c", "-DTOOL_ENDS_AFTER=2")

    done = observe(PROGRAM, path)

    assert done.stdout == RESULT
    assert said(done)[2:] == [
        "tool: finalize: finalized -1 calls paired",
        "tool: after finalizer: finalized 1",
    ]


def test_finalizer_of_one_of_two_tools_leaves_the_other(
    tool: Tool, observe: Observe
) -> None:
    first = tool("calls.c", '-DTOOL_NAME="a"', "-DTOOL_ENDS_AFTER=2")
    second = tool("calls.c", '-DTOOL_NAME="b"')

    done = observe(PROGRAM, first, second)

    assert done.stdout == RESULT
    assert said(done)[4:] == [
        "a: finalize: finalized 0 calls paired",
        "a: after finalizer: finalized 0",
        "b: finalize: finalized -1 calls paired",
    ]


def test_finalizer_within_finalize_is_harmless(tool: Tool, observe: Observe) -> None:
    done = observe(PROGRAM, tool("calls.c", "-DTOOL_FINALIZES_AGAIN"))

    assert done.stdout == RESULT
    assert said(done)[2:] == ["tool: finalize: finalized -1 calls paired"]


@pytest.mark.plain  # a sanitizer has to be loaded first
def test_a_tool_that_is_loaded_before_is_found(tool: Tool, observe: Observe) -> None:
    folder = library_folder()
    path = tool("calls.c", f"-Wl,-L{folder},--no-as-needed,-l:librocprofiler-sdk.so.1")

    done = observe(PROGRAM, LD_PRELOAD=str(path), LD_LIBRARY_PATH=folder)

    assert done.stdout == RESULT
    assert said(done)[-1] == "tool: finalize: finalized -1 calls paired"


def library_folder() -> str:
    return str(ROOT / "hipadapt" / "_lib")


LATE = """
import ctypes, sys
from hipadapt import hip
for _ in range(5):
    hip.hipGetDeviceCount()
sdk = ctypes.CDLL(LIBRARY, mode=ctypes.RTLD_GLOBAL)
tool = ctypes.CDLL(TOOL)
status = sdk.rocprofiler_force_configure(tool.rocprofiler_configure)
for _ in range(5):
    status_, count = hip.hipGetDeviceCount()
print("result", status, count)
"""


def test_a_tool_can_be_configured_after_hip_was_used(
    tool: Tool, observe: Observe
) -> None:
    sdk = Path(library_folder()) / "librocprofiler-sdk.so.1"
    code = LATE.replace("LIBRARY", repr(str(sdk))).replace(
        "TOOL", repr(str(tool("calls.c")))
    )

    done = observe(code)

    assert done.stdout == RESULT, done.stderr
    assert said(done)[1:] == [
        "tool: initialize: initialized -1",
        "tool: finalize: finalized -1 calls paired",
    ]


def test_force_configure_of_none_looks_for_tools_that_came_later(
    tool: Tool, observe: Observe
) -> None:
    code = f"""
    import ctypes
    from hipadapt import hip, rocprofiler
    hip.hipGetDeviceCount()
    first = rocprofiler.rocprofiler_force_configure(None)[0]
    ctypes.CDLL({str(tool("calls.c"))!r}, mode=ctypes.RTLD_GLOBAL)
    second = rocprofiler.rocprofiler_force_configure(None)[0]
    status, count = hip.hipGetDeviceCount()
    print("result", first + second + status, count)
    """

    done = observe(code)

    assert done.stdout == RESULT, done.stderr
    assert said(done) == [
        "tool: configure 10201 1.2.1 priority 0 size 24",
        "tool: initialize: initialized -1",
        "tool: finalize: finalized -1 calls paired",
    ]


def test_a_late_tool_finds_the_agents_of_what_is_loaded(observe: Observe) -> None:
    sdk = Path(library_folder()) / "librocprofiler-sdk.so.1"
    code = f"""
    import ctypes
    from hipadapt import hip, rocprofiler
    hip.hipGetDeviceCount()
    sdk = ctypes.CDLL({str(sdk)!r}, mode=ctypes.RTLD_GLOBAL)
    seen = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                      ctypes.c_void_p)
    def on_agents(version, agents, count, data):
        seen.append(count)
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def initialize(end, data):
        return sdk.rocprofiler_query_available_agents(1, on_agents, 312, None)

    class Result(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("initialize", ctypes.c_void_p),
                    ("finalize", ctypes.c_void_p), ("data", ctypes.c_void_p)]

    result = Result(32, ctypes.cast(initialize, ctypes.c_void_p), None, None)

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_char_p, ctypes.c_uint,
                      ctypes.c_void_p)
    def configure(version, text, priority, client):
        return ctypes.addressof(result)

    print(sdk.rocprofiler_force_configure(configure), seen)
    """

    done = observe(code)

    assert (done.stdout, done.stderr) == ("0 [2]\n", "")


def test_the_library_stays_while_its_functions_stand_in_tables(
    tool: Tool, observe: Observe
) -> None:
    sdk = Path(library_folder()) / "librocprofiler-sdk.so.1"
    code = f"""
    import _ctypes, ctypes
    from hipadapt import hip
    hip.hipGetDeviceCount()
    sdk = ctypes.CDLL({str(sdk)!r}, mode=ctypes.RTLD_GLOBAL)
    tool = ctypes.CDLL({str(tool("calls.c"))!r})
    status = sdk.rocprofiler_force_configure(tool.rocprofiler_configure)
    _ctypes.dlclose(sdk._handle)
    status_, count = hip.hipGetDeviceCount()
    print("result", status, count)
    """

    done = observe(code)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert said(done)[-1] == "tool: finalize: finalized -1 calls paired"


FORK = """
import os
from hipadapt import hip
hip.hipGetDeviceCount()
child = os.fork()
if child == 0:
    for _ in range(100):
        hip.hipGetDevice()
    os._exit(5)
_, status = os.waitpid(child, 0)
status_, count = hip.hipGetDeviceCount()
print("result", os.waitstatus_to_exitcode(status) - 5, count)
"""


def test_a_forked_child_is_not_observed(tool: Tool, observe: Observe) -> None:
    done = observe(FORK, tool("calls.c"))

    assert done.stdout == RESULT, done.stderr
    lines = said(done)
    assert lines[-1] == "tool: finalize: finalized -1 calls paired"
    assert len([line for line in lines if "finalize:" in line]) == 1


FORK_AND_EXIT = FORK.replace("os._exit(5)", "raise SystemExit(5)")


def test_a_forked_child_that_exits_finalizes_nothing(
    tool: Tool, observe: Observe
) -> None:
    done = observe(FORK_AND_EXIT, tool("calls.c"))

    assert done.stdout == RESULT, done.stderr
    assert len([line for line in said(done) if "finalize:" in line]) == 1


SECURE = """
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
int main(int count, char **words) {
    void *library = dlopen(words[count - 1], RTLD_NOW);
    if (library == NULL) { puts(dlerror()); return 2; }
    int (*call)(int *) = (int (*)(int *))dlsym(library, "hipGetDeviceCount");
    int devices = -1;
    int status = call(&devices);
    printf("%d %d %lu\\n", status, devices, getauxval(AT_SECURE));
    return 0;
}
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read."""
    folder = Path(tempfile.mkdtemp(prefix="hipadapt-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.plain  # as above
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a set-user program")
def test_environment_is_ignored_where_privileges_change(
    tool: Tool, open_folder: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    program, copied = open_folder / "program", open_folder / "tool.so"
    (open_folder / "program.c").write_text(SECURE)
    command = ["gcc", "-o", str(program), f"{program}.c", "-ldl"]
    subprocess.run(command, check=True, timeout=60)
    shutil.copy(tool("calls.c"), copied)
    shutil.copytree(library_folder(), open_folder / "_lib")
    device = str(open_folder / "_lib" / "libhipadapt_cpu.so")

    def run() -> subprocess.CompletedProcess[str]:
        settings = {
            **os.environ,
            "ROCP_TOOL_LIBRARIES": str(copied),
            "HIPADAPT_CACHE_DIR": str(open_folder),
        }
        return subprocess.run(
            [str(program), device],
            env=settings,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    plain = run()
    assert plain.stdout == "0 1 0\n", plain.stderr
    assert "finalize" in plain.stderr
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        pytest.skip("the file system has no set-user programs")
    os.chown(program, 65534, 65534)
    program.chmod(program.stat().st_mode | stat.S_ISUID)

    secure = run()
    assert secure.stdout == "0 1 1\n", secure.stdout + secure.stderr
    assert "tool:" not in secure.stderr


def test_program_without_python_is_observed(tool: Tool, tmp_path: Path) -> None:
    code = "import ctypes, sys; d = ctypes.CDLL(sys.argv[1]); n = ctypes.c_int()\n"
    code += "print(d.hipGetDeviceCount(ctypes.byref(n)), n.value)"
    settings = {**os.environ, "ROCP_TOOL_LIBRARIES": str(tool("calls.c"))}

    done = subprocess.run(
        [sys.executable, "-c", code, f"{library_folder()}/libhipadapt_cpu.so"],
        env=settings,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout == "0 1\n"
    assert said(done)[-1] == "tool: finalize: finalized -1 calls paired"


@pytest.mark.plain  # a sanitizer has to be loaded first
@pytest.mark.parametrize("linked", ["libamdhip64.so.7", "librocprofiler-sdk.so.1"])
def test_program_that_is_a_tool_itself_is_found(tmp_path: Path, linked: str) -> None:
    # Given: a program that is linked without -rdynamic.
    hipadapt._run.libraries.make(tmp_path)
    folder = str(tmp_path) if "hip" in linked else library_folder()
    program = tmp_path / "program"
    command = [compiler(False), "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    command += [*headers(), f"-I{TOOLS}", str(TOOLS / "program.c"), "-o", str(program)]
    command += ["-DPROGRAM_LOADS_HIP"] if "hip" not in linked else []
    command += [f"-Wl,-L{folder},-rpath,{library_folder()}", f"-l:{linked}", "-ldl"]
    subprocess.run(command, check=True, timeout=60)

    # When
    done = subprocess.run(
        [str(program), str(tmp_path / "libamdhip64.so.7")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    # Then
    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert said(done) == [
        "tool: configure 10201 1.2.1 priority 0 size 24",
        "tool: initialize",
        "tool: finalize",
    ]
