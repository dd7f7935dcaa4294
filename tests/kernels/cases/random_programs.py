# SPDX-License-Identifier: MIT
"""Random programs with branches, loops, votes, barriers; see tests/kernels/fuzz.py."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Check, case, same
from ..fuzz import check_seed
from ..gpu import Gpu


@case()
def random_programs_of_known_seeds(gpu: Gpu) -> Iterator[Check]:
    for seed in (1, 2, 3, 4):
        for label, got, want in check_seed(gpu, seed):
            yield same(label, got, want)
