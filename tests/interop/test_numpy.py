# SPDX-License-Identifier: MIT
"""numpy and our arrays, both ways: by address, by writing through, by life."""

from __future__ import annotations

import gc
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import _core

if np.lib.NumpyVersion(np.__version__) < "2.1.0":
    pytest.skip(
        "numpy.from_dlpack(device=...) needs numpy 2.1", allow_module_level=True
    )

MEMORIES = ["device", "pinned", "managed", "host"]


def address(array: Any) -> int:
    """Where a numpy array begins."""
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("memory", MEMORIES)
def test_numpy_takes_our_memory_without_a_copy(cpu: ModuleType, memory: str) -> None:
    array = _core.array_allocate((2, 3), "f4", memory=memory)
    np.asarray(array.host())[:] = 0  # as it comes, it may be no number

    for got in (
        np.from_dlpack(array, device="cpu"),
        np.from_dlpack(array, device="cpu", copy=False),
        np.from_dlpack(array.host()),
        np.asarray(array.host()),
    ):
        assert address(got) == int(array)
        assert (got.shape, got.dtype) == ((2, 3), np.float32)
        got[:] = 5 + got[0, 0]
        assert (array.numpy() == got).all()


def test_numpy_takes_pinned_memory_as_it_is(cpu: ModuleType) -> None:
    array = _core.array_allocate((2, 3), "f4", memory="pinned")

    assert address(np.from_dlpack(array)) == int(array)


def test_numpy_refuses_device_memory_without_a_word(cpu: ModuleType) -> None:
    with pytest.raises((RuntimeError, BufferError)):
        np.from_dlpack(_core.array_allocate(4, "f4", memory="device"))


@pytest.mark.parametrize("memory", MEMORIES)
def test_numpy_gets_a_copy_where_it_asks(cpu: ModuleType, memory: str) -> None:
    array = _core.array_allocate(4, "i4", memory=memory)
    _core.array_write(array, np.arange(4, dtype="i4"))

    got = np.from_dlpack(array, device="cpu", copy=True)

    assert address(got) != int(array)
    assert got.tolist() == [0, 1, 2, 3]


def test_read_only_goes_to_numpy_and_comes_from_it() -> None:
    ours = hipadapt.DeviceArray(bytes(8))
    theirs = np.zeros(4)
    theirs.flags.writeable = False

    assert not np.from_dlpack(ours).flags.writeable
    assert _core.from_dlpack(theirs).is_read_only


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]
)
def test_element_types_both_ways(dtype: str) -> None:
    source = np.arange(6).reshape(2, 3).astype(dtype)

    ours = hipadapt.from_dlpack(source)
    back = np.from_dlpack(ours)

    assert (address(source), int(ours)) == (int(ours), address(back))
    assert (ours.dtype, back.dtype) == (source.dtype, source.dtype)
    assert (back == source).all()


@pytest.mark.parametrize("dtype", [">f4", "S3", "M8[s]", "i4,f4"])
def test_what_numpy_does_not_export_is_refused(dtype: str) -> None:
    with pytest.raises(BufferError):
        hipadapt.from_dlpack(np.zeros(3, dtype))


@pytest.mark.parametrize("cut", [np.s_[::2], np.s_[:, ::2], np.s_[::-1], np.s_[:, 1]])
def test_gaps_are_refused_and_numpy_lives_on(cut: Any) -> None:
    source = np.zeros((4, 4))
    part = source[cut]
    gone = weakref.ref(part)

    with pytest.raises(BufferError):
        hipadapt.from_dlpack(part)

    del part
    gc.collect()
    assert gone() is None


def test_lives_of_both_sides(cpu: ModuleType) -> None:
    ours = _core.array_allocate(4, "f4", memory="pinned")
    where = int(ours)
    theirs = np.from_dlpack(ours)
    del ours
    gc.collect()

    back = hipadapt.from_dlpack(theirs)
    del theirs
    gc.collect()
    alive = int(cpu.hipPointerGetAttributes(where)[1].type)
    del back
    gc.collect()

    assert alive == 1
    assert int(cpu.hipPointerGetAttributes(where)[1].type) == 0


def test_calls_take_numpy_and_pinned_arrays(cpu: ModuleType) -> None:
    staging = hipadapt.pinned_empty((2, 3), "i4")
    staging[:] = np.arange(6).reshape(2, 3)
    device = _core.array_allocate((2, 3), "i4")
    out = np.zeros((2, 3), "i4")

    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    cpu.hipMemcpyAsync(device, staging, staging.nbytes, kind, None)
    cpu.hipMemcpy(out, device, out.nbytes, kind)

    assert (out == staging).all()
