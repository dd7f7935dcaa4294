# SPDX-License-Identifier: MIT
"""The one list of rooms is true of the tree, and what reads it finds every file."""

from __future__ import annotations

import pytest

from tools import changed_tests, native
from tools.rooms import PRODUCTS, ROOMS

ROOT = native.ROOT
C_FILES = [path.relative_to(ROOT) for path in (ROOT / "csrc").rglob("*.[chS]")]
PACKAGE = [path.relative_to(ROOT) for path in (ROOT / "hipadapt").rglob("*.py")]
# Names of all; a change of them may break anything.
EVERYTHING = {"__init__", "hip", "hiprtc", "types", "typing", "compat"}


def test_every_room_has_a_folder() -> None:
    folders = {name for name in ROOMS if (ROOT / "csrc" / name).is_dir()}

    assert folders == set(ROOMS)


def test_every_room_with_sources_is_in_a_product() -> None:
    built = {name for rooms in PRODUCTS.values() for name in rooms}

    assert {name for name in ROOMS if native.sources((name,))} == built


@pytest.mark.parametrize("name", ROOMS)
def test_tests_of_a_room_exist(name: str) -> None:
    tests = changed_tests.tests_of_room(ROOMS[name])
    every = changed_tests.c_tests()

    assert tests
    assert [t for t in tests if t not in every and not (ROOT / t).is_dir()] == []
    for word in ROOMS[name].c_tests:
        assert any(f"[{word}" in test for test in tests), word


def test_every_c_test_belongs_to_a_room() -> None:
    found = {t for room in ROOMS.values() for t in changed_tests.tests_of_room(room)}

    assert set(changed_tests.c_tests()) <= found


def test_change_of_any_file_has_tests() -> None:
    wanted = {path: changed_tests.tests_of(path) for path in [*C_FILES, *PACKAGE]}

    unknown = [path for path, tests in wanted.items() if not tests]
    assert [path for path in unknown if path.stem not in EVERYTHING] == []
    named = {t for tests in wanted.values() for t in tests or () if "[" not in t}
    assert [test for test in named if not (ROOT / test).exists()] == []
