# SPDX-License-Identifier: MIT
"""hip-python's import names for hipadapt: existing programs run as they are.

`install_as_hip` makes the names that programs for hip-python import (``hip.hip``,
``hip.hiprtc``, ``hip._util.types`` of its versions up to 7.2, ``rocm.bindings.hip`` and
so on of 10.0) stand for hipadapt's modules: ``hip.hip is hipadapt.hip``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from . import __version__

__all__ = ["install_as_hip", "uninstall_as_hip"]

# The hip-python whose names and parameter lists these modules have.
_PEER = "10.0.0"
# Parts of hip-python that are bindings of other libraries than HIP and hiprtc.
_OTHERS = frozenset(
    {
        "amd_comgr",
        "amdsmi",
        "hipblas",
        "hipblaslt",
        "hipdnn_backend",
        "hipfft",
        "hipfile",
        "hiprand",
        "hipsolver",
        "hipsparse",
        "hipsparselt",
        "hiptensor",
        "rccl",
        "roctx",
    }
)


def _versions(module: ModuleType) -> None:
    hip = import_module("hipadapt.hip")
    parts = (hip.HIP_VERSION_MAJOR, hip.HIP_VERSION_MINOR, hip.HIP_VERSION_PATCH)
    rocm = tuple(int(part) for part in _PEER.split("."))
    commit = hip.HIP_VERSION_GITHASH.decode()
    name = "{}.{}.{}-{}".format(*parts, commit)
    version = f"{_PEER}+hipadapt.{__version__}"
    module.__dict__.update(
        ROCM_VERSION=rocm[0] * 10_000_000 + rocm[1] * 100_000 + rocm[2],
        ROCM_VERSION_NAME=_PEER,
        rocm_version_name=_PEER,
        ROCM_VERSION_TUPLE=rocm,
        rocm_version_tuple=rocm,
        HIP_VERSION=hip.HIP_VERSION,
        HIP_VERSION_NAME=name,
        hip_version_name=name,
        HIP_VERSION_TUPLE=(*parts, commit),
        hip_version_tuple=(*parts, commit),
        HIP_COMMIT=commit,
        HIP_FULL_VERSION=name,
        VERSION=version,
        LONG_VERSION=version,
        __version__=version,
        __long_version__=version,
    )


def _package(module: ModuleType) -> None:
    module.__path__ = []


def _hip(module: ModuleType) -> None:
    _package(module)
    _versions(module)
    for name in ("hip", "hiprtc", "hiprtc_pyext", "_util"):
        setattr(module, name, import_module(f"hip.{name}"))


def _bindings(module: ModuleType) -> None:
    _package(module)
    for name in ("hip", "hiprtc"):
        setattr(module, name, import_module(f"rocm.bindings.{name}"))


def _util(module: ModuleType) -> None:
    _package(module)
    module.__dict__["types"] = import_module("hipadapt.types")


def _hip_helpers(module: ModuleType) -> None:
    name = "HipModuleLaunchKernel_extra"
    module.__dict__[name] = getattr(import_module("hipadapt.types"), name)


def _hiprtc_helpers(module: ModuleType) -> None:
    options = import_module("hipadapt.types").ListOfUnsigned
    module.__dict__["HiprtcLinkCreate_option_ptr"] = options


# What each name stands for: a module of ours, or what fills a module of that name.
_NAMES: dict[str, str | Callable[[ModuleType], None]] = {
    "hip": _hip,
    "hip.hip": "hipadapt.hip",
    "hip.hiprtc": "hipadapt.hiprtc",
    "hip.hiprtc_pyext": "hipadapt._hiprtc_ext",
    "hip._util": _util,
    "hip._util.types": "hipadapt.types",
    "hip._hip_helpers": _hip_helpers,
    "hip._hiprtc_helpers": _hiprtc_helpers,
    "hip._version": _versions,
    "rocm": _package,
    "rocm.version": _versions,
    "rocm.bindings": _bindings,
    "rocm.bindings.hip": "hipadapt.hip",
    "rocm.bindings.hiprtc": "hipadapt.hiprtc",
    "rocm.bindings.hiprtc_pyext": "hipadapt._hiprtc_ext",
    "rocm.bindings.util": _util,
    "rocm.bindings.util.types": "hipadapt.types",
    "rocm.bindings._hip_helpers": _hip_helpers,
    "rocm.bindings._hiprtc_helpers": _hiprtc_helpers,
}


class _Loader(Loader):
    """Puts what a name stands for where the import looks for it."""

    def exec_module(self, module: ModuleType) -> None:
        meaning = _NAMES[module.__name__]
        if isinstance(meaning, str):
            # The import takes what is here afterwards; that keeps its own name.
            sys.modules[module.__name__] = import_module(meaning)
        else:
            meaning(module)


class _Finder(MetaPathFinder):
    """Answers for hip-python's names, and says no for its other libraries."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        del target
        if fullname in _NAMES:
            # Other packages may live in a namespace "rocm".
            other = PathFinder.find_spec(fullname, path) if fullname == "rocm" else None
            return other or ModuleSpec(fullname, _LOADER, is_package=False)
        parent, _, name = fullname.rpartition(".")
        if parent in ("hip", "rocm.bindings") and name in _OTHERS:
            # Not the full name: `from hip import x` would drop the text.
            raise ModuleNotFoundError(
                f"hipadapt stands for {parent} and has HIP and hiprtc only: {name} "
                "comes with hip-python",
                name=name,
            )
        return None


