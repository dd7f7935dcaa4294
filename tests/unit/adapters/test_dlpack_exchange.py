# SPDX-License-Identifier: MIT
"""The C exchange table of DLPack 1.3: ours as torch would use it, and others' by us."""

from __future__ import annotations

import ctypes
import gc
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import _core, types

from .conftest import CudaArray
from .dlpack_c import (
    CPU,
    CUDA,
    DELETER,
    FLOAT,
    ROCM,
    ROCM_HOST,
    Exchange,
    Tensor,
    Versioned,
    delete,
    exchange_of,
    new_capsule,
    sizes,
)

FLOAT32 = (FLOAT, 32, 1)


@pytest.fixture
def table() -> Exchange:
    """The table of DeviceArray."""
    return exchange_of(types.DeviceArray)


def managed_of(table: Exchange, array: Any) -> Any:
    """The tensor that the table gives for an array; delete() ends it."""
    address = ctypes.c_void_p()
    assert table.managed_from(array, ctypes.byref(address)) == 0
    assert address.value is not None
    return Versioned.from_address(address.value)


# ---- our table


def test_table_is_complete_and_the_same_for_all_array_types(table: Exchange) -> None:
    class Mine(types.DeviceArray):
        pass

    others = [exchange_of(kind) for kind in (types.NDBuffer, Mine)]

    assert (table.major, table.minor, table.previous) == (1, 3, None)
    assert all(
        ctypes.cast(getattr(table, name), ctypes.c_void_p).value
        for name, _ in table._fields_[3:]
    )
    assert {ctypes.addressof(other) for other in others} == {ctypes.addressof(table)}


@pytest.mark.parametrize(
    ("memory", "device"),
    [("device", ROCM), ("managed", ROCM), ("pinned", ROCM_HOST), ("host", CPU)],
)
def test_managed_tensor(
    cpu: ModuleType, table: Exchange, memory: str, device: int
) -> None:
    array = _core.array_allocate((2, 3), "f4", memory=memory)

    managed = managed_of(table, array)

    tensor = managed.tensor
    assert (managed.major, managed.minor, managed.flags) == (1, 3, 0)
    assert (tensor.data, tensor.device_type) == (int(array), device)
    assert (tensor.code, tensor.bits, tensor.lanes) == FLOAT32
    assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 3], [3, 1])
    delete(ctypes.addressof(managed))


def test_managed_tensor_keeps_the_owner_until_deleted(table: Exchange) -> None:
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    array = _core.array_from_memory(64, 4, "f4", owner=owner, memory="host")

    managed = managed_of(table, array)
    del array, owner
    gc.collect()
    alive = gone() is not None
    delete(ctypes.addressof(managed))

    assert alive
    assert gone() is None


def test_read_only_is_flagged(table: Exchange) -> None:
    managed = managed_of(table, types.DeviceArray(bytes(4)))

    assert managed.flags == 1
    delete(ctypes.addressof(managed))


def test_plain_tensor_of_an_array(table: Exchange) -> None:
    array = _core.array_allocate((2, 3, 4, 5, 6), "f8", memory="host")
    tensor = Tensor()

    assert table.tensor_from(array, ctypes.byref(tensor)) == 0

    assert (tensor.data, tensor.device_type, tensor.ndim) == (int(array), CPU, 5)
    assert tensor.shape[:5] == [2, 3, 4, 5, 6]
    assert tensor.strides[:5] == [360, 120, 30, 6, 1]


@pytest.mark.parametrize("function", ["managed_from", "tensor_from"])
def test_other_objects_raise(table: Exchange, function: str) -> None:
    out: Any = Tensor() if function == "tensor_from" else ctypes.c_void_p()

    with pytest.raises(TypeError, match="array of hipadapt, not 'int'"):
        getattr(table, function)(5, ctypes.byref(out))
    with pytest.raises(
        TypeError, match=r"array of hipadapt, not 'hipadapt\.types\.Pointer'"
    ):
        getattr(table, function)(types.Pointer(5), ctypes.byref(out))


