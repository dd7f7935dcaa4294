# SPDX-License-Identifier: MIT
"""Which iterations of a program's loop a profile records."""

from __future__ import annotations

from typing import NamedTuple

NONE, WARMUP, RECORD = range(3)


class ProfileSchedule(NamedTuple):
    """Iterations: some are skipped, then rounds of waiting, warm-up and recording."""

    wait: int = 0
    """Of each round: nothing is watched."""
    warmup: int = 0
    """Then it is watched, and dropped."""
    active: int = 1
    """Then recorded."""
    repeat: int = 1
    """Rounds; 0: until the ``with`` block ends."""
    skip_first: int = 0
    """Before the first round."""

    def at(self, step: int) -> tuple[int, int]:
        """What to do in the iteration, from 0, and the number of its round."""
        turn = step - self.skip_first
        if turn < 0:
            return NONE, 0
        number, place = divmod(turn, self.wait + self.warmup + self.active)
        if 0 < self.repeat <= number or place < self.wait:
            return NONE, number
        return (WARMUP if place < self.wait + self.warmup else RECORD), number


def checked(made: ProfileSchedule) -> ProfileSchedule:
    """The schedule; TypeError or ValueError where a number does not fit."""
    for name, value in made._asdict().items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(
                f"profile.schedule: argument {name!r} must be int, not "
                f"{type(value).__name__!r}"
            )
        if value < (1 if name == "active" else 0):
            raise ValueError(f"profile.schedule: argument {name!r} must not be {value}")
    return made