_LOADER = _Loader()
_FINDER = _Finder()


def _is_ours(name: str, module: ModuleType) -> bool:
    meaning = _NAMES.get(name)
    if isinstance(meaning, str):
        return module is sys.modules.get(meaning)
    spec = getattr(module, "__spec__", None)
    return spec is not None and spec.loader is _LOADER


def _strangers() -> list[str]:
    """Modules under hip-python's names that are not ours; a bare ``rocm`` may stay."""
    return [
        name
        for name, module in sys.modules.items()
        if (name.partition(".")[0] == "hip" or name.startswith("rocm."))
        and (name in _NAMES or name.startswith(("hip.", "rocm.bindings.")))
        and not _is_ours(name, module)
    ]


def install_as_hip() -> None:
    """Makes hipadapt what ``hip`` and ``rocm.bindings`` import.

    Affects this process only, and only imports that follow.  Both generations of names
    are there: ``from hip import hip, hiprtc``, ``hip._util.types``,
    ``hip._hip_helpers``, and ``from rocm.bindings import hip, hiprtc``,
    ``rocm.bindings.util.types``.  Calling it again does nothing.

    Raises
    ------
    RuntimeError
        If a package of one of these names has been imported already: two bindings in
        one program would have two sets of types.

    See Also
    --------
    uninstall_as_hip : undoes it.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.install_as_hip()
    >>> from hip import hip
    >>> hip is hipadapt.hip
    True
    >>> hipadapt.uninstall_as_hip()
    """
    strangers = _strangers()
    if strangers:
        files = (getattr(sys.modules[n], "__file__", None) for n in sorted(strangers))
        place = next(filter(None, files), "an unknown place")
        raise RuntimeError(
            f"install_as_hip: {min(strangers, key=len)!r} was imported before (from "
            f"{place}); call hipadapt.install_as_hip() ahead of it"
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def uninstall_as_hip() -> None:
    """Undoes `install_as_hip`: later imports find what is installed.

    Modules that a program has imported meanwhile go on working.
    """
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    for name in [n for n, m in sys.modules.items() if n in _NAMES and _is_ours(n, m)]:
        module = sys.modules.pop(name)
        parent, _, tail = name.rpartition(".")
        if getattr(sys.modules.get(parent), tail, None) is module:
            delattr(sys.modules[parent], tail)