def test_memory_that_hip_does_not_know_raises(cpu: ModuleType, table: Exchange) -> None:
    array = types.DeviceArray(CudaArray(4096))

    with pytest.raises(BufferError, match="no memory that HIP knows"):
        table.managed_from(array, ctypes.byref(ctypes.c_void_p()))


def test_tensor_becomes_an_array(table: Exchange) -> None:
    managed = managed_of(table, _core.array_allocate(6, "i4", memory="host"))
    address = managed.tensor.data
    out = ctypes.c_void_p()

    assert table.managed_to(ctypes.addressof(managed), ctypes.byref(out)) == 0
    assert out.value is not None
    array = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))  # it was given to us

    assert type(array) is types.DeviceArray
    assert (array.shape, array.typestr, int(array)) == ((6,), "<i4", address)


class Foreign:
    """A managed tensor of somebody else that counts the calls of its deleter."""

    def __init__(self, **more: Any) -> None:
        self.memory = ctypes.create_string_buffer(64)
        self.shape = sizes((2, 3))
        self.strides = sizes(more.pop("strides", (3, 1)))
        self.tensor = Tensor(
            ctypes.addressof(self.memory),
            more.pop("device", CPU),
            0,
            2,
            *FLOAT32,
            self.shape,
            self.strides,
            0,
        )
        self.version = more.pop("version", (1, 3))
        self.flags = more.pop("flags", 0)
        self.deleted = 0
        self.deleter = DELETER(self.delete)
        self.managed = Versioned(
            *self.version,
            None,
            ctypes.cast(self.deleter, ctypes.c_void_p),
            self.flags,
            self.tensor,
        )

    def delete(self, managed: int) -> None:
        """The deleter."""
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1


@pytest.mark.parametrize(
    "wrong", [{"version": (2, 0)}, {"device": CUDA}, {"strides": (1, 2)}]
)
def test_tensor_that_makes_no_array_is_deleted(table: Exchange, wrong: Any) -> None:
    foreign = Foreign(**wrong)

    with pytest.raises(BufferError):
        table.managed_to(
            ctypes.addressof(foreign.managed), ctypes.byref(ctypes.c_void_p())
        )

    assert foreign.deleted == 1


def test_current_stream_is_the_default_stream(table: Exchange) -> None:
    stream = ctypes.c_void_p(5)

    for device in (CPU, ROCM):
        assert table.work_stream(device, 0, ctypes.byref(stream)) == 0
        assert stream.value is None


@pytest.mark.parametrize(
    ("device", "memory"), [(CPU, "host"), (ROCM, "device"), (ROCM_HOST, "pinned")]
)
def test_allocate(cpu: ModuleType, table: Exchange, device: int, memory: str) -> None:
    shape = sizes((2, 3))
    prototype = Tensor(None, device, 0, 2, *FLOAT32, shape, None, 0)
    out = ctypes.c_void_p()
    failures: list[Any] = []
    fails = Exchange.ALLOCATE_FAILS(lambda *text: failures.append(text))

    status = table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, fails)

    assert (status, failures) == (0, [])
    assert out.value is not None
    managed = Versioned.from_address(out.value)
    tensor = managed.tensor
    assert (tensor.device_type, tensor.shape[:2], tensor.strides[:2]) == (
        device,
        [2, 3],
        [3, 1],
    )
    made = types.DeviceArray(tensor.data)
    assert made.memory == (None if memory == "host" else memory)
    delete(out.value)
    assert made.memory is None  # freed


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"device_type": CUDA}, b"BufferError"),
        ({"ndim": -1}, b"ValueError"),
        ({"bits": 4}, b"ValueError"),
        ({"shape": (-1, 2)}, b"ValueError"),
        ({"shape": (2**62, 2**62)}, b"ValueError"),
        ({"shape": (2**50, 8)}, b"MemoryError"),
        ({"device_id": 99}, b"RuntimeError"),
    ],
)
def test_allocate_tells_why_not(
    cpu: ModuleType, table: Exchange, change: Any, kind: bytes
) -> None:
    shape = sizes(change.pop("shape", (2, 3)))
    prototype = Tensor(None, ROCM, 0, 2, *FLOAT32, shape, None, 0)
    for name, value in change.items():
        setattr(prototype, name, value)
    failures: list[Any] = []
    fails = Exchange.ALLOCATE_FAILS(lambda *text: failures.append(text))

    status = table.allocate(
        ctypes.byref(prototype), ctypes.byref(ctypes.c_void_p()), 7, fails
    )

    assert status == -1
    assert [(context, told) for context, told, _ in failures] == [(7, kind)]


