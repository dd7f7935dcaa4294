# SPDX-License-Identifier: MIT
"""NULL records, elements out of range and impossible lengths, for every exported type."""

from __future__ import annotations

import gc
from types import ModuleType
from typing import Any

import pytest

from tools.codegen import model

RECORDS = [r.name for r in model.load().all_records()]
LISTS = ["CStr", "ListOfInt", "ListOfUnsigned", "ListOfLong", "ListOfUnsignedLong"]
LISTS += ["ListOfInt64", "ListOfUInt64", "ListOfPointer", "ListOfBytes"]
LISTS += ["PointerToInt", "PointerToUnsigned", "PointerToLong", "PointerToInt64"]
LENGTHS: list[tuple[Any, Any]] = [
    (-1, (OverflowError, ValueError)),
    (-(2**62), (OverflowError, ValueError)),
    (2**62, (MemoryError, OverflowError)),
    (2**63 - 1, (MemoryError, OverflowError)),
    (2**70, OverflowError),
    (1.5, TypeError),
    ("1", TypeError),
    (None, TypeError),
]
OUTSIDE = [2, 3, -1, -3, 10**9, 2**31, 2**62, -(2**62), 2**70, -(2**70)]


def record_type(cpu: ModuleType, name: str) -> Any:
    found = getattr(cpu, name, None)
    if found is None:
        pytest.skip(f"{name} has no Python name of its own")
    return found


def elements(record: Any) -> list[str]:
    """Names of members that elements of an array have."""
    return [n[4:] for n in dir(record) if n.startswith("get_")]


@pytest.mark.parametrize("name", RECORDS)
def test_null_record_has_no_members(cpu: ModuleType, name: str) -> None:
    made = record_type(cpu, name)
    null = made.fromObj(None)

    assert not null
    assert null.is_ptr_null
    assert "NULL" in repr(null)
    for member in made.PROPERTIES():
        with pytest.raises(ValueError, match="NULL"):
            getattr(null, member)
        with pytest.raises(ValueError, match="NULL"):
            setattr(null, member, getattr(made(), member))
    for member in elements(made):
        with pytest.raises(ValueError, match="NULL"):
            getattr(null, f"get_{member}")(0)
    for use in (lambda: null[0], lambda: list(null), lambda: null[2**70]):
        with pytest.raises((ValueError, IndexError)):
            use()
    with pytest.raises(BufferError):
        memoryview(null)


@pytest.mark.parametrize("name", RECORDS)
def test_elements_out_of_range_are_refused(cpu: ModuleType, name: str) -> None:
    made = record_type(cpu, name)
    two = made.allocate(2)

    for member in elements(made):
        get, set_ = getattr(two, f"get_{member}"), getattr(two, f"set_{member}", None)
        value = get(1)
        for index in OUTSIDE:
            with pytest.raises((IndexError, OverflowError)):
                get(index)
            if set_ is not None:
                with pytest.raises((IndexError, OverflowError)):
                    set_(index, value)
        for index in (None, "0", 1.0):
            with pytest.raises(TypeError):
                get(index)


@pytest.mark.parametrize("name", RECORDS)
def test_impossible_lengths_are_refused(cpu: ModuleType, name: str) -> None:
    made = record_type(cpu, name)
    if made.c_sizeof() == 0:
        pytest.skip("an empty record: any number of them takes no memory")

    for length, errors in LENGTHS:
        with pytest.raises(errors):
            made.allocate(length)
    assert len(bytes(memoryview(made.allocate(3)))) == 3 * made.c_sizeof()


@pytest.mark.parametrize("name", RECORDS)
def test_member_outlives_its_record(cpu: ModuleType, name: str) -> None:
    """What is read from a record stays readable after the record itself is gone."""
    made = record_type(cpu, name)
    record = made.allocate(2)
    parts = [getattr(record, member) for member in made.PROPERTIES()]
    view = memoryview(record)
    before = [repr(part) for part in parts], bytes(view)

    del record
    gc.collect(0)
    made.allocate(2)

    assert ([repr(part) for part in parts], bytes(view)) == before


@pytest.mark.parametrize("name", LISTS)
def test_impossible_lengths_of_lists_are_refused(cpu: ModuleType, name: str) -> None:
    from hipadapt import types

    made = getattr(types, name)
    if not hasattr(made, "allocate"):
        pytest.skip(f"{name} allocates nothing")

    for length, errors in LENGTHS:
        with pytest.raises(errors):
            made.allocate(length)


def test_array_elements_out_of_range_are_refused(cpu: ModuleType) -> None:
    status, array = cpu.hipMalloc(64)
    assert status == 0
    lists = [array.configure(typestr="f4", shape=(4, 4))]
    for thing in lists:
        for index in (4, -5, 2**31, 2**62, -(2**62), 2**70, (0, 4), (0, -5), (0, 0, 0)):
            with pytest.raises(IndexError):
                thing[index]
    cpu.hipFree(array)


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (-1,)},
        {"shape": (2**62, 2**62)},
        {"shape": (17,), "typestr": "f4"},
        {"typestr": "?9"},
        {"itemsize": -1},
        {"shape": "x"},
        {"shape": (1.5,)},
        {"nothing": 1},
    ],
)
def test_impossible_shapes_are_refused(
    cpu: ModuleType, changes: dict[str, Any]
) -> None:
    status, array = cpu.hipMalloc(64)
    assert status == 0

    with pytest.raises((TypeError, ValueError, OverflowError, BufferError, KeyError)):
        array.configure(**changes)

    assert array.shape == (64,)
    cpu.hipFree(array)
