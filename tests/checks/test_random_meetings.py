# SPDX-License-Identifier: MIT
"""Barriers and warp calls of random kernels against the oracle of random_meetings.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.conftest import shared_folder
from tests.kernels.worker import Worker

from .kernels import client
from .random_meetings import Maker, Oracle, Text, differences

KERNELS = 20  # a seed


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = client(shared_folder(tmp_path_factory, "meetings-cache"), "sync,strict")
    yield worker
    worker.close()


@pytest.mark.parametrize("seed", range(5))
def test_random_kernels_are_found_as_the_oracle_says(worker: Worker, seed: int) -> None:
    assert differences(worker, seed, KERNELS) == []


def test_random_kernels_have_all_kinds_and_none() -> None:
    kinds: Counter[str] = Counter()

    for seed in range(5):
        maker = Maker(seed)
        programs = [maker.program(number) for number in range(KERNELS)]
        for program in programs:
            Text().program(program)  # gives statements their lines
            oracle = Oracle(program).run()
            kinds.update({kind for kind, _ in oracle.found})
            kinds["diverged-barrier"] += bool(oracle.lines)
            kinds["clean"] += not oracle.found and not oracle.lines

    assert set(kinds) == {
        "absent-lanes",
        "absent-source",
        "clean",
        "diverged-barrier",
        "left-barrier",
        "not-cooperative",
    }
    assert all(kinds.values())
