# SPDX-License-Identifier: MIT
"""The adapter order as a table: every kind of input x every type of adapter.

A row makes a fresh input and says which address the adapter has to find, or which
exception it has to raise.  References to the input are counted before and after.
"""

from __future__ import annotations

import array
import ctypes
import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hipadapt import hip, types

from .conftest import AsVoidPointer, CudaArray, Index

ADDRESS = 0x7F0000001000


@dataclass(frozen=True)
class Row:
    """One kind of input."""

    name: str
    make: Callable[[], Any]
    address: Callable[[Any], int] | None = None
    error: type[Exception] | tuple[type[Exception], ...] | None = None
    memory: bool = False  # the input is memory, not an address: lists look at its type


def address_of(buffer: Any) -> int:
    """Address by an independent way: numpy."""
    return int(np.frombuffer(buffer, np.uint8).__array_interface__["data"][0])


def numpy_address(value: Any) -> int:
    """Data address of a numpy array."""
    return int(value.__array_interface__["data"][0])


ROWS = [
    Row("none", lambda: None, lambda _: 0),
    Row("pointer", lambda: types.Pointer(ADDRESS), lambda _: ADDRESS),
    Row("pointer-subclass", lambda: type("Mine", (types.Pointer,), {})(5), lambda _: 5),
    Row("device-array", lambda: types.DeviceArray(ADDRESS), lambda _: ADDRESS),
    Row("int", lambda: 10**6, lambda x: x),
    Row("int-zero", lambda: 0, lambda _: 0),
    Row("int-max", lambda: 2**64 - 1, lambda x: x),
    Row("numpy-int64", lambda: np.int64(5), lambda _: 5),
    Row("numpy-uint8", lambda: np.uint8(5), lambda _: 5),
    Row("index", lambda: Index(ADDRESS), lambda _: ADDRESS),
    Row("c_void_p", lambda: ctypes.c_void_p(ADDRESS), lambda _: ADDRESS),
    Row("c_void_p-null", ctypes.c_void_p, lambda _: 0),
    Row(
        "c_void_p-subclass",
        lambda: type("Mine", (ctypes.c_void_p,), {})(ADDRESS),
        lambda _: ADDRESS,
    ),
    Row(
        "ctypes-pointer",
        lambda: ctypes.pointer(ctypes.c_int(3)),
        lambda x: ctypes.addressof(x.contents),
    ),
    Row(
        "cuda-array",
        lambda: CudaArray(ADDRESS, typestr="|u1"),
        lambda _: ADDRESS,
        memory=True,
    ),
    Row("c_int", lambda: ctypes.c_int(3), ctypes.addressof, memory=True),
    Row("ctypes-array", lambda: (ctypes.c_int * 4)(), ctypes.addressof, memory=True),
    Row("numpy", lambda: np.arange(4.0), numpy_address, memory=True),
    Row(
        "numpy-fortran",
        lambda: np.zeros((3, 4), order="F"),
        numpy_address,
        memory=True,
    ),
    Row("numpy-0d", lambda: np.array(1.5), numpy_address, memory=True),
    Row("numpy-readonly", lambda: np.arange(4.0)[:3], numpy_address, memory=True),
    Row("bytes", lambda: bytes(bytearray(16)), address_of, memory=True),
    Row("bytearray", lambda: bytearray(16), address_of, memory=True),
    Row("memoryview", lambda: memoryview(bytearray(16)), address_of, memory=True),
    Row("array", lambda: array.array("d", [1, 2]), address_of, memory=True),
    Row("as_c_void_p", lambda: AsVoidPointer(ADDRESS), lambda _: ADDRESS),
    # Refused.
    Row("true", lambda: True, error=TypeError),
    Row("numpy-bool", lambda: np.bool_(True), error=TypeError),
    Row("negative", lambda: -1, error=OverflowError),
    Row("negative-large", lambda: -(2**63), error=OverflowError),
    Row("too-large", lambda: 2**64, error=OverflowError),
    Row("far-too-large", lambda: 10**5000, error=OverflowError),
    Row("numpy-negative", lambda: np.int8(-1), error=OverflowError),
    Row("float", lambda: 1.5, error=TypeError),
    Row("numpy-float", lambda: np.float32(1.5), error=TypeError),
    Row("object", object, error=TypeError),
    Row("set", lambda: {1}, error=TypeError),
    Row("class", lambda: CudaArray, error=TypeError),
    Row("numpy-strided", lambda: np.arange(8.0)[::2], error=BufferError),
    Row("numpy-reversed", lambda: np.arange(8.0)[::-1], error=BufferError),
    Row(
        "numpy-broadcast",
        lambda: np.broadcast_to(np.float64(1), (4, 4)),
        error=BufferError,
    ),
    Row(
        "cuda-array-strided",
        lambda: CudaArray(ADDRESS, (4,), strides=(8,)),
        error=BufferError,
    ),
    Row("memoryview-strided", lambda: memoryview(b"abcdef")[::2], error=BufferError),
]