# ---- tables of others


def producer_of(foreign: Foreign, **more: Any) -> Any:
    """An instance of a class that has a table and nothing else."""

    def managed_from(instance: Any, out: Any) -> int:
        status = int(more.get("error", 0))
        if status == 0:
            out[0] = ctypes.addressof(foreign.managed)
        return status

    def work_stream(device: int, index: int, out: Any) -> int:
        asked.append((device, index))
        out[0] = more.get("stream", 0)
        return int(more.get("stream_status", 0))

    asked: list[Any] = []
    table = Exchange(*more.get("version", (1, 3)), more.get("previous"))
    table.managed_from = Exchange.MANAGED_FROM(managed_from)
    table.work_stream = Exchange.WORK_STREAM(work_stream)
    name = more.get("name", b"dlpack_exchange_api")
    capsule = new_capsule(ctypes.addressof(table), name, None)

    class Producer:
        __dlpack_c_exchange_api__ = capsule
        keep = table, name, foreign

        def __init__(self) -> None:
            self.asked = asked
            self.table = table

    return Producer()


@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray, types.NDBuffer])
def test_adapters_use_the_table(adapter: Any) -> None:
    foreign = Foreign()
    producer = producer_of(foreign)

    made = adapter(producer)
    address = int(made)
    before = foreign.deleted
    del made

    assert address == ctypes.addressof(foreign.memory)
    assert (before, foreign.deleted) == (0, 1)


def test_from_dlpack_uses_the_table_and_keeps_the_tensor() -> None:
    foreign = Foreign(flags=1)

    array = _core.from_dlpack(producer_of(foreign))

    assert (array.shape, array.is_read_only, array.memory) == ((2, 3), True, "host")
    assert foreign.deleted == 0
    del array
    assert foreign.deleted == 1


def test_read_only_tensor_is_refused_where_a_call_writes(cpu: ModuleType) -> None:
    foreign = Foreign(flags=1)

    with pytest.raises(BufferError, match="read-only"):
        cpu.hipMemcpy(producer_of(foreign), bytes(8), 8, 0)

    assert foreign.deleted == 1


@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray])
def test_interface_comes_before_the_table(adapter: Any) -> None:
    foreign = Foreign()
    producer = producer_of(foreign)
    type(producer).__cuda_array_interface__ = CudaArray(4096).interface

    assert int(adapter(producer)) == 4096
    assert foreign.deleted == 0


def test_buffer_comes_before_the_table() -> None:
    foreign = Foreign()
    table = producer_of(foreign)

    class Memory(bytearray):
        __dlpack_c_exchange_api__ = table.__dlpack_c_exchange_api__

    memory = Memory(8)

    address = ctypes.addressof((ctypes.c_char * 8).from_buffer(memory))
    assert int(types.Pointer(memory)) == address


def test_as_c_void_p_comes_before_the_table_and_the_table_before_the_method() -> None:
    foreign = Foreign()
    producer = producer_of(foreign)
    type(producer).__dlpack__ = lambda self, **told: 1 // 0

    by_table = int(types.Pointer(producer))
    type(producer).as_c_void_p = lambda self: ctypes.c_void_p(4096)

    assert by_table == ctypes.addressof(foreign.memory)
    assert int(types.Pointer(producer)) == 4096


