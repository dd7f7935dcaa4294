# SPDX-License-Identifier: MIT
"""__dlpack__ and __dlpack_device__ of our arrays, read back word by word."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt.errors
from hipadapt import _core, types

from .conftest import CudaArray
from .dlpack_c import (
    BFLOAT,
    BOOL,
    COMPLEX,
    CPU,
    FLOAT,
    INT,
    ROCM,
    ROCM_HOST,
    UINT,
    set_name,
    tensor_of,
)

READ_ONLY, COPIED = 1, 2
VERSION = (1, 0)
DEVICES = {
    "device": (ROCM, 0),
    "managed": (ROCM, 0),
    "pinned": (ROCM_HOST, 0),
    "host": (CPU, 0),
}


class Owner:
    """Something that keeps memory."""


@pytest.fixture(params=list(DEVICES))
def memory(request: pytest.FixtureRequest, cpu: ModuleType) -> str:
    """Each kind of memory."""
    return str(request.param)


@pytest.fixture
def array(memory: str) -> types.DeviceArray:
    """float32 (2, 3) with the values 0 to 5, in each kind of memory."""
    made = _core.array_allocate((2, 3), "<f4", memory=memory)
    _core.array_write(made, np.arange(6, dtype="f4"))
    return made


def floats(tensor: Any) -> list[float]:
    """Elements of a tensor that the processor sees."""
    return list((ctypes.c_float * 6).from_address(tensor.data))


def test_device_and_capsule_agree(array: types.DeviceArray, memory: str) -> None:
    _, tensor = tensor_of(array.__dlpack__(max_version=VERSION))

    assert array.__dlpack_device__() == DEVICES[memory]
    assert (tensor.device_type, tensor.device_id) == DEVICES[memory]


@pytest.mark.parametrize(
    ("max_version", "versioned"),
    [(None, False), ((0, 8), False), ((1, 0), True), ((1, 3), True), ((2, 0), True)],
)
def test_layout_of_both_capsules(
    array: types.DeviceArray, max_version: Any, versioned: bool
) -> None:
    capsule = array.__dlpack__(max_version=max_version)

    managed, tensor = tensor_of(capsule)

    assert hasattr(managed, "major") is versioned
    if versioned:
        assert (managed.major, managed.minor, managed.flags) == (1, 3, 0)
    assert tensor.data == int(array)
    assert (tensor.ndim, tensor.byte_offset) == (2, 0)
    assert (tensor.code, tensor.bits, tensor.lanes) == (FLOAT, 32, 1)
    assert tensor.shape[:2] == [2, 3]
    assert tensor.strides[:2] == [3, 1]


@pytest.mark.parametrize(
    ("typestr", "dtype"),
    [
        ("|i1", (INT, 8)),
        ("<i8", (INT, 64)),
        ("|u1", (UINT, 8)),
        ("<u2", (UINT, 16)),
        ("<f2", (FLOAT, 16)),
        ("<f8", (FLOAT, 64)),
        ("<c8", (COMPLEX, 64)),
        ("<c16", (COMPLEX, 128)),
        ("|b1", (BOOL, 8)),
        ("bfloat16", (BFLOAT, 16)),
        ("<V2", (BFLOAT, 16)),
        ("float8_e3m4", (7, 8)),
        ("float8_e4m3", (8, 8)),
        ("float8_e4m3b11fnuz", (9, 8)),
        ("float8_e4m3fn", (10, 8)),
        ("float8_e4m3fnuz", (11, 8)),
        ("float8_e5m2", (12, 8)),
        ("float8_e5m2fnuz", (13, 8)),
        ("float8_e8m0fnu", (14, 8)),
    ],
)
def test_element_types_there_and_back(typestr: str, dtype: Any) -> None:
    array = _core.array_allocate(3, typestr, memory="host")

    _, tensor = tensor_of(array.__dlpack__())
    back = _core.from_dlpack(array)

    assert (tensor.code, tensor.bits, tensor.lanes) == (*dtype, 1)
    assert (back.type_name, back.itemsize) == (array.type_name, dtype[1] // 8)


@pytest.mark.parametrize("typestr", [">f4", "|V12", "|S3", "<U2", "<M8[ns]", "|V2"])
def test_elements_without_a_dlpack_type_are_refused(typestr: str) -> None:
    array = _core.array_allocate(3, typestr, memory="host")

    with pytest.raises(BufferError, match="DLPack has no elements"):
        array.__dlpack__()


def test_without_dimensions_and_without_elements() -> None:
    one = _core.array_allocate((), "f4", memory="host")
    none = _core.array_allocate((0, 3), "f4", memory="device")

    _, scalar = tensor_of(one.__dlpack__())
    empty_capsule = none.__dlpack__()
    _, empty = tensor_of(empty_capsule)

    assert (scalar.ndim, scalar.data) == (0, int(one))
    assert (empty.data, empty.shape[:2], empty.device_type) == (None, [0, 3], ROCM)


def test_many_dimensions_keep_their_own_sizes() -> None:
    array = _core.array_allocate((2,) * 9, "u1", memory="host")
    capsule = array.__dlpack__()

    array.configure(shape=(512,))

    _, tensor = tensor_of(capsule)
    assert tensor.shape[:9] == [2] * 9
    assert tensor.strides[:9] == [256, 128, 64, 32, 16, 8, 4, 2, 1]


# ---- read-only


def test_read_only_needs_a_versioned_consumer() -> None:
    array = types.DeviceArray(bytes(8))

    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()
    managed, _ = tensor_of(array.__dlpack__(max_version=VERSION))

    assert managed.flags == READ_ONLY


def test_copy_of_read_only_memory_is_writable() -> None:
    array = types.DeviceArray(bytes(8))

    managed, _ = tensor_of(array.__dlpack__(max_version=VERSION, copy=True))
    array.__dlpack__(copy=True)

    assert managed.flags == COPIED


# ---- devices and copies


def test_cpu_device_gives_all_memory_as_host_memory(array: types.DeviceArray) -> None:
    capsule = array.__dlpack__(max_version=VERSION, dl_device=(CPU, 0), copy=False)

    managed, tensor = tensor_of(capsule)

    assert (tensor.device_type, tensor.device_id) == (CPU, 0)
    assert (tensor.data, managed.flags) == (int(array), 0)
    assert floats(tensor) == [0, 1, 2, 3, 4, 5]


def test_copy_is_a_copy_in_the_same_place(
    array: types.DeviceArray, memory: str
) -> None:
    capsule = array.__dlpack__(max_version=VERSION, copy=True)

    managed, tensor = tensor_of(capsule)

    assert managed.flags == COPIED
    assert (tensor.device_type, tensor.device_id) == DEVICES[memory]
    assert tensor.data != int(array)
    assert floats(tensor) == [0, 1, 2, 3, 4, 5]


def test_copy_to_the_host(array: types.DeviceArray) -> None:
    _, tensor = tensor_of(array.__dlpack__(dl_device=(CPU, 0), copy=True))

    assert tensor.device_type == CPU
    assert tensor.data % 64 == 0
    assert tensor.data != int(array)
    assert floats(tensor) == [0, 1, 2, 3, 4, 5]


def test_own_device_is_no_change(array: types.DeviceArray, memory: str) -> None:
    _, tensor = tensor_of(array.__dlpack__(dl_device=DEVICES[memory]))

    assert tensor.data == int(array)


def test_pinned_memory_as_device_memory(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4", memory="pinned")

    _, tensor = tensor_of(array.__dlpack__(dl_device=(ROCM, 0)))

    assert (tensor.device_type, tensor.data) == (ROCM, int(array))


@pytest.mark.parametrize("wanted", [(2, 0), (12, 0), (13, 0), (CPU, 1), (99, 0)])
def test_other_devices_are_refused(array: types.DeviceArray, wanted: Any) -> None:
    with pytest.raises(BufferError, match="dl_device"):
        array.__dlpack__(dl_device=wanted)


def test_memory_that_hip_does_not_know_is_refused(cpu: ModuleType) -> None:
    array = types.DeviceArray(CudaArray(4096))

    with pytest.raises(BufferError, match="no memory that HIP knows"):
        array.__dlpack__()
    with pytest.raises(BufferError, match="no memory that HIP knows"):
        array.__dlpack_device__()


def test_freed_memory_is_refused(cpu: ModuleType) -> None:
    _, array = cpu.hipMalloc(64)
    array.__dlpack__()
    cpu.hipFree(array)

    with pytest.raises(BufferError, match="__dlpack__: this array was freed"):
        array.__dlpack__()


# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"stream": 1}, ValueError),
        ({"stream": 2}, ValueError),
        ({"stream": -2}, ValueError),
        ({"stream": True}, TypeError),
        ({"stream": "0"}, TypeError),
        ({"stream": 2**70}, OverflowError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, TypeError),
        ({"max_version": ("1", 0)}, TypeError),
        ({"dl_device": 1}, TypeError),
        ({"dl_device": (1, None)}, TypeError),
        ({"version": 1}, TypeError),
    ],
)
def test_wrong_arguments(cpu: ModuleType, arguments: Any, error: Any) -> None:
    array = _core.array_allocate(4, "f4")

    with pytest.raises(error):
        array.__dlpack__(**arguments)


def test_arguments_are_keywords() -> None:
    array = _core.array_allocate(4, "f4", memory="host")

    with pytest.raises(TypeError, match="positional"):
        array.__dlpack__(None)  # type: ignore[misc]


@pytest.mark.parametrize("stream", [None, 0, -1])
def test_streams_of_rocm(cpu: ModuleType, stream: Any) -> None:
    array = _core.array_allocate(4, "f4", memory="device")

    assert tensor_of(array.__dlpack__(stream=stream))[1].data == int(array)


def test_host_memory_has_no_stream() -> None:
    array = _core.array_allocate(4, "f4", memory="host")

    array.__dlpack__(stream=-1)
    with pytest.raises(ValueError, match="host"):
        array.__dlpack__(stream=5)


# ---- order


@pytest.fixture
def streams(cpu: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Two streams that don't wait for the default stream."""
    flag = cpu.hipStreamNonBlocking
    made = [cpu.hipStreamCreateWithFlags(flag)[1] for _ in range(2)]
    yield made[0], made[1]
    for stream in made:
        cpu.hipStreamDestroy(stream)


