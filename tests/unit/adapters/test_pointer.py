# SPDX-License-Identifier: MIT
"""Pointer: what every adapter type has in common."""

from __future__ import annotations

import array
import copy
import ctypes
import gc
import math
import pickle
import struct
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from hipadapt import hip, types

from .conftest import read

ALL = [
    types.Pointer,
    types.NDBuffer,
    types.DeviceArray,
    types.CStr,
    types.ListOfBytes,
    types.ListOfPointer,
    types.ListOfInt,
    types.ListOfUnsigned,
    types.ListOfLong,
    types.ListOfUnsignedLong,
    types.ListOfInt64,
    types.ListOfUInt64,
    types.PointerToInt,
    types.PointerToUnsigned,
    types.PointerToLong,
    types.PointerToUnsignedLong,
    types.PointerToInt64,
    types.PointerToUInt64,
    types.HipModuleLaunchKernel_extra,
    hip.hipStream_t,
    hip.hipHostFn_t,
    hip.dim3,
]

each = pytest.mark.parametrize("adapter", ALL, ids=lambda t: t.__name__)


@each
def test_what_all_types_have(adapter: type[types.Pointer]) -> None:
    made = adapter.fromObj(0x1230)
    same = adapter.fromObj(0x1230) if adapter is not hip.dim3 else made
    null = adapter.fromObj(None)

    assert isinstance(made, types.Pointer)
    assert int(made) == 0x1230
    assert hex(made) == "0x1230"
    assert made and not null
    assert null.is_ptr_null and not made.is_ptr_null
    assert isinstance(made.as_c_void_p(), ctypes.c_void_p)
    assert made.as_c_void_p().value == 0x1230
    assert null.as_c_void_p().value is None
    assert adapter.fromObj(made) is made
    assert adapter.fromPyobj(made) is made
    assert weakref.ref(made)() is made
    assert "NULL" in repr(null)
    assert adapter.__name__ in repr(null)
    if adapter not in (types.CStr, hip.dim3):
        assert hash(made) == hash(same)
        assert made == same
        assert made != null
        assert not made == 0x1230
        assert "1230" in repr(made)


@each
def test_python_subclass(adapter: type[types.Pointer]) -> None:
    class Mine(adapter):  # type: ignore[valid-type,misc]
        def __init__(self, *args: Any, extra: int = 0) -> None:
            super().__init__(*args)
            self.extra = extra

    made = Mine(extra=7) if adapter is hip.dim3 else Mine(4096, extra=7)
    assert made.extra == 7
    assert isinstance(made, adapter)
    assert isinstance(types.Pointer(made), types.Pointer)
    assert int(types.Pointer(made)) == int(made)
    assert weakref.ref(made)() is made


@each
def test_copying_and_pickling_is_refused(adapter: type[types.Pointer]) -> None:
    made = adapter.fromObj(0x1230)
    for what in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle or copy"):
            what(made)


@each
def test_constructor_arguments(adapter: type[types.Pointer]) -> None:
    if adapter is hip.dim3:
        pytest.skip("records take their members")
    assert adapter() == adapter(None) == adapter(pyobj=None)
    with pytest.raises(TypeError, match="at most 1 argument"):
        adapter(1, 2)
    with pytest.raises(TypeError, match="unexpected keyword"):
        adapter(other=1)

    class Mine(adapter):  # type: ignore[valid-type,misc]
        pass

    assert int(Mine(pyobj=16)) == 16
    with pytest.raises(TypeError, match="at most 1 argument"):
        Mine(1, pyobj=2)
    with pytest.raises(TypeError, match="unexpected keyword"):
        Mine(other=1)


@each
def test_second_init_replaces_the_first(adapter: type[types.Pointer]) -> None:
    if adapter is hip.dim3:
        pytest.skip("see test_record")
    memory = bytearray(b"abcdefgh" * 4 + b"\0")
    if adapter is hip.hipHostFn_t:
        made = adapter(4096)
    elif adapter in (types.Pointer, types.NDBuffer, types.DeviceArray, types.CStr):
        made = adapter(memory)
        with pytest.raises(BufferError):
            memory.append(1)
    else:
        made = adapter(4096)
    made.__init__(64)  # type: ignore[misc]
    assert int(made) == 64
    memory.append(1)  # no longer held


@each
def test_failed_second_init_changes_nothing(adapter: type[types.Pointer]) -> None:
    made = adapter.fromObj(4096)
    with pytest.raises((TypeError, OverflowError)):
        made.__init__(1.5) if adapter is hip.dim3 else made.__init__(-1)  # type: ignore[misc]
    assert int(made) == 4096


@each
def test_cycle_is_collected(adapter: type[types.Pointer]) -> None:
    class Owner:
        as_c_void_p: Any
        pointer: Any

    owner = Owner()
    owner.as_c_void_p = lambda: ctypes.c_void_p(4096)
    owner.pointer = adapter.fromObj(owner)
    ref = weakref.ref(owner)
    del owner
    gc.collect()
    assert ref() is None


@each
def test_types_are_closed(adapter: type[types.Pointer]) -> None:
    assert adapter.__module__ in ("hipadapt.types", "hipadapt.hip")
    made = adapter.fromObj(None)
    with pytest.raises(AttributeError):
        made.no_such_attribute = 1  # type: ignore[attr-defined]


