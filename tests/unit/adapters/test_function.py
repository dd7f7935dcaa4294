# SPDX-License-Identifier: MIT
"""Function pointers and opaque handles."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from hipadapt import hip, types

from .conftest import AsVoidPointer, CudaArray

PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def call(function: Any, argument: int) -> None:
    """Calls the C function behind a function pointer."""
    PROTOTYPE(int(function))(argument)


def test_data_is_no_code() -> None:
    for memory, said in (
        (types.Pointer(bytearray(8)), "not a Pointer to memory of 8 bytes"),
        (types.ListOfInt([1, 2]), "not a ListOfInt to memory of 8 bytes"),
        (types.NDBuffer(bytearray(3)), "not a NDBuffer to memory of 3 bytes"),
        (bytearray(8), "not 'bytearray'"),
    ):
        for wanted in (hip.hipHostFn_t, types.FunctionPointer):
            with pytest.raises(TypeError, match=rf"a Pointer to code, {said}$"):
                wanted(memory)
    assert int(hip.hipHostFn_t(types.Pointer(4096))) == 4096


def test_python_callable_is_called_from_c() -> None:
    seen: list[Any] = []
    function = hip.hipHostFn_t(seen.append)
    gc.collect()
    call(function, 5)
    call(function, 0)
    assert seen == [5, None]


def test_callable_with_several_parameters() -> None:
    seen: list[Any] = []
    function = hip.hipStreamCallback_t(lambda *args: seen.append(args))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
        int(function)
    )(1, 2, 3)
    assert seen == [(1, 2, 3)]


def test_ctypes_function_is_taken_by_its_address_and_kept() -> None:
    seen: list[Any] = []
    made = PROTOTYPE(seen.append)
    address = ctypes.cast(made, ctypes.c_void_p).value
    before = sys.getrefcount(made)
    function = hip.hipHostFn_t(made)
    assert int(function) == address
    assert int(function) != ctypes.addressof(made)
    assert sys.getrefcount(made) == before + 1
    del made
    gc.collect()
    call(function, 7)
    assert seen == [7]


def test_callable_is_kept_by_copies() -> None:
    class Callback:
        def __call__(self, argument: object) -> None:
            pass

    callback = Callback()
    ref = weakref.ref(callback)
    function = hip.hipHostFn_t(callback)
    copy = hip.hipHostFn_t(function)
    pointer = types.Pointer(copy)
    del callback, function, copy
    gc.collect()
    assert ref() is not None
    call(pointer, 1)
    del pointer
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize(
    "value",
    [
        b"abc",
        bytearray(8),
        memoryview(b"abc"),
        np.zeros(4),
        CudaArray(),
        ctypes.c_int(3),
        (ctypes.c_int * 3)(),
        "x",
        1.5,
        [1],
        np.float32(1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_memory_is_no_function(value: Any) -> None:
    with pytest.raises(TypeError, match="hipHostFn_t"):
        hip.hipHostFn_t(value)


def test_addresses() -> None:
    for value in (
        4096,
        ctypes.c_void_p(4096),
        types.Pointer(4096),
        AsVoidPointer(4096),
    ):
        assert int(hip.hipHostFn_t(value)) == 4096
    assert not hip.hipHostFn_t(None)
    for wrong, error in (
        (True, TypeError),
        (-1, OverflowError),
        (2**64, OverflowError),
    ):
        with pytest.raises(error):
            hip.hipHostFn_t(wrong)


def test_base_class_takes_no_callables() -> None:
    base = hip.hipHostFn_t.__base__
    assert int(base(PROTOTYPE(lambda _: None)))
    with pytest.raises(TypeError):
        base(lambda: None)


# ---- handles --------------------------------------------------------------------------


class Stream:
    """A stream of another library."""

    def __init__(self, answer: Any = (0, 0x77)) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        return self.answer


def test_stream_protocol() -> None:
    stream = Stream()
    before = sys.getrefcount(stream)
    made = hip.hipStream_t(stream)
    assert int(made) == 0x77
    assert sys.getrefcount(stream) == before + 1
    assert made.__cuda_stream__() == (0, 0x77)
    assert hip.hipStream_t(hip.hipStream_t(5)) == hip.hipStream_t(5)
    assert not hasattr(hip.hipEvent_t(), "__cuda_stream__")
    with pytest.raises(TypeError):
        hip.hipEvent_t(stream)
    with pytest.raises(TypeError):
        types.Pointer(stream)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (5, TypeError),
        ((0,), TypeError),
        ((1, 5), ValueError),
        (("x", 5), ValueError),
        ((0, "x"), TypeError),
        ((0, None), TypeError),
        ((0, -1), OverflowError),
        ((0, True), TypeError),
    ],
)
def test_stream_protocol_answers_nonsense(answer: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        hip.hipStream_t(Stream(answer))


def test_handle_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"hipStream_t.*hipEvent_t"):
        hip.hipStream_t(hip.hipEvent_t(5))
    assert int(hip.hipStream_t(types.Pointer(hip.hipEvent_t(5)))) == 5

    class Mine(hip.hipStream_t):
        pass

    assert int(hip.hipStream_t(Mine(5))) == 5


def test_handles_compare_by_address() -> None:
    assert hip.hipStream_t(5) == hip.hipStream_t(5)
    assert hip.hipStream_t(5) != hip.hipStream_t(6)
    assert {hip.hipStream_t(5): 1}[hip.hipStream_t(5)] == 1
    assert repr(hip.hipStream_t(5)) in ("<ihipStream_t 0x5>", "<hipStream_t 0x5>")
