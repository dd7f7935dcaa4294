# SPDX-License-Identifier: MIT
"""The CUDA array interface, both ways, and the stream protocol __cuda_stream__."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import _core, hip, types

from .conftest import CudaArray

ADDRESS = 0x7000_0000


def arrays(**more: Any) -> tuple[Any, Any]:
    """A Pointer and a DeviceArray from the same interface."""
    source = CudaArray(ADDRESS, more.pop("shape", (4,)), **more)
    return types.Pointer(source), types.DeviceArray(source)


# ---- typestr


@pytest.mark.parametrize(
    ("typestr", "name", "itemsize"),
    [
        ("|u1", "uint8", 1),
        ("|i1", "int8", 1),
        ("|b1", "bool", 1),
        ("<u2", "uint16", 2),
        ("<i4", "int32", 4),
        ("=i8", "int64", 8),
        ("<f2", "float16", 2),
        ("<f4", "float32", 4),
        ("=f4", "float32", 4),
        ("|f4", "float32", 4),
        ("<f8", "float64", 8),
        ("<c8", "complex64", 8),
        ("<c16", "complex128", 16),
        ("<V2", "bfloat16", 2),
        ("|V2", "|V2", 2),
        ("|V12", "|V12", 12),
        ("|S7", "|S7", 7),
        ("<U3", "<U3", 12),
        ("<M8[ns]", "<M8[ns]", 8),
    ],
)
def test_typestr(typestr: str, name: str, itemsize: int) -> None:
    _, array = arrays(typestr=typestr)

    assert (array.typestr, array.type_name) == (typestr, name)
    assert (array.itemsize, array.nbytes) == (itemsize, 4 * itemsize)


@pytest.mark.parametrize("typestr", [">f4", ">i2", ">c8", ">M8[s]"])
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_foreign_byte_order_is_refused(adapter: Any, typestr: str) -> None:
    with pytest.raises(BufferError, match="native byte order"):
        adapter(CudaArray(ADDRESS, typestr=typestr))


def test_one_byte_has_no_order() -> None:
    assert arrays(typestr=">u1")[1].type_name == "uint8"


@pytest.mark.parametrize(
    ("typestr", "error"),
    [
        ("", ValueError),
        ("<", ValueError),
        ("<f3", ValueError),
        ("<f", ValueError if False else None),
        ("<x4", ValueError),
        ("<f4 ", ValueError),
        ("f4f4", ValueError),
        ("|V", ValueError),
        ("<f99999999999999999999", ValueError),
        ("<f4\0", ValueError),
        ("\ud800", UnicodeEncodeError),
        (5, TypeError),
        (b"<f4", TypeError),
    ],
)
def test_nonsense_for_a_typestr(typestr: Any, error: Any) -> None:
    if error is None:
        assert arrays(typestr=typestr)[1].itemsize == 4
        return
    with pytest.raises(error):
        types.DeviceArray(CudaArray(ADDRESS, typestr=typestr))


# ---- shape and strides


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((), None),
        ((), ()),
        ((4,), (4,)),
        ((2, 3), (12, 4)),
        ((2, 3), None),
        ([2, 3], [12, 4]),
        ((1, 3), (999, 4)),
        ((2, 1, 3), (12, -7, 4)),
        ((0, 3), (5, 5)),
        ((1, 1), (0, 0)),
    ],
)
def test_contiguous(shape: Any, strides: Any) -> None:
    pointer, array = arrays(shape=shape, strides=strides)

    assert int(pointer) == ADDRESS
    assert array.shape == tuple(shape)


@pytest.mark.parametrize(
    ("shape", "strides", "adapter"),
    [
        ((2, 3), (4, 8), types.DeviceArray),
        ((2, 3), (24, 8), types.Pointer),
        ((4,), (-4,), types.Pointer),
        ((4,), (0,), types.Pointer),
        ((4,), (2,), types.Pointer),
        ((2, 2), (2**62, 2**62), types.Pointer),
    ],
)
def test_gaps_are_refused(shape: Any, strides: Any, adapter: Any) -> None:
    with pytest.raises(BufferError, match="strides"):
        adapter(CudaArray(ADDRESS, shape, strides=strides))


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"shape": 4}, TypeError),
        ({"shape": (2.0,)}, TypeError),
        ({"shape": (-1,)}, ValueError),
        ({"shape": (2**40, 2**40)}, ValueError),
        ({"shape": (2**70,)}, OverflowError),
        ({"shape": (1,) * 65}, ValueError),
        ({"strides": (4, 4)}, ValueError),
        ({"strides": 4}, TypeError),
        ({"mask": CudaArray()}, BufferError),
        ({"descr": [("x", "<f4"), ("y", "<f4")]}, BufferError),
        ({"descr": [("", "<f8")]}, BufferError),
        ({"descr": [("x", "<f4")]}, BufferError),
        ({"descr": [5]}, BufferError),
        ({"descr": 5}, TypeError),
        ({"version": "3"}, TypeError),
        ({"version": 2**70}, OverflowError),
        ({"data": 5}, TypeError),
        ({"data": (5,)}, TypeError),
        ({"data": (None, False)}, TypeError),
        ({"data": (True, False)}, TypeError),
        ({"data": (-1, False)}, OverflowError),
        ({"data": (0, False)}, ValueError),
    ],
)
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_nonsense(adapter: Any, more: Any, error: type[Exception]) -> None:
    source = CudaArray(ADDRESS, (4,))
    source.interface.update(more)

    with pytest.raises(error):
        adapter(source)


@pytest.mark.parametrize("address", [2**64 - 1, 2**64 - 16])
@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray, types.ListOfInt])
def test_memory_beyond_the_last_address_is_refused(adapter: Any, address: int) -> None:
    with pytest.raises(OverflowError, match="beyond the last address"):
        adapter(CudaArray(address, (4,), typestr="<i4"))
    assert int(adapter(CudaArray(2**64 - 17, (4,), typestr="<i4"))) == 2**64 - 17


@pytest.mark.parametrize("name", ["shape", "typestr", "data"])
def test_missing_entry(name: str) -> None:
    source = CudaArray(ADDRESS)
    del source.interface[name]

    with pytest.raises(TypeError, match=f"without '{name}'"):
        types.Pointer(source)


def test_descr_that_says_what_typestr_says_is_accepted() -> None:
    assert arrays(descr=[("", "<f4")])[1].type_name == "float32"
    fields = [("x", "<f4"), ("y", "<i2")]
    assert arrays(typestr="|V6", descr=fields)[1].itemsize == 6


def test_dict_that_changes_while_it_is_read() -> None:
    source = CudaArray(ADDRESS, (4,))

    class Flag:
        def __bool__(self) -> bool:
            source.interface.clear()
            source.interface.update(shape=(10**9,), strides=(1,))
            return False

    source.interface["data"] = (ADDRESS, Flag())

    assert types.DeviceArray(source).shape == (4,)


# ---- streams


@pytest.mark.parametrize("version", [0, 1, 2])
def test_stream_means_nothing_before_version_3(version: int) -> None:
    source = CudaArray(ADDRESS, stream=0)
    source.interface["version"] = version

    assert types.DeviceArray(source).stream_as_int is None


@pytest.mark.parametrize("stream", [1, 2, 4096])
def test_stream_is_exported_as_it_came(stream: int) -> None:
    _, array = arrays(stream=stream)

    assert array.__cuda_array_interface__["stream"] == stream


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (0, ValueError),
        (np.uint64(0), ValueError),
        ("x", TypeError),
        (True, TypeError),
        (False, TypeError),
        (1.5, TypeError),
        (b"abcdefgh", TypeError),
        (CudaArray(4096), TypeError),
        (-1, OverflowError),
        (2**64, OverflowError),
        (2**70, OverflowError),
        pytest.param(2**70000, OverflowError, id="2**70000"),
    ],
)
@pytest.mark.parametrize(
    "take",
    [
        types.Pointer,
        types.NDBuffer,
        types.DeviceArray,
        types.ListOfPointer,
        types.ListOfInt,
        types.PointerToInt,
        lambda source: types.ListOfPointer([source]),
        _core.array_of,
        hip.dim3.fromObj,
        hip.hipStream_t,
        lambda source: hip.hipMemcpy(source, bytes(16), 16, 0),
        lambda source: hip.hipMemset(source, 0, 16),
    ],
)
def test_stream_is_checked_alike_wherever_the_array_goes(
    take: Any, stream: Any, error: type[Exception]
) -> None:
    memory = np.zeros(4, "i4")
    source = CudaArray(memory.ctypes.data, (4,), typestr="<i4", stream=stream)

    with pytest.raises(error, match="__cuda_array_interface__"):
        take(source)


@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_stream_objects_are_streams_of_an_interface(adapter: Any) -> None:
    for stream in (hip.hipStream_t(4096), Stream((0, 4096)), np.uint64(4096)):
        made = adapter(CudaArray(ADDRESS, stream=stream))

        assert int(made) == ADDRESS
        assert adapter is types.Pointer or made.stream_as_int == 4096
    with pytest.raises(ValueError, match="stream 0"):
        adapter(CudaArray(ADDRESS, stream=hip.hipStream_t(0)))


@pytest.fixture
def busy(cpu: ModuleType) -> Iterator[tuple[Any, threading.Event]]:
    """A stream that works until the event is set."""
    stream = cpu.hipStreamCreateWithFlags(cpu.hipStreamNonBlocking)[1]
    go = threading.Event()
    cpu.hipLaunchHostFunc(stream, lambda _: go.wait(30), None)
    yield stream, go
    go.set()
    cpu.hipStreamDestroy(stream)


@pytest.mark.parametrize("consumer", [None, 1, 2, "other"])
def test_import_orders_the_consumer_after_the_producer(
    cpu: ModuleType, busy: tuple[Any, threading.Event], consumer: Any
) -> None:
    stream, go = busy
    other = cpu.hipStreamCreateWithFlags(cpu.hipStreamNonBlocking)[1]
    named = other if consumer == "other" else consumer

    array = _core.array_of(CudaArray(ADDRESS, stream=int(stream)), stream=named)
    waits = cpu.hipStreamQuery(named)[0]
    go.set()
    cpu.hipDeviceSynchronize()
    cpu.hipStreamDestroy(other)

    assert waits == cpu.hipError_t.hipErrorNotReady
    expected = {None: 1, 1: 1, 2: 2, "other": int(other)}
    assert array.stream_as_int == expected[consumer]


@pytest.mark.parametrize(
    ("producer", "consumer"), [(1, None), (1, 1), (2, 2), (None, None)]
)
def test_the_same_stream_needs_no_order(
    cpu: ModuleType, producer: Any, consumer: Any
) -> None:
    array = _core.array_of(CudaArray(ADDRESS, stream=producer), stream=consumer)

    assert array.stream_as_int == producer


def test_per_thread_stream_is_another_one_than_the_default(cpu: ModuleType) -> None:
    go = threading.Event()
    per_thread = cpu.ihipStream_t(2)
    cpu.hipLaunchHostFunc(per_thread, lambda _: go.wait(30), None)

    _core.array_of(CudaArray(ADDRESS, stream=2))
    waits = cpu.hipStreamQuery(None)[0]
    go.set()
    cpu.hipDeviceSynchronize()

    assert waits == cpu.hipError_t.hipErrorNotReady


def test_dlpack_and_this_protocol_number_streams_differently(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4").configure(stream=1)

    assert array.__cuda_array_interface__["stream"] == 1
    array.__dlpack__(stream=0)
    for stream in (1, 2):
        with pytest.raises(ValueError, match="ROCm"):
            array.__dlpack__(stream=stream)


# ---- __cuda_stream__


class Stream:
    """An object with __cuda_stream__ that answers what it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def test_stream_protocol_of_handles_and_back(cpu: ModuleType) -> None:
    handle = cpu.hipStreamCreate()[1]

    assert handle.__cuda_stream__() == (0, int(handle))
    again = cpu.ihipStream_t(Stream((0, int(handle))))
    status = cpu.hipStreamSynchronize(Stream((0, int(handle))))

    assert again == handle
    assert status == (cpu.hipError_t.hipSuccess,)
    cpu.hipStreamDestroy(handle)


