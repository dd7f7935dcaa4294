# SPDX-License-Identifier: MIT
"""What a pair is, and the table of all pairs.

A *pair* is one HIP source and one function of the host that are run twice: as the
*wrong* twin, with the macro WRONG as 1, and as the *right* one, with 0.  The function
gets a `Twin`, launches what it needs, and yields checks against numpy, which count for
the right twin only.  In lines of the source and of the function, marks say what must be
found in the wrong twin (marks.py); in the right one nothing must be found.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.kernels.case import Check

from .marks import Expectation, expectations

if TYPE_CHECKING:
    from .twin import Twin

PairFunction = Callable[["Twin"], "Iterator[Check] | None"]


@dataclass(frozen=True)
class Pair:
    """An entry of the table.

    ``why`` says in a sentence what is wrong with the wrong twin.  ``check`` is what
    HIPADAPT_CHECK says for it, and ``twin_check`` for the right one.  ``faults`` says
    that the wrong twin may fault, or end its process, where nobody checks it.
    """

    function: PairFunction
    why: str
    source: str
    check: str
    twin_check: str
    faults: bool
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def file(self) -> str:
        return inspect.getsourcefile(self.function) or ""

    @property
    def theme(self) -> str:
        return Path(self.file).stem

    @cached_property
    def first_line(self) -> int:
        """Line of the file at which the source begins."""
        body, first = inspect.getsourcelines(self.function)  # with its decorator
        before, source, _ = "".join(body).partition(self.source)
        if not source:
            raise ValueError(f"{self.name}: its source does not stand as it is")
        return first + before.count("\n")

    @cached_property
    def placed(self) -> str:
        """The source with its lines where they stand in the file."""
        return "\n" * (self.first_line - 1) + self.source

    @cached_property
    def kernels(self) -> frozenset[str]:
        """Names of the kernels of the source."""
        found = re.findall(r"__global__[^(;{]*?(\w+)\s*\(", self.source)
        return frozenset(found)

    @cached_property
    def lines(self) -> dict[int, str]:
        """All lines of the pair, by their numbers in the file."""
        body, first = inspect.getsourcelines(self.function)
        return {number: line.rstrip("\n") for number, line in enumerate(body, first)}

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """What must be found in the wrong twin."""
        end = self.first_line + self.source.count("\n")
        return expectations(self.lines, range(self.first_line, end + 1))

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of what must be found."""
        return frozenset(kind for found in self.expectations for kind in found.kinds)


PAIRS: dict[str, Pair] = {}


def pair(
    why: str,
    source: str,
    *,
    check: str = "all",
    twin_check: str = "",
    faults: bool = False,
    names: tuple[str, ...] = (),
) -> Callable[[PairFunction], PairFunction]:
    """Put the decorated function and its kernels into the table."""

    def register(function: PairFunction) -> PairFunction:
        made = Pair(function, why, source, check, twin_check or check, faults, names)
        if made.name in PAIRS:
            raise ValueError(f"two pairs are called {made.name}")
        PAIRS[made.name] = made
        return function

    return register


def load_pairs() -> None:
    """Import every module of the package `cases`; that fills the table."""
    from . import cases

    for module in pkgutil.iter_modules(cases.__path__):
        importlib.import_module(f"{cases.__name__}.{module.name}")
