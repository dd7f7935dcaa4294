# SPDX-License-Identifier: MIT
"""`hipadapt.hiprtc.ext`: linker options by keyword, as in hip-python's `hiprtc.ext`."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from . import hiprtc, types
from .hip import hipJitOption

__all__ = ["HiprtcLinkCreateOpts", "hiprtcLinkCreate2"]

_FLAGS = {"Sm3xOpt", "FastCompile"}
_SIZES = {
    "InfoLogBufferSizeBytes",
    "ErrorLogBufferSizeBytes",
    "LogVerbose",
    "IRtoISAOptCountExt",
    "WallTime",
}
_TEXTS = {"GlobalSymbolNames", "IRtoISAOptExt"}
_BUFFERS = {"InfoLogBuffer", "ErrorLogBuffer"}


def _value(option: hipJitOption, name: str, value: Any) -> Any:
    """What the option's place in the array of values holds: a number or an address."""
    kind = option.name.removeprefix("hipJitOption")
    if kind in _FLAGS:
        return int(bool(value))
    if kind == "GlobalSymbolAddresses":
        return types.ListOfPointer(value)
    if kind in _TEXTS:
        return types.ListOfBytes(value)
    if kind in _BUFFERS:
        if isinstance(value, (str, bytes)):
            raise TypeError(
                f"{name} must be writable memory, not {type(value).__name__!r}"
            )
        return types.Pointer(value)
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} must be an int, not {kind!r}") from None
    limit = 2**64 if kind in _SIZES else 2**32
    if not 0 <= number < limit:
        raise OverflowError(f"{name} must be 0 .. {limit - 1}, not {number}")
    return number


class HiprtcLinkCreateOpts:
    """First three arguments of `hiprtc.hiprtcLinkCreate`, from keywords.

    Parameters
    ----------
    **options
        Members of `hip.hipJitOption` by name, old (``HIPRTC_JIT_...``) or new
        (``hipJitOption...``).  Log buffers are writable memory and their sizes are in
        bytes; texts are lists of bytes or str; the rest are numbers.

    Raises
    ------
    KeyError
        For a name that is no option.
    TypeError, OverflowError
        For a value that does not fit its option.

    Examples
    --------
    >>> from hipadapt import hiprtc
    >>> options = hiprtc.ext.HiprtcLinkCreateOpts(hipJitOptionOptimizationLevel=3)
    >>> number, keys, values = options
    >>> number, values
    (1, [3])
    """

    def __init__(self, **options: Any) -> None:
        self.keys: list[hipJitOption] | None = None
        self.values: list[Any] | None = None
        self.num_opts = len(options)
        if not options:
            return
        self.keys, self.values = [], []
        for name, value in options.items():
            if name not in hipJitOption.__members__:
                raise KeyError(f"{name!r} is no option of hipJitOption")
            option = hipJitOption[name]
            self.keys.append(option)
            self.values.append(_value(option, name, value))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, item: int) -> Any:
        return (self.num_opts, self.keys, self.values)[item]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.num_opts, self.keys, self.values))


def hiprtcLinkCreate2(**options: Any) -> tuple[hiprtc.hiprtcResult, Any]:
    """Creates a linker; options by keyword, see `HiprtcLinkCreateOpts`.

    Returns
    -------
    tuple
        The status and the linker, as `hiprtc.hiprtcLinkCreate` gives them.
    """
    count, keys, values = HiprtcLinkCreateOpts(**options)
    return hiprtc.hiprtcLinkCreate(count, keys, values)
