# SPDX-License-Identifier: MIT
"""hipadapt-cc and ``run`` when a signal ends them in the middle of their work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.plain  # its time is the compiler's
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
SPIN = """
constexpr int spin() { for (unsigned i = 0; i < 4000000000u; i++) {} return 1; }
static_assert(spin() == 1);
"""
ENDLESS = {
    "device": f"#ifdef __HIP_DEVICE_COMPILE__\n{SPIN}\n#endif\n",
    "host": f"#ifndef __HIP_DEVICE_COMPILE__\n{SPIN}\n#endif\n",
}


@contextmanager
def started(
    folder: Path, *words: str, ignores: tuple[signal.Signals, ...] = (), **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A command of hipadapt that works in a folder of its own."""

    def as_a_shell_does() -> None:
        for number in SIGNALS:
            ignored = number in ignores
            signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)

    running = subprocess.Popen(
        [sys.executable, "-m", "hipadapt", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        preexec_fn=as_a_shell_does,
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def at_work(folder: Path) -> list[list[str]]:
    """The command lines of the processes whose folder it is."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and os.readlink(place / "cwd") == str(folder):
                words = (place / "cmdline").read_bytes().decode().split("\0")
                found += [words] if words[0] else []  # a zombie has none
        except OSError:
            pass  # it has ended, or is not ours
    return found


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("side", ENDLESS)
def test_signal_ends_the_compilers_and_leaves_no_files(
    side: str, number: signal.Signals, tmp_path: Path
) -> None:
    folder, temporary = tmp_path / "work", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    (folder / "long.hip").write_text(ENDLESS[side])
    words = ["cc", "-c", "-fconstexpr-steps=999999999", "long.hip"]

    def compiles() -> bool:
        has = {"device": "-emit-llvm", "host": "--cuda-host-only"}[side]
        return any(has in words for words in at_work(folder))

    with started(folder, *words, TMPDIR=str(temporary)) as running:
        wait_until(compiles, "no compiler was started")
        running.send_signal(number)
        status = running.wait(30)

    assert status == -number
    wait_until(lambda: not at_work(folder), "a compiler is still at work")
    assert list(temporary.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["long.hip"]


@pytest.mark.parametrize("side", ENDLESS)
def test_kill_ends_the_compilers_and_the_next_build_sweeps(
    side: str, tmp_path: Path
) -> None:
    folder, temporary = tmp_path / "work", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    (folder / "long.hip").write_text(ENDLESS[side])
    (folder / "short.hip").write_text("int main() {}")
    words = ["cc", "-c", "-fconstexpr-steps=999999999", "long.hip"]

    def compiles() -> bool:
        has = {"device": "-emit-llvm", "host": "--cuda-host-only"}[side]
        return any(has in words for words in at_work(folder))

    with started(folder, *words, TMPDIR=str(temporary)) as running:
        wait_until(compiles, "no compiler was started")
        running.kill()
        running.wait(30)
        wait_until(lambda: not at_work(folder), "a compiler is still at work")
    left = list(temporary.iterdir())
    with started(folder, "cc", "-c", "short.hip", TMPDIR=str(temporary)) as running:
        assert running.wait(120) == 0

    assert left
    assert list(temporary.iterdir()) == []


def test_signal_that_the_caller_ignores_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "put.hip").write_text("int main() { return 3; }")
    with started(tmp_path, "cc", "put.hip", ignores=(signal.SIGHUP,)) as running:
        wait_until(lambda: len(at_work(tmp_path)) > 1, "no compiler was started")
        running.send_signal(signal.SIGHUP)
        assert running.wait(120) == 0

    assert subprocess.run([tmp_path / "a.out"]).returncode == 3


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_reaches_the_program_of_run(
    number: signal.Signals, tmp_path: Path
) -> None:
    with started(tmp_path, "run", "--", "sleep", "100") as running:
        wait_until(lambda: at_work(tmp_path) == [["sleep", "100", ""]], "no program")
        running.send_signal(number)
        status = running.wait(30)

    assert status == -number
    assert at_work(tmp_path) == []
