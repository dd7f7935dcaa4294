# SPDX-License-Identifier: MIT
"""ListOf* and PointerTo*."""

from __future__ import annotations

import array
import ctypes
import enum
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipadapt import _core, hip, hiprtc, types

from .conftest import AsVoidPointer, CudaArray, Index, read

NUMBERS = {
    types.ListOfInt: np.int32,
    types.ListOfUnsigned: np.uint32,
    types.ListOfLong: np.int64,
    types.ListOfUnsignedLong: np.uint64,
    types.ListOfInt64: np.int64,
    types.ListOfUInt64: np.uint64,
}
POINTER_TO = {
    types.PointerToInt: types.ListOfInt,
    types.PointerToUnsigned: types.ListOfUnsigned,
    types.PointerToLong: types.ListOfLong,
    types.PointerToUnsignedLong: types.ListOfUnsignedLong,
    types.PointerToInt64: types.ListOfInt64,
    types.PointerToUInt64: types.ListOfUInt64,
}
numbers = pytest.mark.parametrize(
    ("kind", "dtype"), NUMBERS.items(), ids=lambda x: x.__name__
)


class Color(enum.IntEnum):
    """Members are ints."""

    RED = 3


@numbers
def test_numbers_become_c_numbers(kind: Any, dtype: Any) -> None:
    entries = [
        7,
        True,
        Color.RED,
        np.int8(5),
        np.uint64(6),
        ctypes.c_byte(8),
        ctypes.c_long(9),
        Index(10),
        None,
    ]
    wanted = [7, 1, 3, 5, 6, 8, 9, 10, 0]
    for sequence in (entries, tuple(entries)):
        made = kind(sequence)
        assert (
            read(made, len(wanted) * dtype().itemsize)
            == np.array(wanted, dtype).tobytes()
        )
        assert list(made) == wanted
        assert made.to_list() == wanted
        assert made.to_tuple() == tuple(wanted)
        assert len(made) == len(wanted)


