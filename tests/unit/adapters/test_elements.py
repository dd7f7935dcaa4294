# SPDX-License-Identifier: MIT
"""Elements with fields, plain bytes and dates: formats and descr are kept exactly."""

from __future__ import annotations

import ctypes
import gc
import pickle
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hipadapt
from hipadapt import _core, types

from .conftest import CudaArray, run_python

adapters = pytest.mark.parametrize("adapter", [types.NDBuffer, types.DeviceArray])

ALIGNED = np.dtype([("x", "i1"), ("y", "f8"), ("z", "i1")], align=True)
FIELDS = {
    "two": [("x", "f4"), ("y", "i2")],
    "aligned": ALIGNED,
    "gaps": {"names": ["a"], "formats": ["i4"], "offsets": [2], "itemsize": 16},
    "nested": [("a", [("b", "f4"), ("c", ">i2")], (2, 3)), ("d", "S3")],
    "nested aligned": np.dtype([("n", ALIGNED, (2,)), ("k", "i2")], align=True),
    "texts": [("p", "V3"), ("q", "U2"), ("r", "S5"), ("s", ">U1")],
    "numbers": [("c", "c8"), ("b", "?"), ("g", "g"), ("h", "f2"), ("l", "q")],
    "titles": [(("title", "name"), "f4")],
    "dates": [("d", "M8[s]"), ("m", "m8[25us]"), ("x", "f4")],
    "colon": [("x:y", "f4")],
    "not ascii": [("größe", "f4")],
    "array": [("a", "f4", (2,)), ("O", "i4")],
}
PLAIN = ["V8", "V1", "S5", "U3", ">U3", "M8[ns]", "m8", ">M8[25s]", ">i4", "f4", "c16"]
# What numpy itself can't read back from a buffer of its own.
LOST_BY_NUMPY = {"titles", "V8", "V1"}


def filled(dtype: Any, count: int = 3) -> Any:
    """An array whose elements end in zeros."""
    dtype = np.dtype(dtype)
    raw = np.full((count, dtype.itemsize), 65, "u1")
    raw[:, dtype.itemsize // 2 :] = 0
    return raw.reshape(-1).view(dtype)


every = pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, np.dtype(dtype)) for name, dtype in FIELDS.items()]
    + [(name, np.dtype(name)) for name in PLAIN],
    ids=[*FIELDS, *PLAIN],
)


@every
@adapters
def test_numpy_arrays_come_back_the_same(adapter: Any, name: str, dtype: Any) -> None:
    source = filled(dtype)
    made = adapter(source)

    view = np.asarray(made)
    copy = made.numpy()

    assert copy.dtype == made.dtype == dtype
    assert copy.tobytes() == view.tobytes() == bytes(made) == source.tobytes()
    assert np.shares_memory(view, source)
    assert view.dtype == dtype or name in LOST_BY_NUMPY
    assert adapter(copy).__cuda_array_interface__["typestr"] == dtype.str


@every
@adapters
def test_buffer_format_is_that_of_the_producer(
    adapter: Any, name: str, dtype: Any
) -> None:
    source = filled(dtype)
    made = adapter(source)

    try:
        wanted = memoryview(source).format
    except ValueError:  # numpy has no format either
        with pytest.raises(BufferError, match="has no format"):
            memoryview(made)
        return

    if name == "gaps" or name == "nested aligned":
        # numpy's own format lacks the gap at the end: its readers fail.
        assert np.asarray(memoryview(made)).dtype == dtype
    else:
        assert memoryview(made).format == wanted
    for same in (made[1:], types.NDBuffer(made), types.NDBuffer(memoryview(made))):
        assert memoryview(same).format == memoryview(made).format


@every
def test_descr_goes_out_and_comes_back(name: str, dtype: Any) -> None:
    source = filled(dtype)
    interface = types.DeviceArray(source).__cuda_array_interface__

    fields = interface.get("descr")
    assert fields == (None if dtype.names is None else dtype.descr)
    if dtype.byteorder == ">":
        return
    again = types.DeviceArray(
        CudaArray(
            interface["data"][0], (3,), typestr=interface["typestr"], descr=fields
        )
    )
    assert again.dtype == dtype
    assert again.__cuda_array_interface__.get("descr") == fields
    assert again[1:].__cuda_array_interface__.get("descr") == fields


@pytest.mark.parametrize("name", FIELDS)
def test_descr_becomes_a_format_that_numpy_reads(name: str) -> None:
    dtype = np.dtype(FIELDS[name])
    source = filled(dtype)
    made = _core.array_from_memory(source, 3, dtype.descr, owner=source, memory="host")

    view = np.asarray(made)

    assert (made.dtype, made.numpy().tobytes()) == (dtype, source.tobytes())
    assert view.dtype == dtype or name in LOST_BY_NUMPY
    assert view.tobytes() == source.tobytes()


