# SPDX-License-Identifier: MIT
"""torch (the CPU package) and our arrays, both ways."""

from __future__ import annotations

import ctypes
import gc
import sys
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import _core, types
from tests.unit.adapters.dlpack_c import exchange_of

torch = pytest.importorskip("torch", reason="torch is not installed")

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
]


@pytest.mark.parametrize("memory", ["device", "pinned", "managed", "host"])
def test_torch_takes_host_views_without_a_copy(cpu: ModuleType, memory: str) -> None:
    array = _core.array_allocate((2, 3), "f4", memory=memory)

    tensor = torch.from_dlpack(array.host())
    tensor[:] = 7

    assert tensor.data_ptr() == int(array)
    assert (tuple(tensor.shape), tensor.dtype) == ((2, 3), torch.float32)
    assert array.numpy().tolist() == [[7, 7, 7], [7, 7, 7]]


def test_torch_without_a_gpu_refuses_device_memory(cpu: ModuleType) -> None:
    if torch.cuda.is_available():
        pytest.skip("this torch has a GPU")
    array = _core.array_allocate(4, "f4")

    with pytest.raises((AssertionError, RuntimeError, BufferError)):
        torch.from_dlpack(array)

    assert sys.getrefcount(array) == 2


@pytest.mark.parametrize("name", DTYPES)
def test_element_types_both_ways(name: str) -> None:
    source = torch.ones(2, 3).to(getattr(torch, name))

    ours = hipadapt.from_dlpack(source)
    back = torch.from_dlpack(ours)

    assert (int(ours), ours.type_name, ours.shape) == (source.data_ptr(), name, (2, 3))
    assert (back.data_ptr(), back.dtype) == (source.data_ptr(), source.dtype)


@pytest.mark.parametrize("adapter", [types.Pointer, types.DeviceArray, types.NDBuffer])
def test_tensor_with_an_interface_of_its_own_goes_by_that(adapter: Any) -> None:
    memory = bytearray(16)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))

    class Mine(torch.Tensor):  # type: ignore[misc]
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            data = (address, False)
            return {"shape": (4,), "typestr": "<f4", "data": data, "version": 3}

    tensor = torch.ones(4)
    mine = tensor.as_subclass(Mine)

    assert int(adapter(mine)) == address
    assert int(adapter(tensor)) == tensor.data_ptr()


def test_writing_goes_through(cpu: ModuleType) -> None:
    source = torch.zeros(4)

    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    cpu.hipMemcpy(source, bytes([255] * 8), 8, kind)

    assert source.view(torch.uint8).tolist() == [255] * 8 + [0] * 8


@pytest.mark.parametrize("make", [types.Pointer, types.DeviceArray, _core.from_dlpack])
def test_tensors_go_by_the_exchange_table(
    monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    source = torch.zeros(4)

    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("called through Python")

    monkeypatch.setattr(torch.Tensor, "__dlpack__", forbidden)
    monkeypatch.setattr(torch.Tensor, "__dlpack_device__", forbidden)

    assert int(make(source)) == source.data_ptr()


def test_its_table_and_ours_have_the_same_layout() -> None:
    theirs = exchange_of(torch.Tensor)
    ours = exchange_of(types.DeviceArray)

    assert (theirs.major, theirs.minor) == (ours.major, 3)
    stream = ctypes.c_void_p(5)
    assert theirs.work_stream(1, 0, ctypes.byref(stream)) == 0
    assert stream.value is None


def test_our_tensor_becomes_a_tensor_by_its_table(cpu: ModuleType) -> None:
    array = _core.array_allocate((2, 3), "f4", memory="host")
    managed = ctypes.c_void_p()
    made = ctypes.c_void_p()

    ours, theirs = exchange_of(types.DeviceArray), exchange_of(torch.Tensor)
    assert ours.managed_from(array, ctypes.byref(managed)) == 0
    assert theirs.managed_to(managed, ctypes.byref(made)) == 0
    assert made.value is not None
    tensor = ctypes.cast(made, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(tensor))  # it was given to us

    assert tensor.data_ptr() == int(array)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: torch.zeros(4, requires_grad=True), (RuntimeError, BufferError)),
        (lambda: torch.zeros(4, 4).t()[1:], BufferError),
        (lambda: torch.zeros(4)[::2], BufferError),
        (lambda: torch.zeros(4, dtype=torch.complex64).conj(), BufferError),
        (lambda: torch.zeros(4, dtype=torch.complex64).conj().imag, BufferError),
        (lambda: torch.zeros(4).to_sparse(), (RuntimeError, BufferError)),
    ],
)
@pytest.mark.parametrize("make", [types.DeviceArray, _core.from_dlpack])
def test_tensors_without_plain_memory_are_refused(
    make: Any, wrong: Any, error: Any
) -> None:
    with pytest.raises(error):
        make(wrong())


def test_tensor_keeps_our_memory(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4", memory="pinned")
    where = int(array)
    tensor = torch.from_dlpack(array.host())
    part = tensor[1:]

    del array, tensor
    gc.collect()
    alive = int(cpu.hipPointerGetAttributes(where)[1].type)
    del part
    gc.collect()

    assert alive == 1
    assert int(cpu.hipPointerGetAttributes(where)[1].type) == 0


def test_array_keeps_the_tensors_memory() -> None:
    source = torch.arange(1 << 16)
    array = hipadapt.from_dlpack(source)

    del source
    gc.collect()
    torch.zeros(1 << 16)  # would take the freed memory

    assert array.numpy()[[5, -1]].tolist() == [5, 65535]


def test_tensors_as_arguments_of_asynchronous_calls(cpu: ModuleType) -> None:
    source = torch.arange(1 << 16, dtype=torch.int32)
    device = _core.array_allocate(1 << 16, "i4")

    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    cpu.hipMemcpyAsync(device, source, source.nbytes, kind, None)
    del source
    cpu.hipDeviceSynchronize()

    assert (device.numpy()[:3].tolist(), device.numpy()[-1]) == ([0, 1, 2], 65535)
