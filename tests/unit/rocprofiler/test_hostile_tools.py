# SPDX-License-Identifier: MIT
"""Whatever a tool does, the program's result is the same, and one line names it."""

from __future__ import annotations

import os
import shutil
import struct
import time
from pathlib import Path

import pytest

from .conftest import ROOT, Observe, Tool, said

PROGRAM = """
from hipadapt import hip
status, count = hip.hipGetDeviceCount()
status, pointer = hip.hipMalloc(64)
hip.hipFree(pointer)
print("result", int(status), count)
"""
RESULT = "result 0 1\n"
LIBRARY = str(ROOT / "hipadapt" / "_lib" / "libhipadapt_cpu.so")

# Way, language, part of the one warning (None: there is nothing to warn of), and
# whether the tool is finalized.
WAYS = [
    ("wrong_size", False, "its result has 24 bytes, not 32", False),
    ("crash_in_configure", False, "rocprofiler_configure ended with Seg", False),
    ("abort_in_configure", False, "rocprofiler_configure ended with Abort", False),
    ("throw_in_configure", True, "rocprofiler_configure ended with Abort", False),
    ("null_functions", False, None, False),
    ("fork_in_configure", False, None, True),
    ("block_signals", False, None, True),
    ("configure_again", False, None, True),
    ("hip_in_initialize", False, None, True),
    ("crash_in_initialize", False, "initialize ended with Seg", False),
    ("throw_in_initialize", True, "initialize ended with Abort", False),
    ("ends_in_initialize", False, None, True),
    ("answers_badly", False, "initialize answered 7", False),
    ("crash_in_finalize", False, "finalize ended with Seg", False),
    ("throw_in_finalize", True, "finalize ended with Abort", False),
    ("hip_in_finalize", False, None, True),
]


def warnings(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("hipadapt: ")]


@pytest.mark.parametrize(
    ("way", "cxx", "warning", "finalized"), WAYS, ids=[row[0] for row in WAYS]
)
def test_program_runs_on(
    tool: Tool,
    observe: Observe,
    way: str,
    cxx: bool,
    warning: str | None,
    finalized: bool,
) -> None:
    path = tool("hostile.c", f"-DHOSTILE_{way}", cxx=cxx)
    good = tool("calls.c", '-DTOOL_NAME="good"')
    begin = time.monotonic()

    done = observe(PROGRAM, path, good, TOOL_HIP=LIBRARY)

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert time.monotonic() - begin < 30
    lines = said(done)
    if warning is None:
        assert warnings(lines) == []
    else:
        (line,) = warnings(lines)
        assert warning in line
        assert f"'{path}'" in line
    assert ("tool: finalize" in lines) == finalized
    assert "good: finalize: finalized -1 calls paired" in lines
    if way == "hip_in_initialize":
        assert "tool: hip in initialize: 3" in lines  # hipErrorNotInitialized


def test_hip_within_initialize_ends_at_once(tool: Tool, observe: Observe) -> None:
    path = tool("hostile.c", "-DHOSTILE_hip_in_initialize")
    code = """
    import time
    from hipadapt import hip
    begin = time.monotonic()
    hip.hipGetDeviceCount()
    assert time.monotonic() - begin < 1
    print("result 0 1")
    """

    done = observe(code, path, TOOL_HIP=LIBRARY)

    assert done.stdout == RESULT, done.stderr


def test_signals_are_not_left_blocked(tool: Tool, observe: Observe) -> None:
    code = PROGRAM + "import signal\n"
    code += "print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))\n"

    done = observe(code, tool("hostile.c", "-DHOSTILE_block_signals"))

    assert done.stdout == f"{RESULT}[]\n"


def elf_of_32_bits(path: Path) -> Path:
    head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHI", 3, 3, 1)
    path.write_bytes(head + bytes(4096))
    return path


def test_files_that_are_no_tools(tool: Tool, observe: Observe, tmp_path: Path) -> None:
    empty = tmp_path / "empty.so"
    empty.write_bytes(b"")
    text = tmp_path / "text.so"
    text.write_text("not a library\n" * 100)
    missing = tmp_path / "missing.so"
    other = elf_of_32_bits(tmp_path / "other.so")
    folder = tmp_path / "folder.so"
    folder.mkdir()
    no_symbol = tool("nothing.c")
    bad = [missing, empty, text, other, folder, no_symbol]

    done = observe(PROGRAM, *bad, tool("calls.c", '-DTOOL_NAME="good"'))

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    lines = said(done)
    assert len(warnings(lines)) == len(bad)
    for path, line in zip(bad, warnings(lines), strict=True):
        assert f"tool library '{path}' is left out" in line
    assert lines[-1] == "good: finalize: finalized -1 calls paired"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_file_that_may_not_be_read(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    locked = tmp_path / "locked.so"
    shutil.copy(tool("calls.c"), locked)
    locked.chmod(0)

    done = observe(PROGRAM, locked, tool("calls.c", '-DTOOL_NAME="good"'))

    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    (line,) = warnings(said(done))
    assert f"tool library '{locked}' is left out" in line


def test_file_name_that_is_too_long(
    tool: Tool, observe: Observe, tmp_path: Path
) -> None:
    done = observe(PROGRAM, tmp_path / ("x" * 300), tool("calls.c"))

    assert done.stdout == RESULT
    assert len(warnings(said(done))) == 1
