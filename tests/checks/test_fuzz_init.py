# SPDX-License-Identifier: MIT
"""A few kernels of fuzz_init, and a look at its oracle."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .bits import ALL, Bits, compared, logical_and
from .fuzz_init import COUNT, Text, expected
from .random_init import Program, program


@pytest.mark.parametrize("kinds", ["init", "all"])
def test_random_kernels_decide_by_nothing_where_the_oracle_says(kinds: str) -> None:
    command = [sys.executable, "-m", "tests.checks.fuzz_init", "--seed", "7"]

    done = subprocess.run(
        [*command, "--kernels", str(COUNT), "--kinds", kinds],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{COUNT} kernels" in done.stdout


def test_oracle_counts_each_lane_that_decides_by_nothing() -> None:
    check = ("if", "==", ("local", "t"), ("const", 0))
    made = Program("k", [("set", ("local", 1), ("const", 3)), check])
    text = Text()
    text.kernel(made)

    found = expected(made, text.places)

    # Of 16 lanes, a quarter look at the element that was written; two launches.
    assert dict(found) == {text.places[id(check)]: 24}


def test_a_zero_that_was_written_decides() -> None:
    nothing = Bits(0, ALL)

    assert logical_and(nothing, Bits(0xF0)).without == 0xF0
    assert compared("<", Bits(0, 0xF), Bits(16)) == (True, True)
    assert not compared("<", Bits(0, 0x1F), Bits(16))[1]


def test_random_programs_are_what_their_seed_says() -> None:
    assert program(5, 0) == program(5, 0)
    assert program(5, 0) != program(6, 0)
