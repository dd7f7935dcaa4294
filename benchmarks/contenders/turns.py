# SPDX-License-Identifier: MIT
"""Timing in turns: every contender in every turn, and its best call counts.

Threads of a pool spin for a while after their work and would take a core from the next
contender; so each turn begins with a pause, and short work is warmed up until every
thread has a core.  See benchmarks/timing.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from benchmarks.timing import WARM_S, PAUSE_s

from .row import Ready

TIMED_CALLS = 3
TIMED_s = 0.01  # short work is called more often
TURN_s = 0.15  # and long work less often
CALL_s = 5.0  # a call that takes longer is not repeated


def seconds_of(contender: Ready) -> float:
    """One call."""
    begin = time.perf_counter()
    contender.run()
    return time.perf_counter() - begin


def best_of_turn(contender: Ready) -> float:
    """The best call of a turn."""
    begin, calls, best = time.perf_counter(), 0, float("inf")
    while True:
        best = min(best, seconds_of(contender))
        calls += 1
        passed = time.perf_counter() - begin
        if passed > TURN_s or (calls >= TIMED_CALLS and passed > TIMED_s):
            return best


def best_of_turns(
    contenders: Mapping[str, Ready], before: Mapping[str, float], turns: int
) -> dict[str, float]:
    """Seconds of the best call of each, those before included.

    Parameters
    ----------
    before : mapping of str to float
        Seconds of earlier calls; a contender's first may have compiled something.
    """
    best = {label: before[label] for label in contenders}
    for _ in range(turns):
        for label, contender in contenders.items():
            if best[label] > CALL_s:
                continue
            time.sleep(PAUSE_s)
            begin = time.perf_counter()
            if best[label] < TURN_s:  # known, and short
                while time.perf_counter() < begin + WARM_S:
                    contender.run()
            best[label] = min(best[label], best_of_turn(contender))
    return best
