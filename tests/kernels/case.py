# SPDX-License-Identifier: MIT
"""What a kernel case is, and the table of all cases.

A *case* is a function that takes a `Gpu` (those of the group "asked": and what the test
gives), runs one or more kernels and yields *checks*:
an array that came back from the device, beside the array that numpy says it must be.
Cases know nothing of executors; the worker runs each once per executor and warp size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    pass

CaseFunction = Callable[..., "Iterator[Check]"]


@dataclass(frozen=True)
class Check:
    """One result of a case.

    ``rtol`` and ``atol`` are the distance allowed to numpy.  ``bitwise`` says that both
    executors must agree to the last bit; it is False where they may add in another
    order (floating point atomics) or call another library routine (vector libm).
    """

    label: str
    got: np.ndarray
    want: np.ndarray
    rtol: float = 0.0
    atol: float = 0.0
    bitwise: bool = True


@dataclass(frozen=True)
class Case:
    """An entry of the table: the function, and the warp sizes it is run with."""

    function: CaseFunction
    warp_sizes: tuple[int, ...]
    group: str

    @property
    def name(self) -> str:
        return self.function.__name__


CASES: dict[str, Case] = {}


def case(
    *, warp_sizes: tuple[int, ...] = (32,), group: str = "kernels"
) -> Callable[[CaseFunction], CaseFunction]:
    """Put the decorated function into the table."""

    def register(function: CaseFunction) -> CaseFunction:
        name = function.__name__
        if name in CASES:
            raise ValueError(f"two kernel cases are called {name}")
        CASES[name] = Case(function, warp_sizes, group)
        return function

    return register


def same(label: str, got: Any, want: Any) -> Check:
    """Equal to numpy in every bit (NaN equals NaN)."""
    return Check(label, np.asarray(got), np.asarray(want))


def close(
    label: str,
    got: Any,
    want: Any,
    *,
    rtol: float = 1e-6,
    atol: float = 0.0,
    bitwise: bool = True,
) -> Check:
    """Equal to numpy within a tolerance."""
    return Check(label, np.asarray(got), np.asarray(want), rtol, atol, bitwise)
