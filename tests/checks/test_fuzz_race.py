# SPDX-License-Identifier: MIT
"""In random kernels exactly what races is found; see fuzz_race.py."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.worker import Worker

from .fuzz_race import OPTIONS, WARPS, check
from .race_client import client
from .race_oracle import Key, Oracle, Side, State
from .race_program import LOGS, Kernel, Lane, Statement, Step, Steps, kernel_of

FRESH = int(
    os.environ.get("HIPADAPT_TEST_SEED") or random.SystemRandom().randrange(10**6)
)
KNOWN_SEED = 7  # has kernels of all sorts


@pytest.fixture(scope="module", params=[(w, o) for w in WARPS for o in OPTIONS])
def worker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Worker, int, str]]:
    warp, option = request.param
    made = client(tmp_path_factory.mktemp("cache"), option, warp)
    yield made, warp, option
    made.close()


def test_random_kernels_have_the_races_of_the_oracle(
    worker: tuple[Worker, int, str],
) -> None:
    print(f"HIPADAPT_TEST_SEED={FRESH} tries these kernels")

    assert list(check(FRESH, *worker, Counter())) == []


# What the oracle does wrong on purpose.
def meets_nobody(self: Oracle, group: list[State]) -> None:
    for state in group:
        state.advance()


def releases_nothing(
    self: Oracle, state: State, step: Step, key: Key, handed: np.ndarray | None
) -> None:
    self.writes[key, step.offset, step.made or 0] = None


def races_never(self: Oracle, sides: list[Side]) -> set[tuple[int, int]]:
    return set()


MISTAKES = {
    "join": (meets_nobody, "not found"),
    "write": (releases_nothing, "not found"),
    "races": (races_never, "is no race"),
}


def test_differences_if_the_oracle_is_wrong_are_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worker = client(tmp_path, "", 32)
    assert list(check(KNOWN_SEED, worker, 32, "", Counter())) == []

    for name, (mistake, complaint) in MISTAKES.items():
        with monkeypatch.context() as patch:
            patch.setattr(Oracle, name, mistake)
            found = list(check(KNOWN_SEED, worker, 32, "", Counter()))
        assert any(complaint in text for text in found), name
    worker.close()


# ---- the oracle alone ----

WRITE = Step("access", array="g", size=4, writes=True)
READ = replace(WRITE, reads=True, writes=False)
ADD = replace(WRITE, reads=True, atomic=True, array="gf", made=1, seen=0)


def racing(*steps: tuple[int, Step], lanes: int = 3) -> set[tuple[int, int]]:
    """Pairs of lanes that race where each lane does its steps; -1: all lanes do."""

    def run(lane: Lane, line: int) -> Steps:
        for number, step in steps:
            if number in (lane.i, -1):
                yield step

    kernel = Kernel("k", 1, lanes, 32, False, "", [Statement([""], run)], whole=True)
    cells = Oracle(kernel, np.zeros((lanes, LOGS), np.uint32)).run()
    return {
        tuple(sorted((cell.accesses[a].lane, cell.accesses[b].lane)))
        for cell in cells
        for a, b in cell.races
    }


RELEASE, ACQUIRE = (
    replace(ADD, release=True),
    replace(ADD, acquire=True, seen=1, made=2),
)
BARRIER, WARP = Step("block", 1), Step("warp", 1, mask=3)
FENCE = Step("fence", acquire=True, release=True)


@pytest.mark.parametrize(
    ("steps", "want"),
    [
        ([(0, WRITE), (1, READ)], {(0, 1)}),
        ([(-1, READ)], set()),
        ([(0, WRITE), (1, replace(READ, offset=4))], set()),
        ([(0, WRITE), (1, replace(READ, offset=3))], {(0, 1)}),
        ([(0, WRITE), (-1, BARRIER), (1, READ), (2, READ)], set()),
        ([(0, WRITE), (0, WARP), (1, WARP), (1, READ), (2, READ)], {(0, 2)}),
        ([(0, ADD), (1, replace(ADD, seen=1, made=2))], set()),
        ([(0, WRITE), (0, RELEASE), (1, ACQUIRE), (1, READ)], set()),
        ([(0, RELEASE), (0, WRITE), (1, ACQUIRE), (1, READ)], {(0, 1)}),
        ([(0, WRITE), (0, ADD), (1, ACQUIRE), (1, READ)], {(0, 1)}),
        ([(0, WRITE), (0, FENCE), (0, ADD), (1, ACQUIRE), (1, READ)], set()),
        (
            [
                *((0, WRITE), (0, RELEASE), (1, replace(ADD, seen=1, made=2))),
                *((2, replace(ACQUIRE, seen=2)), (2, READ)),
            ],
            set(),
        ),
    ],
)
def test_oracle_of_few_steps_knows_who_races(
    steps: list[tuple[int, Step]], want: set[tuple[int, int]]
) -> None:
    assert racing(*steps) == want


def test_kernel_of_a_seed_is_always_the_same() -> None:
    one, other = (kernel_of(3, "k", 32, "").text(1) for _ in range(2))

    assert one == other != kernel_of(4, "k", 32, "").text(1)
