# SPDX-License-Identifier: MIT
"""Nothing leaks, and running out of memory is an exception."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hipadapt import _core, hip, types
from tests.conftest import GIL, in_threads

from .conftest import AsVoidPointer, CudaArray

ARRAY = np.zeros((4, 4), np.float32)
FIELDS = np.zeros(2, [("a", [("b", "f4"), ("c", ">i2")], (2,)), ("d", "V4")])
DATES = np.zeros(2, "M8[s]")
INTS = np.arange(4, dtype=np.int32)
CUDA = CudaArray(4096, (4, 4))
VOID = AsVoidPointer(5)
CELL = ctypes.c_int(5)
POINTED = ctypes.pointer(CELL)
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
DEVICE = types.DeviceArray(CUDA)
HOST = types.DeviceArray(ARRAY[0])
DEEP = types.DeviceArray(np.zeros((1,) * 9))
STRUCT = np.zeros(1, "i4,f8")[0]


def refused(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Calls what has to fail."""
    try:
        function(*args, **kwargs)
    except Exception:
        return
    raise AssertionError("not refused")


def again(make: Any, *args: Any) -> None:
    """Second __init__, good and bad."""
    made = make()
    made.__init__(*args)
    refused(made.__init__, object())


CALLS: dict[str, Callable[[], Any]] = {
    "pointer-none": lambda: types.Pointer(None),
    "pointer-int": lambda: types.Pointer(2**63),
    "pointer-numpy": lambda: types.Pointer(ARRAY),
    "pointer-bytearray": lambda: types.Pointer(bytearray(5)),
    "pointer-ctypes": lambda: types.Pointer(POINTED),
    "pointer-cuda": lambda: types.Pointer(CUDA),
    "pointer-void": lambda: types.Pointer(VOID),
    "pointer-pointer": lambda: types.Pointer(types.Pointer(ARRAY))[2],
    "pointer-refused": lambda: refused(types.Pointer, "x"),
    "pointer-range": lambda: refused(types.Pointer, -1),
    "pointer-strided": lambda: refused(types.Pointer, ARRAY[::2, ::2]),
    "pointer-again": lambda: again(types.Pointer, bytearray(3)),
    "pointer-ref": lambda: types.Pointer(5).createRef(),
    "pointer-void-p": lambda: types.Pointer(5).as_c_void_p(),
    "pointer-repr": lambda: repr(types.Pointer(ARRAY)),
    "pointer-equal": lambda: types.Pointer(5) == types.Pointer(6),
    "array-numpy": lambda: types.NDBuffer(ARRAY),
    "array-cuda": lambda: types.DeviceArray(CUDA),
    "array-refused": lambda: refused(types.NDBuffer, ARRAY[::2]),
    "array-slice": lambda: DEVICE[1:3][0, 1:2],
    "array-slice-refused": lambda: refused(DEVICE.__getitem__, (slice(None), 1)),
    "array-configure": lambda: types.DeviceArray(CUDA).configure(
        shape=(2,) * 4, typestr="<f4", stream=hip.hipStream_t(5)
    ),
    "array-deep": lambda: types.DeviceArray(CUDA).configure(shape=(2,) * 4 + (1,) * 9),
    "array-configure-refused": lambda: refused(
        DEVICE.configure, shape=(5,), stream=5, typestr="f8"
    ),
    "array-fields": lambda: types.NDBuffer(FIELDS)[1:].__cuda_array_interface__,
    "array-fields-format": lambda: types.NDBuffer(memoryview(FIELDS)).host(),
    "array-fields-descr": lambda: types.DeviceArray(
        CudaArray(4096, (2,), typestr="|V16", descr=FIELDS.dtype.descr)
    ),
    "array-fields-refused": lambda: [
        refused(types.NDBuffer(bytearray(8)).configure, typestr=fields)
        for fields in ([("x", "O")], [("x", [("y", 5)])], [("x", "f4", (-1,))])
    ],
    "array-dates": lambda: types.NDBuffer(DATES),
    "array-stream-refused": lambda: [
        refused(types.Pointer, CudaArray(4096, stream=stream))
        for stream in (0, "x", -1, True)
    ],
    "array-interface": lambda: DEVICE.__cuda_array_interface__,
    "array-iterate": lambda: list(DEVICE),
    "array-again": lambda: again(types.NDBuffer, ARRAY),
    "array-view": lambda: bytes(types.NDBuffer(ARRAY)),
    "array-dlpack": lambda: HOST.__dlpack__(),
    "array-dlpack-all": lambda: HOST.__dlpack__(
        stream=None, max_version=(1, 0), dl_device=(1, 0), copy=True
    ),
    "array-dlpack-refused": lambda: [
        refused(HOST.__dlpack__, **more)
        for more in ({"stream": 5}, {"dl_device": (2, 0)}, {"other": 1})
    ],
    "array-dlpack-deep": lambda: DEEP.__dlpack__(max_version=(1, 3)),
    "array-host": lambda: memoryview(HOST.host()),
    "array-copy": lambda: copy.copy(HOST),
    "array-attributes": lambda: [
        getattr(HOST, name) for name in ("strides", "type_name", "memory", "owner")
    ],
    "array-from-memory": lambda: _core.array_from_memory(
        4096, (2, 3), "f4", owner=VOID, memory="device", device=0, stream=7
    ),
    "array-from-memory-refused": lambda: [
        refused(_core.array_from_memory, *args)
        for args in ((4096, -1, "f4"), (4096, 4, "f5"), ("x", 4, "f4"), (4096,))
    ],
    "array-allocate": lambda: _core.array_allocate((4, 4), "bfloat16", memory="host"),
    "array-read": lambda: _core.array_read(HOST, bytearray(16)),
    "array-read-refused": lambda: refused(_core.array_read, HOST, bytearray(15)),
    "array-close": lambda: types.DeviceArray(bytearray(4)).close(),
    "array-of": lambda: _core.array_of(CUDA),
    "from-dlpack": lambda: _core.from_dlpack(HOST),
    "from-dlpack-capsule": lambda: _core.from_dlpack(HOST.__dlpack__()),
    "from-dlpack-numpy": lambda: _core.from_dlpack(ARRAY, device="cpu"),
    "from-dlpack-copy": lambda: _core.from_dlpack(HOST, copy=True),
    "from-dlpack-refused": lambda: [
        refused(_core.from_dlpack, value) for value in (5, ARRAY[::2], ARRAY.T[1:])
    ],
    "cstr": lambda: types.CStr("".join(["a", "ü"])) == "x",
    "cstr-copy": lambda: types.CStr(memoryview(b"abc")[:2]),
    "cstr-hash": lambda: {types.CStr("abc"): 1},
    "cstr-use": lambda: [
        f(types.CStr("abc")) for f in (len, list, repr, str, bytes, hash)
    ],
    "cstr-refused": lambda: refused(types.CStr, "a\0b"),
    "cstr-malloc": lambda: types.CStr().malloc(100),
    "cstr-again": lambda: again(types.CStr, "abc"),
    "list-int": lambda: types.ListOfInt([1, None, np.int32(5), CELL]),
    "list-int-refused": lambda: refused(types.ListOfInt, [1, "x"]),
    "list-int-range": lambda: refused(types.ListOfInt, [1, 2**40]),
    "list-numpy": lambda: types.ListOfInt(INTS)[1:],
    "list-numpy-refused": lambda: refused(types.ListOfInt, ARRAY),
    "list-use": lambda: [
        f(types.ListOfInt([1, 2])) for f in (len, list, repr, hash, bool)
    ],
    "list-equal": lambda: types.ListOfInt([1]) == types.ListOfInt([1]) == [1],
    "list-pointer": lambda: types.ListOfPointer([ARRAY, bytearray(4), None, 5])[0],
    "list-pointer-refused": lambda: refused(types.ListOfPointer, [ARRAY, "x"]),
    "list-bytes": lambda: types.ListOfBytes(["a", b"b", bytearray(b"c")])[:],
    "list-bytes-refused": lambda: refused(types.ListOfBytes, ["a", bytearray(2), 5]),
    "list-allocate": lambda: types.ListOfInt.allocate(100),
    "list-again": lambda: again(types.ListOfInt, [1, 2]),
    "pointer-to": lambda: setattr(types.PointerToInt.allocate(), "value", 7),
    "extra": lambda: types.HipModuleLaunchKernel_extra(
        (DEVICE, CELL, POINTED, np.float32(1), STRUCT, ARRAY, hip.dim3(), 5, None)
    ),
    "extra-many": lambda: types.HipModuleLaunchKernel_extra([CELL] * 500),
    "extra-refused": lambda: refused(
        types.HipModuleLaunchKernel_extra, [CELL] * 500 + [ARRAY, 1.5]
    ),
    "extra-again": lambda: again(types.HipModuleLaunchKernel_extra, (CELL, ARRAY)),
    "record": lambda: hip.dim3(1, z=2),
    "record-refused": lambda: refused(hip.dim3, 1, w=2),
    "record-range": lambda: refused(hip.dim3, 1, -2),
    "record-from": lambda: hip.dim3.fromObj(bytearray(12)).x,
    "record-from-values": lambda: hip.dim3.fromObj((1, 2)),
    "record-from-refused": lambda: refused(hip.dim3.fromObj, bytearray(5)),
    "record-nested": lambda: hip.hipMemcpy3DParms(extent=(1, 2, 3)).extent.width,
    "record-pointer": lambda: hip.hipPitchedPtr(bytearray(4)).ptr,
    "record-text": lambda: setattr(hip.hipDeviceProp_t(), "name", "abc"),
    "record-use": lambda: [f(hip.dim3()) for f in (list, repr, bytes, hash, len)],
    "record-array": lambda: hip.dim3.allocate(5).set_x(3, 7),
    "record-again": lambda: hip.dim3().__init__(1, 2),  # type: ignore[misc]
    "record-repr": lambda: repr(hip.hipDeviceProp_t()),
    "function": lambda: hip.hipHostFn_t(FUNCTION),
    "function-refused": lambda: refused(hip.hipHostFn_t, ARRAY),
    "handle": lambda: hip.hipStream_t(hip.hipStream_t(5)),
    "handle-refused": lambda: refused(hip.hipStream_t, hip.hipEvent_t()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_no_leak(call: Callable[[], Any]) -> None:
    growth = []
    # Caches of Python and numpy fill up in the first rounds.
    for _ in range(3 if GIL else 6):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(400):
            call()
        gc.collect()
        growth.append(sys.getallocatedblocks() - before)
    assert min(growth) < 100, growth


def test_callables_do_not_leak() -> None:
    def make() -> None:
        hip.hipHostFn_t(lambda _: None)

    for _ in range(10):
        make()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        make()
    gc.collect()
    assert sys.getallocatedblocks() - before < 500


def test_second_init_does_not_leak_the_array() -> None:
    made = types.ListOfInt(list(range(1000)))
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        made.__init__(list(range(1000)))  # type: ignore[misc]
    gc.collect()
    assert sys.getallocatedblocks() - before < 50


def test_texts_are_not_kept_for_the_life_of_the_process() -> None:
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer keeps freed memory for a while")
    resource = pytest.importorskip("resource")
    types.CStr("x" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(100):
        types.CStr(f"{i}" + "x" * 2**20)
        types.ListOfBytes([f"{i}" + "y" * 2**20])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20 * 1024  # KiB


# A call that is refused may lose its message, and then raises MemoryError as well.
NO_MEMORY = """
    import _testcapi
    from tests.unit.adapters.test_memory import CALLS
    for name in NAMES:
        call = CALLS[name]
        call()
        for i in range(60):
            try:
                _testcapi.set_nomemory(i, i + 1)
                try:
                    call()
                finally:
                    _testcapi.remove_mem_hooks()
            except SystemError:
                raise
            except Exception:
                pass
        call()
"""


@pytest.mark.parametrize(
    "names",
    [list(CALLS)[i : i + 8] for i in range(0, len(CALLS), 8)],
    ids=lambda n: n[0],
)
def test_out_of_memory_is_an_exception(
    isolated: Callable[..., str], names: list[str]
) -> None:
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi")
    if "array-fields" in names and sys.version_info >= (3, 14):
        pytest.skip("CPython ends in numpy's Python code when its own allocation fails")
    isolated(NO_MEMORY.replace("NAMES", repr(names)))


def test_threads_share_types_and_objects() -> None:
    shared = types.DeviceArray(CUDA)
    texts = [types.CStr(f"text {i}") for i in range(10)]

    def work() -> None:
        for i in range(300):
            assert types.ListOfInt([i, 2]) == [i, 2]
            assert shared[1:2].shape in ((1, 8), (1, 4))
            shared.configure(shape=(2, 8) if i % 2 else (4, 4))
            assert str(texts[i % 10]) == f"text {i % 10}"
            types.HipModuleLaunchKernel_extra((shared, CELL, np.float32(i)))

    in_threads(4, work)


def test_objects_outlive_the_module(isolated: Callable[..., str]) -> None:
    isolated(
        """
        import gc, sys
        import hipadapt
        from hipadapt import types, hip
        class Late:
            def __init__(self):
                self.things = [types.Pointer(bytearray(4)), types.ListOfInt([1]),
                               types.DeviceArray(5), types.CStr("x"), hip.dim3(),
                               types.HipModuleLaunchKernel_extra((5,))]
            def __del__(self):
                for thing in self.things:
                    int(thing), bool(thing), hash(thing), thing == thing
        late = Late()
        cycle = [late]; cycle.append(cycle)
        sys.late = late
        """
    )