@every
def test_device_arrays_keep_their_elements(
    cpu: ModuleType, name: str, dtype: Any
) -> None:
    source = filled(dtype)

    array = hipadapt.array(source)
    others = [
        array.copy(),
        pickle.loads(pickle.dumps(array)),
        hipadapt.array(array),
        hipadapt.asarray(array.host()),
        hipadapt.empty_like(array).copy_from(source),
        hipadapt.empty(3, dtype).copy_from(source),
    ]

    for other in [array, *others]:
        assert other.dtype == dtype
        assert other.get().tobytes() == other.numpy().tobytes() == source.tobytes()
        assert other.get().dtype == dtype


def test_configure_keeps_fields_until_the_type_changes() -> None:
    fields = [("x", "<f4"), ("y", "<i4")]
    array = types.NDBuffer(bytearray(48)).configure(typestr=fields, shape=(6,))

    array.configure(shape=(2, 3))
    kept = array.__cuda_array_interface__["descr"]
    array.configure(typestr="V8")

    assert kept == fields
    assert "descr" not in array.__cuda_array_interface__
    assert array.configure(typestr=np.dtype(fields)).dtype == np.dtype(fields)
    with pytest.raises(ValueError, match="48 to 36"):
        array.configure(typestr=[("x", "<f4"), ("y", "<i2")])
    assert array.configure(itemsize=8).typestr == "|V8"


@pytest.mark.parametrize(
    "fields",
    [
        [("x",)],
        [("x", "<f4", 2.5)],
        [("x", "<f4", (-1,))],
        [("x", 5)],
        [("x", "<f3")],
        [("x", "O")],
        [("x", [("y", "|O8")])],
        [(5, "<f4")],
        [["x", "<f4"]],
        ["x"],
        [("x", "|V" + str(2**40), (2**40,))],
        [("x", "<f4", (2**63,))],
    ],
    ids=repr,
)
def test_lists_that_are_no_fields(fields: Any) -> None:
    with pytest.raises(ValueError, match="must be fields"):
        types.NDBuffer(bytearray(8)).configure(typestr=fields)
    made = types.DeviceArray(CudaArray(4096, (1,), typestr="|V8", descr=fields))
    assert "descr" not in made.__cuda_array_interface__


def test_fields_of_other_size_than_the_typestr_are_refused() -> None:
    for fields in ([("x", "<f4")], [("x", "<f4"), ("y", "<f8")]):
        with pytest.raises(BufferError, match="descr says other elements"):
            types.DeviceArray(CudaArray(4096, (1,), typestr="|V8", descr=fields))


def test_fields_are_copies() -> None:
    inner: list[Any] = [("x", "<f4")]
    fields: list[Any] = [("a", inner), ("b", "<i4")]
    made = types.DeviceArray(CudaArray(4096, (1,), typestr="|V8", descr=fields))
    inner.append(("y", "<f4"))
    fields.clear()
    given = made.__cuda_array_interface__["descr"]
    given[0][1].clear()
    given.clear()

    assert made.__cuda_array_interface__["descr"] == [
        ("a", [("x", "<f4")]),
        ("b", "<i4"),
    ]


def test_deep_and_circular_fields_end() -> None:
    fields: list[Any] = [("x", "<f4")]
    for _ in range(100):
        fields = [("x", fields)]
    circular: list[Any] = []
    circular.append(("x", circular))

    for lists in (fields, circular):
        made = types.DeviceArray(CudaArray(4096, (1,), typestr="|V4", descr=lists))
        assert "descr" not in made.__cuda_array_interface__


def test_references_to_objects_never_come_out() -> None:
    for dtype in ("O", [("x", "O")], [("a", [("b", "O")]), ("c", "f4")]):
        source = np.zeros(2, dtype)
        made = types.NDBuffer(source)

        view = memoryview(made)
        assert view.format == f"{source.itemsize}x"
        assert "descr" not in made.__cuda_array_interface__
        assert not np.asarray(made).dtype.hasobject


class Exporter:
    """ctypes memory whose format and size are those of a C type."""


class Union(ctypes.Union):
    """Its format is that of a byte."""

    _fields_ = [("a", ctypes.c_byte), ("b", ctypes.c_double)]


class Packed(ctypes.Structure):
    """The same."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("a", ctypes.c_byte), ("b", ctypes.c_double)]


class Padded(ctypes.Structure):
    """Some versions of Python leave the gap out of its format."""

    _fields_ = [("a", ctypes.c_byte), ("b", ctypes.c_double)]


class Linked(ctypes.Structure):
    """Has a pointer, which numpy can't read."""

    _fields_ = [("a", ctypes.POINTER(Padded))]


@pytest.mark.parametrize("kind", [Union, Packed, Padded, Linked])
def test_formats_that_lie_about_the_size_are_bytes(kind: Any) -> None:
    memory = (kind * 2)()
    ctypes.memset(memory, 1, ctypes.sizeof(memory))

    made = types.NDBuffer(memory)

    view = np.asarray(made)
    assert (made.shape, made.itemsize) == ((2,), ctypes.sizeof(kind))
    assert view.tobytes() == bytes(memory)
    assert view.dtype.itemsize == ctypes.sizeof(kind)
    assert made.__cuda_array_interface__["typestr"] == f"|V{ctypes.sizeof(kind)}"
    fields = view.dtype.fields or {}
    for name, (_, offset, *_) in fields.items():
        assert offset == getattr(kind, name).offset