LISTS = (
    types.ListOfBytes,
    types.ListOfPointer,
    types.ListOfInt,
    types.ListOfUnsigned,
    types.ListOfLong,
    types.ListOfUnsignedLong,
    types.ListOfInt64,
    types.ListOfUInt64,
)

TYPES = [
    types.Pointer,
    types.NDBuffer,
    types.DeviceArray,
    types.CStr,
    *LISTS,
    types.PointerToInt,
    types.PointerToInt64,
    types.HipModuleLaunchKernel_extra,
    hip.hipStream_t,
    hip.hipEvent_t,
    hip.hipHostFn_t,
    hip.dim3,
]


def expected(row: Row, adapter: type, value: Any) -> int | type[Exception] | Any:
    """What this cell of the table has to do: an address, or exceptions."""
    if adapter is hip.hipHostFn_t and row.name == "class":
        return "callable"
    if adapter is hip.hipHostFn_t and (row.memory or row.error is BufferError):
        return TypeError  # never a buffer
    if row.error is not None:
        return row.error
    is_array = issubclass(adapter, types.NDBuffer)
    if is_array and row.name == "numpy-fortran":
        return BufferError  # a shape without an order would be a lie
    if issubclass(adapter, LISTS) and row.memory:
        return (TypeError, BufferError, "memory")  # see test_list: it depends
    if adapter is types.CStr and row.memory:
        return "text"
    if adapter is hip.dim3 and row.name in ("c_int", "numpy-0d"):
        return BufferError  # shorter than a dim3
    if adapter is hip.dim3 and row.name == "cuda-array":
        return BufferError
    assert row.address is not None
    return row.address(value)


@pytest.mark.parametrize("adapter", TYPES, ids=lambda t: t.__name__)
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_table(row: Row, adapter: type) -> None:
    value = row.make()
    before = sys.getrefcount(value)
    wanted = expected(row, adapter, value)

    if isinstance(wanted, int):
        made = adapter.fromObj(value)
        assert int(made) == wanted
        assert bool(made) == (wanted != 0) or isinstance(made, LISTS)
        del made
    elif wanted == "callable":
        adapter.fromObj(value)
        gc.collect()  # ctypes functions are cycles
    elif wanted == "text" or (isinstance(wanted, tuple) and "memory" in wanted):
        try:
            adapter.fromObj(value)
        except (TypeError, BufferError, ValueError):
            pass
    else:
        with pytest.raises(wanted) as caught:
            adapter.fromObj(value)
        assert adapter.__name__ in str(caught.value)
        assert "pyobj" in str(caught.value)
        del caught

    if value is not None and not isinstance(value, (bool, int)):
        assert sys.getrefcount(value) == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(16),
        lambda: np.zeros(4),
        lambda: memoryview(bytearray(4)),
        lambda: array.array("i", [1]),
        lambda: bytes(bytearray(5)),
        lambda: CudaArray(),
        lambda: ctypes.c_int(3),
        lambda: ctypes.pointer(ctypes.c_int(3)),
        lambda: AsVoidPointer(8),
    ],
)
@pytest.mark.parametrize("adapter", [types.Pointer, types.NDBuffer, types.DeviceArray])
def test_adapter_keeps_its_input_exactly_as_long_as_it_lives(
    adapter: type, make: Callable[[], Any]
) -> None:
    value = make()
    before = sys.getrefcount(value)

    made = adapter(value)
    if not isinstance(value, np.ndarray):
        assert sys.getrefcount(value) > before
    copy = types.Pointer(made)
    del made
    assert sys.getrefcount(value) > before

    del copy
    gc.collect()
    assert sys.getrefcount(value) == before


# ---- order: objects that two rows could take ----------------------------------------


class BufferAndInterface(bytearray):
    """Both a buffer and a CUDA array."""

    __cuda_array_interface__ = CudaArray(ADDRESS).interface


class PointerAndInterface(types.Pointer):
    """Both a Pointer and a CUDA array."""

    __cuda_array_interface__ = CudaArray(ADDRESS).interface


class IntAndInterface(int):
    """Both an int and a CUDA array."""

    __cuda_array_interface__ = CudaArray(ADDRESS).interface


class VoidAndInterface(ctypes.c_void_p):
    """Both a c_void_p and a CUDA array."""

    __cuda_array_interface__ = CudaArray(ADDRESS).interface


