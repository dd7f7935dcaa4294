# SPDX-License-Identifier: MIT
"""Forms: parameter lists of a function that has several, and lists of records."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

import pytest

from hipadapt import types


def test_caller_may_bring_the_record(cpu: ModuleType) -> None:
    mine = cpu.hipDeviceProp_t()

    status, made = cpu.hipGetDeviceProperties(0)
    alone = cpu.hipGetDeviceProperties(mine, 0)

    assert status == 0
    assert alone == (status,)
    assert mine == made
    assert mine.name == made.name != ""
    for result in (
        cpu.hipGetDeviceProperties(prop=mine, deviceId=0),
        cpu.hipGetDeviceProperties(deviceId=0, prop=mine),
        cpu.hipGetDeviceProperties(mine, deviceId=0),
    ):
        assert result == (status,)
    assert len(cpu.hipGetDeviceProperties(deviceId=0)) == 2


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, r"\(deviceId\) or \(prop, deviceId\); 0 arguments were given"),
        ((None, 0, 0), {}, "3 arguments were given"),
        ((), {"x": 0}, "unexpected keyword argument 'x'"),
        ((), {"prop": None}, "unexpected keyword argument 'prop'"),
        ((0,), {"deviceId": 0}, "argument 'prop'|multiple values"),
        ((None,), {"prop": None}, "multiple values|unexpected keyword"),
    ],
)
def test_arguments_that_fit_no_form_are_refused(
    cpu: ModuleType, args: Any, kwargs: Any, message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        cpu.hipGetDeviceProperties(*args, **kwargs)


def test_result_is_what_the_form_does_not_take(cpu: ModuleType) -> None:
    desc, extent = cpu.hipChannelFormatDesc(), cpu.hipExtent()

    assert len(cpu.hipArrayGetInfo(None)) == 4
    assert len(cpu.hipArrayGetInfo(desc, extent, None)) == 2
    assert len(cpu.hipTexRefGetArray(None)) == 2
    assert len(cpu.hipTexRefGetArray(types.Pointer().createRef(), None)) == 1
    assert cpu.hipMipmappedArrayDestroy()[1:] == (None,)
    assert len(cpu.hipMipmappedArrayDestroy(None)) == 1


def test_forms_of_one_length_are_told_apart_by_keywords(cpu: ModuleType) -> None:
    array = types.Pointer()

    usual = cpu.hipMipmappedArrayGetLevel(None, 0)
    named = cpu.hipMipmappedArrayGetLevel(hMipMappedArray=None, level=0)
    other = cpu.hipMipmappedArrayGetLevel(pLevelArray=array.createRef(), level=0)

    assert usual == named
    assert usual[0] != 0
    assert other == (usual[0], None)
    with pytest.raises(TypeError, match="keyword"):
        cpu.hipMipmappedArrayGetLevel(array=None, level=0)


@pytest.mark.parametrize("short", [ctypes.c_byte * 4, bytearray])
def test_memory_brought_for_an_output_must_hold_it(cpu: ModuleType, short: Any) -> None:
    memory = short() if short is not bytearray else bytearray(4)

    with pytest.raises(ValueError, match="argument 'pArray' has 4 bytes"):
        cpu.hipTexRefGetArray(memory, None)
    with pytest.raises(BufferError, match="argument 'pArray'"):
        cpu.hipTexRefGetArray(b"read-only", None)


def test_list_left_out_has_no_entries(cpu: ModuleType) -> None:
    assert cpu.hipModuleLoadDataEx(None, 0, None)[0] != 0
    with pytest.raises(ValueError, match="numOptions is 1"):
        cpu.hipModuleLoadDataEx(None, 1, [None])
    with pytest.raises(ValueError, match="'options' has 0 entries"):
        cpu.hipModuleLoadDataEx(None, 1, None, [None])


def test_list_of_records(cpu: ModuleType) -> None:
    one = cpu.hipMemAccessDesc(location=(1, 0), flags=3)
    several = cpu.hipMemAccessDesc.allocate(2)
    good = cpu.hipMemSetAccess(None, 0, one, 1)

    for fitting, count in (
        ([one, one], 2),
        ((one,), 1),
        ([((1, 0), 3), one], 2),
        ([bytes(one)], 1),
        (several, 2),
        (bytes(one) * 3, 3),
        ([], 0),
        (None, 0),
    ):
        assert cpu.hipMemSetAccess(None, 0, fitting, count) == good
        with pytest.raises(ValueError, match=rf"'desc' has {count} entries"):
            cpu.hipMemSetAccess(None, 0, fitting, count + 1)


@pytest.mark.parametrize("wrong", [[5], [None], ["x"], [[5, "x"]], [types.Pointer(5)]])
def test_list_of_records_refuses_other_entries(cpu: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"argument 'desc\[0\]'"):
        cpu.hipMemSetAccess(None, 0, wrong, 1)


def test_size_asked_for_depends_on_the_attribute(cpu: ModuleType) -> None:
    attribute = cpu.hipPointer_attribute
    _, memory = cpu.hipMalloc(64)
    try:
        for member, size in (
            (attribute.HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 4),
            (attribute.HIP_POINTER_ATTRIBUTE_RANGE_SIZE, 8),
            (attribute.HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, 8),
        ):
            room = bytearray(size)
            assert cpu.hipPointerGetAttribute(room, member, memory)[0] == 0
            with pytest.raises(ValueError, match=f"attribute asks for {size} bytes"):
                cpu.hipPointerGetAttribute(room[1:], member, memory)
    finally:
        cpu.hipFree(memory)


def test_freed_record_is_null(cpu: ModuleType) -> None:
    """The record stays as it is where HIP did not free it."""
    record = cpu.hipMipmappedArray()

    assert cpu.hipFreeMipmappedArray(record)[0] != 0
    assert record
