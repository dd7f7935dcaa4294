# SPDX-License-Identifier: MIT
"""Runs the C tests of tests/c."""

from __future__ import annotations

import os
import shutil

import pytest

from .c import run as c_tests


@pytest.fixture(scope="session")
def built() -> None:
    if not (os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("no C compiler; install gcc or clang to run the C tests")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", c_tests.names())
def test_c_program_exits_with_success(name: str) -> None:
    try:
        outcome = c_tests.run(name)
    except SystemExit as failure:
        pytest.fail(str(failure.code))
    if outcome.word == "skipped":
        pytest.skip(outcome.output.strip().rpartition("\n")[2])
    assert outcome.status == 0, f"exit status {outcome.status}\n{outcome.output}"
