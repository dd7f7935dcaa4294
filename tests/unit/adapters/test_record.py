# SPDX-License-Identifier: MIT
"""Records: C structs and unions, all by one implementation."""

from __future__ import annotations

import ctypes
import gc
import pickle
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from hipadapt import hip, types

from .conftest import CudaArray, read


def test_construction() -> None:
    assert tuple(hip.dim3()) == (1, 1, 1)
    assert tuple(hip.dim3(2)) == (2, 1, 1)
    assert tuple(hip.dim3(1, 2, 3)) == (1, 2, 3)
    assert tuple(hip.dim3(z=9, x=7)) == (7, 1, 9)
    assert tuple(hip.dim3(4, z=5)) == (4, 1, 5)
    assert read(hip.dim3(1, 2, 3), 12) == np.array([1, 2, 3], np.int32).tobytes()
    assert tuple(hip.hipExtent()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((1, 2, 3, 4), {}, TypeError, "at most 3 values"),
        ((), {"w": 1}, TypeError, "unexpected keyword argument 'w'"),
        ((1,), {"x": 1}, TypeError, "multiple values for argument 'x'"),
        ((1.5,), {}, TypeError, r"dim3: argument 'x' must be an int, not 1\.5"),
        (("1",), {}, TypeError, "argument 'x'"),
        ((0, -1), {}, OverflowError, "argument 'y'"),
        ((0, 0, 2**32), {}, OverflowError, "argument 'z'"),
        ((types.Pointer(5),), {}, TypeError, "argument 'x'"),
    ],
)
@pytest.mark.parametrize("subclass", [False, True])
def test_construction_refused(
    args: Any, kwargs: Any, error: type[Exception], message: str, subclass: bool
) -> None:
    adapter = type("Mine", (hip.dim3,), {}) if subclass else hip.dim3
    with pytest.raises(error, match=message.replace("dim3:", "")):
        adapter(*args, **kwargs)


@pytest.mark.parametrize("value", [4.0, np.float64(4.0), 1024 / 256])
def test_whole_floats_are_members(value: Any) -> None:
    made = hip.dim3(value, y=value)
    made.z = value

    assert (made.x, made.y, made.z) == (4, 4, 4)
    assert type(made.x) is int


@pytest.mark.parametrize("value", [2.5, -0.5, float("nan"), float("inf"), 1e30, -1.0])
def test_other_floats_are_refused_by_name(value: float) -> None:
    made = hip.dim3(1, 2, 3)

    with pytest.raises((TypeError, OverflowError), match=r"dim3: argument 'y' must be"):
        hip.dim3(1, value)
    with pytest.raises((TypeError, OverflowError), match="'y' must be"):
        made.y = value
    assert made.y == 2


def test_members() -> None:
    value = hip.dim3(1, 2, 3)
    value.y = np.int64(7)
    assert (value.x, value.y, value.z) == (1, 7, 3)
    for wrong, error in ((-1, OverflowError), (2**32, OverflowError), (1.5, TypeError)):
        with pytest.raises(error):
            value.y = wrong
    assert value.y == 7
    with pytest.raises(AttributeError):
        del value.y
    with pytest.raises(AttributeError):
        value.w = 5


def test_as_a_sequence() -> None:
    value = hip.dim3(1, 2, 3)
    assert [*value] == [1, 2, 3]
    assert len(value) == 3
    assert (value[0], value[-1], value[1:]) == (1, 3, [2, 3])
    assert value["y"] == 2
    for i in (3, -4, 2**70):
        with pytest.raises(IndexError):
            value[i]
    with pytest.raises(KeyError):
        value["w"]
    assert "x" in value
    assert "w" not in value
    assert 1 not in value
    assert hip.dim3.PROPERTIES() == value.PROPERTIES() == ["x", "y", "z"]
    assert hip.dim3.c_sizeof() == value.c_sizeof() == 12


