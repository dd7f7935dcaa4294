# SPDX-License-Identifier: MIT
"""bfloat16 and the 8-bit floats, which numpy has from ml_dtypes."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import _core, types

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

NAMES = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]


@pytest.fixture(params=NAMES)
def source(request: pytest.FixtureRequest) -> Any:
    """1, 2, 4, 8 in each element type."""
    return np.array([1, 2, 4, 8]).astype(getattr(ml_dtypes, request.param))


def test_arrays_keep_the_element_type(source: Any) -> None:
    array = types.DeviceArray(source)

    assert array.dtype == source.dtype
    assert (array.type_name, array.itemsize) == (source.dtype.name, source.itemsize)
    assert np.asarray(array).dtype == source.dtype
    assert np.asarray(array).tolist() == [1, 2, 4, 8]
    assert np.asarray(array).ctypes.data == source.ctypes.data


def test_copies_keep_the_element_type(cpu: ModuleType, source: Any) -> None:
    device = _core.array_allocate(4, source.dtype, memory="device")
    _core.array_write(device, source)

    again = pickle.loads(pickle.dumps(device))

    assert device.numpy().tolist() == [1, 2, 4, 8]
    assert (again.dtype, again.numpy().tolist()) == (source.dtype, [1, 2, 4, 8])


def test_pinned_and_managed_memory(cpu: ModuleType, source: Any) -> None:
    for dtype in (source.dtype, source.dtype.name, source.dtype.type):
        pinned = hipadapt.pinned_empty(4, dtype)
        pinned[:] = source
        managed = hipadapt.managed_empty(4, dtype)
        np.asarray(managed)[:] = source

        assert pinned.dtype == managed.dtype == source.dtype
        assert managed.numpy().tolist() == pinned.tolist() == [1, 2, 4, 8]


def test_bfloat16_is_no_void_in_the_cuda_array_interface() -> None:
    array = types.DeviceArray(np.zeros(4, ml_dtypes.bfloat16))

    interface = array.__cuda_array_interface__

    assert interface["typestr"] == np.dtype(ml_dtypes.bfloat16).str == "<V2"
    assert array.configure(typestr=np.dtype("V2")).type_name == "|V2"
    assert array.configure(typestr="<V2").dtype == ml_dtypes.bfloat16


def test_dtype_of_ml_dtypes_in_configure(source: Any) -> None:
    array = types.DeviceArray(bytearray(source.nbytes))

    array.configure(typestr=source.dtype, shape=(4,))

    assert array.dtype == source.dtype
