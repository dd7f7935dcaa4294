# SPDX-License-Identifier: MIT
"""The thread that gives events to Python, and its end.

There is one such thread in a process, from the first collector with a callable on.  It
sleeps while nothing is traced.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from .._core import (
    EventCollector,
    profiler_close,
    profiler_finalize_all,
    profiler_set_reader,
    profiler_wait,
    profiler_wake,
)

IDLE_S = 3600.0
END_S = 2.0
SETTLE_S = 1.0  # for work that the device has not finished


class _Schedule:
    """How often a collector is emptied at least, and when next."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self.next_s = time.monotonic() + interval_s


_lock = threading.Lock()
_schedules: dict[EventCollector, _Schedule] = {}
_later: deque[Callable[[], None]] = deque()
_thread: threading.Thread | None = None
_stopping = False


def add(collector: EventCollector, interval: float) -> None:
    """Gives the collector's events to its callables from now on."""
    global _thread
    with _lock:
        _schedules[collector] = _Schedule(interval)
        if _thread is None and not _stopping:
            _thread = threading.Thread(
                target=_run, name="hipadapt-profiler", daemon=True
            )
            _thread.start()
    profiler_wake()


def remove(collector: EventCollector) -> None:
    """Leaves the collector alone."""
    with _lock:
        _schedules.pop(collector, None)


def later(function: Callable[[], None]) -> None:
    """Has a function called soon, by some thread; takes no lock.

    Finalizers of objects use it: they may run while their thread holds a lock.
    """
    _later.append(function)
    profiler_wake()


def tidy() -> None:
    """Calls what `later` was given."""
    while _later:
        try:
            function = _later.popleft()
        except IndexError:  # another thread took it
            return
        function()


def _run() -> None:
    profiler_set_reader(threading.get_native_id())
    while not _stopping:
        tidy()
        with _lock:
            first = min((one.next_s for one in _schedules.values()), default=None)
        wait = IDLE_S if first is None else first - time.monotonic()
        profiler_wait(max(wait, 0.0))
        _deliver(only_due=True)


def settle() -> None:
    """Waits for kernels and copies to end.

    It comes before tools are finalized: what ends later isn't reported any more.
    """
    end = time.monotonic() + SETTLE_S
    with _lock:
        collectors = list(_schedules)
    for collector in collectors:
        collector.settle(max(end - time.monotonic(), 0.0))


def deliver() -> None:
    """Gives the events of all collectors, on this thread."""
    _deliver(only_due=False)


def _deliver(*, only_due: bool) -> None:
    with _lock:
        schedules = list(_schedules.items())
    for collector, schedule in schedules:
        now = time.monotonic()
        if only_due and now < schedule.next_s and not collector.due:
            continue
        schedule.next_s = now + schedule.interval_s
        try:
            collector.deliver()
        except BaseException as error:
            # Nobody else reports these: a callable's KeyboardInterrupt, no memory.
            sys.excepthook(type(error), error, error.__traceback__)


def finish() -> None:
    """Ends all tools, gives what is left, and ends the thread.  At exit, once."""
    global _stopping
    if _stopping:
        return
    settle()
    profiler_finalize_all()
    deliver()
    _stopping = True
    profiler_wake()
    if _thread is not None and _thread is not threading.current_thread():
        _thread.join(END_S)
    profiler_close()


def _forked() -> None:
    """In the child: threads and events are the parent's."""
    global _lock, _thread, _stopping
    _lock = threading.Lock()
    _schedules.clear()
    _later.clear()
    _thread = None
    _stopping = True


atexit.register(finish)
os.register_at_fork(after_in_child=_forked)