class BufferAndVoid(bytearray):
    """Both a buffer and as_c_void_p()."""

    def as_c_void_p(self) -> ctypes.c_void_p:
        """Another address."""
        return ctypes.c_void_p(ADDRESS)


class ArrayAndIndex(CudaArray):
    """An array of one element converts to int; its address is meant all the same."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (BufferAndInterface(8), ADDRESS),
        (PointerAndInterface(5), 5),
        (IntAndInterface(6), 6),
        (VoidAndInterface(7), 7),
        (ArrayAndIndex(ADDRESS), ADDRESS),
    ],
    ids=["cai-buffer", "pointer-cai", "int-cai", "c_void_p-cai", "cai-index"],
)
def test_order_of_rows(value: Any, address: int) -> None:
    assert int(types.Pointer(value)) == address


def test_order_buffer_before_as_c_void_p() -> None:
    value = BufferAndVoid(8)
    assert int(types.Pointer(value)) == address_of(value)


def test_exact_instance_is_used_as_it_is() -> None:
    for adapter in (types.Pointer, types.DeviceArray, types.CStr, types.ListOfInt):
        made = adapter(None)
        assert adapter.fromObj(made) is made
        assert types.Pointer.fromObj(made) is made


# ---- protocols that misbehave -------------------------------------------------------


def test_failing_interface_does_not_matter_to_objects_that_need_none() -> None:
    class Broken(types.Pointer):
        @property
        def __cuda_array_interface__(self) -> object:
            raise RuntimeError("never asked")

    assert int(types.Pointer(Broken(5))) == 5


def test_error_of_an_interface_is_the_users() -> None:
    class Broken:
        @property
        def __cuda_array_interface__(self) -> object:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        types.Pointer(Broken())


def test_interface_none_counts_as_absent() -> None:
    class Later(bytearray):
        __cuda_array_interface__ = None

    value = Later(4)
    assert int(types.Pointer(value)) == address_of(value)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"data": None}, TypeError),
        ({"data": (4096,)}, TypeError),
        ({"data": ("x", False)}, TypeError),
        ({"data": (True, False)}, TypeError),
        ({"data": (-1, False)}, OverflowError),
        ({"data": (2**64, False)}, OverflowError),
        ({"data": (0, False)}, ValueError),
        ({"shape": None}, TypeError),
        ({"shape": 4}, TypeError),
        ({"shape": (-4,)}, ValueError),
        ({"shape": ("x",)}, TypeError),
        ({"shape": (2**62, 2**62)}, ValueError),
        ({"shape": (1,) * 65}, ValueError),
        ({"typestr": None}, TypeError),
        ({"typestr": 5}, TypeError),
        ({"typestr": "nonsense"}, ValueError),
        ({"typestr": "<f3"}, ValueError),
        ({"typestr": "|V"}, ValueError),
        ({"strides": (1, 2)}, ValueError),
        ({"strides": 8}, TypeError),
        ({"strides": (16,)}, BufferError),
        ({"strides": (-4,)}, BufferError),
        ({"mask": CudaArray()}, BufferError),
    ],
)
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_lying_interface_is_refused(
    adapter: type, change: dict[str, Any], error: type[Exception]
) -> None:
    value = CudaArray()
    value.interface.update(change)
    before = sys.getrefcount(value)
    with pytest.raises(error):
        adapter(value)
    assert sys.getrefcount(value) == before


@pytest.mark.parametrize("interface", [[], 5, "x", ()])
def test_interface_that_is_no_dict_is_refused(interface: object) -> None:
    value = CudaArray()
    value.interface = interface  # type: ignore[assignment]
    with pytest.raises(TypeError, match="no dict"):
        types.Pointer(value)


def test_strides_are_in_the_message() -> None:
    with pytest.raises(BufferError, match=r"shape \(5,\) with strides \(16,\) bytes"):
        types.Pointer(np.arange(10.0)[::2])
    with pytest.raises(BufferError, match=r"shape \(4,\) with strides \(8,\) bytes"):
        types.Pointer(CudaArray(4096, (4,), strides=(8,)))


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((4, 1, 3))[:, :, :],
        np.zeros((1, 4))[::-1],
        np.zeros((5, 0))[::2],
        np.zeros((3, 4), order="F"),
        CudaArray(4096, (4, 1), strides=(4, 999)),
        CudaArray(4096, (2, 3), strides=(4, 8)),
        CudaArray(0, (0, 3), strides=(7, 7)),
    ],
)
def test_memory_without_gaps_is_taken(value: Any) -> None:
    types.Pointer(value)


def test_as_c_void_p_answers_nonsense() -> None:
    value = AsVoidPointer(0)
    value.as_c_void_p = lambda: "x"  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(TypeError, match="as_c_void_p"):
        types.Pointer(value)
