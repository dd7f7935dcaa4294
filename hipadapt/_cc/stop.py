# SPDX-License-Identifier: MIT
"""The end of a build by Ctrl-C or another signal.

Its compilers get the signal too, the temporary files go, and then the process dies of
the signal, as a shell and make expect of a compiler.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from types import FrameType
from typing import NoReturn

from .._child import dies_with_us

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 2.0  # in which a child may remove what it began to write

stopped = threading.Event()
_running: set[subprocess.Popen[bytes]] = set()
_number = 0  # of the signal, once `stopped` is set


def _kill(child: subprocess.Popen[bytes], number: int) -> None:
    """Signals the child and its own children, unless it has ended."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):  # it ends just now
            os.killpg(child.pid, number)


def _end(child: subprocess.Popen[bytes]) -> None:
    _kill(child, _number)
    timer = threading.Timer(GRACE_S, _kill, (child, signal.SIGKILL))
    timer.daemon = True
    timer.start()


def _stop(number: int) -> None:
    global _number
    if not stopped.is_set():
        _number = number
        stopped.set()
        for child in list(_running):
            _end(child)


def _listen(pipe: int) -> None:
    while True:
        for number in os.read(pipe, 1):
            if number in SIGNALS:
                _stop(number)


def _nothing(_which: int, _frame: FrameType | None) -> None:
    """Does nothing: Python writes to the pipe as well, and `_listen` acts."""


def watch() -> None:
    """From now on signals end the build in order; those that are ignored stay so.

    A thread waits for them: handlers run in the main thread only, which may be about to
    wait for something else, and would then run them late.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    left = (signal.SIG_IGN, _nothing)
    wanted = [n for n in SIGNALS if signal.getsignal(n) not in left]
    if not wanted:
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    threading.Thread(target=_listen, args=(read,), daemon=True).start()
    signal.set_wakeup_fd(write)
    for number in wanted:
        signal.signal(number, _nothing)


def run(command: list[str]) -> int:
    """The exit status of a tool; it is in a group of its own, to be ended whole."""
    if stopped.is_set():
        return 128 + _number
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=dies_with_us(),
    )
    _running.add(child)
    try:
        if stopped.is_set():  # between the two lines above
            _end(child)
        return child.wait()
    finally:
        _running.discard(child)


def die() -> NoReturn:
    """Ends this process by the signal that ended the build."""
    with contextlib.suppress(OSError):  # the reader may be gone
        sys.stdout.flush()
        sys.stderr.flush()
    signal.signal(_number, signal.SIG_DFL)
    os.kill(os.getpid(), _number)
    os._exit(128 + _number)  # reached only where the signal is blocked
