# SPDX-License-Identifier: MIT
"""First NaNs and infinities of random kernels against the oracle of random_numbers.py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.conftest import shared_folder
from tests.kernels.worker import Worker

from .kernels import client
from .random_numbers import LANES, Maker, Text, differences, run_lane

KERNELS = 20  # a seed


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = client(shared_folder(tmp_path_factory, "numbers-cache"), "nan")
    yield worker
    worker.close()


@pytest.mark.parametrize("seed", range(5))
def test_random_kernels_are_found_as_the_oracle_says(worker: Worker, seed: int) -> None:
    assert differences(worker, seed, KERNELS) == []


def test_random_kernels_make_both_kinds_in_some_lanes_only() -> None:
    kinds: set[str] = set()
    lanes = 0

    programs = [Maker(0).program(number) for number in range(KERNELS)]
    for program in programs:
        Text().program(program)  # gives statements their lines
        with np.errstate(all="ignore"):
            for lane in range(LANES):
                _, events = run_lane(program, lane)
                kinds |= {kind for _, kind in events}
                lanes += bool(events)

    assert kinds == {"nan", "infinity"}
    assert KERNELS * LANES * 0.02 < lanes < KERNELS * LANES / 2
