# SPDX-License-Identifier: MIT
"""hiprtc's functions, enums and handles under hiprtc's own names.

Every function returns a tuple that begins with a `hiprtcResult`; outputs follow, and
are None or 0 where the call failed.  Arguments are positional or by hiprtc's parameter
names.  Names are made when they are first used.
"""

from __future__ import annotations

from . import _core
from ._core import has_symbol

_names: list[str] = []


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [*__dir__()]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _core._lookup("hiprtc", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    if not _names:
        _names.extend(sorted([*_core._names("hiprtc"), has_symbol.__name__]))
    return _names
