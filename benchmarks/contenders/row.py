# SPDX-License-Identifier: MIT
"""What a row is, and what a contender makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Value = Array | np.generic  # an array is memory, a number is an argument
Data = dict[str, Value]
Results = Mapping[str, Array]

OURS, INTEL, POCL, OPENMP, NUMPY = "hipadapt", "Intel", "PoCL", "OpenMP", "numpy"
DEMO = "demo"
CONTENDERS = (OURS, INTEL, POCL, OPENMP, NUMPY)


@dataclass(frozen=True)
class Launch:
    """One kernel of a row; `arguments` names entries of the row's data."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[str, ...]
    shared_bytes: int = 0  # HIP only


@dataclass(frozen=True)
class Loop:
    """A function of the row's file in loops/."""

    file: str
    function: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ()  # where they differ from the row's


@dataclass(frozen=True)
class Goal:
    """The most that our time may be: a multiple of contenders', of a row's, or ms."""

    most: Mapping[str, float] = field(default_factory=dict)
    row: str = ""
    row_ratio: float = 0.0
    most_ms: float = 0.0
    of_group: bool = False  # one of those of which so many must reach Intel's time


@dataclass(frozen=True)
class Row:
    """Work that every contender does from equal data, with equal results.

    Attributes
    ----------
    file : str
        The kernels' text in kernels/, without its suffix; DEMO is the demo's.
    data : callable
        Makes arrays and numbers; always the same.
    outputs : tuple of str
        The arrays that launches leave results in.
    expect : callable, optional
        The right results, from the data.  Without it the OpenMP loop's count as right.
    tolerance : float
        Of each element or of the mean, whichever is larger; integers are equal.
    odd : float
        The part of the elements that may be beyond it.
    """

    name: str
    file: str
    data: Callable[[], Data]
    launches: tuple[Launch, ...]
    outputs: tuple[str, ...]
    openmp: Loop | None = None
    numpy: Callable[[Data], Results] | None = None
    expect: Callable[[Data], Results] | None = None
    goal: Goal = Goal()
    tolerance: float = 2e-4
    odd: float = 0.0
    repeat: int = 1  # so many times the launches, then one wait
    hip_only: bool = False
    without: tuple[str, ...] = ()  # contenders that would take minutes
    cooperative: bool = False


class Ready(Protocol):
    """A row in the hands of a contender."""

    def run(self) -> None:
        """Do the work once and wait for its end."""

    def results(self) -> Results:
        """What is in the outputs."""

    def close(self) -> None:
        """Give memory back."""


class Contender(Protocol):
    """Something that runs rows."""

    name: str

    def ready(self, row: Row, data: Data) -> Ready | None:
        """Take the row, with the data copied; None where it has no form of it."""


class MissingError(RuntimeError):
    """A contender cannot be had here; the text says what to install."""