def test_table_tells_the_stream_that_an_old_interface_does_not(
    cpu: ModuleType,
) -> None:
    memory = _core.array_allocate(4, "f4")
    producer = producer_of(Foreign(), stream=4096)
    interface = CudaArray(int(memory)).interface
    type(producer).__cuda_array_interface__ = interface

    streams = []
    for version in (2, 3):
        interface["version"] = version
        streams.append(types.DeviceArray(producer).stream_as_int)

    assert streams == [4096, None]
    assert producer.asked == [(ROCM, 0)]


@pytest.mark.parametrize("error", [-1, 1])
@pytest.mark.parametrize("take", [types.Pointer, _core.from_dlpack])
def test_table_that_fails(take: Any, error: int) -> None:
    foreign = Foreign()

    with pytest.raises(BufferError, match="refused by the DLPack table of 'Producer'"):
        take(producer_of(foreign, error=error))

    assert foreign.deleted == 0


@pytest.mark.parametrize(
    "wrong", [{"version": (2, 0)}, {"device": CUDA}, {"strides": (9, 2)}]
)
@pytest.mark.parametrize("take", [types.DeviceArray, _core.from_dlpack])
def test_tensor_of_a_table_that_is_refused_is_deleted(take: Any, wrong: Any) -> None:
    foreign = Foreign(**wrong)

    with pytest.raises(BufferError):
        take(producer_of(foreign))

    assert foreign.deleted == 1


@pytest.mark.parametrize(
    "more", [{"version": (2, 0)}, {"version": (0, 9)}, {"name": b"something"}]
)
def test_table_that_is_not_understood_is_not_used(more: Any) -> None:
    producer = producer_of(Foreign(), **more)

    with pytest.raises(TypeError):
        types.Pointer(producer)
    type(producer).__dlpack__ = lambda self, **told: 1 // 0
    with pytest.raises(ZeroDivisionError):
        types.Pointer(producer)


def test_older_table_in_the_chain_is_used() -> None:
    foreign = Foreign()
    older = producer_of(foreign)
    newer = producer_of(
        Foreign(), version=(2, 0), previous=ctypes.addressof(older.table)
    )

    assert int(types.Pointer(newer)) == ctypes.addressof(foreign.memory)


def test_table_on_an_instance_is_not_used() -> None:
    producer = producer_of(Foreign())
    instance = CudaArray(4096)
    instance.__dlpack_c_exchange_api__ = (  # type: ignore[attr-defined]
        producer.__dlpack_c_exchange_api__
    )

    assert int(types.Pointer(instance)) == 4096


def test_device_tensor_names_the_producers_stream(cpu: ModuleType) -> None:
    foreign = Foreign(device=ROCM)
    producer = producer_of(foreign, stream=4096)

    array = types.DeviceArray(producer)
    other = types.DeviceArray(producer_of(Foreign(device=ROCM)))

    assert producer.asked == [(ROCM, 0)]
    assert (array.stream_as_int, other.stream_as_int) == (4096, 1)


def test_from_dlpack_orders_after_the_producers_stream(cpu: ModuleType) -> None:
    import threading

    stream = cpu.hipStreamCreateWithFlags(cpu.hipStreamNonBlocking)[1]
    go = threading.Event()
    cpu.hipLaunchHostFunc(stream, lambda _: go.wait(30), None)

    array = _core.from_dlpack(producer_of(Foreign(device=ROCM), stream=int(stream)))
    waits = cpu.hipStreamQuery(None)[0]
    go.set()
    cpu.hipDeviceSynchronize()
    cpu.hipStreamDestroy(stream)

    assert waits == cpu.hipError_t.hipErrorNotReady
    assert array.stream_as_int == 1


def test_stream_question_that_fails(cpu: ModuleType) -> None:
    foreign = Foreign(device=ROCM)

    with pytest.raises(BufferError, match="stream"):
        _core.from_dlpack(producer_of(foreign, stream_status=-1))

    assert foreign.deleted == 1


def test_our_own_arrays_go_by_the_table(cpu: ModuleType) -> None:
    array = types.DeviceArray(np.arange(4, dtype="f4"))

    back = _core.from_dlpack(array)

    assert (int(back), back.memory) == (int(array), "host")
