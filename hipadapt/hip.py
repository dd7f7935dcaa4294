# SPDX-License-Identifier: MIT
"""HIP's functions, enums, records, handles and constants under HIP's own names.

Every function returns a tuple that begins with a `hipError_t`; outputs follow, and are
None or 0 where the call failed.  Arguments are positional or by HIP's parameter names.
Names are made when they are first used.
"""

from __future__ import annotations

from ._core import has_symbol
from ._core import lookup as _lookup
from ._core import names as _names

_all: list[str] = []


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [*__dir__()]
    if name.startswith("__") and not name.startswith("__hip_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _lookup("hip", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    if not _all:
        _all[:] = sorted([*_names("hip"), has_symbol.__name__])
    return _all