class Slow:
    """An array whose stream sets it to 7 once `go` is set, and not before."""

    def __init__(self, cpu: ModuleType, stream: Any, memory: str) -> None:
        made = _core.array_allocate(4, "u1", memory=memory)
        _core.array_write(made, bytes(4))
        self.go = threading.Event()
        self.array = made.configure(stream=stream)
        cpu.hipLaunchHostFunc(stream, lambda _: self.go.wait(30), None)
        cpu.hipMemsetAsync(self.array, 7, 4, stream)


def test_consumer_stream_waits_for_the_arrays_stream(
    cpu: ModuleType, streams: tuple[Any, Any]
) -> None:
    producer, consumer = streams
    slow = Slow(cpu, producer, "device")
    seen = _core.array_allocate(4, "u1", memory="pinned")
    kind = cpu.hipMemcpyKind.hipMemcpyDefault

    slow.array.__dlpack__(stream=int(consumer))
    cpu.hipMemcpyAsync(seen, slow.array, 4, kind, consumer)
    waits = cpu.hipStreamQuery(consumer)[0]
    slow.go.set()
    cpu.hipStreamSynchronize(consumer)

    assert waits == cpu.hipError_t.hipErrorNotReady
    assert bytes(seen) == b"\7\7\7\7"


@pytest.mark.parametrize("stream", [-1, "own"])
def test_no_wait_where_none_is_needed(
    cpu: ModuleType, streams: tuple[Any, Any], stream: Any
) -> None:
    producer, consumer = streams
    slow = Slow(cpu, producer, "device")

    slow.array.__dlpack__(stream=int(producer) if stream == "own" else stream)
    free = cpu.hipStreamQuery(consumer)[0], cpu.hipStreamQuery(None)[0]
    slow.go.set()
    cpu.hipStreamSynchronize(producer)

    assert free == (cpu.hipError_t.hipSuccess,) * 2


