# SPDX-License-Identifier: MIT
"""Runs first in interpreters whose memory is checked: CuPy allocates without its pool.

The pool gives out parts of what it has from HIP, so an overrun of one array stays in
memory that is there, and a freed array's memory is not free.  CuPy has a switch for it,
``cupy.cuda.set_allocator``, which is turned when CuPy is imported.  A program that sets
an allocator of its own has that one.

This folder stands first in PYTHONPATH (``hipadapt._check.pools.separate``); the
program's own ``sitecustomize`` runs after this one.  Nothing of hipadapt is imported,
because the interpreter may not have it.
"""

from __future__ import annotations

import os
import sys
from typing import Any


class _Loader:
    """What loads a module, with something to do after it."""

    def __init__(self, loader: Any, after: Any) -> None:
        self._loader = loader
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._after(module)


class _Finder:
    """Finds CuPy as the others do, once."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "cupy":
            return None
        sys.meta_path.remove(self)
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec: Any = next((spec for spec in found if spec is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, _without_pools)
        return spec


def _without_pools(cupy: Any) -> None:
    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)


def _is_checked() -> bool:
    words = os.environ.get("HIPADAPT_CHECK", "").split(",")
    return any(word.strip() in ("memory", "all") for word in words)


def _run_next() -> None:
    """The sitecustomize that this one stands before."""
    import importlib.machinery

    own = os.path.dirname(os.path.abspath(__file__))
    rest = [path for path in sys.path if os.path.abspath(path or ".") != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        import importlib.util

        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if _is_checked():
    sys.meta_path.insert(0, _Finder())
_run_next()
