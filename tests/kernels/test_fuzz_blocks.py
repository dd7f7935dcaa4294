# SPDX-License-Identifier: MIT
"""Random kernels with barriers and warp calls leave in memory what gcc's code leaves;
see tests/kernels/fuzz_blocks.py."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from .block_oracle import BlockOracle
from .block_program import BlockProgram, whole
from .c_program import Buffer, Launch, Program
from .c_tree import Block, statement
from .conftest import WorkerOf
from .fuzz_blocks import COUNT, sound
from .fuzz_c import EXECUTORS, cut_down, differences, report
from .oracle import GCC, BadProgram
from .random_blocks import programs_of

FRESH = int(
    os.environ.get("HIPADAPT_TEST_SEED") or random.SystemRandom().randrange(10**6)
)
MODULES = 20  # with COUNT kernels each
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc, as the other compiler")


def program_of(text: str) -> BlockProgram:
    """A kernel of some text, for two blocks of 40 lanes with a word each."""
    scalars = dict.fromkeys(("n", "m", "k", "h", "e", "trips"), 7) | {"items": 80}
    buffers = [Buffer("y", "unsigned", 4, lambda count: count)]
    launch = Launch((2, 1, 1), (40, 1, 1), scalars, 0, 4096)
    program = BlockProgram("kernel", buffers, Block(), [launch], 1000)
    place = "int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;"
    body = Block(
        [statement(place, kept=True), *(statement(x) for x in text.split("\n"))]
    )
    program.body = whole([], f"KERNEL void kernel({program.parameters()}) ", body)
    return program


def left_by(program: BlockProgram, folder: Path) -> list[int]:
    """What the oracle leaves in y."""
    launch = program.launches[0]
    (memory,) = BlockOracle([program], folder).run([(0, launch)])
    start, size = program.layout(launch)[0]["y"]
    return memory[start : start + size].copy().view(np.uint32).tolist()


@pytest.mark.parametrize("place", range(MODULES))
def test_random_block_kernels_when_run_leave_what_gcc_leaves(
    worker_of: WorkerOf, tmp_path: Path, place: int
) -> None:
    seed = FRESH + place
    print(f"HIPADAPT_TEST_SEED={FRESH} tries these kernels")
    warp = 64 if place % 5 == 4 else 32
    workers = {executor: worker_of(executor, warp) for executor in EXECUTORS}

    found = differences(programs_of(seed, COUNT, warp), workers, tmp_path)

    assert not found, report(cut_down(found[0], workers, tmp_path, 60))


@pytest.mark.parametrize("warp", [32, 64])
def test_random_kernels_in_step_when_run_leave_what_gcc_leaves(
    worker_of: WorkerOf, tmp_path: Path, warp: int
) -> None:
    print(f"HIPADAPT_TEST_SEED={FRESH} tries these kernels")
    workers = {executor: worker_of(executor, warp) for executor in EXECUTORS}

    programs = programs_of(FRESH + warp, COUNT, warp, lockstep=True)
    found = differences(programs, workers, tmp_path)

    assert not found, report(cut_down(found[0], workers, tmp_path, 60))


def test_random_kernels_not_in_step_are_found(
    worker_of: WorkerOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = {executor: worker_of(executor) for executor in EXECUTORS}
    monkeypatch.setattr(BlockProgram, "options", ("-DHIPADAPT_LOCKSTEP=",))

    found = differences(programs_of(9000, COUNT, 32, lockstep=True), workers, tmp_path)

    assert found


@pytest.mark.parametrize("lockstep", [False, True])
def test_random_block_kernels_when_watched_are_sound(
    tmp_path: Path, lockstep: bool
) -> None:
    print(f"HIPADAPT_TEST_SEED={FRESH} tries these kernels")

    assert sound(programs_of(FRESH, COUNT, lockstep=lockstep), tmp_path) == []


LOWER = range(32)  # the first warp of a block; the second one has eight lanes
KNOWN = {
    "AT(0, __shfl(t, 3))": lambda t: t // 32 * 32 + 3,
    "AT(0, __shfl(t, 9, 8))": lambda t: t // 8 * 8 + 1,
    "AT(0, __shfl_up(t, 2, 4))": lambda t: t - 2 if t % 4 > 1 else t,
    "AT(0, __shfl_down(t, 3))": lambda t: t if t % 32 > 28 or t > 36 else t + 3,
    "AT(0, __shfl_xor(t, 5))": lambda t: t ^ 5,
    "AT(0, __ballot(t & 1))": lambda t: 0xAAAAAAAA if t in LOWER else 0xAA,
    "AT(0, __all(t < 39))": lambda t: int(t in LOWER),
    "AT(0, __any(t == 39))": lambda t: int(t not in LOWER),
    "AT(0, __match_any(t / 4))": lambda t: 15 << t % 32 // 4 * 4,
    "t & 1 ? AT(0, __activemask()) : 1": lambda t: (
        0xAAAAAAAA if t & 1 and t in LOWER else 0xAA if t & 1 else 1
    ),
    "AT(0, __reduce_add_sync(AT(0, __match_any(t & 1)), 1u))": lambda t: (
        16 if t in LOWER else 4
    ),
    "__syncthreads_count(t < 5)": lambda t: 5,
    "__syncthreads_and(t < 39)": lambda t: 0,
    "__syncthreads_or(t == 3)": lambda t: 1,
    "bits_wide((double)0 - (double)(t / 64)) >> 63": lambda t: 0,
    "warpSize * 0 + __popc(t)": lambda t: t.bit_count(),
}


@pytest.mark.parametrize("call", KNOWN)
def test_block_oracle_of_a_call_gives_what_hip_says(tmp_path: Path, call: str) -> None:
    words = left_by(program_of(f"y[g] = {call};"), tmp_path)

    assert words == [KNOWN[call](t) for t in range(40)] * 2


def test_block_oracle_in_a_loop_meets_lanes_of_the_same_round(tmp_path: Path) -> None:
    text = """y[g] = 0;
