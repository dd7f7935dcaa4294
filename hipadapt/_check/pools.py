# SPDX-License-Identifier: MIT
"""Pools of programs in checked processes: allocations are to stand apart."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

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