@numbers
def test_range_is_checked(kind: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    assert kind([int(info.min), int(info.max)]).to_list() == [info.min, info.max]
    for value in (info.max + 1, info.min - 1, 2**40 * 2**32, -(2**100), 10**5000):
        with pytest.raises(OverflowError, match=rf"^{kind.__name__}.*pyobj\[1\]"):
            kind([0, int(value)])
    with pytest.raises(OverflowError):
        kind([np.uint64(2**64 - 1)]) if info.min < 0 else kind([np.int8(-1)])


@pytest.mark.parametrize("entry", [1.5, "x", b"x", [1], np.float32(1), object(), 1j])
@numbers
def test_other_entries_are_refused(kind: Any, dtype: Any, entry: Any) -> None:
    with pytest.raises(TypeError, match=r"pyobj\[2\]"):
        kind([1, 2, entry])


@numbers
def test_pointers_are_no_numbers(kind: Any, dtype: Any) -> None:
    with pytest.raises(TypeError):
        kind([types.Pointer(5)])


@given(st.lists(st.integers(-(2**70), 2**70)))
def test_every_list_is_exact_or_refused(values: list[int]) -> None:
    for kind, dtype in NUMBERS.items():
        info = np.iinfo(dtype)
        fits = all(info.min <= value <= info.max for value in values)
        if fits:
            assert kind(values).to_list() == values
        else:
            with pytest.raises(OverflowError):
                kind(values)


@pytest.mark.parametrize("value", [range(3), {1}, iter([1]), {"a": 1}, "abc"])
@pytest.mark.parametrize("kind", [*NUMBERS, types.ListOfPointer, types.ListOfBytes])
def test_other_collections_are_refused(kind: Any, value: Any) -> None:
    if kind is types.ListOfBytes and value == "abc":
        with pytest.raises(TypeError):
            kind("abc")
    with pytest.raises(TypeError):
        kind(value)


# ---- memory -------------------------------------------------------------------------


@numbers
def test_array_of_the_right_type_is_used_as_it_is(kind: Any, dtype: Any) -> None:
    source = np.array([1, 2, 3], dtype)
    made = kind(source)
    assert int(made) == source.__array_interface__["data"][0]
    assert made == [1, 2, 3]
    source[0] = 9
    assert made[0] == 9
    grid = np.zeros((2, 3), dtype, order="F")
    assert len(kind(grid)) == 6
    assert len(kind(np.zeros(0, dtype))) == 0
    assert kind(CudaArray(4096, (5,), typestr=np.dtype(dtype).str)).__len__() == 5


@numbers
def test_array_of_another_type_is_refused(kind: Any, dtype: Any) -> None:
    for other in "?,i1,u1,i2,i4,u4,i8,u8,f4,f8,>i4,>i8,V4,V8,S4".split(","):
        if np.dtype(other) == np.dtype(dtype):
            continue
        with pytest.raises(TypeError, match="elements of C type"):
            kind(np.zeros(2, other))
    with pytest.raises(TypeError, match="elements of C type"):
        kind(CudaArray(4096, (5,), typestr="<f4"))


def test_raw_bytes_hold_anything() -> None:
    assert types.ListOfInt(bytearray(b"\1\0\0\0\2\0\0\0")) == [1, 2]
    assert types.ListOfInt64(b"\1" + bytes(7)) == [1]
    with pytest.raises(BufferError, match="whole elements"):
        types.ListOfInt(bytearray(5))


def test_ctypes_memory() -> None:
    assert types.ListOfInt((ctypes.c_int * 3)(1, 2, 3)) == [1, 2, 3]
    cell = ctypes.c_int(7)
    made = types.ListOfInt(cell)
    assert int(made) == ctypes.addressof(cell)
    assert made == [7]
    with pytest.raises(TypeError):
        types.ListOfInt((ctypes.c_float * 3)())
    assert types.ListOfLong(array.array("l", [5])) == [5]


def test_address_has_no_length() -> None:
    made = types.ListOfInt(4096)
    for use in (len, list, lambda x: x[0], lambda x: x[1:], lambda x: x.to_list()):
        with pytest.raises(TypeError, match="length"):
            use(made)
    assert "length unknown" in repr(made)
    assert made == types.ListOfInt(4096)
    assert hash(made) == hash(types.ListOfInt(4096))
    assert bool(made)


# ---- behaviour ----------------------------------------------------------------------


@numbers
def test_indexing(kind: Any, dtype: Any) -> None:
    made = kind([5, 6, 7, 8])
    assert (made[0], made[3], made[-1], made[-4]) == (5, 8, 8, 5)
    assert made[np.int64(1)] == 6
    assert made[1:3] == [6, 7]
    assert made[::-1] == [8, 7, 6, 5]
    assert made[10:] == []
    for i in (4, -5, 2**70):
        with pytest.raises(IndexError):
            made[i]
    for key in ("x", 1.0, None):
        with pytest.raises(TypeError):
            made[key]
    assert 7 in made
    assert 9 not in made
    with pytest.raises(TypeError):
        made[0] = 1


@numbers
def test_comparison_and_hash(kind: Any, dtype: Any) -> None:
    assert kind([1, 2]) == kind((1, 2))
    assert kind([1, 2]) == [1, 2]
    assert kind([1, 2]) == (1, 2)
    assert kind([1, 2]) != [1, 3]
    assert kind([1, 2]) != kind([1])
    assert kind([1, 2]) != types.ListOfPointer([1, 2])
    assert hash(kind([1, 2])) == hash(kind([1, 2])) == hash((1, 2))
    assert not kind([])
    assert kind([]) == []
    assert kind([0])


@numbers
def test_repr_says_the_right_name(kind: Any, dtype: Any) -> None:
    assert repr(kind([1, 2])) == f"{kind.__name__}([1, 2])"
    assert repr(kind(range(100).__len__() * [0])).startswith(f"<{kind.__name__} ")


@pytest.mark.parametrize("kind", [*NUMBERS, types.ListOfPointer, types.ListOfBytes])
def test_list_of_its_own_type_shares_memory_and_length(kind: Any) -> None:
    first = kind([b"a", b"b"] if kind is types.ListOfBytes else [1, 2])
    second = kind(first)
    address = int(first)
    wanted = first.to_list()
    del first
    other = [b"x", b"y"] if kind is types.ListOfBytes else [None, None]
    junk = [kind(other) for _ in range(100)]
    assert int(second) == address
    assert second.to_list() == wanted
    assert len(second) == 2
    del junk


@pytest.mark.parametrize("kind", [*NUMBERS, types.ListOfPointer, types.ListOfBytes])
def test_allocate(kind: Any) -> None:
    made = kind.allocate(3)
    assert type(made) is kind
    assert len(made) == 3
    zero = {types.ListOfPointer: types.Pointer(), types.ListOfBytes: None}.get(kind, 0)
    assert made.to_list() == [zero] * 3
    assert len(kind.allocate(count=0)) == 0
    for count, error in ((-1, OverflowError), ("x", TypeError), (1.0, TypeError)):
        with pytest.raises(error):
            kind.allocate(count)
    for count in (2**62, 2**63 - 1):
        with pytest.raises(MemoryError):
            kind.allocate(count)
    with pytest.raises(TypeError):
        kind.allocate()

    class Mine(kind):  # type: ignore[misc]
        pass

    assert type(Mine.allocate(1)) is Mine


def test_lists_of_other_width_are_refused() -> None:
    with pytest.raises(TypeError, match="elements of C type"):
        types.ListOfInt(types.ListOfLong([1]))
    assert types.ListOfUnsigned(types.ListOfInt([1])) == [1]


def test_list_that_changes_while_it_is_read() -> None:
    entries: list[Any] = [1, 2, 3]

    class Evil:
        def __index__(self) -> int:
            entries.clear()
            return 5

    entries[1] = Evil()
    with pytest.raises(RuntimeError, match="changed"):
        types.ListOfInt(entries)


def test_failed_second_init_keeps_the_list() -> None:
    made = types.ListOfInt([1, 2])
    with pytest.raises(OverflowError):
        made.__init__([2**40])  # type: ignore[misc]
    assert made == [1, 2]
    made.__init__([3])  # type: ignore[misc]
    assert made == [3]


# ---- pointers and texts ---------------------------------------------------------------


def test_list_of_pointer_keeps_its_entries() -> None:
    memory = bytearray(4)
    array_ = np.zeros(4)
    before = sys.getrefcount(array_)
    made = types.ListOfPointer([memory, array_, None, 5, ctypes.c_void_p(6)])
    assert [int(p) for p in made] == [
        int(types.Pointer(memory)),
        array_.__array_interface__["data"][0],
        0,
        5,
        6,
    ]
    with pytest.raises(BufferError):
        memory.append(1)
    entry = made[0]
    assert sys.getrefcount(array_) > before
    del made
    with pytest.raises(BufferError):
        memory.append(1)
    del entry
    memory.append(1)
    assert sys.getrefcount(array_) == before


def test_list_of_bytes() -> None:
    text = "".join(["x", "y"])
    before = sys.getrefcount(text)
    made = types.ListOfBytes([b"one", "zwölf", types.CStr("three"), text])
    assert made.to_list() == [b"one", "zwölf".encode(), b"three", b"xy"]
    assert sys.getrefcount(text) == before + 1
    del made
    assert sys.getrefcount(text) == before
    assert types.ListOfBytes([bytearray(b"abc"), memoryview(b"defg")[:2]]) == [
        b"abc",
        b"de",
    ]
    for bad in (1.5, object(), ["x"]):
        with pytest.raises(TypeError, match=r"pyobj\[1\]"):
            types.ListOfBytes([b"x", bad])
    with pytest.raises(ValueError, match="NUL"):
        types.ListOfBytes(["a\0b"])


@pytest.mark.parametrize(
    "entry",
    [
        5,
        0,
        True,
        None,
        np.int64(5),
        np.float32(5),
        ctypes.c_void_p(5),
        ctypes.c_char_p(b"text"),
        ctypes.c_int(5),
        ctypes.pointer(ctypes.c_char(5)),
        types.Pointer(5),
        types.Pointer(b"text"),
        types.ListOfInt([1]),
        hip.hipStream_t(5),
        CudaArray(5),
        AsVoidPointer(5),
        Index(5),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_address_is_no_entry_of_texts(entry: Any) -> None:
    with pytest.raises(TypeError, match=r"pyobj\[1\]' must be bytes, str, a CStr or"):
        types.ListOfBytes(["text", entry])
    with pytest.raises(
        TypeError, match=r"hiprtcCreateProgram: argument 'headers\[0\]'"
    ):
        hiprtc.hiprtcCreateProgram("", "x", 1, [entry], ["x"])


def test_null_text_and_device_memory_are_no_entries(cpu: ModuleType) -> None:
    with pytest.raises(ValueError, match="must not be NULL"):
        types.ListOfBytes([types.CStr(None)])
    with pytest.raises(BufferError, match="device memory"):
        types.ListOfBytes([_core.array_allocate(4, "u1")])


def test_buffers_are_entries_with_a_nul_behind_them() -> None:
    memory = bytearray(b"abc")
    chars = ctypes.create_string_buffer(b"defg", 16)
    host = types.NDBuffer(np.frombuffer(b"hi", "u1"))

    made = types.ListOfBytes([memory, chars, host, np.array([b"jkl"]), bytearray()])
    memory[:] = b"changed, and longer"

    assert made.to_list() == [b"abc", b"defg", b"hi", b"jkl", b""]


def test_compile_with_an_address_for_an_option(cpu: ModuleType) -> None:
    program = hiprtc.hiprtcCreateProgram(b"", b"x", 0, [], [])[1]

    for option in (5, types.Pointer(5), ctypes.c_void_p(5), np.uint64(5)):
        with pytest.raises(TypeError, match=r"argument 'options\[0\]' must be bytes"):
            hiprtc.hiprtcCompileProgram(program, 1, [option])

    hiprtc.hiprtcDestroyProgram(program.createRef())


def test_list_of_pointer_takes_an_array_of_addresses() -> None:
    made = types.ListOfPointer(np.array([1, 2], np.uint64))
    assert [int(p) for p in made] == [1, 2]
    with pytest.raises(TypeError):
        types.ListOfPointer(np.zeros(2))


# ---- PointerTo* -----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "base"), POINTER_TO.items())
def test_pointer_to(kind: Any, base: Any) -> None:
    assert issubclass(kind, base)
    made = kind.allocate()
    assert made.value == 0
    made.value = 7
    assert made.value == made[0] == 7
    assert made == [7]
    assert len(kind.allocate(3)) == 3
    assert kind([5]).value == 5
    assert kind((5,)).value == 5
    assert repr(kind([5])) == f"{kind.__name__}([5])"
    for wrong in ([], [1, 2]):
        with pytest.raises(ValueError, match="one element"):
            kind(wrong)
    info = np.iinfo(NUMBERS[base])
    for value in (int(info.max) + 1, int(info.min) - 1):
        with pytest.raises(OverflowError, match="'value'"):
            made.value = value
    for value in (1.5, "x"):
        with pytest.raises(TypeError):
            made.value = value
    assert made.value == 7
    with pytest.raises(AttributeError):
        del made.value
    with pytest.raises(ValueError, match="NULL"):
        _ = kind().value
    with pytest.raises(ValueError, match="NULL"):
        kind().value = 5
    cell = np.array([3], NUMBERS[base])
    view = kind(int(types.Pointer(cell)))
    assert view.value == view[0] == 3
    view.value = 4
    assert cell[0] == 4
    constant = kind(bytes(8)[: cell.itemsize])
    with pytest.raises(BufferError, match="read-only"):
        constant.value = 1
