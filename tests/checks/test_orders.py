# SPDX-License-Identifier: MIT
"""Random programs of streams: what is found is what races, with any count of workers.

`python -m tests.checks.fuzz_orders --seconds 60 --seed 1` runs more of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import shared_folder
from tests.kernels.worker import Worker

from .fuzz_orders import THREADS, check
from .order_client import KERNELS, client
from .order_program import (
    LEGACY,
    Operation,
    Program,
    Step,
    complaints,
    program_of,
)

SEEDS = range(60)
ONE = Operation("kernel", 0, writes=(0, 4))
TWO = Operation("kernel", 1, reads=(2, 6))


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Worker]]:
    cache = shared_folder(tmp_path_factory, "orders-cache")
    made = [client(cache, threads) for threads in THREADS]
    yield made
    for worker in made:
        worker.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_findings_are_the_races_of_the_program(
    workers: list[Worker], seed: int
) -> None:
    texts, _ = check(program_of(seed, KERNELS), workers)

    assert texts == []


def test_programs_race_often() -> None:
    rights = [complaints(program_of(seed, KERNELS), set()) == [] for seed in SEEDS]

    assert 0.1 < sum(rights) / len(rights) < 0.9


def program(*steps: Step) -> Program:
    return Program("device", [False, True, False, False], 1, [], list(steps))


def test_what_is_missing_and_what_is_too_much_is_told() -> None:
    racing = program(
        Step("enqueue", 2, operation=ONE), Step("enqueue", 3, operation=TWO)
    )
    waiting = program(
        Step("enqueue", 2, operation=ONE),
        Step("record", 2),
        Step("wait", 3),
        Step("enqueue", 3, operation=TWO),
    )

    assert complaints(racing, {("k1", "k0", 2)}) == []
    assert complaints(racing, set()) != []
    assert complaints(racing, {("k1", "k0", 1)}) != []
    assert complaints(waiting, set()) == []
    assert complaints(waiting, {("k1", "k0", 2)}) != []


def test_default_stream_orders_streams_that_block() -> None:
    steps = [Step("enqueue", 1, operation=ONE), Step("enqueue", LEGACY, operation=TWO)]

    assert complaints(program(*steps), set()) == []
    assert complaints(program(*reversed(steps)), set()) == []
