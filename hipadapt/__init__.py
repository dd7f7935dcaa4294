# SPDX-License-Identifier: MIT
"""HIP from Python, on any machine.

``from hipadapt import hip, hiprtc`` gives the HIP and hiprtc calls under their own
names; ``hipadapt.types`` has the adapter types.  The HIP runtime is loaded at the first
call: see `provider`.

Examples
--------
>>> from hipadapt import hip
>>> status, count = hip.hipGetDeviceCount()
>>> status
<hipError_t.hipSuccess: 0>
"""

from __future__ import annotations

from importlib import import_module

# Importing typing costs more than everything else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import hip, hiprtc, types
    from ._core import Provider, error_text, provider

__version__ = "0.1.0"

__all__ = [
    "Provider",
    "__version__",
    "error_text",
    "hip",
    "hiprtc",
    "provider",
    "types",
]

_MODULES = frozenset({"hip", "hiprtc", "types"})
_CORE = frozenset({"Provider", "error_text", "provider"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module("." + name, __name__)
    if name in _CORE:
        value = getattr(import_module("._core", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
