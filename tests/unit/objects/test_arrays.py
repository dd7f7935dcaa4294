# SPDX-License-Identifier: MIT
"""Arrays: creation, filling, copies, and who frees the memory."""

from __future__ import annotations

import array as stdlib_array
import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import DeviceArray, Stream, errors, hip, types
from tests.conftest import in_threads

DTYPES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
    "float16 float32 float64 complex64 complex128"
).split()


def is_allocated(address: int) -> bool:
    """Whether HIP knows the address as device memory."""
    status, found = hip.hipPointerGetAttributes(address)
    return int(status) == 0 and int(found.type) == 2


@pytest.mark.parametrize("shape", [(), 0, 5, (3,), (2, 3), (2, 0, 3), [4, 1]])
@pytest.mark.parametrize("make", [hipadapt.empty, hipadapt.zeros])
def test_shape_and_type(cpu: ModuleType, make: Callable[..., Any], shape: Any) -> None:
    want = np.zeros(shape, "int32")

    for dtype in ("int32", "<i4", np.int32, np.dtype("int32")):
        made = make(shape, dtype)
        assert isinstance(made, DeviceArray)
        assert (made.shape, made.nbytes) == (want.shape, want.nbytes)
        assert made.type_name == "int32"
        assert made.memory == "device" or made.nbytes == 0
    assert make(shape).type_name == "float64"


@pytest.mark.parametrize("dtype", DTYPES)
def test_full_fill_and_get_of_every_type(cpu: ModuleType, dtype: str) -> None:
    value = 1 if dtype == "bool" else np.array(3, dtype)[()]

    made = hipadapt.full((3, 5), value, dtype)
    assert np.array_equal(made.get(), np.full((3, 5), value, dtype))
    assert made.get().dtype == np.dtype(dtype)
    assert made.fill(0) is made
    assert not made.get().any()
    one = hipadapt.full(1, value, dtype)
    assert one.get()[0] == value
    assert (
        hipadapt.zeros((2, 2), dtype).get().tolist() == np.zeros((2, 2), dtype).tolist()
    )


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 1000])
def test_fill_of_large_elements(cpu: ModuleType, count: int) -> None:
    made = hipadapt.full(count, 1.2345 - 2j, "complex128")
    assert set(made.get()) == {1.2345 - 2j}
    made = hipadapt.full(count, 0.1)
    assert set(made.get()) == {0.1}


def test_type_of_full_comes_from_the_value(cpu: ModuleType) -> None:
    names = [
        hipadapt.full(1, value).type_name
        for value in (True, 1, 1.5, 1j, np.float32(1), np.uint8(1))
    ]
    assert names == ["bool", "int64", "float64", "complex128", "float32", "uint8"]
    with pytest.raises(TypeError):
        hipadapt.full(1, "x")


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("int8", 128, OverflowError),
        ("uint8", -1, OverflowError),
        ("int32", 1.5, TypeError),
        ("float32", 1j, TypeError),
        ("float32", 1e39, OverflowError),
        ("float16", 1e6, OverflowError),
        ("int64", 2**63, OverflowError),
        ("float32", "x", (TypeError, ValueError)),
        ("float32", [1, 2], ValueError),
    ],
)
def test_value_that_is_none_of_the_type_raises(
    cpu: ModuleType, dtype: str, value: Any, error: Any
) -> None:
    made = hipadapt.zeros(2, dtype)
    with pytest.raises(error):
        made.fill(value)
    assert made.get().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("shape", "dtype", "error"),
    [
        (-1, "float32", (ValueError, OverflowError)),
        ((2, -1), "float32", (ValueError, OverflowError)),
        (2**62, "float64", (ValueError, OverflowError)),
        (2**50, "uint8", MemoryError),
        (3, "no type", (TypeError, ValueError)),
        (3, "O", (TypeError, ValueError)),
        ("x", "float32", TypeError),
        (1.5, "float32", TypeError),
    ],
)
def test_array_that_can_not_be_raises(
    cpu: ModuleType, shape: Any, dtype: str, error: Any
) -> None:
    with pytest.raises(error):
        hipadapt.empty(shape, dtype)
    with pytest.raises(error):
        hipadapt.empty(shape, dtype, stream=Stream())


# ---- from other arrays ----


@pytest.mark.parametrize(
    "obj",
    [
        [1, 2, 3],
        [[1.5, 2], [3, 4]],
        (1, 2),
        range(4),
        5,
        2.5,
        np.arange(12).reshape(3, 4),
        np.arange(12, dtype="f4").reshape(3, 4).T,
        np.arange(12)[::2],
        np.float32(3),
        np.array(7),
        np.zeros((0, 3)),
        stdlib_array.array("f", [1, 2, 3]),
        memoryview(np.arange(4)),
    ],
)
def test_array_of_every_kind(cpu: ModuleType, obj: Any) -> None:
    want = np.asarray(obj)

    made = hipadapt.array(obj)

    assert made.shape == want.shape
    assert made.type_name == want.dtype.name
    assert np.array_equal(made.get(), want)