def test_comparison() -> None:
    assert hip.dim3(1, 2, 3) == hip.dim3(1, 2, 3)
    assert hip.dim3(1, 2, 3) != hip.dim3(1, 2, 4)
    assert hip.dim3() != hip.hipExtent(1, 1, 1)
    assert hash(hip.dim3(1)) == hash(hip.dim3(1))
    assert hip.dim3(1) in {hip.dim3(1)}
    assert repr(hip.dim3(1, 2, 3)) == "dim3(x=1, y=2, z=3)"
    first, second = hip.hipDeviceProp_t(), hip.hipDeviceProp_t()
    assert first == second
    first.name = "a"
    assert first != second
    second.name = "a"
    assert first == second


def test_null_record() -> None:
    null = hip.dim3.fromObj(None)
    assert not null
    assert repr(null) == "<dim3 NULL>"
    for use in (
        lambda: null.x,
        lambda: null.get_x(0),
        lambda: null[0],
        lambda: list(null),
        lambda: setattr(null, "x", 1),
        lambda: null.set_x(0, 1),
    ):
        with pytest.raises(ValueError, match="NULL dim3 has no members"):
            use()
    with pytest.raises(BufferError):
        memoryview(null)
    assert null == hip.dim3.fromObj(None)
    assert null != hip.dim3()
    hash(null)


def test_array_of_records() -> None:
    values = hip.dim3.allocate(3)
    assert bytes(values) == bytes(36)
    values.set_x(2, 7)
    assert [values.get_x(i) for i in range(3)] == [0, 0, 7]
    assert "3 elements" in repr(values)
    for i in (3, -1, 10**9, 2**70):
        with pytest.raises(IndexError):
            values.get_x(i)
        with pytest.raises(IndexError):
            values.set_x(i, 1)
    with pytest.raises(IndexError):
        hip.dim3().get_x(10**9)
    for count, error in ((-1, OverflowError), ("x", TypeError), (2**62, MemoryError)):
        with pytest.raises(error):
            hip.dim3.allocate(count)
    with pytest.raises(TypeError):
        values.get_x()
    with pytest.raises(TypeError):
        values.set_x(0)
    with pytest.raises(TypeError):
        hip.dim3.get_x(hip.hipExtent(), 0)
    with pytest.raises(TypeError):
        hip.dim3.get_x(5, 0)


def test_arrays_are_compared_whole() -> None:
    first, second = hip.dim3.allocate(2), hip.dim3.allocate(2)
    assert first == second
    second.set_z(1, 1)
    assert first != second
    assert first != hip.dim3.allocate(3)


