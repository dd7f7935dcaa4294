# SPDX-License-Identifier: MIT
"""Interleaved timing: every contender runs in every round, and its best round counts.

On a machine that others use too, a run is slowed down, never sped up; the minimum over
many short rounds is what repeats.  Interleaving gives all contenders the same weather,
so that ratios hold even where the absolute times do not.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Mapping
from typing import Any

ROUND_s = 0.004  # long enough for the clock, short enough to fit between disturbances
PAUSE_s = 0.02  # longer than thread pools spin
WARM_S = 0.005  # until each thread has a core
TIMED_CALLS = 5


def best_of_statements(
    statements: Mapping[str, tuple[str, Mapping[str, Any]]], rounds: int
) -> dict[str, float]:
    """Nanoseconds of each statement; the empty loop is subtracted.

    Parameters
    ----------
    statements : mapping of str to (str, mapping)
        Label to statement and the names that it uses.
    rounds : int
        How often each statement gets its turn.
    """
    timers = {
        label: timeit.Timer(statement, globals=dict(names))
        for label, (statement, names) in statements.items()
    }
    timers[""] = timeit.Timer("pass")
    counts = {label: calls_in_a_round(timer) for label, timer in timers.items()}
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(rounds):
        for label, timer in timers.items():
            seconds = timer.timeit(counts[label]) / counts[label]
            best[label] = min(best[label], seconds)
    empty = best.pop("")
    return {label: max(0.0, seconds - empty) * 1e9 for label, seconds in best.items()}


def calls_in_a_round(timer: timeit.Timer) -> int:
    """How many calls fill a round; the calls made here warm the statement up."""
    count = 1
    while True:
        seconds = timer.timeit(count)
        if seconds >= ROUND_s / 4 or count >= 1_000_000:
            return max(1, int(count * ROUND_s / max(seconds, 1e-9)))
        count *= 4


def best_of_calls(
    contenders: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, float]:
    """Seconds of the best call of each contender; for calls that take long enough.

    Threads of a pool spin for a while after their work before they sleep, and would
    take a core from the next contender.  So each turn begins with a pause, in which the
    other pool falls asleep, and calls that wake up the own one and are not measured:
    the system takes some milliseconds to give each of its threads a core.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for label, contender in contenders.items():
            time.sleep(PAUSE_s)
            warm = time.perf_counter() + WARM_S
            while time.perf_counter() < warm:
                contender()
            for _ in range(TIMED_CALLS):
                begin = time.perf_counter()
                contender()
                best[label] = min(best[label], time.perf_counter() - begin)
    return best
