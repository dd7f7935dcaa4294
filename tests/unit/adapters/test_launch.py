# SPDX-License-Identifier: MIT
"""HipModuleLaunchKernel_extra: kernel arguments packed as C lays out parameters."""

from __future__ import annotations

import ctypes
import gc
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipadapt import hip, types

from .conftest import AsVoidPointer, CudaArray, read

ADDRESS = 0x7F0000001000
Extra = types.HipModuleLaunchKernel_extra


def unpack(extra: Any) -> bytes:
    """The packed bytes behind an `extra` array."""
    marker1, data, marker2, size, end = struct.unpack("5Q", read(extra, 40))
    assert (marker1, marker2, end) == (1, 2, 3)
    (count,) = struct.unpack("Q", read(size, 8))
    assert data % 16 == 0
    return read(data, count)


class Floats3(ctypes.Structure):
    """Alignment 4."""

    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float), ("z", ctypes.c_float)]


class Chars3(ctypes.Structure):
    """Alignment 1."""

    _fields_ = [("x", ctypes.c_char), ("y", ctypes.c_char), ("z", ctypes.c_char)]


class Mixed(ctypes.Structure):
    """Alignment 8, size 16."""

    _fields_ = [("a", ctypes.c_char), ("b", ctypes.c_double)]


