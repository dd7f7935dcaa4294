# SPDX-License-Identifier: MIT
"""A signal asks for a recording: who listens, how often, and whose file it obeys."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.unit.profile.test_daemon import BUSY, QUICK, busy, until
from tests.unit.profile.test_profile import BEGIN, load, names

NUMBERS = {"USR2": signal.SIGUSR2, "sigusr1": signal.SIGUSR1, "40": 40}
CHAINED = """
import signal
def handler(number, frame):
    print("mine", number, flush=True)
signal.signal(signal.SIGUSR2, handler)
"""


def settings(tmp_path: Path, name: str = "USR2", text: str = QUICK) -> dict[str, str]:
    """A program that makes traces t_PID.json at this signal."""
    config = tmp_path / "config"
    config.write_text(f"{text}ACTIVITIES_LOG_FILE={tmp_path}/t.json\n")
    config.chmod(0o600)
    return {
        **os.environ,
        "HIPADAPT_PROFILE_SIGNAL": name,
        "HIPADAPT_PROFILE_CONFIG": str(config),
        "HIPADAPT_LOG": "2",
    }


@pytest.mark.parametrize("name", NUMBERS)
def test_signal_makes_a_trace(tmp_path: Path, name: str) -> None:
    with busy(settings(tmp_path, name)) as program:
        program.send_signal(NUMBERS[name])
        file = tmp_path / f"t_{program.pid}.json"
        until(file.exists)

    assert names(load(file), "kernel")["work"] > 0


def test_signals_call_the_handler_of_before_each_time(tmp_path: Path) -> None:
    with busy(settings(tmp_path), code=CHAINED + BUSY) as program:
        for _ in range(3):
            program.send_signal(signal.SIGUSR2)
            assert program.stdout is not None
            assert program.stdout.readline() == f"mine {signal.SIGUSR2:d}\n"
        until((tmp_path / f"t_{program.pid}.json").exists)


def test_signal_storm_is_one_request_a_second(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with busy(settings(tmp_path), log) as program:
        begin = time.monotonic()
        while time.monotonic() < begin + 1.5:
            for _ in range(100):
                program.send_signal(signal.SIGUSR2)
        seconds = time.monotonic() - begin
    asked = [line for line in log.read_text().splitlines() if "signal 12: " in line]

    assert 1 <= len(asked) <= seconds + 1


@pytest.mark.parametrize("wrong", ["mode", "link", "folder", "missing", "text"])
def test_file_that_is_not_safe_is_not_obeyed(tmp_path: Path, wrong: str) -> None:
    log = tmp_path / "log"
    environment = settings(tmp_path)
    config = tmp_path / "config"
    if wrong == "mode":
        config.chmod(0o622)
    elif wrong == "text":
        config.write_text(config.read_text() + "ACTIVITIES_DURATION_MSECS=x\n")
    else:
        config.rename(tmp_path / "other")
        if wrong == "link":
            config.symlink_to(tmp_path / "other")
        elif wrong == "folder":
            config.mkdir()
    with busy(environment, log) as program:
        program.send_signal(signal.SIGUSR2)
        until(lambda: "the profile request is refused: " in log.read_text())

    assert not list(tmp_path.glob("t_*"))


@pytest.mark.parametrize("name", ["KILL", "SEGV", "11", "9", "0", "USR3", "1x", "999"])
def test_signal_that_cannot_be_had_is_told(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    with busy(settings(tmp_path, name), log):
        pass

    assert f"HIPADAPT_PROFILE_SIGNAL: '{name}' is none of USR1" in log.read_text()


LATE = r"""
#include <signal.h>
#include <unistd.h>

/* Loaded after the profiler's library, so that its end comes later. */
static __attribute__((destructor)) void
end(void)
{
    struct sigaction now;

    if (sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
        (void)!write(1, "back\n", 5);
    }
}
"""


@pytest.mark.plain
def test_handler_of_before_is_back_at_the_end(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("NOT TESTED: there is no C compiler")
    source, library = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(LATE)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, source], check=True, timeout=60
    )
    code = BEGIN + "import ctypes, signal\nlaunch()\nctypes.CDLL(sys.argv[1])\n"
    code += "os.kill(os.getpid(), signal.SIGUSR2)\n"

    done = subprocess.run(
        [sys.executable, "-c", code, str(library)],
        cwd=ROOT,
        env=settings(tmp_path),
        capture_output=True,
        text=True,
        check=True,  # the signal didn't end it
        timeout=60,
    )

    assert done.stdout.splitlines()[-1] == "back"