ENTER(0); for (int j = 0; TRIP(0) j < t; j++) y[g] += __popc(AT(1, __ballot(1)));"""

    words = left_by(program_of(text), tmp_path)

    rounds = [sum(other > j for other in range(32)) for j in range(32)]
    assert words[:32] == [sum(rounds[:t]) for t in range(32)]


def test_block_oracle_of_lanes_that_return_waits_for_the_others(tmp_path: Path) -> None:
    text = """SHARED int s[40];
s[t] = t;
__syncthreads();
y[g] = 99;
if (t & 1) return;
y[g] = __syncthreads_count(1) + s[39 - t];"""

    words = left_by(program_of(text), tmp_path)

    assert words == [99 if t & 1 else 20 + 39 - t for t in range(40)] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("if (t < 3) __syncthreads(); else __syncthreads();", "different barriers"),
        ("y[g] = AT(0, __shfl_sync(1, t, 0));", "names other lanes"),
        ("SHARED int s[40]; s[t] = t; y[g] = s[t ^ 1];", "order of lanes"),
        ("y[g] = atomicAdd(&y[0], 1u);", "order of lanes"),
    ],
)
def test_block_oracle_of_a_bad_kernel_refuses(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(BadProgram, match=message):
        left_by(program_of(text), tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SHARED int s[40]; s[t] = t; y[g] = s[0];", "meets another .* shared"),
        ("SHARED int s[40]; s[t] = 1; s[t ^ 1] = 1;", "meets another .* shared"),
        ("y[0] = 1;", "meets another .* global"),
        ("SHARED int s[2]; s[t & 1] = 1; y[g] = s[0];", "meets another .* shared"),
        ("SHARED int s; atomicAdd(&s, 1); if (t == 1) s = 2;", "meets another"),
        ("y[g] = y[79 - g];", "meets another .* global"),
        ("SHARED int s[40]; s[t] = t; AT(0, __syncwarp()); y[g] = s[39 - t];", "meets"),
        ("SHARED int s[80]; y[g] = s[t];", "order of lanes"),
        ("y[g + 1] = 1;", "leaves its buffers|meets another"),
        ("int a[4]; a[t & 7] = 1; y[g] = a[0];", "exit status"),
        ("y[g] = 1 << t;", "exit status"),
    ],
)
def test_watching_oracle_of_an_unsound_kernel_refuses(
    tmp_path: Path, text: str, message: str
) -> None:
    assert any(re.search(message, x) for x in sound([program_of(text)], tmp_path))


def test_watching_oracle_of_phases_is_content(tmp_path: Path) -> None:
    text = """SHARED int s[40], sum;
s[t] = t;
if (t == 0) sum = 0;
__syncthreads();
atomicAdd(&sum, s[39 - t]);
__syncthreads();
y[g] = sum;
s[t] = 3;
AT(0, __syncwarp());
y[g] += s[t ^ 1];
AT(0, __syncwarp());
s[t] = 4;"""

    assert sound([program_of(text)], tmp_path) == []


# What the oracle does wrong on purpose: a piece of its text and another one.
MISTAKES = {
    "y[g] = AT(0, __shfl_up(t, 2, 4));": ("inside < call->operand", "inside > 0"),
    "y[g] = AT(0, __ballot(t & 1));": ("return set;", "return set ^ 1;"),
    "y[g] = __syncthreads_count(t < 5);": ("COUNT ? set", "COUNT ? count"),
    "y[g] = t / 3 - 7 % (t + 1);": ("t / 3", "t / 4"),
    "y[g] = bits(t * 0.1f + 0.3f);": ("t * 0.1f", "t * 0.1"),
    "SHARED int s[40]; s[t] = t; __syncthreads(); y[g] = s[39 - t];": (
        "39 - t",
        "38 ^ t",
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_differences_if_the_oracle_is_wrong_are_found(
    worker_of: WorkerOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    plain = BlockOracle.text
    right, wrong = MISTAKES[text]

    def mistaken(self: BlockOracle, programs: Sequence[Program], strict: bool) -> str:
        return plain(self, programs, strict).replace(right, wrong)

    workers = {executor: worker_of(executor) for executor in EXECUTORS}
    program = program_of(text)
    assert differences([program], workers, tmp_path) == []
    monkeypatch.setattr(BlockOracle, "text", mistaken)

    (found,) = differences([program], workers, tmp_path)

    assert found.executors == EXECUTORS
    assert "y[" in found.text


def test_cut_down_of_a_difference_leaves_what_it_needs(
    worker_of: WorkerOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = BlockOracle.text

    def mistaken(self: BlockOracle, programs: Sequence[Program], strict: bool) -> str:
        return plain(self, programs, strict).replace("t % 7", "t % 8")

    monkeypatch.setattr(BlockOracle, "text", mistaken)
    workers = {executor: worker_of(executor) for executor in EXECUTORS}
    lines = ["unsigned v = t * 3u;", "v ^= 9u;", "y[g] = t % 7;", "v += y[g];"]
    (found,) = differences([program_of("\n".join(lines))], workers, tmp_path)

    text = report(cut_down(found, workers, tmp_path, 60))

    assert "y[g] = t % 7;" in text
    assert "v +=" not in text and "v ^=" not in text