class Packed(ctypes.Structure):
    """Alignment 1, size 9."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("a", ctypes.c_char), ("b", ctypes.c_double)]


class Either(ctypes.Union):
    """Alignment 8, size 8."""

    _fields_ = [("a", ctypes.c_char), ("b", ctypes.c_double)]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, struct.pack("Q", 0)),
        (ADDRESS, struct.pack("Q", ADDRESS)),
        (types.Pointer(ADDRESS), struct.pack("Q", ADDRESS)),
        (types.DeviceArray(ADDRESS), struct.pack("Q", ADDRESS)),
        (hip.hipStream_t(5), struct.pack("Q", 5)),
        (CudaArray(ADDRESS), struct.pack("Q", ADDRESS)),
        (AsVoidPointer(ADDRESS), struct.pack("Q", ADDRESS)),
        (ctypes.c_void_p(ADDRESS), struct.pack("Q", ADDRESS)),
        (ctypes.c_void_p(), struct.pack("Q", 0)),
        (ctypes.c_int(-5), struct.pack("i", -5)),
        (ctypes.c_bool(True), b"\1"),
        (ctypes.c_char(b"x"), b"x"),
        (ctypes.c_short(-3), struct.pack("h", -3)),
        (ctypes.c_ulonglong(2**64 - 1), struct.pack("Q", 2**64 - 1)),
        (ctypes.c_float(1.5), struct.pack("f", 1.5)),
        (ctypes.c_double(1.5), struct.pack("d", 1.5)),
        (np.float32(1.5), struct.pack("f", 1.5)),
        (np.float64(1.5), struct.pack("d", 1.5)),
        (np.float16(1.5), struct.pack("e", 1.5)),
        (np.int8(-1), struct.pack("b", -1)),
        (np.uint16(65535), struct.pack("H", 65535)),
        (np.int32(-7), struct.pack("i", -7)),
        (np.int64(-7), struct.pack("q", -7)),
        (np.bool_(True), b"\1"),
        (np.complex64(1 + 2j), struct.pack("ff", 1, 2)),
        (hip.dim3(1, 2, 3), struct.pack("3I", 1, 2, 3)),
        (hip.float2(1, 2), struct.pack("ff", 1, 2)),
        (Floats3(1, 2, 3), struct.pack("fff", 1, 2, 3)),
        (Chars3(b"a", b"b", b"c"), b"abc"),
        (Packed(b"a", 1.0), b"a" + struct.pack("d", 1)),
        (np.array([(1, 2.5)], "i4,f8")[0], struct.pack("=id", 1, 2.5)),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, bytes) else "",
)
def test_one_value(value: Any, wanted: bytes) -> None:
    assert unpack(Extra((value,))) == wanted
    assert unpack(Extra([value])) == wanted


def test_memory_is_passed_by_address() -> None:
    array = np.zeros(4)
    memory = bytearray(4)
    cells = (ctypes.c_int * 3)()
    packed = struct.unpack("3Q", unpack(Extra((array, memory, cells))))
    assert packed == (
        array.__array_interface__["data"][0],
        int(types.Pointer(memory)),
        ctypes.addressof(cells),
    )


@pytest.mark.parametrize(
    ("values", "layout"),
    [
        ((ctypes.c_int(1), Floats3(1, 2, 3)), "i 3f"),
        ((ctypes.c_char(b"a"), Chars3(b"b", b"c", b"d")), "c 3c"),
        ((ctypes.c_char(b"a"), Mixed(b"b", 1)), "c 7x c 7x d"),
        ((ctypes.c_char(b"a"), Either(b=1)), "c 7x d"),
        ((ctypes.c_char(b"a"), Packed(b"b", 1), ctypes.c_short(2)), "c c 8s h"),
        ((np.int8(1), np.int16(2), np.int8(3), np.int32(4)), "b x h b 3x i"),
        ((np.int8(1), ctypes.c_double(2)), "b 7x d"),
        ((ctypes.c_int(1), types.Pointer(5), np.float32(2)), "i 4x Q f"),
        ((np.int8(1), hip.dim3(1, 2, 3)), "b 3x 3I"),
        ((np.int8(1), hip.float2(1, 2)), "b 7x 2f"),
        ((np.int8(1), hip.char3(1, 2, 3)), "b 3b"),
        ((np.int8(1), np.zeros(1, "f4,f4,f4")[0]), "b 3x 3f"),
        ((np.int8(1), np.zeros(1, "i1,f8")[0]), "b 9s"),
        (
            (np.int8(1), np.zeros(1, np.dtype("i1,f8", align=True))[0]),
            "b 7x b 7x d",
        ),
        ((np.int8(1), np.zeros(1, [("a", "f8", (2,)), ("b", "f8")])[0]), "b 7x 3d"),
        ((np.int8(1), np.zeros(1, [("a", "f4,f4"), ("b", "i4")])[0]), "b 3x 2f i"),
    ],
)
def test_alignment_is_that_of_c(values: Any, layout: str) -> None:
    parts = layout.split()
    assert len(unpack(Extra(values))) == struct.calcsize("=" + "".join(parts))
    # Padding is zero, never left-over memory.
    data = unpack(Extra(values))
    offset = 0
    for part in parts:
        size = struct.calcsize("=" + part)
        if part.endswith("x"):
            assert data[offset : offset + size] == bytes(size)
        offset += size


def test_long_double_is_aligned_to_16() -> None:
    data = unpack(Extra((ctypes.c_int(1), np.longdouble(1.5))))
    assert len(data) == 32
    assert np.frombuffer(data, np.longdouble)[1] == 1.5
    data = unpack(Extra((ctypes.c_int(1), ctypes.c_longdouble(1.5))))
    assert np.frombuffer(data, np.longdouble)[1] == 1.5


def test_layout_agrees_with_the_c_compiler(tmp_path: Path) -> None:
    """The same parameters as a struct, laid out by ctypes' own rules."""
    fields = [
        ("a", ctypes.c_char),
        ("b", Floats3),
        ("c", ctypes.c_short),
        ("d", Mixed),
        ("e", ctypes.c_bool),
        ("f", ctypes.c_void_p),
        ("g", Chars3),
        ("h", ctypes.c_int),
    ]
    whole = type("Whole", (ctypes.Structure,), {"_fields_": fields})
    value = whole()
    ctypes.memmove(
        ctypes.addressof(value), bytes(range(1, 1 + ctypes.sizeof(value))), 1
    )
    values = [kind() for _, kind in fields]
    end = whole.h.offset + whole.h.size
    assert len(unpack(Extra(values))) == end


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (1.5, TypeError, r"pyobj\[1\].*ctypes\.c_float.*numpy\.float32"),
        (True, TypeError, r"pyobj\[1\].*c_bool"),
        (1j, TypeError, r"pyobj\[1\]"),
        ("x", TypeError, r"pyobj\[1\].*'str'"),
        (-1, OverflowError, r"pyobj\[1\].*ctypes\.c_int"),
        (2**64, OverflowError, r"pyobj\[1\]"),
        (object(), TypeError, r"pyobj\[1\]"),
        (np.arange(4)[::2], BufferError, r"pyobj\[1\].*strides"),
        (hip.dim3.fromObj(None), ValueError, r"pyobj\[1\].*NULL record"),
        (hip.dim3.allocate(2), ValueError, r"pyobj\[1\].*array"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_refused(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Extra((ctypes.c_int(1), value))


def test_many_arguments_need_more_than_the_stack() -> None:
    values = tuple(ctypes.c_int(i) for i in range(5000))
    data = unpack(Extra(values))
    assert np.frombuffer(data, np.int32).tolist() == list(range(5000))
    big = ctypes.c_char * 100000
    holder = type("Big", (ctypes.Structure,), {"_fields_": [("x", big)]})()
    assert len(unpack(Extra((holder,)))) == 100000
    assert unpack(Extra(())) == b""


def test_every_view_is_kept() -> None:
    memory = bytearray(4)
    array = np.zeros(4)
    array_before = sys.getrefcount(array)
    pointed = ctypes.pointer(ctypes.c_int(3))
    extra = Extra((memory, array, types.Pointer(memory), pointed))
    with pytest.raises(BufferError):
        memory.append(1)
    other = Extra(extra)
    del extra
    gc.collect()
    with pytest.raises(BufferError):
        memory.append(1)
    assert struct.unpack("4Q", unpack(other))[3] == ctypes.addressof(pointed.contents)
    del other
    gc.collect()
    memory.append(1)
    assert sys.getrefcount(array) == array_before


def test_address_of_a_ready_array() -> None:
    first = Extra((ctypes.c_int(5),))
    assert unpack(Extra(int(first))) == struct.pack("i", 5)
    assert Extra.fromObj(first) is first
    assert not Extra(None)


def test_list_that_changes_while_it_is_read() -> None:
    entries: list[Any] = [1, 2, 3]

    class Evil:
        @property
        def __cuda_array_interface__(self) -> Any:
            entries.clear()
            return CudaArray(ADDRESS).interface

    entries[1] = Evil()
    assert struct.unpack("3Q", unpack(Extra(entries))) == (1, ADDRESS, 3)


@given(
    st.lists(
        st.sampled_from(
            [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.bool_]
        )
    )
)
def test_any_mixture_is_laid_out_like_a_struct(kinds: list[Any]) -> None:
    values = [kind(i % 2) for i, kind in enumerate(kinds)]
    dtype = np.dtype([(f"m{i}", kind) for i, kind in enumerate(kinds)], align=True)
    data = unpack(Extra(values))
    ends = [
        offset + kind.itemsize for kind, offset, *_ in (dtype.fields or {}).values()
    ]
    assert len(data) == max(ends, default=0)
    for (kind, offset, *_), value in zip(
        (dtype.fields or {}).values(), values, strict=True
    ):
        assert np.frombuffer(data[offset : offset + kind.itemsize], kind)[0] == value


def test_pointer_arguments_are_right_with_debug_allocator(
    isolated: Callable[..., str],
) -> None:
    code = """
        import ctypes, struct
        from hipadapt import types
        from hipadapt.types import DeviceArray, Pointer, HipModuleLaunchKernel_extra

        class Array:
            __cuda_array_interface__ = {
                "shape": (4,), "typestr": "<f4", "data": (0x3000, False), "version": 3}

        for _ in range(50):
            extra = HipModuleLaunchKernel_extra((
                DeviceArray(0x1000), Pointer(0x2000), Array(), ctypes.c_void_p(0x4000),
                0x5000, ctypes.c_int(7)))
            junk = [bytearray(64) for _ in range(50)]
            _, data, _, size, _ = struct.unpack("5Q", ctypes.string_at(int(extra), 40))
            assert struct.unpack("5Qi", ctypes.string_at(data, 44)) == (
                0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 7)
    """
    isolated(code, PYTHONMALLOC="debug")
    isolated(code, "-X", "dev")


def test_kernel_sees_the_arguments(
    isolated: Callable[..., str], tmp_path: Path
) -> None:
    """Through hipModuleLaunchKernel into C, against a library that records them."""
    source = tmp_path / "fake.c"
    source.write_text(
        """
        #include <stddef.h>
        #include <string.h>
        unsigned char bytes[256];
        size_t size;
        int hipModuleLaunchKernel(void *f, unsigned a, unsigned b, unsigned c,
                                  unsigned d, unsigned e, unsigned g, unsigned s,
                                  void *stream, void **params, void **extra)
        {
            if (extra) {
                size = *(size_t *)extra[3];
                memcpy(bytes, extra[1], size);
            }
            if (params) {
                memcpy(bytes, params[0], 8);
                memcpy(bytes + 8, params[1], 4);
                memcpy(bytes + 12, params[2], 4);
                memcpy(bytes + 16, params[3], 12);
                memcpy(bytes + 28, params[4], 4);
                size = 32;
            }
            return 0;
        }
        """
    )
    library = tmp_path / "libfake.so"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")
    isolated(
        """
        import ctypes, struct
        import numpy as np
        from hipadapt import hip, types
        library = ctypes.CDLL(LIBRARY)
        data = (ctypes.c_ubyte * 256).in_dll(library, "bytes")
        size = ctypes.c_size_t.in_dll(library, "size")
        array = types.DeviceArray(0x1000)
        wanted = struct.pack("Qif3If", 0x1000, 7, 1.5, 1, 2, 3, 2.5)
        values = (array, ctypes.c_int(7), np.float32(1.5), hip.dim3(1, 2, 3))
        for last in (ctypes.c_float(2.5), np.float32(2.5)):
            for extra in (values + (last,), list(values + (last,)),
                          types.HipModuleLaunchKernel_extra(values + (last,))):
                status, = hip.hipModuleLaunchKernel(
                    hip.hipFunction_t(5), 1, 1, 1, 1, 1, 1, 0, None, None, extra)
                assert status == 0
                assert bytes(data)[:size.value] == wanted
        stored = np.array([2.5], np.float32)
        cell = ctypes.c_int(7)
        for params in (values + (stored,), [array, cell, *values[2:], stored],
                       [array, ctypes.addressof(cell), *values[2:], stored],
                       [array, types.ListOfInt([7]), *values[2:], stored],
                       [array.createRef(), types.Pointer(cell), *values[2:], stored]):
            ctypes.memset(data, 0, 256)
            status, = hip.hipModuleLaunchKernel(
                hip.hipFunction_t(5), 1, 1, 1, 1, 1, 1, 0, None, params, None)
            assert status == 0
            assert bytes(data)[:32] == wanted, params
        """.replace("LIBRARY", repr(str(library))),
        HIPADAPT_PROVIDER=str(library),
        PYTHONMALLOC="debug",
    )


def test_extra_from_memory_must_end(run_python: Any) -> None:
    run_python(
        """
        import numpy as np
        from hipadapt import hip
        def launch(extra):
            return hip.hipModuleLaunchKernel(
                hip.hipFunction_t(5), 1, 1, 1, 1, 1, 1, 0, None, None, extra)
        for entries in ([], [1, 5], [1, 5, 2, 5], [5, 3]):
            try:
                launch(np.array(entries, np.uint64))
            except BufferError as error:
                assert "extra" in str(error), error
                assert f"{8 * len(entries)} bytes and no HIP_LAUNCH_PARAM_END" in str(error)
            else:
                raise AssertionError(entries)
        assert launch(np.array([3], np.uint64))[0] != 0  # it ends; there is no function
        """
    )
