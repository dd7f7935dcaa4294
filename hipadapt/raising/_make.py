# SPDX-License-Identifier: MIT
"""How the modules of `hipadapt.raising` make their functions."""

from __future__ import annotations

from types import BuiltinFunctionType
from typing import Any

from .._core import RaisingFunction
from ..errors import fail

# Their result is the status itself.
_ANSWERS = frozenset({"hipExtGetLastError", "hipGetLastError", "hipPeekAtLastError"})


def _first(function: Any) -> Any:
    def answer() -> Any:
        return function()[0]

    answer.__name__ = answer.__qualname__ = function.__name__
    answer.__doc__ = function.__doc__
    return answer


def raising(value: Any) -> Any:
    """The raising form of a function; other objects as they are."""
    if not isinstance(value, BuiltinFunctionType) or not value.__name__.startswith(
        "hip"
    ):
        return value
    if value.__name__ in _ANSWERS:
        return _first(value)
    return RaisingFunction(value, fail)
