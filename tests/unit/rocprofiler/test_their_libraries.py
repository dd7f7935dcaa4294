# SPDX-License-Identifier: MIT
"""AMD's registration is used where it and a usable SDK are there, and is not called else:
without an SDK it ends the process."""

from __future__ import annotations

import shutil
from pathlib import Path

from .conftest import ROOT, Observe, Tool, said

PROGRAM = """
from hipadapt import hip
for _ in range(3):
    status, count = hip.hipGetDeviceCount()
print("result", int(status), count)
"""
RESULT = "result 0 1\n"
THEIRS = [
    "register: hipadapt_activity good 1 tables",
    "register: hip_compiler good 1 tables",
    "register: hip good 1 tables",
]


def assert_ours(lines: list[str]) -> None:
    assert lines[-1] == "tool: finalize: finalized -1 calls paired"
    assert not any(line.startswith("register:") for line in lines), lines


def registration(tool: Tool, folder: Path) -> str:
    """A folder with something that has the name of AMD's registration."""
    shutil.copy(tool("their_register.c"), folder / "librocprofiler-register.so.0")
    return str(folder)


def test_theirs_gets_the_tables_where_an_sdk_is(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    folder = registration(tool, tmp_path)
    shutil.copy(tool("their_sdk.c"), tmp_path / "librocprofiler-sdk.so")

    done = observe(PROGRAM, tool("calls.c"), LD_LIBRARY_PATH=folder)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert said(done) == THEIRS  # and no tool was started by ours


def test_theirs_gets_nothing_where_nobody_asks(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    folder = registration(tool, tmp_path)
    shutil.copy(tool("their_sdk.c"), tmp_path / "librocprofiler-sdk.so")

    done = observe(PROGRAM, LD_LIBRARY_PATH=folder)

    assert (done.stdout, done.stderr) == (RESULT, "")


def test_ours_is_used_where_they_have_no_sdk(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    folder = registration(tool, tmp_path)

    done = observe(PROGRAM, tool("calls.c"), LD_LIBRARY_PATH=folder)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert_ours(said(done))


def test_ours_is_used_where_their_sdk_takes_no_tables(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    folder = registration(tool, tmp_path)
    unusable = tool("their_sdk.c", "-DUNUSABLE")
    shutil.copy(unusable, tmp_path / "librocprofiler-sdk.so")

    done = observe(PROGRAM, tool("calls.c"), LD_LIBRARY_PATH=folder)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert_ours(said(done))


def test_ours_is_used_where_there_is_an_sdk_only(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    shutil.copy(tool("their_sdk.c"), tmp_path / "librocprofiler-sdk.so")

    done = observe(PROGRAM, tool("calls.c"), LD_LIBRARY_PATH=str(tmp_path))

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert_ours(said(done))


def test_sdk_can_be_named(tool: Tool, observe: Observe, tmp_path: Path) -> None:
    folder = registration(tool, tmp_path)

    done = observe(
        PROGRAM,
        LD_LIBRARY_PATH=folder,
        ROCPROFILER_REGISTER_LIBRARY=str(tool("their_sdk.c")),
    )

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert said(done) == THEIRS


def test_our_sdk_under_their_name_is_ours(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    folder = registration(tool, tmp_path)
    own = ROOT / "hipadapt" / "_lib" / "librocprofiler-sdk.so.1"
    (tmp_path / "librocprofiler-sdk.so").symlink_to(own)

    done = observe(PROGRAM, tool("calls.c"), LD_LIBRARY_PATH=folder)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert_ours(said(done))


def test_tools_are_started_where_the_device_is_behind_a_link(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    link = tmp_path / "libamdhip64.so.7"
    link.symlink_to(ROOT / "hipadapt" / "_lib" / "libhipadapt_cpu.so")
    code = f"""
    import ctypes
    count = ctypes.c_int()
    status = ctypes.CDLL({str(link)!r}).hipGetDeviceCount(ctypes.byref(count))
    print("result", status, count.value)
    """

    done = observe(code, tool("calls.c"))

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert_ours(said(done))
