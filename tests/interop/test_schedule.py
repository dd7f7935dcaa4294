# SPDX-License-Identifier: MIT
"""Schedules of profiles choose the iterations that torch.profiler's choose."""

from __future__ import annotations

import importlib.util
import random

import pytest

from hipadapt import profile
from hipadapt._objects.profile_schedule import NONE, RECORD, WARMUP


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_iterations_are_those_of_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("NOT TESTED: torch is not installed, of the extra 'interop'")
    import torch.profiler as theirs

    words = {NONE: "NONE", WARMUP: "WARMUP", RECORD: "RECORD"}
    some = random.Random(14)
    for _ in range(300):
        numbers = {
            "wait": some.randrange(4),
            "warmup": some.randrange(3),
            "active": some.randrange(1, 5),
            "repeat": some.randrange(4),
            "skip_first": some.randrange(4),
        }
        mine, torchs = profile.schedule(**numbers), theirs.schedule(**numbers)
        for step in range(60):
            action = torchs(step).name.removesuffix("_AND_SAVE")
            assert words[mine.at(step)[0]] == action, (numbers, step)
