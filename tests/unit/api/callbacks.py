# SPDX-License-Identifier: MIT
"""What the tests of Python callables that a stream calls have in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

WAIT_S = 10.0

PRELUDE = """
import ctypes, gc, os, signal, sys, threading, time, weakref
from hipadapt import _core, hip
def check(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]
def sleep(seconds, stream=None):
    check(hip.hipLaunchHostFunc(stream, lambda _: time.sleep(seconds), None))
"""

# Where threads hang, it says where. Not where a child is forked: faulthandler's own
# thread is missing there, and the end of the child would wait for it.
WATCHED = (
    """
import faulthandler
faulthandler.dump_traceback_later(60, exit=True)
"""
    + PRELUDE
)


class Thing:
    """Something that can be referred to weakly."""


def until(condition: Callable[[], bool]) -> bool:
    """Waits for it to come true; runs bytecode meanwhile, as programs do."""
    end = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def good(result: tuple[Any, ...]) -> Any:
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]