def test_stream_protocol_wherever_a_stream_is_named(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4")

    array.configure(stream=Stream((0, 4096)))
    made = _core.array_from_memory(array, 4, "f4", stream=Stream((0, 8192)))

    assert array.stream_as_int == 4096
    assert made.stream_as_int == 8192


def test_stream_protocol_as_an_attribute(cpu: ModuleType) -> None:
    class Early:
        __cuda_stream__ = (0, 4096)

    assert int(cpu.ihipStream_t(Early())) == 4096


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (5, TypeError),
        ((0,), TypeError),
        ([0, 1], TypeError),
        ((1, 4096), ValueError),
        (("0", 4096), ValueError),
        ((2**70, 4096), ValueError),
        ((0, "x"), TypeError),
        ((0, -1), OverflowError),
        ((0, 2**70), OverflowError),
        (ZeroDivisionError(), ZeroDivisionError),
    ],
)
def test_stream_protocol_with_nonsense(
    cpu: ModuleType, answer: Any, error: type[Exception]
) -> None:
    array = _core.array_allocate(4, "f4", memory="host")

    with pytest.raises(error):
        cpu.hipStreamSynchronize(Stream(answer))
    with pytest.raises(error):
        array.configure(stream=Stream(answer))


def test_event_is_no_stream(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4", memory="host")

    with pytest.raises(TypeError, match="stream"):
        array.configure(stream=cpu.ihipEvent_t(4096))
