# SPDX-License-Identifier: MIT
"""hiprtc's functions, enums and handles under hiprtc's own names.

Every function returns a tuple that begins with a `hiprtcResult`; outputs follow, and
are None or 0 where the call failed.  Arguments are positional or by hiprtc's parameter
names.  Names are made when they are first used.
"""

from __future__ import annotations

from importlib import import_module

from ._core import has_symbol
from ._core import lookup as _lookup
from ._core import names as _names

_all: list[str] = []


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [*__dir__()]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ext":
        return import_module("hipadapt._hiprtc_ext")
    # hip-python's hiprtc has these two enums of hip as well.
    module = "hip" if name in ("hipJitOption", "hipJitInputType") else "hiprtc"
    value = _lookup(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    if not _all:
        _all[:] = sorted([*_names("hiprtc"), has_symbol.__name__])
    return _all
