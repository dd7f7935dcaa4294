# SPDX-License-Identifier: MIT
"""Limits of a compilation as a whole, and what a killed process leaves behind."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.cli.test_cc_stop import at_work, wait_until

from .rtc_library import COMPILATION, INVALID_INPUT, KERNEL, SUCCESS, Rtc, library_path

MIB = 1 << 20
HERE = Path(__file__).parent
HEADERS = {"own.h": "", "deep/er/own.h": ""}
INCLUDE = '#include "own.h"\n'
SPIN = """
constexpr int spin() { for (unsigned i = 0; i < 4000000000u; i++) {} return 1; }
static_assert(spin() == 1);
"""


# ---- size ----


def test_source_when_it_is_larger_than_the_limit_is_refused(rtc: Rtc) -> None:
    result, _ = rtc.create(b" " * (64 * MIB + 1))

    assert result == INVALID_INPUT
    assert f"'src' has {64 * MIB + 1} bytes" in rtc.error_text()
    assert "64 MiB are possible" in rtc.error_text()


def test_source_when_headers_make_it_too_large_is_refused(rtc: Rtc) -> None:
    headers = {f"h{i}.h": " " * (16 * MIB) for i in range(4)}

    result, _ = rtc.create(KERNEL, headers=headers)

    assert result == INVALID_INPUT
    assert "with its headers" in rtc.error_text()


def test_source_when_options_make_it_too_large_does_not_compile(rtc: Rtc) -> None:
    result, program = rtc.create(b" " * (64 * MIB - 20))
    assert result == SUCCESS

    assert rtc.compile_program(program, ["-DLONG=12345678901234567890"]) == COMPILATION

    assert "64 MiB are possible" in rtc.log(program)
    rtc.destroy(program)


# ---- time ----


def test_time_limit_holds_while_another_process_compiles_the_same(
    rtc: Rtc, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_COMPILE_TIMEOUT", "1")
    cache_dir.mkdir(mode=0o700)
    with open(cache_dir / "lock", "wb") as lock:
        os.fchmod(lock.fileno(), 0o600)
        whole = struct.pack("hhlll", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, whole)

        compiled = rtc.compile("// waits\n" + KERNEL)

    assert compiled.result == COMPILATION
    assert "another process that compiles the same did not end within 1 s" in (
        compiled.log
    )


def test_time_limit_holds_for_the_rewriter(
    rtc: Rtc, tmp_path: Path, no_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = ", ".join(["i32 1234567"] * 4096)
    ir = "".join(
        f"@a{i} = addrspace(1) global [4096 x i32] [{numbers}]\n" for i in range(300)
    )
    (tmp_path / "ir").write_text(f'{ir}!0 = !{{!"clang version 20.1.0"}}\n')
    script = tmp_path / "zig"
    script.write_text(f"#!/bin/sh\n/bin/sleep 0.9\nexec /bin/cat '{tmp_path}/ir'\n")
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))
    monkeypatch.setenv("HIPADAPT_COMPILE_TIMEOUT", "1")

    for _ in range(10):
        before = time.monotonic()
        compiled = rtc.compile()
        if "the front end" not in compiled.log:
            break  # else that was late already, on a busy machine

    assert compiled.result == COMPILATION
    assert "the rewriter did not end within 1 s" in compiled.log
    assert time.monotonic() - before < 10


# ---- what is left behind ----


@contextmanager
def compiling(work: Path, temporary: Path, source: str) -> Iterator[subprocess.Popen]:
    """A process that compiles in a folder of its own."""
    code = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from rtc_library import Rtc, library_path
compiled = Rtc(library_path()).compile(
    {source!r}, ["-fconstexpr-steps=999999999"], headers={HEADERS!r})
sys.exit(compiled.result)
"""
    settings = {"TMPDIR": str(temporary), "HIPADAPT_CACHE": "0"}
    library = library_path()
    assert library is not None
    settings["HIPADAPT_TEST_CPU_LIBRARY"] = str(library)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=work, env={**os.environ, **settings}
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The current folder of a process, and that for temporary files."""
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    return work, temporary


def zigs(work: Path) -> Callable[[], bool]:
    return lambda: any("-emit-llvm" in words for words in at_work(work))


@pytest.mark.plain
def test_kill_while_compiling_ends_the_compiler_and_the_next_one_sweeps(
    folders: tuple[Path, Path],
) -> None:
    work, temporary = folders
    with compiling(work, temporary, INCLUDE + SPIN + KERNEL) as running:
        wait_until(zigs(work), "no compiler was started")
        running.kill()
        running.wait()
        wait_until(lambda: not at_work(work), "the compiler is still at work")
    left = list(temporary.iterdir())

    with compiling(work, temporary, INCLUDE + KERNEL) as running:
        assert running.wait(120) == SUCCESS

    assert len(left) == 1
    assert list(temporary.iterdir()) == []


@pytest.mark.plain
def test_sweep_leaves_folders_that_are_in_use_or_not_ours(
    folders: tuple[Path, Path],
) -> None:
    work, temporary = folders
    target = work / "target"
    target.mkdir(mode=0o700)
    (target / "file").touch()
    for name, mode in (("hipadapt-work-open", 0o755), ("other-work", 0o700)):
        (temporary / name).mkdir()
        (temporary / name).chmod(mode)
    (temporary / "hipadapt-work-link").symlink_to(target)
    (temporary / "hipadapt-work-file").touch()
    kept = set(temporary.iterdir())
    if os.geteuid() == 0:
        theirs = temporary / "hipadapt-work-theirs"
        theirs.mkdir(mode=0o700)
        os.chown(theirs, 65534, 65534)
        kept.add(theirs)
    left = temporary / "hipadapt-work-left"
    (left / "deep").mkdir(mode=0o700, parents=True)
    left.chmod(0o700)
    (left / "deep" / "link").symlink_to(target)
    with compiling(work, temporary, INCLUDE + SPIN + KERNEL) as running:
        wait_until(zigs(work), "no compiler was started")
        used = set(temporary.iterdir()) - kept

        with compiling(work, temporary, INCLUDE + KERNEL) as other:
            assert other.wait(120) == SUCCESS

        assert len(used) == 1
        assert set(temporary.iterdir()) == kept | used
        assert (target / "file").exists()
        running.kill()
