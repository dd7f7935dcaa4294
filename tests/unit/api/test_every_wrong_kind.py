# SPDX-License-Identifier: MIT
"""Wrong arguments, failing allocations and repetition, for every wrapped function.

Each function is called with each wrong kind for each argument (wrong_kinds.py), with
each of its allocations failing, and many times over.  It answers a Python exception or
a status, and never ends the process; nothing is left behind.  Batches run in processes
of their own (batches.py), so that a crash is a failure with a name, once on the CPU
device and once on the library that only notes its arguments, where C is reached by the
functions that the CPU device lacks.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import GIL

from . import batches
from .world import WRAPPED

BATCHES = 4
MARKED_MODES = [
    "kinds",
    pytest.param("memory", marks=pytest.mark.plain),
    pytest.param("leaks", marks=pytest.mark.plain),
]
# Calls that each function must at least have got.
LEAST_CALLS = {"kinds": 20, "memory": 10, "leaks": 100}


def batch(number: int) -> list[str]:
    """Every BATCHES-th function, so that batches take about as long."""
    return [f.name for f in WRAPPED][number::BATCHES]


def check(mode: str, number: int, **environment: str) -> None:
    if mode == "memory" and importlib.util.find_spec("_testcapi") is None:
        pytest.skip("this Python has no _testcapi, which makes allocations fail")
    if mode == "memory" and not GIL:
        pytest.skip("free-threaded CPython ends when an allocation of PyList_New fails")
    names = batch(number)

    count, problems = batches.run(mode, names, **environment)

    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)
    assert count > LEAST_CALLS[mode] * len(names)


@pytest.mark.parametrize("number", range(BATCHES))
@pytest.mark.parametrize("mode", MARKED_MODES)
def test_every_function_survives(mode: str, number: int, kernel_cache: Path) -> None:
    check(mode, number)


@pytest.mark.parametrize("number", range(BATCHES))
@pytest.mark.parametrize("mode", MARKED_MODES)
def test_every_function_survives_when_c_is_reached(
    mode: str, number: int, recording_library: Path
) -> None:
    check(mode, number, HIPADAPT_PROVIDER=str(recording_library))