def test_ctypes_structure_without_gaps_has_its_fields() -> None:
    class Pair(ctypes.Structure):
        _fields_ = [("x", ctypes.c_float), ("n", ctypes.c_int * 3)]

    made = types.NDBuffer((Pair * 2)())

    assert made.__cuda_array_interface__["descr"] == [("x", "<f4"), ("n", "<i4", (3,))]


def test_dates_are_refused_by_lists_and_by_dlpack() -> None:
    dates = np.zeros(2, "M8[s]")

    with pytest.raises(TypeError, match="M8"):
        types.ListOfInt64(dates)
    with pytest.raises(BufferError, match="M8"):
        types.NDBuffer(dates).__dlpack__()


def test_fields_without_numpy() -> None:
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        from hipadapt import types
        fields = [("x", "<f4"), ("y", "<i2", (2,))]
        made = types.NDBuffer(bytearray(16)).configure(typestr=fields, shape=(2,))
        assert memoryview(made).format == "T{^f:x:(2)^h:y:}", memoryview(made).format
        assert types.NDBuffer(memoryview(made)).__cuda_array_interface__["descr"] == fields
        assert made.dtype == "|V8", made.dtype
        """
    )


def test_references_are_given_back() -> None:
    source = filled(FIELDS["nested"])
    descr = source.dtype.descr
    bad = [("x", "<f4"), ("y", "O")]
    before = sys.getrefcount(descr[0]), sys.getrefcount(bad[0]), len(gc.get_objects())
    for _ in range(50):
        made = types.NDBuffer(source)
        memoryview(made).release()
        types.NDBuffer(memoryview(made))
        made.__cuda_array_interface__["descr"].clear()
        types.DeviceArray(CudaArray(4096, (1,), typestr=source.dtype.str, descr=descr))
        types.DeviceArray(CudaArray(4096, (1,), typestr="|V8", descr=bad))
    del made
    gc.collect()
    after = sys.getrefcount(descr[0]), sys.getrefcount(bad[0]), len(gc.get_objects())
    assert after[:2] == before[:2]
    assert after[2] <= before[2] + 40


# ---- numpy as the judge --------------------------------------------------------------

SCALARS = ["i1", "u1", "i2", ">i2", "i4", "u4", "i8", ">f8", "f4", "f2", "c8", "?"]
SCALARS += ["S3", "V2", "U2", "c16", "g"]


@st.composite
def dtypes(draw: Any, depth: int = 0) -> Any:
    """dtypes with fields."""
    fields = []
    for i in range(draw(st.integers(1, 4))):
        if depth < 2 and draw(st.booleans()) and draw(st.booleans()):
            kind = draw(dtypes(depth + 1))
        else:
            kind = draw(st.sampled_from(SCALARS))
        shape = draw(st.sampled_from([(), (2,), (1, 3), (1,)]))
        fields.append((f"f_{i}", kind, shape) if shape else (f"f_{i}", kind))
    return np.dtype(fields, align=draw(st.booleans()))


def leaves(dtype: Any, offset: int = 0, path: str = "") -> list[Any]:
    """Where every number lies: gaps may be inside of a field or behind it."""
    base, shape = dtype.subdtype or (dtype, ())
    if base.fields is None:
        return [(path, offset, base, shape)]
    found = []
    for place in range(int(np.prod(shape, dtype=int))):
        for name in base.names:
            inner, at = base.fields[name][:2]
            begin = offset + place * base.itemsize + at
            found += leaves(inner, begin, f"{path}[{place}].{name}")
    return found


@given(dtypes())
def test_fields_mean_the_same_to_numpy(dtype: Any) -> None:
    source = filled(dtype, 2)
    made = types.NDBuffer(source)
    by_descr = _core.array_from_memory(source, 2, dtype.descr, memory="host")

    assert made.__cuda_array_interface__["descr"] == dtype.descr
    for array in (made, by_descr):
        view = np.asarray(array)
        assert leaves(view.dtype) == leaves(dtype)
        assert view.dtype.itemsize == dtype.itemsize
        assert view.tobytes() == source.tobytes()
    # The format alone, as memoryviews have it, where numpy itself can read it.
    try:
        read = np.asarray(memoryview(source)).dtype
    except RuntimeError:
        return
    alone = types.NDBuffer(memoryview(source))
    fields = np.lib.format.descr_to_dtype(alone.__cuda_array_interface__["descr"])
    assert (leaves(fields), fields.itemsize) == (leaves(read), dtype.itemsize)


def test_format_that_numpy_reads_wrong_is_written_anew() -> None:
    inner = np.dtype([("a", "i4"), ("b", "i1", (2,))], align=True)
    middle = np.dtype([("c", inner), ("d", "i1"), ("e", "i1")], align=True)
    dtype = np.dtype([("f", "i1"), ("g", "i1"), ("h", middle)], align=True)
    source = np.zeros(2, dtype)
    source["h"]["d"] = 5

    view = np.asarray(types.NDBuffer(source))

    assert leaves(view.dtype) == leaves(dtype)
    assert view["h"]["d"].tolist() == [5, 5]
