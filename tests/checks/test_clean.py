# SPDX-License-Identifier: MIT
"""Nothing is found in the cases of tests/kernels: they are right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import shared_folder
from tests.kernels.case import CASES
from tests.kernels.worker import Worker, load_cases

from .clean_client import client

load_cases()
# Under check they take seconds.
LONG = {
    "double_functions_keep_their_bounds",
    "every_atomic_of_every_type",
    "float_functions_keep_their_bounds",
    "index_beyond_thirty_bits",
    "random_programs_of_known_seeds",
    "special_values_of_functions",
    "tiles_of_every_size",
}
# They ask for NaNs.
MAKES_NANS = {"nan_infinity_and_zero"}
NAMES = [
    case.name
    for case in CASES.values()
    if case.group == "kernels"
    and not case.function.__module__.endswith(".faults")
    and case.name not in LONG | MAKES_NANS
]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    made = client(shared_folder(tmp_path_factory, "clean-cache"), 32)
    yield made
    made.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_a_kernel_that_is_right(worker: Worker, name: str) -> None:
    assert worker.ask(name) == []


def test_names_of_long_cases_are_cases() -> None:
    assert set(CASES) >= LONG
