# SPDX-License-Identifier: MIT
"""Timing in turns: every contender in every turn, and its best call counts.

Threads of a pool spin for a while after their work and would take a core from the next
contender; so each turn begins with a pause, and short work is warmed up until every
thread has a core.  See benchmarks/timing.py.
"""

from __future__ import annotations

import time

from benchmarks.timing import WARM_S, PAUSE_s

from .row import Ready

TIMED_CALLS = 3
TIMED_s = 0.01  # short work is called more often
TURN_s = 0.15  # and long work less often
ALL_s = 2.0  # a contender that has had so much has no more turns


def seconds_of(contender: Ready) -> float:
    """One call."""
    begin = time.perf_counter()
    contender.run()
    return time.perf_counter() - begin


class Timed:
    """A contender with its time so far; the first call may have compiled something."""

    def __init__(self, contender: Ready, first: float) -> None:
        self.contender, self.best, self.spent = contender, first, first

    def turn(self) -> None:
        """Call it some times."""
        if self.spent > ALL_s:
            return
        time.sleep(PAUSE_s)
        begin = time.perf_counter()
        if self.best < TURN_s:
            while time.perf_counter() < begin + WARM_S:
                self.contender.run()
        begin, calls, passed = time.perf_counter(), 0, 0.0
        while passed < TURN_s and (calls < TIMED_CALLS or passed < TIMED_s):
            self.best = min(self.best, seconds_of(self.contender))
            calls += 1
            passed = time.perf_counter() - begin
        self.spent += passed
