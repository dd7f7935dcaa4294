# SPDX-License-Identifier: MIT
"""Traps that adapter types of this kind are known to have, one test each.

The names say what must not happen.  Details of each are in the tests of the type.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import struct
from typing import Any

import numpy as np
import pytest

from hipadapt import hip, types

from .conftest import CudaArray, read

ADDRESS = 0x7F0000001000


# ---- Pointer --------------------------------------------------------------------------


def test_order_depends_on_a_property_nobody_needs() -> None:
    class Listed:
        __cuda_array_interface__: Any = []

    class Mine(types.Pointer):
        __cuda_array_interface__: Any = []

    assert int(types.Pointer(Mine(5))) == 5
    with pytest.raises(TypeError, match="no dict"):
        types.Pointer(Listed())


def test_negative_int_becomes_a_huge_address() -> None:
    for value in (-1, -(2**63)):
        with pytest.raises(OverflowError):
            types.Pointer(value)


def test_true_is_address_one() -> None:
    with pytest.raises(TypeError):
        types.Pointer(True)


def test_numpy_scalar_is_the_address_of_a_temporary() -> None:
    assert int(types.Pointer(np.int64(5))) == 5


def test_iteration_never_ends() -> None:
    with pytest.raises(TypeError):
        list(itertools.islice(types.Pointer(5), 3))  # type: ignore[call-overload]


def test_equal_pointers_differ() -> None:
    assert types.Pointer(5) == types.Pointer(5)
    assert len({types.Pointer(5), types.Pointer(5)}) == 1


def test_cuda_array_is_not_kept() -> None:
    import weakref

    value = CudaArray(ADDRESS)
    ref = weakref.ref(value)
    made = types.Pointer(value)
    del value
    gc.collect()
    assert ref() is not None
    del made
    assert ref() is None


def test_copy_of_a_pointer_does_not_keep_the_buffer() -> None:
    memory = bytearray(4)
    made = types.Pointer(types.Pointer(memory))
    with pytest.raises(BufferError):
        memory.append(1)
    del made
    memory.append(1)


def test_second_init_keeps_the_first_buffer_for_good() -> None:
    memory = bytearray(4)
    made = types.Pointer(memory)
    made.__init__(bytearray(4))  # type: ignore[misc]
    memory.append(1)


def test_create_ref_dangles() -> None:
    ref = types.Pointer(0x1234).createRef()
    gc.collect()
    assert read(ref, 8) == struct.pack("Q", 0x1234)


def test_strides_and_masks_are_ignored() -> None:
    for more in ({"strides": (8,)}, {"mask": CudaArray()}):
        with pytest.raises(BufferError):
            types.Pointer(CudaArray(ADDRESS, **more))


def test_offset_by_numpy_integer_is_refused() -> None:
    assert int(types.Pointer(16)[np.int64(4)]) == 20


# ---- arrays ---------------------------------------------------------------------------


def test_element_type_of_numpy_is_lost() -> None:
    source = np.arange(4, dtype=np.float32)
    assert (np.asarray(types.NDBuffer(source)) == source).all()


def test_fortran_order_is_read_as_c_order() -> None:
    with pytest.raises(BufferError):
        types.NDBuffer(np.zeros((2, 3), order="F"))


def test_zero_dimensional_arrays_are_refused() -> None:
    assert types.NDBuffer(np.array(1.5)).shape == ()
    assert types.DeviceArray(CudaArray(ADDRESS, ())).shape == ()


@pytest.mark.parametrize("typestr", ["|u1", "|i1", "|b1"])
def test_one_byte_typestr_is_refused(typestr: str) -> None:
    assert types.DeviceArray(CudaArray(ADDRESS, typestr=typestr)).itemsize == 1


def test_failed_configure_changes_the_type() -> None:
    array = types.DeviceArray(CudaArray(ADDRESS, (4,)))
    with pytest.raises(ValueError, match=r"16 to 32 bytes"):
        array.configure(typestr="float64")
    assert (array.typestr, array.itemsize) == ("<f4", 4)


def test_negative_extents_are_accepted() -> None:
    with pytest.raises(ValueError, match="negative"):
        types.DeviceArray(CudaArray(ADDRESS, (4,))).configure(shape=(-2, -2))


def test_shape_of_slices_is_reversed() -> None:
    array = types.DeviceArray(CudaArray(ADDRESS, (4, 5)))
    assert array[0].shape == (1, 5)
    assert array[1:3].shape == (2, 5)


def test_slice_reads_freed_memory() -> None:
    child = types.NDBuffer(np.full(2**20, 7, np.uint8))[10:20]
    gc.collect()
    junk = [np.zeros(2**20, np.uint8) for _ in range(3)]
    assert bytes(child) == b"\7" * 10
    del junk


def test_slices_are_of_another_class() -> None:
    assert type(types.DeviceArray(CudaArray(ADDRESS))[0]) is types.DeviceArray


def test_negative_and_numpy_indices_are_refused() -> None:
    array = types.DeviceArray(CudaArray(ADDRESS, (4,)))
    assert int(array[-1]) == int(array[np.int32(3)]) == int(array[..., 3])


def test_iteration_over_an_array_ends_in_an_error() -> None:
    assert len(list(types.DeviceArray(CudaArray(ADDRESS, (4,))))) == 4


def test_device_memory_is_read_through_a_memoryview() -> None:
    with pytest.raises(BufferError):
        memoryview(types.DeviceArray(CudaArray(ADDRESS)))


def test_pointer_to_an_array_blocks_configure() -> None:
    array = types.DeviceArray(CudaArray(ADDRESS, (4,)))
    pointer = types.Pointer(array)
    array.configure(shape=(2, 2))
    assert int(pointer) == ADDRESS


# ---- text, lists ------------------------------------------------------------------------


def test_text_is_not_equal_to_itself() -> None:
    assert types.CStr("hello") == "hello"
    assert "ell" in types.CStr("hello")


def test_c_char_p_is_the_cell() -> None:
    assert types.CStr(ctypes.c_char_p(b"q")) == "q"


def test_numbers_are_cut() -> None:
    for values in ([2**32 + 5], [2**63], [2**31], [-(2**31) - 1]):
        with pytest.raises(OverflowError):
            types.ListOfInt(values)
    with pytest.raises(OverflowError):
        types.ListOfUnsigned([2**63])


def test_numpy_and_small_ctypes_integers_are_refused() -> None:
    values = [np.int32(3), ctypes.c_byte(4), ctypes.c_int8(5), None]
    assert types.ListOfInt(values) == [3, 4, 5, 0]


def test_array_of_floats_is_a_list_of_int() -> None:
    with pytest.raises(TypeError):
        types.ListOfInt(np.zeros(4))


def test_list_of_list_reads_freed_memory() -> None:
    made = types.ListOfInt(types.ListOfInt([7, 8, 9]))
    junk = [types.ListOfInt([0, 0, 0]) for _ in range(100)]
    assert made == [7, 8, 9]
    del junk


def test_entries_of_a_list_can_be_resized() -> None:
    memory = bytearray(4)
    made = types.ListOfPointer([memory])
    with pytest.raises(BufferError):
        memory.append(1)
    del made


def test_empty_list_is_true() -> None:
    assert not types.ListOfInt([])


def test_repr_names_another_class() -> None:
    for name in ("ListOfInt", "ListOfUnsignedLong", "ListOfUnsigned", "ListOfLong"):
        assert repr(getattr(types, name)([1])) == f"{name}([1])"


# ---- kernel arguments -------------------------------------------------------------------


def packed(values: Any) -> bytes:
    """What a kernel would get."""
    extra = types.HipModuleLaunchKernel_extra(values)
    _, data, _, size, _ = struct.unpack("5Q", read(extra, 40))
    return read(data, struct.unpack("Q", read(size, 8))[0])


def test_struct_is_aligned_to_its_size() -> None:
    class Floats(ctypes.Structure):
        _fields_ = [("v", ctypes.c_float * 3)]

    class Chars(ctypes.Structure):
        _fields_ = [("v", ctypes.c_char * 3)]

    assert len(packed((ctypes.c_int(1), Floats()))) == 16
    assert len(packed((ctypes.c_char(b"a"), Chars()))) == 4
    assert len(packed((ctypes.c_int(1), ctypes.c_longdouble(1)))) == 32


def test_padding_is_left_over_memory() -> None:
    assert packed((ctypes.c_char(b"a"), ctypes.c_double(0)))[1:8] == bytes(7)


def test_numpy_scalar_is_passed_by_address() -> None:
    assert packed((np.float32(1.5),)) == struct.pack("f", 1.5)


def test_bool_is_eight_bytes() -> None:
    with pytest.raises(TypeError, match="c_bool"):
        packed((True,))


def test_record_is_passed_by_address() -> None:
    assert packed((hip.dim3(1, 2, 3),)) == struct.pack("3I", 1, 2, 3)


# ---- records, handles, functions --------------------------------------------------------


def test_float_is_cut_to_a_member() -> None:
    with pytest.raises(TypeError):
        hip.dim3(1.5)  # type: ignore[arg-type]


def test_element_beyond_the_array_is_read() -> None:
    with pytest.raises(IndexError):
        hip.dim3().get_x(10**9)
    with pytest.raises(IndexError):
        hip.dim3().set_x(1, 5)


def test_member_of_null_is_read() -> None:
    with pytest.raises(ValueError, match="NULL"):
        _ = hip.dim3.fromObj(None).x


def test_array_members_are_read_only() -> None:
    props = hip.hipDeviceProp_t()
    props.maxGridSize = [1, 2, 3]
    assert props.maxGridSize == [1, 2, 3]


def test_function_object_is_the_address_of_its_cell() -> None:
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    wanted = ctypes.cast(function, ctypes.c_void_p).value
    assert int(hip.hipHostFn_t(function)) == wanted


def test_function_takes_a_buffer() -> None:
    with pytest.raises(TypeError):
        hip.hipHostFn_t(bytearray(8))