def test_text_members() -> None:
    props = hip.hipDeviceProp_t()
    assert props.name == ""
    props.name = "Größe"
    assert props.name == "Größe"
    props.gcnArchName = b"gfx90a:xnack+"
    assert props.gcnArchName == "gfx90a:xnack+"
    props.name = "x" * 255
    for wrong, error in (
        ("x" * 256, ValueError),
        ("a\0b", ValueError),
        (5, TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            props.name = wrong
    assert props.name == "x" * 255
    props.name = ""
    assert read(props, 256) == bytes(256)


def test_char_arrays_that_are_data() -> None:
    handle = hip.hipIpcMemHandle_t()
    assert handle.reserved == bytes(64)
    handle.reserved = bytes(range(64))
    assert handle.reserved == bytes(range(64))
    with pytest.raises(ValueError, match="at most 64 bytes"):
        handle.reserved = bytes(65)


def test_number_arrays() -> None:
    props = hip.hipDeviceProp_t()
    assert props.maxThreadsDim == [0, 0, 0]
    props.maxThreadsDim = (1, 2, 3)
    assert props.maxThreadsDim == [1, 2, 3]
    props.maxThreadsDim = np.array([4, 5, 6])
    for wrong, error in (
        ([1, 2], ValueError),
        ([1, 2, 3, 4], ValueError),
        ([1, 2, 2**31], OverflowError),
        ([1, 2, "x"], TypeError),
        ("abc", TypeError),
        (5, TypeError),
    ):
        with pytest.raises(error):
            props.maxThreadsDim = wrong
    assert props.maxThreadsDim == [4, 5, 6]


def test_bit_fields() -> None:
    arch = hip.hipDeviceArch_t()
    arch.hasDoubles = 1
    arch.hasGlobalInt32Atomics = True
    assert arch.hasDoubles == 1
    assert arch.hasGlobalInt64Atomics == 0
    assert read(arch, 4) == (1 | 1 << 7).to_bytes(4, "little")
    arch.hasDoubles = 0
    assert read(arch, 4) == (1).to_bytes(4, "little")
    for wrong in (2, -1):
        with pytest.raises(OverflowError):
            arch.hasDoubles = wrong
    other = hip.hipDeviceArch_t()
    assert arch != other
    other.hasGlobalInt32Atomics = 1
    assert arch == other


def test_enum_members() -> None:
    params = hip.hipMemcpy3DParms()
    kind = hip.hipMemcpyKind.hipMemcpyDeviceToHost
    params.kind = kind
    assert params.kind is kind
    with pytest.raises((TypeError, ValueError)):
        params.kind = 12345
    assert params.kind is kind


def test_nested_records_look_at_the_one_around_them() -> None:
    params = hip.hipMemcpy3DParms()
    params.extent.width = 7
    assert params.extent.width == 7
    inner = params.extent
    assert int(inner) > int(params)
    ref = weakref.ref(params)
    address = int(params)
    del params
    gc.collect()
    inner.height = 8
    assert (inner.width, inner.height) == (7, 8)
    del ref, address
    other = hip.hipMemcpy3DParms(extent=hip.hipExtent(1, 2, 3))
    assert tuple(other.extent) == (1, 2, 3)
    other.extent = (4, 5, 6)
    assert tuple(other.extent) == (4, 5, 6)
    with pytest.raises(TypeError, match="hipExtent"):
        other.extent = hip.dim3()
    with pytest.raises(ValueError, match="NULL"):
        other.extent = None


def test_union_members_share_memory() -> None:
    value = hip.hipLaunchAttributeValue()
    names = value.PROPERTIES()
    assert "pad" in names
    assert value.c_sizeof() == 64


def test_pointer_members_keep_their_targets() -> None:
    memory = bytearray(8)
    pitched = hip.hipPitchedPtr(memory, 8, 8, 1)
    assert int(pitched.ptr) == int(types.Pointer(memory))
    with pytest.raises(BufferError):
        memory.append(1)
    copy = hip.hipMemcpy3DParms(srcPtr=pitched)
    del pitched
    with pytest.raises(BufferError):
        memory.append(1)
    inner = copy.srcPtr.ptr
    del copy
    with pytest.raises(BufferError):
        memory.append(1)
    del inner
    memory.append(1)


def test_pointer_member_set_again_lets_go() -> None:
    first, second = bytearray(8), bytearray(8)
    pitched = hip.hipPitchedPtr(first)
    pitched.ptr = second
    first.append(1)
    pitched.ptr = None
    second.append(1)
    assert pitched.ptr.is_ptr_null


def test_record_of_foreign_memory() -> None:
    memory = np.array([1, 2, 3], np.uint32)
    view = hip.dim3.fromObj(memory)
    assert tuple(view) == (1, 2, 3)
    view.x = 9
    assert memory[0] == 9
    assert int(view) == memory.__array_interface__["data"][0]
    assert tuple(hip.dim3.fromObj(int(view))) == (9, 2, 3)
    assert tuple(hip.dim3.fromObj((7, 8))) == (7, 8, 1)
    made = hip.dim3()
    assert hip.dim3.fromObj(made) is made
    with pytest.raises(BufferError, match="at least 12 bytes"):
        hip.dim3.fromObj(bytearray(11))
    with pytest.raises(TypeError, match="dim3"):
        hip.dim3.fromObj(hip.hipExtent())
    constant = hip.dim3.fromObj(bytes(12))
    assert constant.x == 0
    with pytest.raises(BufferError, match="read-only"):
        constant.x = 1
    several = hip.dim3.fromObj(bytearray(36))
    assert several.get_x(2) == 0
    with pytest.raises(IndexError):
        several.get_x(3)
    assert int(hip.dim3.fromObj(CudaArray(4096, (3,)))) == 4096


def test_nested_record_of_read_only_memory() -> None:
    constant = hip.hipMemcpy3DParms.fromObj(bytes(hip.hipMemcpy3DParms.c_sizeof()))
    with pytest.raises(BufferError, match="read-only"):
        constant.extent.width = 1


def test_buffer_of_a_record() -> None:
    value = hip.dim3(1, 2, 3)
    view = memoryview(value)
    assert np.frombuffer(value, np.uint32).tolist() == [1, 2, 3]
    value.__init__(4, 5, 6)  # type: ignore[misc]
    gc.collect()
    assert np.frombuffer(view, np.uint32).tolist() == [1, 2, 3]
    assert tuple(value) == (4, 5, 6)
    with pytest.raises(OverflowError):
        value.__init__(7, -1)  # type: ignore[misc]
    assert tuple(value) == (4, 5, 6)


def test_python_subclass_of_a_record() -> None:
    class Block(hip.dim3):
        def threads(self) -> int:
            return int(self.x * self.y * self.z)

    assert Block(4, y=2).threads() == 8
    assert isinstance(Block.fromObj(hip.dim3(3)), Block)
    assert type(Block.allocate(2)) is Block
    assert Block(1, 2, 3) == hip.dim3(1, 2, 3)
    assert Block.PROPERTIES() == ["x", "y", "z"]


def test_base_class_makes_no_instances() -> None:
    base = hip.dim3.__base__
    for use in (base, base.PROPERTIES, base.c_sizeof):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError):
        base.fromObj(5)


def every_record() -> list[Any]:
    """All record types of the API."""
    base = hip.dim3.__base__
    return [
        item
        for name in dir(hip)
        if isinstance(item := getattr(hip, name), type) and issubclass(item, base)
    ]


@pytest.mark.parametrize("record", every_record(), ids=lambda r: r.__name__)
def test_every_record_type(record: Any) -> None:
    value = record()
    size = record.c_sizeof()
    assert len(bytes(value)) == size
    assert value == record()
    assert repr(value).startswith(f"{record.__name__}(")
    assert len(value) == len(record.PROPERTIES()) == len(list(value))
    copy = record.fromObj(bytearray(bytes(value)))
    assert copy == value
    for name in record.PROPERTIES():
        member = getattr(value, name)
        assert value[name] == member or member != member
        getattr(value, f"get_{name}")(0)
        with pytest.raises(IndexError):
            getattr(value, f"get_{name}")(1)
        setattr(copy, name, member)
        if not isinstance(member, (int, float, str, bytes, list)):
            assert isinstance(member, types.Pointer)
    # Text stays text: unset bytes read and write back the same.
    assert bytes(copy)[:size] == bytes(value)[:size]
    rng = np.random.default_rng(0)
    noise = record.fromObj(bytearray(rng.bytes(size)))
    assert noise == noise


def test_records_do_not_leak_their_neighbours() -> None:
    value = hip.dim3()
    before = sys.getrefcount(value)
    for _ in range(10):
        memoryview(value).release()
        ctypes.string_at(int(value), 12)
    assert sys.getrefcount(value) == before


def test_text_joins_text_and_bytes() -> None:
    props = hip.hipDeviceProp_t(gcnArchName="gfx90a:ü")
    arch = props.gcnArchName

    assert isinstance(arch, str)
    assert isinstance(arch, types.Text)
    assert arch == "gfx90a:ü"
    assert hash(arch) == hash("gfx90a:ü")
    assert "--offload-arch=" + arch == "--offload-arch=gfx90a:ü"
    assert arch + "x" == "gfx90a:üx"
    assert b"--offload-arch=" + arch == "--offload-arch=gfx90a:ü".encode()
    assert arch + b"x" == "gfx90a:üx".encode()
    assert bytearray(b"a") + arch == "agfx90a:ü".encode()
    assert type(arch.decode()) is type(arch + "") is str
    assert arch.decode("utf-8", "strict") == arch
    assert repr(arch) == "'gfx90a:ü'"
    assert pickle.loads(pickle.dumps(arch)) == arch
    for wrong in (5, None, [1]):
        with pytest.raises(TypeError):
            arch + wrong  # type: ignore[operator]
        with pytest.raises(TypeError):
            wrong + arch  # type: ignore[operator]
    with pytest.raises(TypeError):
        arch.decode("utf-8", "strict", 1)


def test_text_frees_what_it_makes() -> None:
    props = hip.hipDeviceProp_t(name="x")
    before = sys.getrefcount(types.Text)

    for _ in range(100):
        b"-" + props.name

    # The interpreter's own caches may hold it once.
    assert sys.getrefcount(types.Text) - before <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        types.Pointer(5),
        ctypes.c_void_p(5),
        types.Handle(5),
        hip.dim3(1, 2, 3),
        "x",
        types.DeviceArray(CudaArray(4096, (64,))),
        CudaArray(4096, (64,)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_record_by_value_refuses_addresses(wrong: Any) -> None:
    params = hip.hipMemcpy3DParms()
    with pytest.raises(TypeError, match="srcPos"):
        params.srcPos = wrong
    with pytest.raises(TypeError, match="srcPos"):
        hip.hipMemcpy3DParms(None, wrong)
    with pytest.raises(TypeError, match="extent"):
        hip.hipMalloc3D(wrong)


def test_record_by_value_takes_values_and_sized_memory() -> None:
    params = hip.hipMemcpy3DParms()
    inner = hip.hipPos(1, 2, 3)
    for fitting in (inner, (1, 2, 3), bytes(inner), hip.hipPos.fromObj(int(inner))):
        params.srcPos = (0, 0, 0)
        params.srcPos = fitting
        assert tuple(params.srcPos) == (1, 2, 3)
    with pytest.raises(BufferError, match="at least 24 bytes"):
        params.srcPos = b"short"
    with pytest.raises(ValueError, match="NULL"):
        params.srcPos = None


@pytest.mark.parametrize("value", [1e39, -1e39, 10**400, -(10**400)])
def test_float_member_refuses_what_float_cannot_hold(value: float) -> None:
    with pytest.raises(
        OverflowError, match="float1: argument 'x' must be in the range"
    ):
        hip.float1(value)


def test_float_member_keeps_infinity_and_rounds() -> None:
    assert hip.float1(float("inf")).x == float("inf")
    assert hip.float1(0.1).x == float(np.float32(0.1))


def test_values_for_a_record_name_the_call_that_refuses_them() -> None:
    for wrong, error, message in (
        ((1, "x"), TypeError, "hipExtent: argument 'height' must be"),
        ((1, -1), OverflowError, "hipExtent: argument 'height' must be"),
        ((1, 2, 3, 4), TypeError, r"hipExtent\(\) takes at most 3 values"),
    ):
        with pytest.raises(error, match="hipMalloc3D: argument 'extent': " + message):
            hip.hipMalloc3D(wrong)


def test_member_whose_conversion_makes_the_record_anew() -> None:
    made = hip.dim3(x=7)

    class Evil:
        def __index__(self) -> int:
            for _ in range(3):  # the memory that the assignment began with is let go
                made.__init__()  # type: ignore[misc]
            return 5

    made.x = Evil()  # type: ignore[assignment]

    assert (made.x, made.y, made.z) == (1, 1, 1), "stored in what the record was"
