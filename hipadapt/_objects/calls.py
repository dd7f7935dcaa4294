# SPDX-License-Identifier: MIT
"""How the high-level objects call HIP: with exceptions, and late from finalizers."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _core, raising

if TYPE_CHECKING:
    from collections.abc import Callable

hip: Any = raising.hip
hiprtc: Any = raising.hiprtc


def finalize(
    call: Callable[..., object],
    *args: object,
    is_finalizing: Callable[[], bool] = sys.is_finalizing,
    in_host_function: Callable[[], bool] = _core.in_host_function,
    call_later: Callable[..., object] = _core.call_later,
) -> None:
    """Makes a call that frees something of HIP's, from a finalizer.

    A finalizer may run inside a host function, which may not call HIP: then the call is
    made later.  When the interpreter ends, no call is made: the end of the process
    frees everything.  Statuses are dropped, since there is no caller left.
    """
    if is_finalizing():
        return
    if in_host_function():
        call_later(partial(call, *args))
    else:
        call(*args)


class On:
    """``with On(ordinal):`` makes a device current, and the previous one afterwards."""

    __slots__ = ("_before", "_ordinal")

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._before = ordinal

    def __enter__(self) -> None:
        self._before = hip.hipGetDevice()
        if self._before != self._ordinal:
            hip.hipSetDevice(self._ordinal)

    def __exit__(self, *exc: object) -> None:
        if self._before != self._ordinal:
            hip.hipSetDevice(self._before)
