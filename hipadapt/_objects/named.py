# SPDX-License-Identifier: MIT
"""Messages name the function that the user called, and its arguments."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ERRORS", "named", "need", "refusal", "rename"]

P = ParamSpec("P")
R = TypeVar("R")

ERRORS = (TypeError, ValueError, OverflowError, BufferError)

# Inner functions: the names of their arguments, and those that users know.
_INNER: dict[str, dict[str, str]] = {
    "array_allocate": {"typestr": "dtype"},
    "array_from_memory": {"typestr": "dtype"},
    "array_of": {},
    "ihipStream_t": {"pyobj": "stream"},
    "DeviceArray": {},
    "hipDeviceGet": {"ordinal": "device"},
    "hipMemcpyAsync": {},
    "empty": {},
    "array": {},
    "__cuda_array_interface__": {},
    "copy_from": {},
    "copy_to": {},
    "fill": {},
}


def refusal(function: str, argument: str, wanted: str, value: object) -> TypeError:
    """The error for an argument of a wrong kind; a function "" is not named."""
    text = f"argument '{argument}' must be {wanted}, not {type(value).__name__!r}"
    return TypeError(f"{function}: {text}" if function else text)


def need(
    value: object,
    kind: type | tuple[type, ...],
    function: str,
    argument: str,
    wanted: str,
) -> None:
    """TypeError unless the argument is of this kind, whatever its annotation says."""
    if not isinstance(value, kind):
        raise refusal(function, argument, wanted, value)


def named(**arguments: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Errors of what a function calls name the function itself.

    Parameters
    ----------
    **arguments
        Arguments of inner functions, and their names in this one; _INNER has those
        that hold everywhere.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__.removeprefix("array_")

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except ERRORS as error:
                rename(error, name, arguments)
                raise

        return call

    return decorate


def rename(error: Exception, name: str, arguments: dict[str, str]) -> None:
    """What `named` does to an error, for a function that a wrapper would slow down."""
    text = _renamed(str(error), name, arguments)
    if text is not None and len(error.args) == 1:
        error.args = (text,)


def _renamed(text: str, name: str, arguments: dict[str, str]) -> str | None:
    if text.startswith("argument '"):
        return f"{name}: {text}"
    inner, colon, rest = text.partition(": ")
    if not colon or inner == name or inner not in _INNER:
        return None
    before, quote, after = rest.partition("argument '")
    if quote and not before:
        argument = after[: len(after) - len(after.lstrip(_WORD))]
        outer = _INNER[inner].get(argument) or arguments.get(argument, argument)
        rest = f"argument '{outer}{after[len(argument) :]}"
    return f"{name}: {rest}"


_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
