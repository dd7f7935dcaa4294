# SPDX-License-Identifier: MIT
"""Mathematical functions of kernels at their edges, under ``nan``.

A function that gives NaN of arguments that are none has made it, and so has one that
gives infinity of finite ones; one that gives anything else has not: what happens on the
way there is its own affair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from tests.conftest import shared_folder
from tests.kernels.accuracy import TABLE, Row
from tests.kernels.worker import Worker

from .kernels import Outcome, Run, client

TYPES = {"float": np.float32, "double": np.float64}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = client(shared_folder(tmp_path_factory, "special-cache"), "nan")
    yield worker
    worker.close()


def arguments(count: int, real: str) -> list[tuple[float, ...]]:
    """Fewer values each, the more arguments there are."""
    info = np.finfo(TYPES[real])
    most, least = float(info.max), float(info.smallest_subnormal)
    edges = [np.inf, -np.inf, np.nan, 0.0, most, -1.5, least, 3.0, 1e10, 1.0, -0.0]
    simple = [-1.0, 0.5, -0.5, 2.0, 30.0, -30.0, 170.5, -170.5, 1e-5, 100.0]
    values = {1: edges + simple + [-most, -least], 2: edges, 3: edges[:6], 4: edges[:4]}
    return list(itertools.product(values[count], repeat=count))


def kernel(row: Row, real: str) -> str:
    names = "xyzw"[: len(row.domains)]
    parameters = ", ".join(f"const {real} *{name}" for name in names)
    return f"""
extern "C" __global__ void k({parameters}, {real} *out)
{{
    const int i = 0;
    out[i] = {row.source(real)};
}}
"""


def complaint(values: tuple[float, ...], outcome: Outcome) -> str:
    """What is wrong with it, or nothing."""
    if outcome.failure:
        return f"{values}: {outcome.failure}"
    result = outcome.arrays[-1][0]
    kinds = {one.kind for one in outcome.findings}
    made = bool(np.isnan(result)) and not np.isnan(values).any()
    grown = bool(np.isinf(result)) and bool(np.isfinite(values).all())
    if made != ("nan" in kinds) or grown != ("infinity" in kinds):
        return f"{values} gives {result}, found: {sorted(kinds)}"
    return ""


@pytest.mark.parametrize(
    ("row", "real"),
    [
        pytest.param(row, real, id=f"{row.name}-{real}")
        for row in TABLE
        for real, bound in (("float", row.float_bound), ("double", row.double_bound))
        if bound is not None
    ],
)
def test_function_makes_what_it_gives(worker: Worker, row: Row, real: str) -> None:
    cases = arguments(len(row.domains), real)
    runs = []
    for values in cases:
        arrays = [np.array([value], TYPES[real]) for value in (*values, 0.0)]
        runs.append(Run("k", 1, 1, arrays))

    outcomes = worker.ask("special.hip", kernel(row, real), runs)

    wrong = [complaint(*pair) for pair in zip(cases, outcomes, strict=True)]
    assert [text for text in wrong if text] == []
