# SPDX-License-Identifier: MIT
"""Random kernels leave in memory what gcc's code leaves; see tests/kernels/fuzz_c.py."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest

from .c_program import Buffer, Launch, Program
from .c_tree import Block, statement
from .conftest import WorkerOf
from .fuzz_c import COUNT, EXECUTORS, cut_down, differences, report
from .oracle import GCC, BadProgram, Oracle
from .random_c import programs_of

FRESH = int(
    os.environ.get("HIPADAPT_TEST_SEED") or random.SystemRandom().randrange(10**6)
)
KNOWN = (5025, 5032, 5052)  # seeds whose kernels went wrong once
SEEDS = [pytest.param(seed, id=f"known-{seed}") for seed in KNOWN] + [
    pytest.param(FRESH + place, id=f"fresh-{place}") for place in range(12)
]
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc, as the other compiler")


def program_of(line: str) -> Program:
    """A kernel of one line, for six lanes with a word each."""
    scalars = dict.fromkeys(("n", "m", "k", "h", "e", "trips"), 7) | {"items": 6}
    index = statement("int i = blockIdx.x * blockDim.x + threadIdx.x;")
    return Program(
        "kernel",
        [Buffer("y", "unsigned", 4, lambda count: count)],
        Block([index, statement(line)]),
        [Launch((2, 1, 1), (3, 1, 1), scalars, 0)],
        0,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels_when_run_leave_what_gcc_leaves(
    worker_of: WorkerOf, tmp_path: Path, seed: int
) -> None:
    print(f"HIPADAPT_TEST_SEED={seed} tries these kernels as fresh-0")
    workers = {executor: worker_of(executor) for executor in EXECUTORS}

    found = differences(programs_of(seed, COUNT), workers, tmp_path)

    assert not found, report(cut_down(found[0], workers, tmp_path, 60))


def test_random_kernels_when_watched_are_sound(tmp_path: Path) -> None:
    print(f"HIPADAPT_TEST_SEED={FRESH} tries these kernels")
    programs = programs_of(FRESH, COUNT)
    pairs = [(place, x) for place, p in enumerate(programs) for x in p.launches]

    results = Oracle(programs, tmp_path, strict=True).run(pairs)

    assert len(results) == len(pairs)


def test_oracle_for_a_sound_kernel_tells_its_memory(tmp_path: Path) -> None:
    program = program_of("y[i] = 3u * i;")

    (memory,) = Oracle([program], tmp_path).run([(0, program.launches[0])])

    start, size = program.layout(program.launches[0])[0]["y"]
    words = memory[start : start + size].copy().view(np.uint32)
    assert words.tolist() == [0, 3, 6, 9, 12, 15]


def test_oracle_when_order_matters_refuses(tmp_path: Path) -> None:
    program = program_of("y[i] = 3u * y[0];")

    with pytest.raises(BadProgram, match="order of lanes"):
        Oracle([program], tmp_path).run([(0, program.launches[0])])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("y[0] ^= i;", "meets another"),
        ("y[i] = y[i / 2];", "meets another"),
        ("y[i + 1] = 1;", "leaves its buffers"),
        ("((byte *)y)[-1] = i;", "leaves its buffers"),
        ("y[i] = 1 << (n + 25);", "exit status"),
        ("y[i] = (n + 2147483647) / 2;", "exit status"),
    ],
)
def test_strict_oracle_of_an_unsound_kernel_refuses(
    tmp_path: Path, line: str, message: str
) -> None:
    program = program_of(line)

    with pytest.raises(BadProgram, match=message):
        Oracle([program], tmp_path, strict=True).run([(0, program.launches[0])])
