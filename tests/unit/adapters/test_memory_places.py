# SPDX-License-Identifier: MIT
"""Arrays over memory of every kind: who may look at it, who keeps it, what copies do."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import _core, types
from tests.conftest import Run

from .conftest import CudaArray

PLACES = ["device", "pinned", "managed", "host"]
VALUES = np.arange(6, dtype="<i4").reshape(2, 3)


class Owner:
    """Something that keeps memory."""

    closed = 0

    def close(self) -> None:
        """Counts its calls."""
        self.closed += 1


def filled(memory: str) -> types.DeviceArray:
    """int32 (2, 3) with the values 0 to 5."""
    array = _core.array_allocate((2, 3), "i4", memory=memory)
    _core.array_write(array, VALUES)
    return array


def kind_of(hip: ModuleType, address: Any) -> int:
    """What HIP says about the address: 0 where it does not know it."""
    return int(hip.hipPointerGetAttributes(int(address))[1].type)


# ---- array_from_memory


def test_what_is_said_is_kept() -> None:
    owner = Owner()

    array = _core.array_from_memory(
        4096, [2, 3], "float32", owner=owner, memory="device", device=3, stream=7
    )

    assert type(array) is types.DeviceArray
    assert (int(array), array.shape, array.typestr) == (4096, (2, 3), "float32")
    assert (array.owner, array.memory, array.stream_as_int) == (owner, "device", 7)
    assert array.__dlpack_device__() == (10, 3)
    assert not array.is_read_only


def test_shape_may_be_one_int_and_the_type_a_dtype() -> None:
    array = _core.array_from_memory(4096, np.int64(4), np.dtype("f8"))

    assert (array.shape, array.typestr) == ((4,), "<f8")


@pytest.mark.parametrize("memory", ["device", "pinned", "managed"])
def test_place_is_looked_up(cpu: ModuleType, memory: str) -> None:
    allocated = _core.array_allocate(16, "u1", memory=memory)

    array = _core.array_from_memory(int(allocated), 16, "u1")

    assert array.memory == memory


def test_read_only_stays_read_only(cpu: ModuleType) -> None:
    array = _core.array_from_memory(4096, 4, "f4", readonly=True)

    with pytest.raises(BufferError, match="read-only"):
        cpu.hipMemset(array, 0, 4)
    with pytest.raises(ValueError, match="read_only"):
        array.configure(read_only=False)


def test_owner_is_kept_by_parts_and_buffers() -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    memory = ctypes.create_string_buffer(16)
    array = _core.array_from_memory(
        ctypes.addressof(memory), 16, "u1", owner=owner, memory="host"
    )

    views: list[Any] = [array[4:], array.host(), memoryview(array), np.asarray(array)]
    del array, owner
    while views:
        gc.collect()
        assert gone() is not None
        views.pop()
    gc.collect()

    assert gone() is None


def test_address_of_another_array_brings_its_owner() -> None:
    memory = bytearray(16)
    source = types.DeviceArray(memory)
    owner = Owner()

    alone = _core.array_from_memory(source, 16, "u1")
    both = _core.array_from_memory(source, 16, "u1", owner=owner)
    del source

    assert alone.owner is memory
    assert owner in both.owner
    with pytest.raises(BufferError):
        memory.append(0)  # it is exported


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), TypeError),
        ((4096, 4), TypeError),
        ((4096, 4, "f4", None), TypeError),
        ((None, 4, "f4"), ValueError),
        (("x", 4, "f4"), TypeError),
        ((4096, "4", "f4"), TypeError),
        ((4096, True, "f4"), TypeError),
        ((4096, (2, -1), "f4"), ValueError),
        ((4096, (2**62, 4), "f4"), OverflowError),
        ((4096, (1,) * 65, "f4"), ValueError),
        ((4096, 4, "f5"), ValueError),
        ((4096, 4, "V"), ValueError),
        ((4096, 4, 4), TypeError),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="array_from_memory"):
        _core.array_from_memory(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"memory": "gpu"}, ValueError),
        ({"memory": 1}, TypeError),
        ({"device": -1}, ValueError),
        ({"device": "0"}, TypeError),
        ({"device": 2**40}, OverflowError),
        ({"stream": "s"}, TypeError),
        ({"other": 1}, TypeError),
        ({"shape": 1}, TypeError),
    ],
)
def test_wrong_keywords(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="array_from_memory"):
        _core.array_from_memory(4096, 4, "f4", **arguments)


def test_known_size_is_not_exceeded() -> None:
    with pytest.raises(ValueError, match="16 bytes, but the shape takes 20"):
        _core.array_from_memory(bytearray(16), 5, "f4")


# ---- array_allocate


@pytest.mark.parametrize("memory", ["device", "pinned", "managed"])
def test_allocation_is_freed_with_the_last_view(cpu: ModuleType, memory: str) -> None:
    array = _core.array_allocate(64, "u1", memory=memory)
    address = int(array)
    part = array[8:]

    del array
    gc.collect()
    with_part = kind_of(cpu, address)
    del part
    gc.collect()

    assert with_part != 0
    assert kind_of(cpu, address) == 0


def test_allocation_of_no_bytes(cpu: ModuleType) -> None:
    array = _core.array_allocate((0, 3), "f4")

    assert (int(array), array.nbytes, array.size) == (0, 0, 0)
    assert array.numpy().shape == (0, 3)
    assert np.asarray(array.host()).shape == (0, 3)


@pytest.mark.parametrize(
    ("arguments", "more", "error"),
    [
        ((), {}, TypeError),
        ((4,), {}, TypeError),
        ((4, "V"), {}, ValueError),
        ((4, "f4"), {"memory": "x"}, ValueError),
        ((4, "f4"), {"device": 99}, RuntimeError),
        ((2**61, "f4"), {}, OverflowError),
        ((2**50, "f4"), {}, MemoryError),
        ((2**50, "f4"), {"memory": "pinned"}, MemoryError),
        ((2**50, "f4"), {"memory": "host"}, MemoryError),
    ],
)
def test_allocation_that_fails(
    cpu: ModuleType, arguments: Any, more: Any, error: type[Exception]
) -> None:
    cpu.hipGetLastError()  # of other tests

    with pytest.raises(error):
        _core.array_allocate(*arguments, **more)
    assert cpu.hipGetLastError() == (cpu.hipError_t.hipSuccess,)


# ---- host views and buffers


@pytest.mark.parametrize("memory", PLACES)
def test_host_view_shares_the_memory(cpu: ModuleType, memory: str) -> None:
    array = filled(memory)

    view = array.host()
    np.asarray(view)[1, 2] = 70

    assert type(view) is types.NDBuffer
    assert (int(view), view.shape, view.memory) == (int(array), (2, 3), "host")
    assert view.__dlpack_device__() == (1, 0)
    assert array.numpy()[1, 2] == 70


def test_host_view_of_read_only_memory_is_read_only() -> None:
    view = types.DeviceArray(bytes(4)).host()

    assert view.is_read_only
    assert memoryview(view).readonly


def test_host_view_of_memory_that_hip_does_not_know(cpu: ModuleType) -> None:
    with pytest.raises(BufferError, match="no memory that HIP knows"):
        types.DeviceArray(CudaArray(4096)).host()


@pytest.mark.parametrize("memory", ["pinned", "managed", "host"])
def test_buffer_of_memory_that_the_host_sees(cpu: ModuleType, memory: str) -> None:
    array = filled(memory)

    view = memoryview(array)

    assert (view.format, view.shape, view.strides) == ("i", (2, 3), (12, 4))
    assert np.shares_memory(np.asarray(array), np.asarray(view))
    view[0, 0] = 9
    assert array.numpy()[0, 0] == 9


def test_device_memory_is_no_buffer(cpu: ModuleType) -> None:
    raw = cpu.hipMalloc(64)[1]

    for array in (raw, filled("device")):
        with pytest.raises(BufferError, match="device memory"):
            memoryview(array)
    cpu.hipFree(raw)


def test_buffer_of_raw_allocations_is_looked_up(cpu: ModuleType) -> None:
    managed = cpu.hipMallocManaged(64, cpu.hipMemAttachGlobal)[1]
    pinned = types.DeviceArray(cpu.hipHostMalloc(64, 0)[1])
    memoryview(managed)[0] = 5
    memoryview(pinned)

    cpu.hipFree(managed)
    cpu.hipHostFree(pinned)

    for array in (managed, pinned):
        with pytest.raises(BufferError):
            memoryview(array)


def test_elements_without_a_buffer_format_are_no_buffer() -> None:
    array = _core.array_allocate(4, "bfloat16", memory="host")

    with pytest.raises(BufferError, match="no format for bfloat16"):
        memoryview(array)


# ---- numpy


@pytest.mark.parametrize("memory", PLACES)
def test_numpy_is_a_copy(cpu: ModuleType, memory: str) -> None:
    array = filled(memory)

    out = array.numpy()
    out[:] = 0

    assert array.numpy().tolist() == VALUES.tolist()
    assert out.flags.owndata
    assert out.dtype == array.dtype == np.int32


@pytest.mark.parametrize("memory", PLACES)
def test_asarray_is_never_an_array_of_objects(cpu: ModuleType, memory: str) -> None:
    array = filled(memory)

    out = np.asarray(array)

    assert out.dtype == np.int32
    assert out.tolist() == VALUES.tolist()
    assert (out.ctypes.data == int(array)) == (memory != "device")
    assert np.array(array).ctypes.data != int(array)
    assert np.asarray(array, dtype="f8").dtype == np.float64
    assert (np.asarray(array) + array).tolist() == (2 * VALUES).tolist()


@pytest.mark.parametrize(
    ("memory", "more"), [("device", {}), ("pinned", {"dtype": "f8"})]
)
def test_asarray_without_a_copy_that_needs_one(
    cpu: ModuleType, memory: str, more: Any
) -> None:
    with pytest.raises(ValueError, match="copy"):
        filled(memory).__array__(copy=False, **more)


def test_numpy_of_memory_that_hip_does_not_know(cpu: ModuleType) -> None:
    with pytest.raises(BufferError, match="no memory that HIP knows"):
        np.asarray(types.DeviceArray(CudaArray(4096)))


def test_iteration_ends(cpu: ModuleType) -> None:
    array = filled("managed")

    rows = list(array)

    assert len(array) == 2
    assert [np.asarray(row).tolist() for row in rows] == [[[0, 1, 2]], [[3, 4, 5]]]


@pytest.mark.parametrize(
    ("typestr", "name"),
    [
        ("B", "uint8"),
        ("f", "float32"),
        ("<f4", "float32"),
        ("?", "bool"),
        ("D", "complex128"),
        ("q", "int64"),
        ("bfloat16", "bfloat16"),
        (">f4", ">f4"),
        ("|V3", "|V3"),
    ],
)
def test_name_of_the_element_type(typestr: str, name: str) -> None:
    array = _core.array_allocate(2, typestr, memory="host")

    assert (array.type_name, array.typestr) == (name, typestr)


def test_there_is_no_transposed_array() -> None:
    with pytest.raises(AttributeError):
        _ = _core.array_allocate(2, "f4", memory="host").T


def test_read_and_write_check_the_size(cpu: ModuleType) -> None:
    array = filled("device")

    with pytest.raises(ValueError, match="24 bytes of the array, not 23"):
        _core.array_read(array, bytearray(23))
    with pytest.raises(BufferError, match="read-only"):
        _core.array_read(array, bytes(24))
    with pytest.raises(BufferError, match="read-only"):
        _core.array_write(types.DeviceArray(bytes(24)), bytes(24))
    for wrong in ((), (array,), (5, bytearray(24))):
        with pytest.raises(TypeError):
            _core.array_read(*wrong)


# ---- copies and pickling


@pytest.mark.parametrize("memory", PLACES)
@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda array: array.copy(),
        lambda array: pickle.loads(pickle.dumps(array)),
        lambda array: pickle.loads(pickle.dumps(array, 2)),
    ],
)
def test_duplicates(cpu: ModuleType, memory: str, duplicate: Any) -> None:
    array = filled(memory)

    made = duplicate(array)

    assert (made.memory, made.shape, made.type_name) == (memory, (2, 3), "int32")
    assert int(made) != int(array)
    assert made.numpy().tolist() == VALUES.tolist()


def test_pickle_keeps_read_only() -> None:
    made = pickle.loads(pickle.dumps(types.DeviceArray(b"abc")))

    assert made.is_read_only
    assert made.numpy().tobytes() == b"abc"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_hip_does_not_know_is_not_duplicated(
    cpu: ModuleType, duplicate: Any
) -> None:
    with pytest.raises(TypeError, match="cannot pickle or copy"):
        duplicate(types.DeviceArray(CudaArray(4096)))


# ---- close


def test_close_frees_now_and_leaves_no_address(cpu: ModuleType) -> None:
    array = filled("device")
    address = int(array)

    array.close()
    array.close()

    assert (int(array), array.owner, kind_of(cpu, address)) == (0, None, 0)
    with pytest.raises(BufferError):
        array.numpy()
    with pytest.raises(BufferError):
        array.__dlpack__()


def test_with_closes_and_calls_the_owner_once() -> None:
    owner = Owner()

    with _core.array_from_memory(64, 4, "f4", owner=owner) as array:
        inside = owner.closed, int(array)

    assert inside == (0, 64)
    assert (owner.closed, int(array)) == (1, 0)


def test_close_lets_go_of_an_owner_without_close() -> None:
    memory = bytearray(4)
    array = types.DeviceArray(memory)

    array.close()

    memory.append(0)
    assert int(array) == 0


def test_close_that_raises_has_let_go_all_the_same() -> None:
    class Fails:
        def close(self) -> None:
            raise ZeroDivisionError

    array = _core.array_from_memory(64, 4, "f4", owner=Fails())

    with pytest.raises(ZeroDivisionError):
        array.close()

    assert (int(array), array.owner) == (0, None)


def test_array_without_owner_is_not_closed(cpu: ModuleType) -> None:
    raw = cpu.hipMalloc(64)[1]

    raw.close()

    assert cpu.hipFree(raw) == (cpu.hipError_t.hipSuccess,)


# ---- pinned_empty and managed_empty


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4"), "<f4"])
def test_pinned_empty_is_a_numpy_array(cpu: ModuleType, dtype: Any) -> None:
    array = hipadapt.pinned_empty((2, 3), dtype)
    array[:] = 1

    assert type(array) is np.ndarray
    assert (array.shape, array.dtype) == ((2, 3), np.float32)
    assert array.flags.writeable
    assert kind_of(cpu, array.ctypes.data) == 1


def test_pinned_empty_is_freed_with_the_last_view(cpu: ModuleType) -> None:
    array = hipadapt.pinned_empty(64, "u1")
    address = array.ctypes.data
    part = array.reshape(8, 8)[2:]

    del array
    gc.collect()
    with_part = kind_of(cpu, address)
    del part
    gc.collect()

    assert with_part == 1
    assert kind_of(cpu, address) == 0


def test_pinned_empty_of_no_elements_and_of_one(cpu: ModuleType) -> None:
    assert hipadapt.pinned_empty((0, 2), "f4").shape == (0, 2)
    assert hipadapt.pinned_empty((), "f4").shape == ()
    assert hipadapt.pinned_empty(3).dtype == np.float64


def test_managed_empty(cpu: ModuleType) -> None:
    array = hipadapt.managed_empty((2, 3), np.int32)

    np.asarray(array)[:] = VALUES

    assert (array.memory, array.dtype) == ("managed", np.int32)
    assert kind_of(cpu, array) == 3
    assert array.numpy().tolist() == VALUES.tolist()


@pytest.mark.parametrize("make", [hipadapt.pinned_empty, hipadapt.managed_empty])
@pytest.mark.parametrize(
    ("shape", "dtype", "error"),
    [
        (-1, "f4", ValueError),
        ("3", "f4", TypeError),
        (3, "nonsense", ValueError),
        (3, 5, TypeError),
        (2**50, "f4", MemoryError),
        (3, "S", ValueError),
    ],
)
def test_empty_that_fails(
    cpu: ModuleType, make: Any, shape: Any, dtype: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        make(shape, dtype)


def test_without_numpy(isolated: Callable[..., str]) -> None:
    isolated(
        """
        import sys
        sys.modules["numpy"] = None
        import hipadapt

        pinned = hipadapt.pinned_empty((2, 3), "float32")
        assert type(pinned) is hipadapt.DeviceArray
        assert memoryview(pinned).shape == (2, 3)
        managed = hipadapt.managed_empty(4, "bfloat16")
        assert (pinned.dtype, managed.dtype) == ("float32", "bfloat16")
        try:
            pinned.numpy()
        except ImportError:
            pass
        else:
            raise SystemExit("numpy is there")
        assert "numpy" not in [name.split(".")[0] for name, module
                               in sys.modules.items() if module is not None]
        """,
        HIPADAPT_PROVIDER="cpu",
    )


@pytest.mark.parametrize("count", [16, 1 << 20])
def test_view_of_managed_memory_outlives_a_reset(run_python: Run, count: int) -> None:
    run_python(
        """
        import sys
        import numpy as np
        import hipadapt
        from hipadapt import hip
        count = int(sys.argv[1])
        free = hip.hipMemGetInfo()[1]
        for _ in range(3):
            array = hipadapt.managed_empty(count, "int32")
            view = np.asarray(array)
            view[:] = 7
            assert hip.hipDeviceReset() == (0,)
            assert hip.hipMemGetInfo()[1] == free
            assert not view.any()  # the memory is gone, the addresses are not
            view[:] = 3
            assert hip.hipMemset(array, 0, 4)[0] == 1
            again = hipadapt.managed_empty(count, "int32")
            assert int(again) != int(array)
            assert hip.hipDeviceReset() == (0,)
            address = int(array)
            del array, view
            assert hip.hipFree(address)[0] == 1
        """,
        str(count),
    )
