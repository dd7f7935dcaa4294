# SPDX-License-Identifier: MIT
"""Enums as classes, as arguments and as results."""

from __future__ import annotations

import ctypes
import enum
from types import ModuleType

import pytest

from tests.conftest import Run


def test_enum_members_are_those_of_hip(cpu: ModuleType) -> None:
    kind = cpu.hipMemcpyKind

    assert issubclass(kind, enum.IntEnum)
    assert kind.hipMemcpyDeviceToHost == 2
    assert kind(2) is kind.hipMemcpyDeviceToHost
    assert kind.__module__ == "hipadapt.hip"
    assert kind.ctypes_type() is ctypes.c_uint
    assert cpu.hipMemcpyKind is kind


def test_enum_rejects_unknown_values_from_python(cpu: ModuleType) -> None:
    with pytest.raises(ValueError, match="98765"):
        cpu.hipError_t(98765)


def test_enum_argument_takes_member_and_its_int(cpu: ModuleType) -> None:
    attribute = cpu.hipDeviceAttribute_t.hipDeviceAttributeWarpSize

    by_member = cpu.hipDeviceGetAttribute(attribute, 0)
    by_int = cpu.hipDeviceGetAttribute(int(attribute), 0)

    assert by_member == by_int
    assert by_member[0] is cpu.hipError_t.hipSuccess


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (98765, ValueError),
        (-1, ValueError),
        (2**80, ValueError),
        (True, TypeError),
        (1.0, TypeError),
        ("1", TypeError),
        (None, TypeError),
        ("other enum", TypeError),
    ],
)
def test_enum_argument_refuses_anything_else(
    cpu: ModuleType, value: object, error: type[Exception]
) -> None:
    if value == "other enum":
        value = cpu.hipMemcpyKind.hipMemcpyHostToHost

    with pytest.raises(error, match=r"hipDeviceGetAttribute: argument 'attr'"):
        cpu.hipDeviceGetAttribute(value, 0)


def test_unknown_status_becomes_int_valued_member(fake: Run) -> None:
    fake("""
        hip.hipGetDeviceCount()
        fake.fake_fail(98765)
        status, count = hip.hipGetDeviceCount()
        assert status == 98765 and isinstance(status, hip.hipError_t), status
        assert repr(status) == "<hipError_t.unknown(98765): 98765>", repr(status)
        assert status not in list(hip.hipError_t)
        assert status != hip.hipError_t.hipSuccess
        assert count == 0, count
        fake.fake_fail(-5)
        assert hip.hipMalloc(16) == (-5, None)
        fake.fake_fail(1098)
        assert hip.hipFree(None) == (1098,)
    """)


def test_unknown_enum_output_becomes_int_valued_member(fake: Run) -> None:
    fake("""
        status, capture = hip.hipStreamIsCapturing(None)
        assert status == 0
        assert capture == 77 and isinstance(capture, hip.hipStreamCaptureStatus)
    """)


def test_status_objects_are_the_same_each_time(cpu: ModuleType) -> None:
    cpu.hipGetLastError()  # takes what another test left
    first = cpu.hipGetLastError()
    second = cpu.hipGetLastError()

    assert first is second
    assert first == (cpu.hipError_t.hipSuccess,)