@pytest.mark.parametrize("stream", [None, 0])
def test_default_stream_waits_for_the_arrays_stream(
    cpu: ModuleType, streams: tuple[Any, Any], stream: Any
) -> None:
    slow = Slow(cpu, streams[0], "device")

    slow.array.__dlpack__(stream=stream)
    waits = cpu.hipStreamQuery(None)[0]
    slow.go.set()
    cpu.hipDeviceSynchronize()

    assert waits == cpu.hipError_t.hipErrorNotReady


def later(event: threading.Event) -> threading.Timer:
    """Sets the event in a moment, from another thread."""
    timer = threading.Timer(0.05, event.set)
    timer.start()
    return timer


@pytest.mark.parametrize("memory", ["device", "pinned", "managed"])
def test_host_memory_is_complete(
    cpu: ModuleType, streams: tuple[Any, Any], memory: str
) -> None:
    slow = Slow(cpu, streams[0], memory)
    later(slow.go)

    _, tensor = tensor_of(slow.array.__dlpack__(dl_device=(CPU, 0)))

    assert ctypes.string_at(tensor.data, 4) == b"\7\7\7\7"


def test_pinned_memory_is_complete_for_readers_without_a_stream(
    cpu: ModuleType, streams: tuple[Any, Any]
) -> None:
    slow = Slow(cpu, streams[0], "pinned")
    later(slow.go)

    _, tensor = tensor_of(slow.array.__dlpack__())

    assert ctypes.string_at(tensor.data, 4) == b"\7\7\7\7"