def test_create_ref_keeps_the_object_and_sees_what_c_writes() -> None:
    handle = hip.hipStream_t()
    ref = handle.createRef()
    before = sys.getrefcount(handle)

    ctypes.c_void_p.from_address(int(ref)).value = 0xABC0
    assert int(handle) == 0xABC0
    assert read(ref, 8) == (0xABC0).to_bytes(8, "little")

    del ref
    assert sys.getrefcount(handle) == before - 1


def test_offset() -> None:
    memory = bytearray(b"abcdef")
    pointer = types.Pointer(memory)
    assert int(pointer[2]) == int(pointer) + 2
    assert read(pointer[2], 2) == b"cd"
    assert int(pointer[np.int64(3)]) == int(pointer) + 3
    rest = pointer[2]
    del pointer
    with pytest.raises(BufferError):
        memory.append(1)
    assert read(rest, 4) == b"cdef"
    with pytest.raises(IndexError, match="beyond the 4 bytes"):
        rest[5]
    with pytest.raises(ValueError, match="negative"):
        rest[-1]
    with pytest.raises(ValueError, match="NULL"):
        types.Pointer()[1]
    for key in ("x", 1.5, slice(1), True):
        with pytest.raises(TypeError):
            rest[key]
    assert int(types.Pointer(4096)[2**20]) == 4096 + 2**20


@pytest.mark.parametrize(
    ("address", "offset"),
    [(2**64 - 1, 1), (2**64 - 4, 4), (2**63, 2**63 - 1), (1, 2**63 - 1)],
)
def test_offset_beyond_the_last_address_is_refused(address: int, offset: int) -> None:
    pointer = types.Pointer(address)

    if address + offset < 2**64:
        assert int(pointer[offset]) == address + offset
        return
    with pytest.raises(OverflowError, match="beyond the last address"):
        pointer[offset]
    assert int(pointer[offset - 1]) == address + offset - 1


@each
def test_address_is_no_number(adapter: type[types.Pointer]) -> None:
    made = adapter.fromObj(0x1230)

    for convert in (
        float,
        math.sqrt,
        complex,
        ctypes.c_float,
        lambda x: struct.pack("d", x),
        lambda x: array.array("d", [x]),
        lambda x: 1.0 + x,
        "%f".__mod__,
    ):
        with pytest.raises((TypeError, struct.error)):
            convert(made)
    with pytest.raises(TypeError, match=r"no number: .*int\(\) gives its address"):
        float(made)  # type: ignore[arg-type]
    assert (int(made), hex(made), f"{int(made):x}") == (0x1230, "0x1230", "1230")


def test_element_of_an_array_is_no_number() -> None:
    values = types.NDBuffer(np.array([4.0, 9.0]))

    for convert in (float, math.sqrt):
        with pytest.raises(TypeError, match=r"numpy\(\) copies its elements"):
            convert(values[0])  # type: ignore[arg-type]

    assert float(values[1].numpy()[0]) == 9.0


def test_subclass_may_be_a_number() -> None:
    class Mine(types.Pointer):
        def __float__(self) -> float:
            return 2.5

    assert float(Mine(4096)) == 2.5


def test_pointer_is_not_iterable() -> None:
    with pytest.raises(TypeError):
        iter(types.Pointer(5))  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        5 in types.Pointer(5)  # type: ignore[operator]  # noqa: B015


def test_ordering_is_refused() -> None:
    with pytest.raises(TypeError):
        types.Pointer(5) < types.Pointer(6)  # type: ignore[operator]  # noqa: B015


def test_repr_names_size_and_protection() -> None:
    assert "3 bytes, read-only" in repr(types.Pointer(b"abc"))
    assert "3 bytes>" in repr(types.Pointer(bytearray(3)))
    assert repr(types.Pointer(0x10)) == "<Pointer 0x10>"


def test_messages_name_function_argument_and_what_arrived() -> None:
    with pytest.raises(TypeError, match=r"^Pointer: argument 'pyobj' must be .*'str'$"):
        types.Pointer("x")
    with pytest.raises(TypeError, match=r"^Pointer: argument 'pyobj'.*'bool'$"):
        types.Pointer(True)


def test_memory_outlives_a_second_init_of_its_pointer() -> None:
    first = types.ListOfInt([1, 2, 3])
    copy_of_it = types.Pointer(first)
    first.__init__([9])  # type: ignore[misc]
    assert read(copy_of_it, 12) == np.array([1, 2, 3], np.int32).tobytes()


def test_pointer_of_a_subclass_keeps_the_instance() -> None:
    freed = []

    class Owned(types.Pointer):
        def __del__(self) -> None:
            freed.append(int(self))

    copy_of_it = types.Pointer(Owned(4096))
    gc.collect()
    assert not freed
    del copy_of_it
    assert freed == [4096]


def test_numpy_scalar_is_a_number_and_not_its_storage() -> None:
    assert int(types.Pointer(np.int64(5))) == 5
    for dtype in (np.float64, np.complex64, np.bool_):
        with pytest.raises(TypeError):
            types.Pointer(dtype(1))
    with pytest.raises(TypeError):
        types.Pointer(np.zeros(1, "f4,i4")[0])


def test_ctypes_text_and_function_give_what_they_hold() -> None:
    text = ctypes.c_char_p(b"hello")
    assert read(types.Pointer(text), 5) == b"hello"
    function = ctypes.CFUNCTYPE(None)(lambda: None)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert int(types.Pointer(function)) == address
    with pytest.raises(TypeError):
        types.Pointer(ctypes.byref(ctypes.c_int(3)))
