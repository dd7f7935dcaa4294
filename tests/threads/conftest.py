# SPDX-License-Identifier: MIT
"""Objects that all threads of a test share; see test_shared.py."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from tests.conftest import in_threads

KERNEL = """
extern "C" __global__ void add(float *x, float more) { x[threadIdx.x] += more; }
"""
LANES = 64


def together(*works: Any, count: int = 4, turns: int = 200) -> None:
    """Each work, so many turns of it, on so many threads at once."""
    rest = list(works) * count

    def one() -> None:
        work = rest.pop()
        for turn in range(turns):
            work(turn)

    in_threads(len(rest), one)


@pytest.fixture(scope="session")
def hip(cpu: ModuleType) -> ModuleType:
    """The module, with its names looked up already."""
    return cpu


@pytest.fixture(scope="session")
def add(cpu: ModuleType) -> Any:
    """A kernel that adds to LANES floats."""
    import hipadapt

    return hipadapt.compile_kernel(KERNEL, "add")