@pytest.mark.parametrize("make", [lambda a: a.copy(), lambda a: a.numpy().tobytes()])
def test_copies_are_complete(
    cpu: ModuleType, streams: tuple[Any, Any], make: Callable[[Any], Any]
) -> None:
    slow = Slow(cpu, streams[0], "device")
    later(slow.go)

    made = make(slow.array)

    assert (made if isinstance(made, bytes) else made.numpy().tobytes()) == b"\7" * 4


def test_stream_that_is_gone_is_an_error(cpu: ModuleType) -> None:
    stream = cpu.hipStreamCreateWithFlags(cpu.hipStreamNonBlocking)[1]
    array = _core.array_allocate(4, "u1").configure(stream=int(stream))
    cpu.hipStreamDestroy(stream)

    with pytest.raises(hipadapt.errors.HipError, match="hipEventRecord"):
        array.__dlpack__(stream=0)


# ---- life


@pytest.mark.parametrize("max_version", [None, VERSION])
def test_unused_capsule_keeps_the_owner(max_version: Any) -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    memory = ctypes.create_string_buffer(16)
    array = _core.array_from_memory(
        ctypes.addressof(memory), 4, "f4", owner=owner, memory="host"
    )

    capsule = array.__dlpack__(max_version=max_version)
    del array, owner
    gc.collect()
    alive = gone() is not None
    del capsule

    assert alive
    assert gone() is None


@pytest.mark.parametrize("max_version", [None, VERSION])
@pytest.mark.parametrize("gil", ["with", "without", "thread"])
def test_deleter_of_a_consumed_capsule(max_version: Any, gil: str) -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    array = _core.array_from_memory(64, 4, "f4", owner=owner, memory="host")
    capsule = array.__dlpack__(max_version=max_version)
    managed, _ = tensor_of(capsule)
    set_name(capsule, b"used_dltensor" + (b"_versioned" if max_version else b""))
    del capsule, array, owner
    gc.collect()
    alive = gone() is not None

    prototype = ctypes.PYFUNCTYPE if gil == "with" else ctypes.CFUNCTYPE
    deleter = prototype(None, ctypes.c_void_p)(managed.deleter)
    if gil == "thread":
        thread = threading.Thread(target=deleter, args=(ctypes.addressof(managed),))
        thread.start()
        thread.join()
    else:
        deleter(ctypes.addressof(managed))

    assert alive
    assert gone() is None


def test_array_without_owner_is_kept_itself(cpu: ModuleType) -> None:
    class Mine(types.DeviceArray):
        pass

    array = Mine(np.zeros(4, "f4"))
    gone = weakref.ref(array)

    capsule = array.__dlpack__()
    del array
    gc.collect()
    alive = gone() is not None
    del capsule
    gc.collect()

    assert alive
    assert gone() is None


def test_deleter_while_the_interpreter_ends(isolated: Callable[..., str]) -> None:
    isolated(
        """
        import ctypes, sys
        from hipadapt import _core
        from tests.unit.adapters.dlpack_c import set_name, tensor_of

        managed, _ = tensor_of(_core.array_allocate(4, "f4", memory="host").__dlpack__())
        set_name(managed.capsule, b"used_dltensor")
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)

        class Late:
            def __del__(self, free=free, address=ctypes.addressof(managed)):
                free(address)  # like a consumer that dies with the interpreter

        sys.late = Late()
        # And one whose capsule nobody consumed.
        sys.capsule = _core.array_allocate(4, "f4", memory="device").__dlpack__()
        """
    )


def test_exception_in_flight_survives_the_capsules_end() -> None:
    class Loud:
        def __del__(self) -> None:
            try:
                raise KeyError
            except KeyError:
                pass

    array = _core.array_from_memory(64, 4, "f4", owner=Loud(), memory="host")

    def fail() -> None:
        capsule = array.__dlpack__()
        assert capsule is not None
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
