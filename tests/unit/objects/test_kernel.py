# SPDX-License-Identifier: MIT
"""Launches: configurations, conversion by the signature, checks, errors."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import sys
import threading
import tracemalloc
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import Stream, _core, errors, hip
from tests.conftest import Run, in_threads


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_float), ("b", ctypes.c_int))


class Owner:
    """Keeps memory, as far as anybody knows."""


def run(kernel: hipadapt.Kernel, *args: Any, count: int = 5) -> list[float]:
    out = hipadapt.zeros(count)
    kernel[1, 1](*args, out)
    found: list[float] = out.get().tolist()
    return found


# ---- configurations ----


@pytest.mark.parametrize(
    ("grid", "block", "size"),
    [
        (6, 4, 24),
        ((3, 2), (2, 2), 24),
        ([2, 1, 3], (1, 2, 2), 24),
        ((6,), [4], 24),
        (np.int32(6), 4, 24),
    ],
)
def test_grid_and_block_in_every_form(
    module: hipadapt.Module, grid: Any, block: Any, size: int
) -> None:
    out = hipadapt.zeros(size, "uint32")

    module.kernel("where")[grid, block](out)

    lanes = 4
    want = [b * 1000 + lane for b in range(size // lanes) for lane in range(lanes)]
    assert out.get().tolist() == want


def test_grid_as_dim3(module: hipadapt.Module) -> None:
    config = module.kernel("where")[hip.dim3(3, 2), hip.dim3(x=2, y=2)]

    assert config.grid == (3, 2, 1) and config.block == (2, 2, 1)
    assert config.shared == 0 and config.stream is None
    assert config.kernel is module.kernel("where")
    assert "where" in repr(config) and "current" in repr(config)


def test_configuration_is_used_many_times(module: hipadapt.Module) -> None:
    stream = Stream()
    config = module.kernel("saxpy")[4, 256, 0, stream]
    x, y = hipadapt.full(1000, 1, "float32"), hipadapt.zeros(1000, "float32")

    for _ in range(3):
        assert config(2, x, y, 1000) is None
    stream.synchronize()

    assert set(y.get()) == {6.0}
    assert config.stream is stream and repr(stream) in repr(config)


def test_dynamic_shared_memory(module: hipadapt.Module) -> None:
    out = hipadapt.zeros(8, "int32")
    module.kernel("shared")[1, 8, 32](out)
    assert out.get().tolist() == list(range(7, -1, -1))


@pytest.mark.parametrize(
    "key",
    [
        1,
        (1,),
        (1, 2, 3, None, 5),
        (1.5, 1),
        (1, "2"),
        ((), 1),
        ((1, 2, 3, 4), 1),
        (1, (1, None)),
        (1, 1, 1.5),
        (None, 1),
        (hip.dim3, 1),
    ],
)
def test_wrong_configuration_raises(module: hipadapt.Module, key: Any) -> None:
    with pytest.raises(TypeError, match="nothing"):
        module.kernel("nothing")[key]


@pytest.mark.parametrize("key", [(-1, 1), (1, 2**32), ((1, -1), 1), (1, 1, -1)])
def test_extent_that_does_not_fit_raises(module: hipadapt.Module, key: Any) -> None:
    with pytest.raises(OverflowError, match="nothing"):
        module.kernel("nothing")[key]


def test_launch_that_hip_refuses_raises(module: hipadapt.Module) -> None:
    with pytest.raises(errors.HipErrorInvalidConfiguration) as caught:
        module.kernel("nothing")[1, 2000]()

    assert caught.value.function == "hipModuleLaunchKernel"
    assert caught.value.arguments["kernel"] == "nothing"
    assert caught.value.arguments["block"] == "(2000, 1, 1)"
    with pytest.raises(errors.HipError):
        module.kernel("nothing")[0, 1]()


# ---- streams ----


def test_stream_of_every_kind(module: hipadapt.Module) -> None:
    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, own.handle)

    own = Stream()
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")
    kernel = module.kernel("saxpy")
    for stream in (None, own, own.handle, hip.hipStream_t(own), Foreign(), 0):
        kernel[1, 4, 0, stream](1, x, y, 4)
    hipadapt.Device().synchronize()

    assert set(y.get()) == {6.0}


def test_current_stream_is_used_when_called(module: hipadapt.Module) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    kernel = module.kernel("saxpy")
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")
    config = kernel[1, 4]
    stream.call(gate.wait)
    with stream:
        config(1, x, y, 4)
    assert not stream.done
    assert set(y.get(stream=None)) == {0.0}
    gate.set()
    stream.synchronize()
    assert set(y.get()) == {1.0}


def test_current_stream_of_each_task(module: hipadapt.Module) -> None:
    kernel = module.kernel("saxpy")
    x = hipadapt.full(4, 1, "float32")

    async def work(times: int) -> float:
        y = hipadapt.zeros(4, "float32")
        with Stream(nonblocking=True) as stream:
            for _ in range(times):
                await asyncio.sleep(0)
                assert hipadapt.current_stream() is stream
                kernel[1, 4](1, x, y, 4)
            await stream
            return float(y.get()[0])

    async def main() -> list[float]:
        return list(await asyncio.gather(*(work(n) for n in range(5))))

    assert asyncio.run(main()) == [0, 1, 2, 3, 4]


def test_closed_stream_raises(module: hipadapt.Module) -> None:
    stream = Stream()
    config = module.kernel("nothing")[1, 1, 0, stream]
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        config()
    with pytest.raises(TypeError, match="nothing"):
        module.kernel("nothing")[1, 1, 0, "stream"]()


# ---- conversion ----


@pytest.mark.parametrize(
    ("args", "want"),
    [
        ((-1, -2, -3, 1.5, True), [-1, -2, -3, 1.5, 1]),
        ((127, -32768, 2**62, 2, False), [127, -32768, 2.0**62, 2, 0]),
        ((True, False, True, 1e300, 1), [1, 0, 1, 1e300, 1]),
        (
            (np.int8(-5), np.int16(-6), np.int64(-7), np.float64(0.5), np.bool_(True)),
            [-5, -6, -7, 0.5, 1],
        ),
        (
            (
                ctypes.c_byte(3),
                ctypes.c_short(4),
                ctypes.c_longlong(5),
                ctypes.c_double(6.5),
                ctypes.c_bool(True),
            ),
            [3, 4, 5, 6.5, 1],
        ),
        ((np.uint8(9), np.uint16(8), np.uint64(7), 6, 0), [9, 8, 7, 6, 0]),
    ],
)
def test_numbers_become_what_the_kernel_takes(
    module: hipadapt.Module, args: tuple[Any, ...], want: list[float]
) -> None:
    assert run(module.kernel("widths"), *args) == want


def test_int_becomes_float_of_the_kernel(module: hipadapt.Module) -> None:
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")
    module.kernel("saxpy")[1, 4](3, x, y, 4)
    module.kernel("saxpy")[1, 4](np.float32(0.5), x, y, np.int32(4))
    module.kernel("saxpy")[1, 4](ctypes.c_float(0.25), x, y, ctypes.c_int(4))
    assert set(y.get()) == {3.75}


@pytest.mark.parametrize("dtype", ["f4,i4", [("a", "f4"), ("b", "i4")]])
def test_structs_by_value(module: hipadapt.Module, dtype: Any) -> None:
    kernel = module.kernel("pair")
    assert run(kernel, Pair(1.5, 2))[0] == 3.5
    assert run(kernel, np.array([(2.5, 4)], dtype)[0])[0] == 6.5
    with pytest.raises(TypeError, match=r"args\[0\] must be a struct of 8 bytes"):
        run(kernel, 5)
    with pytest.raises(TypeError, match=r"of 12 bytes"):
        run(kernel, np.array([(1, 2, 3)], "f4,i4,i4")[0])


def test_unsigned_by_mangled_name(module: hipadapt.Module) -> None:
    kernel = module.kernel("count")
    assert [p.kind for p in kernel.signature or ()] == ["u", "u", "p"]
    assert run(kernel, 2**63, 200)[0] == 2.0**63 + 200
    for bad in ((-1, 0), (2**64, 0), (0, 256), (0, -1)):
        with pytest.raises(OverflowError, match="count"):
            run(kernel, *bad)


@pytest.mark.parametrize(
    ("index", "value", "error", "text"),
    [
        (0, "x", TypeError, "args[0]"),
        (0, True, TypeError, "floating point number of 4 bytes, not 'bool'"),
        (0, np.float64(1), TypeError, "not 'numpy.float64' of 8 bytes"),
        (0, np.int32(1), TypeError, "not 'numpy.int32' of 4 bytes"),
        (0, ctypes.c_int(1), TypeError, "not 'c_int' of 4 bytes"),
        (0, 1e39, OverflowError, "args[0] is 1e+39"),
        (0, 10**400, OverflowError, "args[0]"),
        (0, None, TypeError, "floating point number of 4 bytes, not 'NoneType'"),
        (0, 1j, TypeError, "args[0]"),
        (1, 1.5, TypeError, "args[1] must be an address of 8 bytes, not 'float'"),
        (1, True, TypeError, "args[1]"),
        (1, np.float64(1), TypeError, "args[1]"),
        (1, -1, OverflowError, "args[1]"),
        (1, 2**64, OverflowError, "args[1]"),
        (1, np.int32(1), TypeError, "not 'numpy.int32' of 4 bytes"),
        (1, np.zeros((4, 4))[:, 1], BufferError, "args[1]"),
        (1, object(), TypeError, "args[1]"),
        (3, 2**31 + 2**31, OverflowError, "args[3]"),
        (3, -(2**31) - 1, OverflowError, "args[3]"),
        (3, 1.0, TypeError, "args[3] must be an integer of 4 bytes, not 'float'"),
        (3, np.float32(1), TypeError, "not 'numpy.float32' of 4 bytes"),
        (3, np.int64(1), TypeError, "not 'numpy.int64' of 8 bytes"),
        (3, b"abcd", TypeError, "args[3]"),
    ],
)
def test_argument_that_does_not_fit_raises_before_the_launch(
    module: hipadapt.Module,
    index: int,
    value: Any,
    error: type[Exception],
    text: str,
) -> None:
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")
    args: list[Any] = [1.0, x, y, 4]
    args[index] = value

    with pytest.raises(error, match="saxpy") as caught:
        module.kernel("saxpy")[1, 4](*args)

    assert text in str(caught.value)
    assert set(y.get()) == {0.0}


def test_swapped_arguments_are_noticed(module: hipadapt.Module) -> None:
    x = hipadapt.zeros(4, "float32")
    with pytest.raises(TypeError, match="DeviceArray"):
        module.kernel("saxpy")[1, 4](1.0, x, 4, x)
    with pytest.raises(TypeError, match="DeviceArray"):
        module.kernel("widths")[1, 1](1, 2, x, 1.0, True, x)


def test_wrong_number_of_arguments_raises(module: hipadapt.Module) -> None:
    for args in ((), (1,), (1, 2, 3, 4, 5)):
        with pytest.raises(TypeError, match=r"saxpy: takes 4 arguments \(28 bytes\)"):
            module.kernel("saxpy")[1, 1](*args)
    with pytest.raises(TypeError, match=r"takes 0 arguments .* not 1"):
        module.kernel("nothing")[1, 1](1)
    with pytest.raises(TypeError, match="keyword"):
        module.kernel("nothing")[1, 1](x=1)  # type: ignore[call-arg]


def test_every_kind_of_address(module: hipadapt.Module) -> None:
    x = hipadapt.full(4, 1, "float32")
    y = hipadapt.zeros(4, "float32")

    class Foreign:
        __cuda_array_interface__ = y.__cuda_array_interface__

    pointers = (y, int(y), np.uint64(int(y)), y.as_c_void_p(), Foreign(), y[:])
    for pointer in pointers:
        module.kernel("saxpy")[1, 4](1, x, pointer, 4)
    assert set(y.get()) == {float(len(pointers))}


# ---- life ----


def test_memory_of_arguments_is_kept_until_the_kernel_has_run(
    module: hipadapt.Module,
) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    kernel = module.kernel("saxpy")
    out = hipadapt.zeros(4, "float32")
    ordered = hipadapt.full(4, 1, "float32", stream=stream)
    pinned = hipadapt.pinned_empty(4, "float32")
    pinned[:] = 1
    owner = Owner()
    owned = _core.array_from_memory(int(out), (4,), "float32", owner=owner)
    held = [weakref.ref(pinned), weakref.ref(owner)]
    # Garbage of other tests: what frees plain memory waits for the gate below.
    gc.collect()
    stream.call(gate.wait)
    try:
        kernel[1, 4, 0, stream](1, ordered, out, 4)
        kernel[1, 4, 0, stream](1, pinned, out, 4)
        kernel[1, 4, 0, stream](0, owned, out, 4)
        del ordered, pinned, owned, owner
        gc.collect()
        assert all(reference() is not None for reference in held)
    finally:
        gate.set()
    stream.synchronize()

    assert set(out.get()) == {2.0}
    for _ in range(3):  # later calls let go of a few each
        kernel[1, 4, 0, stream](1, out, out, 4)
    assert [reference() for reference in held] == [None, None]


@pytest.mark.plain
def test_launch_does_not_leak(module: hipadapt.Module) -> None:
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")
    kernel, stream = module.kernel("saxpy"), Stream()
    values: list[Any] = [np.float32(1), 1.0, 1, ctypes.c_float(1)]

    def work() -> None:
        for value in values:
            kernel[1, 4, 0, stream](value, x, y, 4)
            with stream:
                kernel[1, 4](value, x, y, 4)
            for bad in ((value,), (value, 1.5, y, 4), ("x", x, y, 4)):
                with contextlib.suppress(TypeError):
                    kernel[1, 4](*bad)

    for _ in range(20):
        work()
    counted = [x, y, kernel, stream, None, *values]
    before = [sys.getrefcount(thing) for thing in counted]

    def grown() -> int:
        work()
        stream.synchronize()
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            work()
        stream.synchronize()
        return tracemalloc.get_traced_memory()[0] - start

    tracemalloc.start()
    least = min(grown() for _ in range(4))  # other threads of the test run allocate too
    tracemalloc.stop()
    after = [sys.getrefcount(thing) for thing in counted]

    assert least < 5500  # 28 bytes for each value are 5600
    assert [b - a for a, b in zip(before[:4], after[:4], strict=True)] == [0] * 4
    assert all(abs(b - a) < 20 for a, b in zip(before, after, strict=True))


def test_threads_launch_the_same_kernel(module: hipadapt.Module) -> None:
    x, kernel = hipadapt.full(64, 1, "float32"), module.kernel("saxpy")

    def work() -> None:
        with Stream() as stream:
            y = hipadapt.zeros(64, "float32")
            for _ in range(50):
                kernel[1, 64](np.float32(1), x, y, 64)
            stream.synchronize()
            assert set(y.get()) == {50.0}

    in_threads(4, work)


def test_fault_of_a_kernel_is_raised_by_who_waits(run_python: Any) -> None:
    run_python(
        """
        import hipadapt
        from hipadapt import errors
        crash = hipadapt.compile_kernel(
            'extern "C" __global__ void crash(int *x) { *(volatile int *)16 = *x; }',
            "crash")
        x = hipadapt.zeros(1, "int32")
        crash[1, 1](x)
        for wait in (hipadapt.Device().synchronize, hipadapt.Stream.default().synchronize,
                     x.get, lambda: crash[1, 1](x)):
            try:
                wait()
            except errors.HipError as error:
                assert error.name != "hipSuccess"
            else:
                raise AssertionError(wait)
        """
    )


# ---- what is known ----


def test_signature_attributes_occupancy(module: hipadapt.Module) -> None:
    kernel = module.kernel("saxpy")

    assert [(p.offset, p.size, p.kind) for p in kernel.signature or ()] == [
        (0, 4, "f"),
        (8, 8, "p"),
        (16, 8, "p"),
        (24, 4, "n"),
    ]
    assert "floating point, 4 bytes" in repr(kernel)
    assert kernel.attributes.max_threads_per_block == 1024
    assert module.kernel("nothing").signature == ()
    assert "no arguments" in repr(module.kernel("nothing"))
    assert kernel.occupancy(256) > 0
    assert kernel.occupancy(256, 64 * 1024 + 1) == 0
    grid, block = kernel.best_block(limit=64)
    assert block == 64 and grid > 0


def test_types_of_the_user_are_used(module: hipadapt.Module) -> None:
    kernel = module.kernel("saxpy", ["float", "float*", "pointer", "uint32"])
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")

    kernel[1, 4](2, x, y, 4)

    assert set(y.get()) == {2.0}
    assert [p.kind for p in kernel.signature or ()] == ["f", "p", "p", "u"]
    with pytest.raises(OverflowError):
        kernel[1, 4](2, x, y, -1)
    with pytest.raises(TypeError, match="takes"):
        module.kernel("saxpy", ["float", "float*"])
    with pytest.raises(TypeError, match="takes"):
        module.kernel("saxpy", ["double", "float*", "float*", "int"])
    with pytest.raises(TypeError, match="no type"):
        module.kernel("saxpy", ["floaty", "float*", "float*", "int"])
    assert module.kernel("saxpy") is not kernel


def make(signature: Any, name: str = "k") -> _core.Kernel:
    return _core.Kernel(0x1234, name, signature)


def test_size_alone_lets_numbers_of_that_size_pass(module: hipadapt.Module) -> None:
    sizes = tuple(
        (p.offset, p.size, "?") for p in module.kernel("saxpy").signature or ()
    )
    kernel = _core.Kernel(module.kernel("saxpy").function, "saxpy", sizes, module)
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")

    kernel[1, 4](2.5, x, y, 4)
    kernel[1, 4](np.float32(0.5), int(x), y, np.int32(4))

    assert set(y.get()) == {3.0}
    for bad in ((np.float64(1), x, y, 4), (1.0, x, y, x), (1.0, np.int32(1), y, 4)):
        with pytest.raises(TypeError, match="value of"):
            kernel[1, 4](*bad)
    for large in ((2**32, x, y, 4), (1.0, x, y, -(2**31) - 1), (1e39, x, y, 4)):
        with pytest.raises(OverflowError):
            kernel[1, 4](*large)


def test_without_a_signature_numbers_need_a_type(module: hipadapt.Module) -> None:
    kernel = _core.Kernel(module.kernel("saxpy").function, "saxpy", None, module)
    x, y = hipadapt.full(4, 1, "float32"), hipadapt.zeros(4, "float32")

    kernel[1, 4](np.float32(2), x, y, np.int32(4))

    assert set(y.get()) == {2.0}
    with pytest.raises(TypeError, match="saxpy"):
        kernel[1, 4](2.0, x, y, np.int32(4))


@pytest.mark.parametrize(
    "signature",
    [
        ((0, 4, "x"),),
        ((0, 0, "f"),),
        ((0, 4, "é"),),
        ((2**30, 4, "f"),),
        ((0, 2**31, "f"),),
    ],
)
def test_signature_that_makes_no_sense_raises(cpu: ModuleType, signature: Any) -> None:
    with pytest.raises(ValueError, match="argument of a kernel"):
        make(signature)


def test_signature_of_a_wrong_kind_raises(cpu: ModuleType) -> None:
    for signature in (
        [(0, 4, "f")],
        ((0, 4),),
        ((-1, 4, "f"),),
        (5,),
        "f",
        ((0, 4, 5),),
    ):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            make(signature)
    with pytest.raises(TypeError):
        _core.Kernel(0x1234, 5, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.Kernel("f", "k", None)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        make(None, "\ud800")


def test_made_up_function_is_refused_by_hip(cpu: ModuleType) -> None:
    with pytest.raises(errors.HipError):
        make(())[1, 1]()


def test_many_and_large_arguments(module: hipadapt.Module) -> None:
    big = make(tuple((8 * i, 8, "i") for i in range(1000)))
    with pytest.raises(errors.HipError):  # packed on the heap, then refused by HIP
        big[1, 1](*range(1000))
    with pytest.raises(TypeError, match=r"args\[999\]"):
        big[1, 1](*range(999), 1.5)


def test_half_precision_and_bool(cpu: ModuleType) -> None:
    kernel = make(((0, 2, "f"), (2, 1, "b")))
    for args, error in (
        ((1.5, True), errors.HipError),
        ((1e9, True), OverflowError),
        ((1.5, 2), OverflowError),
        ((1.5, 1.0), TypeError),
        ((np.float16(1), np.bool_(True)), errors.HipError),
        ((np.int16(1), True), TypeError),
    ):
        with pytest.raises(error):
            kernel[1, 1](*args)


def test_kernel_is_weakly_referenced_and_not_made_by_hand(
    module: hipadapt.Module,
) -> None:
    kernel = module.kernel("nothing", [])
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
    with pytest.raises(TypeError):
        type(module.kernel("nothing")[1, 1])()  # type: ignore[call-arg]


def test_whole_floats_are_dimensions(module: hipadapt.Module) -> None:
    kernel = module.kernel("where")
    out = hipadapt.zeros(64, "uint32")

    kernel[64 / 32, (32.0, 1)](out)

    assert out.get().tolist()[::32] == [0, 1000]
    with pytest.raises(TypeError, match=r"argument '\w+' must be an int, not 2\.5"):
        kernel[2.5, 32]


def test_dead_device_says_what_revives_it(run_python: Run) -> None:
    run_python(
        """
        import hipadapt
        from hipadapt import hip
        source = 'extern "C" __global__ void f() { *(volatile int *)16 = 1; }'
        hipadapt.compile_kernel(source, "f")[1, 1]()
        texts = []
        for call in (hipadapt.Stream.default(0).synchronize, lambda: hipadapt.empty(3)):
            try:
                call()
            except hipadapt.errors.HipErrorIllegalAddress as error:
                texts.append(str(error))
        assert len(texts) == 2
        for text in texts:
            assert "hipDeviceReset makes it usable again" in text, text
            assert "ends all of its memory, streams, events and modules" in text, text
        assert hip.hipDeviceReset() == (0,)
        hipadapt.zeros(3).get()
        """
    )
