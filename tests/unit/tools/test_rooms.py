# SPDX-License-Identifier: MIT
"""The one list of rooms is true of the tree, and what reads it finds every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.c.run import names
from tools import changed_tests, native
from tools.rooms import PRODUCTS, ROOMS, TESTS

ROOT = native.ROOT
C_FILES = [path.relative_to(ROOT) for path in (ROOT / "csrc").rglob("*.[chS]")]
PACKAGE = [path.relative_to(ROOT) for path in (ROOT / "hipadapt").rglob("*.py")]


def test_every_room_has_a_folder() -> None:
    folders = {name for name in ROOMS if (ROOT / "csrc" / name).is_dir()}

    assert folders == set(ROOMS)


def test_every_room_with_sources_is_in_a_product() -> None:
    built = {name for rooms in PRODUCTS.values() for name in rooms}

    assert {name for name in ROOMS if native.sources((name,))} == built


@pytest.mark.parametrize("folder", TESTS)
def test_tests_of_a_folder_exist(folder: str) -> None:
    # tool/ is kept for the observers.
    assert folder == "tool" or (ROOT / "csrc" / folder).is_dir()
    for place in TESTS[folder].split():
        assert changed_tests.python_tests(place), place


def test_every_test_belongs_to_a_folder() -> None:
    found = {test for name in TESTS for test in changed_tests.tests_of_folder(name)}

    c_tests = {changed_tests.C_TEST.format(name) for name in names()}
    assert c_tests <= found
    assert set(changed_tests.python_tests("cpu")) <= found


def test_folders_of_c_tests_are_those_of_the_sources() -> None:
    folders = {ROOT / "csrc" / name.rpartition("/")[0] for name in names()}

    assert [folder for folder in folders if not folder.is_dir()] == []


def test_change_of_any_file_runs_a_few_tests() -> None:
    known = {changed_tests.C_TEST.format(name) for name in names()}
    most = changed_tests.CLOSEST_C + changed_tests.CLOSEST_PYTHON

    for path in [*C_FILES, *PACKAGE]:
        close = changed_tests.close_tests(path)

        assert close, path
        assert len(close) <= most, path
        assert all(test in known or (ROOT / test).is_file() for test in close), path


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("csrc/cpu/memory/memory_pool.c", "[cpu/memory/pool]"),
        ("csrc/cpu/entry/capture.c", "[cpu/graph/capture]"),
        ("csrc/cpu/memory/reclaim.c", "[cpu/memory/memory]"),
        ("csrc/adapters/cuda_array.c", "tests/unit/adapters/test_cuda_array.py"),
        ("hipadapt/_pool.py", "tests/unit/objects/test_pool.py"),
        ("tests/c/core/test_env.c", "[core/env]"),
    ],
)
def test_closest_test_has_the_words_of_the_file(file: str, test: str) -> None:
    close = changed_tests.close_tests(Path(file))

    assert close
    assert any(each.endswith(test) for each in close)


def test_a_file_outside_of_all_rooms_runs_everything() -> None:
    assert changed_tests.close_tests(Path("pyproject.toml")) is None
