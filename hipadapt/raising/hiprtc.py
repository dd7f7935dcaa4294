# SPDX-License-Identifier: MIT
"""The names of `hipadapt.hiprtc`; functions raise instead of returning a status."""

from __future__ import annotations

from .. import hiprtc as _raw
from ._make import raising as _raising


def __getattr__(name: str) -> object:
    if name == "__all__":
        return dir(_raw)
    if name.startswith("__") and not name.startswith("__hip_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _raising(getattr(_raw, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_raw)
