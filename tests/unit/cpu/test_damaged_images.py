# SPDX-License-Identifier: MIT
"""Damaged and cut images: an error each, never a fault.

tests/unit/cpu/mutations.py is the program that makes the damage; 20,000 pieces of it
take half a minute (HIPADAPT_SLOW_TESTS=1), and links much longer.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import hip
from tests.conftest import Run

from .mutations import Guarded, bundle, compiled, device_id

SLOW = os.environ.get("HIPADAPT_SLOW_TESTS", "0") not in ("", "0")
LOADS_MADE = 20000 if SLOW else 540
INVALID = hip.hipError_t.hipErrorInvalidImage


@pytest.fixture(scope="module")
def image(cpu: ModuleType) -> bytes:
    return compiled()


def load_module(image: Any) -> tuple[Any, ...]:
    return hip.hipModuleLoadData(image)


def load_module_ex(image: Any) -> tuple[Any, ...]:
    return hip.hipModuleLoadDataEx(image, 0, [], [])


def load_fat_binary(image: Any) -> tuple[Any, ...]:
    return hip.hipModuleLoadFatBinary(image)


def load_library(image: Any) -> tuple[Any, ...]:
    return hip.hipLibraryLoadData(image, [], [], 0, [], [], 0)


LOADS = (load_module, load_module_ex, load_fat_binary, load_library)


def test_mutations_when_given_to_all_that_takes_them_end_nothing(
    run_python: Run,
) -> None:
    code = "from tests.unit.cpu import mutations; mutations.main()"

    done = run_python(
        code, "--loads", str(LOADS_MADE), "--links", "2", HIPADAPT_LOG="0"
    )

    assert str(LOADS_MADE + 2) in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("byte", range(40, 48))
def test_image_when_its_header_points_far_away_is_refused(
    image: bytes, load: Any, byte: int
) -> None:
    broken = bytearray(image)
    broken[byte] ^= 0x10

    answers = load(bytes(broken))[0], load(broken)[0]

    assert answers == (INVALID, INVALID)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("cut", [1, 2, 7, 8, 16, 64, 65])
def test_image_when_its_end_is_cut_off_is_refused(
    image: bytes, load: Any, cut: int
) -> None:
    # What lies behind it in memory would make it whole.
    room = (ctypes.c_char * len(image)).from_buffer_copy(image)
    short = memoryview(room)[: len(image) - cut]

    assert load(short)[0] == INVALID
    assert "cut short" in hipadapt.error_text()


@pytest.mark.parametrize("load", LOADS)
def test_image_when_it_is_empty_is_refused(image: bytes, load: Any) -> None:
    room = (ctypes.c_char * len(image)).from_buffer_copy(image)

    assert load(memoryview(room)[:0])[0] == INVALID


@pytest.mark.parametrize("load", LOADS)
def test_bundle_when_it_is_cut_is_refused(image: bytes, load: Any) -> None:
    whole = bundle((device_id(), image))

    answers = [load(whole[:size])[0] for size in (24, 31, 32, 56, 90, len(whole) - 1)]

    assert answers == [INVALID] * 6
    assert load(whole)[0] == 0


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("left", [1, 3, 16, 63, 64, 1000, -1])
def test_address_when_memory_ends_early_is_refused(
    image: bytes, load: Any, left: int
) -> None:
    room = Guarded(len(image))
    short = image[:left]

    assert load(room.put(short))[0] == INVALID


@pytest.mark.parametrize("load", LOADS)
def test_address_when_nothing_is_there_is_refused(cpu: ModuleType, load: Any) -> None:
    room = Guarded(mmap.PAGESIZE)

    assert load(room.base + room.room)[0] == INVALID
    assert load(room.base)[0] == INVALID  # zeros


@pytest.mark.parametrize("load", LOADS)
def test_size_of_one_load_is_not_used_by_the_next(image: bytes, load: Any) -> None:
    room = (ctypes.c_char * len(image)).from_buffer_copy(image)
    assert load(memoryview(room)[:80])[0] == INVALID

    # The same place again, as a mere address.
    assert load(ctypes.addressof(room))[0] == 0
