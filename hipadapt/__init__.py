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
from os import environ

# Importing typing costs more than everything else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import errors, hip, hiprtc, raising, rocprofiler, types
    from ._core import DeviceArray, Provider, error_text, from_dlpack, provider
    from ._objects.array import arange, array, asarray, empty, empty_like, full, zeros
    from ._objects.check import check
    from ._objects.debug_stream import DebugStream
    from ._objects.debug_tensor import debug_tensor
    from ._objects.device import Device
    from ._objects.event import Event
    from ._objects.interop import managed_empty, pinned_empty
    from ._objects.kernel import Kernel
    from ._objects.pool import MemoryPool, current_pool
    from ._objects.profile import annotate, profile
    from ._objects.program import Module, Program, compile_kernel
    from ._objects.stream import Stream, current_stream
    from ._objects.verbose import verbose
    from .compat import install_as_hip, uninstall_as_hip

__version__ = "0.1.0"

__all__ = [
    "DebugStream",
    "Device",
    "DeviceArray",
    "Event",
    "Kernel",
    "MemoryPool",
    "Module",
    "Program",
    "Provider",
    "Stream",
    "__version__",
    "annotate",
    "arange",
    "array",
    "asarray",
    "check",
    "compile_kernel",
    "current_pool",
    "current_stream",
    "debug_tensor",
    "empty",
    "empty_like",
    "error_text",
    "errors",
    "from_dlpack",
    "full",
    "get_include",
    "hip",
    "hiprtc",
    "install_as_hip",
    "managed_empty",
    "pinned_empty",
    "profile",
    "provider",
    "raising",
    "rocprofiler",
    "types",
    "uninstall_as_hip",
    "verbose",
    "zeros",
]

_MODULES = frozenset({"errors", "hip", "hiprtc", "raising", "rocprofiler", "types"})
_CORE = frozenset({"DeviceArray", "Provider", "error_text", "from_dlpack", "provider"})
# Names of other modules, imported when first used.
_PARTS = {
    "DebugStream": "_objects.debug_stream",
    "Device": "_objects.device",
    "Event": "_objects.event",
    "Kernel": "_objects.kernel",
    "MemoryPool": "_objects.pool",
    "Module": "_objects.program",
    "Program": "_objects.program",
    "Stream": "_objects.stream",
    "annotate": "_objects.profile",
    "arange": "_objects.array",
    "array": "_objects.array",
    "asarray": "_objects.array",
    "check": "_objects.check",
    "compile_kernel": "_objects.program",
    "current_pool": "_objects.pool",
    "current_stream": "_objects.stream",
    "debug_tensor": "_objects.debug_tensor",
    "empty": "_objects.array",
    "empty_like": "_objects.array",
    "full": "_objects.array",
    "install_as_hip": "compat",
    "managed_empty": "_objects.interop",
    "pinned_empty": "_objects.interop",
    "profile": "_objects.profile",
    "uninstall_as_hip": "compat",
    "verbose": "_objects.verbose",
    "zeros": "_objects.array",
}


def _end_observers() -> None:
    """Completes the trace of HIPADAPT_PROFILE and the lines of HIPADAPT_VERBOSE: Python
    that Ctrl-C ends reaches no exit handler of C."""
    from contextlib import suppress

    from . import _core

    if "HIPADAPT_VERBOSE" in environ:
        # A forked child has none; nobody reads them.
        with suppress(RuntimeError, TimeoutError):
            _core.verbose_flush(1000)
    if "HIPADAPT_PROFILE" in environ:
        _core.profile_end()


if "HIPADAPT_PROFILE" in environ or "HIPADAPT_VERBOSE" in environ:
    import atexit

    atexit.register(_end_observers)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module("." + name, __name__)
    part = "_core" if name in _CORE else _PARTS.get(name)
    if part is not None:
        value = getattr(import_module("." + part, __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_include() -> str:
    """Folder of the C and C++ headers: HIP's, rocprofiler-sdk's and roctx's.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.get_include().endswith("include")
    True
    """
    # os.path costs nothing here: every interpreter has it loaded.
    import os

    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext hipadapt``: the magics ``%%hip``, ``%hip_time`` and
    ``%%hip_check``.
    """
    from ._notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext hipadapt``."""
    from ._notebook import unload

    unload(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
