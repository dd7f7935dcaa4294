# SPDX-License-Identifier: MIT
"""Pools of programs in checked processes: allocations are to stand apart."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parent / "site"


def separate(environment: MutableMapping[str, str]) -> None:
    """Makes Python programs that get this environment allocate without CuPy's pools.

    It takes effect where HIPADAPT_CHECK names memory or all.  A program that is started
    with ``-I``, ``-E`` or ``-S`` keeps its pools.

    Parameters
    ----------
    environment : mutable mapping
        Of a program, or what is to be changed in this one's for it; PYTHONPATH in it is
        set.
    """
    before = environment.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    paths = [str(SITE), *([before] if before else [])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)


def pause() -> Callable[[], None]:
    """CuPy, if this process has it, has no pool until the answer is called.

    Where a thread uses an allocator of its own, nothing changes.
    """
    cupy: Any = sys.modules.get("cupy")
    if not hasattr(cupy, "cuda"):
        return lambda: None
    before = cupy.cuda.get_allocator()
    try:
        cupy.cuda.set_allocator(None)
    except ValueError:
        return lambda: None

    def resume() -> None:
        cupy.cuda.set_allocator(before)

    return resume
