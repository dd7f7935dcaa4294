# SPDX-License-Identifier: MIT
"""Child processes that end with the thread that waits for them, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl
_prctl.argtypes = [ctypes.c_int, ctypes.c_ulong]


def dies_with_us() -> Callable[[], None]:
    """A `preexec_fn` for subprocess, made in the thread that waits for the child."""
    parent = os.getpid()

    def before_exec() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)  # the parent is dead already

    return before_exec
