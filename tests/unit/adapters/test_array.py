# SPDX-License-Identifier: MIT
"""NDBuffer and DeviceArray: shape, element type, configure, sub-arrays, protocols."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipadapt import hip, types

from .conftest import CudaArray

ADDRESS = 0x7F0000001000


def device(shape: tuple[int, ...] = (4, 4), typestr: str = "<f4") -> types.DeviceArray:
    """An array at a made-up address; nothing reads it."""
    return types.DeviceArray(CudaArray(ADDRESS, shape, typestr=typestr))


# ---- where shape and type come from -------------------------------------------------


@pytest.mark.parametrize("adapter", [types.NDBuffer, types.DeviceArray])
@pytest.mark.parametrize(
    "dtype",
    "?,i1,u1,i2,u2,i4,u4,i8,u8,f2,f4,f8,g,c8,c16,>i4,>f8,S5,V12".split(","),
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 3), (2, 1, 1, 2, 1, 2)])
def test_numpy_shape_and_type(
    adapter: type[types.NDBuffer], dtype: str, shape: tuple[int, ...]
) -> None:
    source = np.zeros(shape, dtype)
    made = adapter(source)
    assert made.shape == shape
    assert made.ndim == len(shape)
    assert made.size == source.size
    assert made.itemsize == source.itemsize
    assert made.nbytes == source.nbytes
    assert made.__cuda_array_interface__["typestr"] == source.dtype.str
    assert int(made) == source.__array_interface__["data"][0]
    assert not made.is_read_only


def test_numpy_array_comes_back_the_same() -> None:
    source = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    back = np.asarray(types.NDBuffer(source))
    assert back.dtype == source.dtype
    assert (back == source).all()
    assert np.shares_memory(back, source)
    for value in (np.float64(2.5), np.array(True), np.array([1 + 2j])):
        source = np.asarray(value)
        assert (np.asarray(types.NDBuffer(source)) == source).all()


def test_fortran_order_is_refused_because_the_shape_would_lie() -> None:
    source = np.zeros((3, 4), order="F")
    with pytest.raises(BufferError, match=r"C-contiguous.*\(3, 4\).*\(8, 24\)"):
        types.NDBuffer(source)
    types.Pointer(source)  # an address has no order


@pytest.mark.parametrize(
    ("typestr", "itemsize"),
    [
        ("|u1", 1),
        ("|i1", 1),
        ("|b1", 1),
        ("<f4", 4),
        ("<c16", 16),
        ("|V12", 12),
        ("<M8[ns]", 8),
        ("|S7", 7),
        ("<U3", 12),
    ],
)
def test_interface_typestr(typestr: str, itemsize: int) -> None:
    made = device((3,), typestr)
    assert made.typestr == typestr
    assert made.itemsize == itemsize
    assert made.__cuda_array_interface__ == {
        "shape": (3,),
        "typestr": typestr,
        "data": (ADDRESS, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }


def test_interface_without_dimensions_and_without_elements() -> None:
    assert device(()).shape == ()
    assert device(()).size == 1
    empty = types.DeviceArray(CudaArray(0, (0, 3)))
    assert empty.size == 0
    assert empty.__cuda_array_interface__["data"] == (0, False)


def test_interface_in_fortran_order_is_refused() -> None:
    with pytest.raises(BufferError, match="C-contiguous"):
        types.DeviceArray(CudaArray(ADDRESS, (2, 3), strides=(4, 8)))


def test_interface_stream() -> None:
    made = types.DeviceArray(CudaArray(ADDRESS, stream=1))
    assert made.stream_as_int == 1
    assert made.__cuda_array_interface__["stream"] == 1
    with pytest.raises(ValueError, match="stream 0"):
        types.DeviceArray(CudaArray(ADDRESS, stream=0))


@pytest.mark.parametrize("value", [None, 0, ctypes.c_void_p(None), types.Pointer()])
@pytest.mark.parametrize("adapter", [types.NDBuffer, types.DeviceArray])
def test_null_has_no_elements(adapter: Any, value: object) -> None:
    made = adapter(value)

    interface = made.__cuda_array_interface__
    assert (made.shape, made.nbytes, len(made)) == ((0,), 0, 0)
    assert (interface["shape"], interface["data"]) == ((0,), (0, False))
    assert adapter(CudaArray(**_arguments(interface))).shape == (0,)
    with pytest.raises(IndexError):
        made[0]
    with pytest.raises(ValueError, match="NULL"):
        made.configure(shape=(1,), _force=True)
    made.configure(shape=(0, 4), typestr="f4")


def test_array_before_init_has_no_elements() -> None:
    assert types.DeviceArray.__new__(types.DeviceArray).shape == (0,)


def _arguments(interface: dict[str, Any]) -> dict[str, Any]:
    address, readonly = interface["data"]
    shape, typestr = interface["shape"], interface["typestr"]
    return {
        "address": address,
        "shape": shape,
        "typestr": typestr,
        "readonly": readonly,
    }


@pytest.mark.parametrize("value", [ADDRESS, np.uint64(ADDRESS)])
def test_address_without_shape(value: object) -> None:
    made = types.DeviceArray(value)
    assert made.shape == (1,)
    assert made.typestr == "B"
    assert made.itemsize == 1


def test_pointer_with_known_size_is_bytes() -> None:
    assert types.NDBuffer(types.Pointer(bytearray(6))).shape == (6,)


def test_copy_of_an_array_is_independent() -> None:
    first = device()
    second = types.DeviceArray(first)
    second.configure(shape=(16,), stream=7, read_only=True)
    assert first.shape == (4, 4)
    assert first.stream_as_int is None
    assert not first.is_read_only
    assert second == first
    assert types.NDBuffer(first).shape == (4, 4)


def test_pointer_of_an_array_does_not_lock_it() -> None:
    array = device()
    pointer = types.Pointer(array)
    array.configure(shape=(2, 8))
    assert int(pointer) == ADDRESS


# ---- configure ----------------------------------------------------------------------


def test_configure_returns_the_array() -> None:
    array = types.DeviceArray(bytearray(64))
    assert array.configure(shape=(4, 4), typestr="float32") is array
    assert array.shape == (4, 4)
    assert array.typestr == "float32"
    assert array.itemsize == 4
    assert array.__cuda_array_interface__["typestr"] == "<f4"
    assert array.size == 16
    assert array.rank == 2
    assert len(array) == 4


@pytest.mark.parametrize(
    ("typestr", "interface"),
    [
        ("B", "|u1"),
        ("uint8", "|u1"),
        ("|u1", "|u1"),
        ("<u1", "|u1"),
        ("bool", "|b1"),
        ("?", "|b1"),
        ("f", "<f4"),
        ("<f4", "<f4"),
        ("=f4", "<f4"),
        (">f4", ">f4"),
        ("f4", "<f4"),
        ("float32", "<f4"),
        ("single", "<f4"),
        ("double", "<f8"),
        ("float", "<f8"),
        ("int", "<i8"),
        ("int32", "<i4"),
        ("intc", "<i4"),
        ("l", "<i8"),
        ("complex64", "<c8"),
        ("half", "<f2"),
        ("longdouble", "<f16"),
        ("<M8[us]", "<M8[us]"),
        ("datetime64[ns]", "<M8[ns]"),
    ],
)
def test_configure_typestr(typestr: str, interface: str) -> None:
    array = types.DeviceArray(bytearray(64))
    size = np.dtype(interface).itemsize
    array.configure(typestr=typestr, shape=(64 // size,))
    assert array.typestr == typestr
    assert array.__cuda_array_interface__["typestr"] == interface
    assert array.itemsize == size


def test_configure_takes_a_dtype() -> None:
    array = types.DeviceArray(bytearray(64))
    array.configure(typestr=np.dtype(np.float32), shape=(16,))
    assert array.typestr == "<f4"


def test_configure_itemsize() -> None:
    array = types.DeviceArray(bytearray(64))
    array.configure(typestr="V", itemsize=16, shape=(4,))
    assert array.__cuda_array_interface__["typestr"] == "|V16"
    array.configure(itemsize=8, shape=(8,))
    assert array.__cuda_array_interface__["typestr"] == "|V8"
    assert array.itemsize == 8


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"typestr": "float64"}, ValueError),
        ({"shape": (5,)}, ValueError),
        ({"shape": (-4, -4)}, ValueError),
        ({"shape": 16}, TypeError),
        ({"shape": ("x",)}, TypeError),
        ({"shape": (True,)}, TypeError),
        ({"shape": (1.5,)}, TypeError),
        ({"shape": (1,) * 65}, ValueError),
        ({"shape": (2**62, 16), "_force": True}, OverflowError),
        ({"shape": (2**64,), "_force": True}, OverflowError),
        ({"typestr": "nonsense"}, ValueError),
        ({"typestr": "V"}, ValueError),
        ({"typestr": 5}, TypeError),
        ({"itemsize": 0}, ValueError),
        ({"itemsize": -4}, ValueError),
        ({"itemsize": 1.5}, TypeError),
        ({"typestr": "<f4", "itemsize": 8}, ValueError),
        ({"stream": 0}, ValueError),
        ({"stream": "x"}, TypeError),
        ({"nonsense": 1}, KeyError),
        ({"read_only": True, "shape": (5,)}, ValueError),
        ({"stream": 5, "typestr": "float64"}, ValueError),
    ],
)
def test_configure_is_all_or_nothing(
    arguments: dict[str, Any], error: type[Exception]
) -> None:
    array = device((4, 4))
    before = repr(array), array.__cuda_array_interface__, array.stream_as_int
    with pytest.raises(error):
        array.configure(**arguments)
    after = repr(array), array.__cuda_array_interface__, array.stream_as_int
    assert after == before


def test_configure_message_shows_both_sizes() -> None:
    with pytest.raises(ValueError, match=r"from 64 to 20 bytes.*_force=True"):
        device().configure(shape=(5,))


@pytest.mark.parametrize(
    "memory",
    [
        bytearray(16),
        np.zeros(4, "f4"),
        (ctypes.c_int * 4)(),
        CudaArray(ADDRESS, (4,)),
        types.Pointer(bytearray(16)),
        types.Pointer(bytearray(32))[16],
        types.ListOfInt([1, 2, 3, 4]),
        types.NDBuffer(bytearray(32))[8:24],
        types.NDBuffer(types.NDBuffer(bytearray(16))),
        types.NDBuffer(bytearray(32)).configure(shape=(16,), _force=True),
    ],
    ids=lambda memory: type(memory).__name__,
)
@pytest.mark.parametrize("adapter", [types.NDBuffer, types.DeviceArray])
def test_configure_never_enlarges_memory_of_known_length(
    adapter: Any, memory: Any
) -> None:
    array = adapter(memory)

    for force in (True, False):
        for more in (
            {"shape": (17,), "typestr": "u1"},
            {"shape": (9,), "typestr": "u2"},
        ):
            with pytest.raises(ValueError, match="but the memory has 16"):
                array.configure(_force=force, **more)
    array.configure(shape=(2,), typestr="u2", _force=True)
    assert array.nbytes == 4
    assert array.configure(shape=(2, 4), _force=True).nbytes == 16
    with pytest.raises(ValueError, match="but the memory has 16"):
        array.configure(shape=(1 << 16,), _force=True)
    for part in (array[0:1], array[1:1], adapter(array[0])):
        with pytest.raises(ValueError, match="but the memory has"):
            part.configure(shape=(2, 4), _force=True)


def test_configure_never_enlarges_what_hip_allocated(cpu: ModuleType) -> None:
    array = cpu.hipMalloc(16)[1]

    with pytest.raises(ValueError, match="but the memory has 16"):
        array.configure(shape=(17,), _force=True)
    with pytest.raises(ValueError, match="but the memory has 16"):
        array.host().configure(shape=(17,), _force=True)

    cpu.hipFree(array)


def test_force_gives_an_address_a_length_again_and_again() -> None:
    array = types.DeviceArray(ADDRESS)

    for count in (10, 1000, 5, 2000):
        assert array.configure(shape=(count,), _force=True).nbytes == count
        assert types.DeviceArray(array).configure(shape=(3000,), _force=True)
    with pytest.raises(OverflowError, match="beyond the last address"):
        types.DeviceArray(2**64 - 16).configure(shape=(16,), _force=True)


def test_configure_force() -> None:
    array = types.DeviceArray(ADDRESS)
    with pytest.raises(ValueError, match="_force"):
        array.configure(shape=(10,))
    array.configure(shape=(10,), typestr="f8", _force=True)
    assert array.nbytes == 80
    array.configure(shape=(20,), typestr="f4")
    assert array.nbytes == 80
    with pytest.raises(TypeError):
        array.configure((10,))  # type: ignore[call-arg]


def test_configure_stream() -> None:
    array = device()
    array.configure(stream=hip.hipStream_t(0x77))
    assert array.stream_as_int == 0x77
    array.configure(stream=None)
    assert array.stream_as_int is None


def test_configure_read_only() -> None:
    array = device()
    array.configure(read_only=True)
    assert array.__cuda_array_interface__["data"] == (ADDRESS, True)
    array.configure(read_only=False)
    constant = types.NDBuffer(b"abcd")
    assert constant.is_read_only
    with pytest.raises(ValueError, match="read-only"):
        constant.configure(read_only=False)


def test_configure_while_a_view_exists() -> None:
    array = types.NDBuffer(bytearray(range(16)))
    view = memoryview(array)
    array.configure(shape=(4, 4))
    assert view.shape == (16,)
    assert memoryview(array).shape == (4, 4)
    assert view.tobytes() == bytes(range(16))


def test_many_dimensions() -> None:
    array = device((2,) * 30, "|u1").configure(typestr="|i1")
    assert array.shape == (2,) * 30
    assert array[0, 1].shape == (1, 1) + (2,) * 28
    array.configure(shape=(2**30,))
    assert array.shape == (2**30,)


# ---- sub-arrays ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "offset", "shape"),
    [
        (0, 0, (1, 4)),
        (3, 48, (1, 4)),
        (-1, 48, (1, 4)),
        (np.int64(2), 32, (1, 4)),
        (slice(1, 3), 16, (2, 4)),
        (slice(None), 0, (4, 4)),
        (slice(-2, None), 32, (2, 4)),
        (slice(0, 100), 0, (4, 4)),
        (slice(2, 2), 0, (0, 4)),
        (slice(1, 2, 3), 16, (1, 4)),
        (slice(2, 1, -1), 32, (1, 4)),
        ((1, slice(1, 3)), 20, (1, 2)),
        ((1, 2), 24, (1, 1)),
        ((-1, -1), 60, (1, 1)),
        ((slice(1, 2), slice(None)), 16, (1, 4)),
        ((slice(1, 2), slice(2, 4)), 24, (1, 2)),
        (Ellipsis, 0, (4, 4)),
        ((1, Ellipsis), 16, (1, 4)),
        ((Ellipsis, 2, slice(0, 2)), 32, (1, 2)),
        ((), 0, (4, 4)),
    ],
)
def test_sub_array(key: Any, offset: int, shape: tuple[int, ...]) -> None:
    part = device()[key]
    assert int(part) - ADDRESS == offset
    assert part.shape == shape
    assert part.typestr == "<f4"
    assert type(part) is types.DeviceArray
    assert part.__cuda_array_interface__["shape"] == shape


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        (2**70, IndexError),
        ((0, 4), IndexError),
        ((0, 0, 0), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        (None, TypeError),
        ("x", TypeError),
        (1.0, TypeError),
        (True, TypeError),
        ([0], TypeError),
        (slice(0, 4, 2), ValueError),
        (slice(None, None, -1), ValueError),
        ((slice(0, 2), slice(0, 2)), ValueError),
        ((slice(None), 0), ValueError),
    ],
)
def test_sub_array_refused(key: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        device()[key]


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    data=st.data(),
)
def test_sub_array_agrees_with_numpy(shape: list[int], data: st.DataObject) -> None:
    source = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    array = types.NDBuffer(source)
    keys = []
    for extent in shape[: data.draw(st.integers(0, len(shape)))]:
        start = data.draw(st.integers(-extent, extent - 1))
        if data.draw(st.booleans()):
            keys.append(slice(start, start + 1 or None))
        else:
            keys.append(slice(start, data.draw(st.integers(-extent, extent)) or None))
    wanted = source[tuple(keys)]
    try:
        part = array[tuple(keys)]
    except ValueError:
        assert not wanted.flags.c_contiguous
        return
    assert part.shape == wanted.shape
    assert wanted.flags.c_contiguous
    assert (np.asarray(part) == wanted).all()


def test_iteration_ends() -> None:
    rows = list(device((3, 4)))
    assert [int(row) - ADDRESS for row in rows] == [0, 16, 32]
    assert [row.shape for row in rows] == [(1, 4)] * 3
    assert len(device((3, 4))) == 3
    with pytest.raises(TypeError):
        len(device(()))
    with pytest.raises(TypeError):
        list(device(()))


def test_child_keeps_its_parent() -> None:
    memory = bytearray(range(16))
    parent = types.NDBuffer(memory).configure(shape=(4, 4))
    child = parent[1][0, 1:3]
    del parent
    gc.collect()
    assert bytes(child) == bytes([5, 6])
    with pytest.raises(BufferError):
        memory.append(0)
    del child
    memory.append(0)


def test_child_keeps_a_parent_that_owns_the_memory() -> None:
    class Owned(types.DeviceArray):
        pass

    parent = Owned(CudaArray(ADDRESS, (4, 4)))
    ref = weakref.ref(parent)
    child = parent[1:3]
    grandchild = child[0]
    del parent, child
    gc.collect()
    assert ref() is not None
    del grandchild
    gc.collect()
    assert ref() is None


def test_child_of_a_plain_device_array_keeps_it() -> None:
    parent = types.DeviceArray(ADDRESS).configure(shape=(8,), _force=True)
    ref = weakref.ref(parent)
    child = parent[2:]
    del parent
    assert ref() is not None
    del child
    assert ref() is None


def test_long_chain_of_slices() -> None:
    array = types.DeviceArray(ADDRESS).configure(shape=(100_000,), _force=True)
    for _ in range(50_000):
        array = array[1:]
    assert int(array) == ADDRESS + 50_000


def test_child_of_a_re_initialised_parent() -> None:
    parent = types.NDBuffer(bytearray(b"abcdefgh"))
    child = parent[2:4]
    parent.__init__(None)  # type: ignore[misc]
    assert bytes(child) == b"cd"


# ---- buffer protocol out ------------------------------------------------------------


def test_device_memory_exports_no_buffer() -> None:
    array = device()
    with pytest.raises(BufferError, match="device memory"):
        memoryview(array)
    with pytest.raises(BufferError):
        bytes(array)


def test_host_memory_exports_a_buffer() -> None:
    view = memoryview(types.NDBuffer(np.arange(6, dtype=">i4").reshape(2, 3)))
    assert (view.format, view.shape, view.strides) == (">i", (2, 3), (12, 4))
    assert not view.readonly
    assert memoryview(types.NDBuffer(b"ab")).readonly
    with pytest.raises(TypeError):
        memoryview(types.NDBuffer(b"ab"))[0] = 1  # type: ignore[index]


def test_exported_buffer_outlives_the_array() -> None:
    array = types.NDBuffer(bytearray(b"abcd"))
    view = memoryview(array)
    array.__init__(None)  # type: ignore[misc]
    del array
    gc.collect()
    assert bytes(view) == b"abcd"


def test_references_of_streams_and_types() -> None:
    stream = hip.hipStream_t(0x77)
    typestr = "".join(["flo", "at32"])
    before = sys.getrefcount(stream), sys.getrefcount(typestr)
    array = device()
    array.configure(stream=stream, typestr=typestr)
    children = [array[0], types.DeviceArray(array)]
    array.configure(stream=None, typestr="f")
    del children, array
    assert (sys.getrefcount(stream), sys.getrefcount(typestr)) == before
