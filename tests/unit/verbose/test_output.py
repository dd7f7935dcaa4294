# SPDX-License-Identifier: MIT
"""Where lines go, and what becomes of them where nobody takes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.unit.verbose.test_lines import BEGIN
from tests.unit.verbose.verbose_lines import HEAD, number, results

# More than the rings and the pipe hold.
MANY = 200_000
LAUNCHES = f"""
call, threads = scale[1, 1], []
for i in range({MANY}):
    call(x, 1.0, 1)
hip.hipDeviceSynchronize()
"""


def start(code: str, **more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + code],
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "HIPADAPT_VERBOSE": "profile_exec",
        },
        cwd=ROOT,
        stderr=subprocess.PIPE,
        **more,  # type: ignore[call-overload]
    )


def lost_of(text: str) -> int:
    found = re.findall(r"(\d+) lines were lost", text)
    assert len(found) == 1, text
    return int(found[0])


def test_a_line_is_out_while_the_program_runs_on(tmp_path: Path) -> None:
    code = "scale[1, 1](x, 2.0, 1); sys.stdin.read()"
    with start(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if b",scale," in line:
                break
        else:
            pytest.fail("the line came only with the end")
        assert program.poll() is None
        program.communicate()


@pytest.mark.plain
def test_a_pipe_that_nobody_reads_blocks_nobody() -> None:
    code = LAUNCHES + "status = hipadapt.verbose.status()\n"
    code += "os.write(2, f'{status.lines} {status.lost}'.encode())\n"
    read, write = os.pipe()
    with start(code, stdout=write) as program:
        os.close(write)
        _, errors = program.communicate(timeout=100)
    with open(read, "rb") as pipe:
        text = pipe.read().decode()
    rows = results(text)

    assert program.returncode == 0
    assert 100 < len(rows) < 2000  # what a pipe holds
    assert text.endswith("\n")
    # One fill more than launches; the others are told to be lost.
    assert lost_of(errors.decode()) == 1 + MANY - len(rows)


@pytest.mark.plain
def test_a_reader_that_comes_late_gets_the_rest_and_the_count() -> None:
    code = LAUNCHES + "os.write(2, b'launched\\n')\nhipadapt.verbose.flush(60)"
    read, write = os.pipe()
    with start(code, stdout=write) as program:
        os.close(write)
        assert program.stderr is not None
        assert program.stderr.readline() == b"launched\n"
        with open(read, "rb") as pipe:
            text = pipe.read().decode()
        errors = program.stderr.read()
    rows = results(text)
    last = text.splitlines()[-1]

    assert last == f"{HEAD}info,lost:{lost_of(errors.decode())}"
    assert len(rows) + number({"line": last}, "lost") == 1 + MANY
    assert len(rows) > 10_000


@pytest.mark.plain
def test_a_reader_that_keeps_up_loses_nothing(tmp_path: Path) -> None:
    with open(tmp_path / "out", "wb") as out, start(LAUNCHES, stdout=out) as program:
        _, errors = program.communicate(timeout=100)
    rows = results((tmp_path / "out").read_text())
    ends = [number(row, "end") for row in rows]

    assert errors == b""
    assert len(rows) == 1 + MANY
    # A thread that a busy machine stops for longer than lines wait tells its own late.
    assert sum(a > b for a, b in pairwise(ends)) <= len(ends) // 1000


def test_a_reader_that_goes_does_not_end_the_program() -> None:
    code = LAUNCHES + "os.write(2, b'went on ')"
    with start(code, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.stdout.close()
        errors = program.stderr.read() if program.stderr else b""
        status = program.wait(100)

    assert status == 0
    assert b"HIPADAPT_VERBOSE: lines can't be written: Broken pipe\n" in errors
    assert b"went on " in errors
    assert lost_of(errors.decode()) > MANY / 2


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        ("os.close(1)", "Bad file descriptor"),
        ("os.dup2(os.open('/dev/full', os.O_WRONLY), 1)", "No space left on device"),
    ],
)
def test_an_output_that_takes_nothing_is_told(
    run_python: Run, begin: str, told: str
) -> None:
    code = begin + "\nfor i in range(500): scale[1, 1](x, 1.0, 1)\n"
    code += "hip.hipDeviceSynchronize()\n"
    done = run_python("import os\n" + BEGIN + code, HIPADAPT_VERBOSE="profile_exec")

    assert f"lines can't be written: {told}\n" in done.stderr
    assert 500 <= lost_of(done.stderr) <= 501
    assert done.stderr.count("HIPADAPT_VERBOSE") == 2


def test_a_file_that_cannot_be_opened_is_told(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        BEGIN + "say('ran')",
        HIPADAPT_VERBOSE="all",
        HIPADAPT_VERBOSE_FILE=str(tmp_path / "no" / "lines"),
    )

    assert done.stdout == "ran\n"
    assert "there are no lines: " in done.stderr
    assert "No such file or directory" in done.stderr


def test_a_fifo_without_a_reader_does_not_stop_the_program(
    run_python: Run, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = run_python(
        BEGIN + "say('ran')",
        HIPADAPT_VERBOSE="all",
        HIPADAPT_VERBOSE_FILE=str(tmp_path / "fifo"),
    )

    assert done.stdout == "ran\n"
    assert "No such device or address" in done.stderr


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 2); time.sleep(9)", "1 / 0"])
def test_lines_are_whole_at_every_end(run_python: Run, end: str) -> None:
    code = "for i in range(50): scale[1, 1](x, 1.0, 1)\nhip.hipDeviceSynchronize()\n"
    done = run_python(BEGIN + code + end, HIPADAPT_VERBOSE="profile_exec", status=None)

    assert done.returncode != 0
    assert len(results(done.stdout)) == 51


def test_what_is_on_its_way_at_the_end_has_a_line(run_python: Run) -> None:
    code = "call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: time.sleep(0.1))\n"
    code += "hip.hipLaunchHostFunc(None, call, None); scale[1, 1](x, 1.0, 1)"
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="profile_exec")

    assert results(done.stdout)[-1]["implementation"] == "scale"