def test_array_converts_host_elements(cpu: ModuleType) -> None:
    for obj in ([1, 2], np.array([1, 2])):
        made = hipadapt.array(obj, "float32")
        assert made.type_name == "float32"
        assert made.get().tolist() == [1, 2]
    with pytest.raises(TypeError, match="not converted"):
        hipadapt.array(made, "int32")


def test_array_copies_device_memory(cpu: ModuleType) -> None:
    x = hipadapt.full(4, 1.5)
    made = hipadapt.array(x)
    x.fill(0)
    assert set(made.get()) == {1.5}
    assert int(made) != int(x)


class Foreign:
    """An array of another package."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__


def test_asarray_shares_device_memory_and_copies_host_memory(cpu: ModuleType) -> None:
    x = hipadapt.full(4, 1.5)
    foreign = Foreign(x)

    shared = hipadapt.asarray(foreign)
    assert int(shared) == int(x) and shared.shape == (4,)
    assert hipadapt.asarray(x) is x
    assert hipadapt.asarray(x, "float64") is x
    host = np.arange(3.0)
    copied = hipadapt.asarray(host)
    host[:] = 0
    assert copied.get().tolist() == [0, 1, 2]
    assert hipadapt.asarray(host, "int8").type_name == "int8"
    pinned = hipadapt.pinned_empty(3, "int32")
    pinned[:] = 4
    assert hipadapt.asarray(pinned).memory == "device"
    with pytest.raises(TypeError):
        hipadapt.asarray(x, "int8")
    with pytest.raises(TypeError):
        hipadapt.asarray(object())

    gone = weakref.ref(foreign)
    del foreign
    gc.collect()
    assert gone() is not None
    del shared
    gc.collect()
    assert gone() is None


def test_empty_like(cpu: ModuleType) -> None:
    for prototype in (np.zeros((2, 3), "f4"), hipadapt.zeros((2, 3), "float32")):
        made = hipadapt.empty_like(prototype)
        assert (made.shape, made.type_name) == ((2, 3), "float32")
        made = hipadapt.empty_like(prototype, "int8", 5)
        assert (made.shape, made.type_name) == ((5,), "int8")


@pytest.mark.parametrize("args", [(5,), (2, 7), (0, 1, 0.25), (5, 0, -2), (3, 3)])
def test_arange(cpu: ModuleType, args: tuple[float, ...]) -> None:
    want = np.arange(*args)
    made = hipadapt.arange(*args)
    assert made.type_name == want.dtype.name
    assert np.array_equal(made.get(), want)
    assert hipadapt.arange(*args, dtype="float32").type_name == "float32"


# ---- copies ----


def test_copies_both_ways(cpu: ModuleType) -> None:
    host = np.arange(6, dtype="f4").reshape(2, 3)
    x, y = hipadapt.empty((2, 3), "float32"), hipadapt.empty(6, "float32")

    assert x.copy_from(host) is x
    y.copy_from(x)
    out = np.zeros((3, 2), "f4")
    assert y.copy_to(out) is out
    assert out.ravel().tolist() == list(range(6))
    x.copy_to(y)
    into = np.zeros((2, 3), "f4")
    assert y.get(into) is into
    assert np.array_equal(into, host)
    raw = bytearray(24)
    x.copy_to(raw)
    assert raw == host.tobytes()
    assert x.copy_from(bytes(24)).get().sum() == 0


def test_copies_that_do_not_fit_raise(cpu: ModuleType) -> None:
    x = hipadapt.zeros(4, "float32")
    frozen = np.zeros(4, "f4")
    frozen.flags.writeable = False
    gaps = np.zeros(8, "f4")[::2]

    for call, error in (
        (lambda: x.copy_from(np.zeros(5, "f4")), ValueError),
        (lambda: x.copy_to(np.zeros(5, "f4")), ValueError),
        (lambda: x.copy_from(np.zeros(4, "i4")), TypeError),
        (lambda: x.copy_to(np.zeros(4, "i4")), TypeError),
        (lambda: x.copy_to(frozen), BufferError),
        (lambda: x.copy_to(gaps), (BufferError, ValueError)),
        (lambda: x.copy_to([1, 2, 3, 4]), TypeError),
        (lambda: x.copy_from("text"), TypeError),
        (lambda: x.get(np.zeros(3, "f4")), ValueError),
    ):
        with pytest.raises(error):
            call()
    assert x.copy_from(np.arange(8, dtype="f4")[::2]).get().tolist() == [0, 2, 4, 6]
    x.configure(read_only=True)
    for write in (lambda: x.fill(1), lambda: x.copy_from(frozen)):
        with pytest.raises(BufferError):
            write()


def test_named_stream_does_not_wait_and_holds_the_source(cpu: ModuleType) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    x = hipadapt.zeros(1000, "float32")
    host = np.ones(1000, "f4")
    gc.collect()
    stream.call(gate.wait)

    x.copy_from(host, stream=stream)
    x.fill(2, stream=stream)
    out = x.get(stream=stream)
    held = weakref.ref(host)
    del host
    assert not stream.done and held() is not None
    gate.set()
    stream.synchronize()

    assert set(out) == {2.0}


def test_current_stream_orders_fills_and_copies(cpu: ModuleType) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    x = hipadapt.zeros(4, "float32")
    gc.collect()
    with stream:
        stream.call(gate.wait)
        x.fill(3)
        threading.Timer(0.05, gate.set).start()
        assert set(x.get()) == {3.0}  # behind the gate


def test_array_on_a_stream_is_used_in_its_order(cpu: ModuleType) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    gc.collect()
    stream.call(gate.wait)
    x = hipadapt.full(4, 3, "float32", stream=stream)
    assert x.stream_as_int == stream.handle
    threading.Timer(0.05, gate.set).start()
    assert set(x.get()) == {3.0}


# ---- life ----


@pytest.mark.parametrize("ordered", [False, True])
def test_close_frees_once_and_use_after_it_raises(
    cpu: ModuleType, ordered: bool
) -> None:
    stream = Stream() if ordered else None
    x = hipadapt.zeros(1000, "float32", stream=stream)
    address = int(x)
    assert is_allocated(address)

    with x as entered:
        assert entered is x
    x.close()
    hipadapt.Device().synchronize()

    assert not is_allocated(address)
    with pytest.raises((ValueError, errors.HipError, TypeError, BufferError)):
        x.get()


@pytest.mark.parametrize("ordered", [False, True])
def test_last_user_frees(cpu: ModuleType, ordered: bool) -> None:
    stream = Stream() if ordered else None
    x = hipadapt.zeros((10, 100), "float32", stream=stream)
    address = int(x)
    part = x[2:4]

    del x
    gc.collect()
    hipadapt.Device().synchronize()
    assert is_allocated(address)
    assert part.get().sum() == 0
    del part
    gc.collect()
    hipadapt.Device().synchronize()

    assert not is_allocated(address)


USES: dict[str, Callable[[Any], Any]] = {
    "get": lambda x: x.get(),
    "get out": lambda x: x.get(np.zeros(4, "f4")),
    "fill": lambda x: x.fill(0),
    "copy_from": lambda x: x.copy_from(np.zeros(4, "f4")),
    "copy_to": lambda x: x.copy_to(np.zeros(4, "f4")),
    "copied to": lambda x: hipadapt.empty(x.shape, "f4").copy_to(x),
    "copied from": lambda x: hipadapt.empty(x.shape, "f4").copy_from(x),
    "array": hipadapt.array,
    "asarray of it": lambda x: hipadapt.asarray(x, "f4"),
    "copy": lambda x: x.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "element": lambda x: x[0],
    "slice": lambda x: x[1:],
    "configure": lambda x: x.configure(shape=(2, 2)),
    "with": lambda x: x.__enter__(),
    "numpy": lambda x: x.numpy(),
    "numpy.asarray": np.asarray,
    "memoryview": memoryview,
    "bytes": bytes,
    "cuda array interface": lambda x: x.__cuda_array_interface__,
    "dlpack": lambda x: x.__dlpack__(),
    "dlpack device": lambda x: x.__dlpack_device__(),
    "c_void_p": lambda x: x.as_c_void_p(),
    "Pointer": types.Pointer,
    "DeviceArray": DeviceArray,
    "NDBuffer": types.NDBuffer,
    "list": lambda x: types.ListOfPointer([x]),
    "hipMemcpy": lambda x: hip.hipMemcpy(x, bytes(16), 16, 1),
    "hipMemset": lambda x: hip.hipMemset(x, 0, 16),
    "hipFree": hip.hipFree,
    "extra": lambda x: types.HipModuleLaunchKernel_extra([x]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_closed_array_says_so(cpu: ModuleType, use: Callable[[Any], Any]) -> None:
    array = hipadapt.empty(4, "f4")
    part = array[1:3]
    array.close()

    for closed in (array, part):
        with pytest.raises((ValueError, BufferError), match="this array is closed"):
            use(closed)
    assert repr(array) == "<DeviceArray, closed, shape=(4,), typestr='f4'>"
    assert array.shape == (4,)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_freed_array_says_so(cpu: ModuleType, use: Callable[[Any], Any]) -> None:
    array = hip.hipMalloc(16)[1].configure(shape=(4,), typestr="f4")
    part = array[1:3]
    assert hip.hipFree(array) == (0,)

    for freed in (array, part):
        with pytest.raises((ValueError, BufferError), match="this array was freed"):
            use(freed)
    assert repr(array) == "<DeviceArray, freed, shape=(4,), typestr='f4'>"


def test_raw_free_of_an_array_is_the_only_one(cpu: ModuleType) -> None:
    array = hipadapt.empty(100, "f4")
    address = int(array)
    assert hip.hipFree(array) == (0,)
    other = hipadapt.empty(100, "f4")  # in its place, as a rule

    array.close()
    del array

    assert is_allocated(int(other)), hex(address)
    other.fill(1)


@pytest.mark.parametrize("how", ["launch", "extra", "kernelParams"])
def test_closed_array_as_kernel_argument_runs_nothing(
    module: hipadapt.Module, how: str
) -> None:
    kernel = module.kernel("shared")
    array = hipadapt.empty(4, "int32")
    array.close()

    def launch() -> None:
        if how == "launch":
            kernel[1, 1](array)
        else:
            given = {"kernelParams": None, "extra": None, how: (array,)}
            size = (1, 1, 1, 1, 1, 1)
            hip.hipModuleLaunchKernel(kernel.function, *size, 0, None, **given)

    with pytest.raises(ValueError, match=r"\[0\]': this array is closed"):
        launch()

    assert hip.hipDeviceSynchronize() == (0,)


def test_int_of_freed_memory_is_its_address(cpu: ModuleType) -> None:
    _, memory = cpu.hipMalloc(64)
    address = int(memory)

    cpu.hipFree(memory)

    assert int(memory) == address


def test_array_of_a_stream_that_hip_freed_frees_nothing(cpu: ModuleType) -> None:
    array = hipadapt.empty(1000, stream=hipadapt.Stream())
    cpu.hipGetLastError()

    (status,) = cpu.hipFree(array)

    assert status == cpu.hipError_t.hipSuccess
    assert cpu.hipGetLastError() == (cpu.hipError_t.hipSuccess,)


def test_memory_of_a_closed_stream_is_freed(cpu: ModuleType) -> None:
    stream = Stream()
    x = hipadapt.zeros(1000, stream=stream)
    address = int(x)
    stream.close()
    assert x.get().sum() == 0
    del x
    gc.collect()
    assert not is_allocated(address)


def test_stream_of_an_array_is_kept(cpu: ModuleType) -> None:
    x = hipadapt.zeros(10, stream=Stream())
    gc.collect()
    assert x.get().sum() == 0
    x.close()


def test_finalizer_in_a_host_function_frees_later(cpu: ModuleType) -> None:
    import time

    stream, other = Stream(), Stream()
    holder = [hipadapt.zeros(10, stream=other)]
    address = int(holder[0])
    stream.call(holder.clear)
    stream.synchronize()
    end = time.monotonic() + 5
    while is_allocated(address) and time.monotonic() < end:
        time.sleep(0.01)
        hipadapt.Device().synchronize()
    assert not is_allocated(address)


def test_many_allocations_do_not_leak(cpu: ModuleType) -> None:
    device, stream = hipadapt.Device(), Stream()
    gc.collect()
    device.synchronize()
    before = device.free_memory
    for _ in range(200):
        hipadapt.zeros(100_000, "uint8")
        hipadapt.zeros(100_000, "uint8", stream=stream)
    device.synchronize()
    assert abs(device.free_memory - before) < 200_000


def test_threads_allocate_and_free(cpu: ModuleType) -> None:
    def work() -> None:
        with Stream() as stream:
            for i in range(30):
                x = hipadapt.full(100, i, "int32", stream=stream)
                assert set(x.get()) == {i}

    in_threads(4, work)


def test_without_numpy_the_rest_works(run_python: Callable[..., object]) -> None:
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hipadapt
        x = hipadapt.full(4, 1.5, "float32")
        y = hipadapt.zeros((2, 2), "float32", stream=hipadapt.Stream())
        y.copy_from(x)
        out = bytearray(16)
        y.copy_to(out)
        assert memoryview(out).cast("f").tolist() == [1.5] * 4
        hipadapt.compile_kernel(
            'extern "C" __global__ void k(float *x, float v) { *x = v; }', "k")[1, 1](x, 2)
        x.copy_to(out)
        assert memoryview(out).cast("f")[0] == 2
        for call in (x.get, lambda: hipadapt.array([1, 2])):
            try:
                call()
            except ImportError:
                pass
            else:
                raise AssertionError
        """
    )
