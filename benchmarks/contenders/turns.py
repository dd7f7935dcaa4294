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
TURN_s = 0.15  # slow contenders are called less than three times
CALL_s = 5.0  # a call that takes longer is not repeated


def seconds_of(contender: Ready) -> float:
    """One call."""
    begin = time.perf_counter()
    contender.run()
    return time.perf_counter() - begin


def best_of_turns(
    contenders: Mapping[str, Ready], first: Mapping[str, float], turns: int
) -> dict[str, float]:
    """Seconds of the best call of each.

    Parameters
    ----------
    first : mapping of str to float
        Seconds of each one's first call, which may have compiled something.
    """
    best = {label: first[label] for label in contenders}
    for _ in range(turns):
        for label, contender in contenders.items():
            if best[label] > CALL_s:
                continue
            time.sleep(PAUSE_s)
            begin = time.perf_counter()
            if best[label] < TURN_s:  # known, and short
                while time.perf_counter() < begin + WARM_S:
                    contender.run()
            begin = time.perf_counter()
            for call in range(TIMED_CALLS):
                if call and time.perf_counter() > begin + TURN_s:
                    break
                best[label] = min(best[label], seconds_of(contender))
    return best
