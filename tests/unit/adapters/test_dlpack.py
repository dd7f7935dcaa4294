# SPDX-License-Identifier: MIT
"""DLPack: addresses are read from capsules, and capsules are never consumed."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import pytest

from hipadapt import _core, types

from .conftest import read
from .dlpack_c import (
    BFLOAT,
    BOOL,
    COMPLEX,
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    EXT,
    FLOAT,
    INT,
    ROCM,
    ROCM_HOST,
    UINT,
    Producer,
)


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3), (1, 99)])
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray, types.NDBuffer])
def test_address_is_taken_and_the_capsule_kept(adapter: Any, version: Any) -> None:
    producer = Producer(version=version)
    made = adapter(producer)
    assert int(made) == ctypes.addressof(producer.memory)
    assert producer.asked == [{"max_version": (1, 3)}]
    assert producer.alive == 1
    copy = types.Pointer(made)
    del made
    gc.collect()
    assert producer.alive == 1
    del copy
    gc.collect()
    assert producer.alive == 0
    assert not producer.consumed


TAKE = [types.Pointer, types.DeviceArray, _core.from_dlpack]


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("take", TAKE)
def test_capsule_without_destructor_is_deleted_once(take: Any, version: Any) -> None:
    producer = Producer(version=version, destructor=False)

    made = take(producer)
    part = types.Pointer(made)
    del made
    gc.collect()
    before = producer.deleted
    del part
    gc.collect()

    assert (before, producer.deleted) == (0, 1)


@pytest.mark.parametrize(
    "wrong", [{"version": (2, 0)}, {"device": CUDA}, {"strides": (9, 2)}]
)
@pytest.mark.parametrize("take", TAKE)
def test_refused_capsule_without_destructor_is_deleted(take: Any, wrong: Any) -> None:
    producer = Producer(destructor=False, **wrong)

    with pytest.raises(BufferError):
        take(producer)

    assert producer.deleted == 1


def test_capsule_with_neither_destructor_nor_deleter_is_kept() -> None:
    producer = Producer(destructor=False, deleter=False)

    assert int(types.Pointer(producer)) == ctypes.addressof(producer.memory)


@pytest.mark.parametrize(
    "beyond",
    [
        {"offset": 2**64 - 1},
        {"data": 2**64 - 8, "offset": 8},
        {"data": 2**64 - 8},
        {"data": 2**63, "offset": 2**63 - 20},
    ],
)
@pytest.mark.parametrize("take", TAKE)
def test_memory_beyond_the_last_address_is_refused(take: Any, beyond: Any) -> None:
    with pytest.raises(OverflowError, match="beyond the last address"):
        take(Producer(**beyond))


def test_producer_before_version_1() -> None:
    producer = Producer(version=None, modern=False)
    made = types.Pointer(producer)
    assert producer.asked == [{"max_version": (1, 3)}, {}]
    assert producer.alive == 1
    del made
    assert producer.alive == 0


def test_shape_and_type() -> None:
    made = types.DeviceArray(Producer(shape=(2, 3), device=ROCM))
    assert made.shape == (2, 3)
    assert made.typestr == "<f4"
    assert types.DeviceArray(Producer(shape=())).shape == ()
    with pytest.raises(BufferError):
        memoryview(made)
    assert len(memoryview(types.NDBuffer(Producer(device=ROCM_HOST))).tobytes()) == 24


@pytest.mark.parametrize(
    ("dtype", "typestr"),
    [
        ((INT, 8, 1), "|i1"),
        ((UINT, 16, 1), "<u2"),
        ((FLOAT, 16, 1), "<f2"),
        ((COMPLEX, 64, 1), "<c8"),
        ((BOOL, 8, 1), "|b1"),
        ((BFLOAT, 16, 1), "<V2"),
        ((FLOAT, 32, 4), "|V16"),
        ((99, 32, 1), "|V4"),
    ],
)
def test_types(dtype: Any, typestr: str) -> None:
    made = types.DeviceArray(Producer(shape=(2,), dtype=dtype))
    assert made.__cuda_array_interface__["typestr"] == typestr


def test_offset_is_added() -> None:
    producer = Producer(offset=8)
    producer.memory[8] = b"x"
    made = types.Pointer(producer)
    assert int(made) == ctypes.addressof(producer.memory) + 8
    assert read(made, 1) == b"x"


def test_devices() -> None:
    for device in (CPU, CUDA_HOST, ROCM, ROCM_HOST, CUDA_MANAGED):
        types.Pointer(Producer(device=device))
    for device in (CUDA, EXT, 0, -1):
        with pytest.raises(BufferError, match=f"device type {device}"):
            types.Pointer(Producer(device=device))


def test_strides() -> None:
    types.DeviceArray(Producer(strides=(3, 1)))
    types.Pointer(Producer(strides=(1, 2)))
    types.Pointer(Producer(shape=(0, 3), strides=(7, 7)))
    with pytest.raises(BufferError, match=r"C-contiguous.*strides \(4, 8\) bytes"):
        types.DeviceArray(Producer(strides=(1, 2)))
    for strides in ((6, 2), (-3, -1), (0, 0), (2**62, 2**62)):
        with pytest.raises(BufferError, match="strides"):
            types.Pointer(Producer(strides=strides))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"version": (2, 0)}, BufferError),
        ({"version": (0, 8)}, BufferError),
        ({"name": b"used_dltensor"}, BufferError),
        ({"name": b"something"}, BufferError),
        ({"ndim": -1}, ValueError),
        ({"ndim": 65}, ValueError),
        ({"shape": None, "ndim": 2}, ValueError),
        ({"shape": (-1,)}, ValueError),
        ({"shape": (2**62, 2**62)}, ValueError),
    ],
)
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_refused(adapter: Any, arguments: Any, error: type[Exception]) -> None:
    producer = Producer(**arguments)
    with pytest.raises(error):
        adapter(producer)
    assert producer.alive == 0


def test_sub_byte_elements() -> None:
    types.Pointer(Producer(dtype=(UINT, 4, 1)))
    with pytest.raises(BufferError, match="4 bits"):
        types.DeviceArray(Producer(dtype=(UINT, 4, 1)))


def test_read_only_flag() -> None:
    made = types.DeviceArray(Producer(flags=1))
    assert made.is_read_only
    with pytest.raises(BufferError, match="read-only"):
        types.PointerToInt(Producer(flags=1, dtype=(INT, 32, 1), shape=(1,))).value = 1
    assert not types.DeviceArray(Producer(version=None)).is_read_only


def test_answers_nonsense() -> None:
    class Nonsense:
        def __dlpack__(self, **kwargs: Any) -> Any:
            return 5

    with pytest.raises(BufferError, match="no unused DLPack capsule"):
        types.Pointer(Nonsense())

    class Failing:
        def __dlpack__(self, **kwargs: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        types.Pointer(Failing())
    with pytest.raises(TypeError):
        types.Pointer(Producer)
