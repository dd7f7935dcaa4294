# SPDX-License-Identifier: MIT
"""DLPack's C structs in ctypes: producers whose every word can be set, and readers."""

from __future__ import annotations

import ctypes
from typing import Any

CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST, EXT, CUDA_MANAGED = 1, 2, 3, 10, 11, 12, 13
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [
        ("tensor", Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
new_capsule.restype = ctypes.py_object
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
get_pointer.restype = ctypes.c_void_p
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
_names: dict[bytes, bytes] = {}  # capsules don't keep their names
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


def set_name(capsule: Any, name: bytes) -> None:
    """What a consumer does to a capsule that it uses."""
    assert _set_name(capsule, _names.setdefault(name, name)) == 0


def sizes(values: Any) -> Any:
    """C array of int64, or NULL."""
    return None if values is None else (ctypes.c_int64 * len(values))(*values)


class Producer:
    """An object with __dlpack__ whose every word can be set."""

    def __init__(
        self,
        *,
        shape: Any = (2, 3),
        strides: Any = None,
        data: int | None = None,
        device: int = CPU,
        dtype: tuple[int, int, int] = (FLOAT, 32, 1),
        offset: int = 0,
        ndim: int | None = None,
        version: tuple[int, int] | None = (1, 0),
        flags: int = 0,
        name: bytes | None = None,
        modern: bool = True,
        destructor: bool = True,
        deleter: bool = True,
    ) -> None:
        self.memory = ctypes.create_string_buffer(64)
        address = ctypes.addressof(self.memory) if data is None else data
        self.sizes = sizes(shape), sizes(strides)
        count = len(shape or ()) if ndim is None else ndim
        tensor = Tensor(address, device, 0, count, *dtype, *self.sizes, offset)
        self.name = name or (b"dltensor" if version is None else b"dltensor_versioned")
        if version is None:
            self.managed: Any = Managed(tensor)
        else:
            self.managed = Versioned(*version, None, None, flags, tensor)
        self.device = device
        self.modern = modern
        self.alive = 0
        self.consumed = False
        self.deleted = 0
        self.asked: list[Any] = []
        self.destructor = DESTRUCTOR(self.destroy)
        self.deleter = DELETER(self.delete)
        if deleter:
            self.managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
        self.has_destructor = destructor

    def destroy(self, capsule: int) -> None:
        """Runs when the capsule dies; deletes what nobody consumed."""
        self.alive -= 1
        self.consumed = not is_valid(capsule, self.name)
        if not self.consumed:
            self.deleted += 1

    def delete(self, managed: int) -> None:
        """The deleter in the tensor."""
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **kwargs: Any) -> Any:
        self.asked.append(kwargs)
        if kwargs and not self.modern:
            raise TypeError("unexpected keyword")
        self.alive += 1
        destructor = None
        if self.has_destructor:
            destructor = ctypes.cast(self.destructor, ctypes.c_void_p)
        return new_capsule(ctypes.addressof(self.managed), self.name, destructor)


def tensor_of(capsule: Any) -> tuple[Any, Tensor]:
    """(managed tensor, tensor) in an unused capsule; both keep the capsule."""
    if is_valid(id(capsule), b"dltensor_versioned"):
        address = get_pointer(capsule, b"dltensor_versioned")
        managed: Any = Versioned.from_address(address)
    else:
        address = get_pointer(capsule, b"dltensor")
        managed = Managed.from_address(address)
    managed.capsule = capsule
    return managed, managed.tensor


class Exchange(ctypes.Structure):
    """DLPackExchangeAPI of DLPack 1.3."""

    ALLOCATE_FAILS = ctypes.PYFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p
    )
    ALLOCATE = ctypes.PYFUNCTYPE(
        ctypes.c_int,
        ctypes.POINTER(Tensor),
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.c_void_p,
        ALLOCATE_FAILS,
    )
    MANAGED_FROM = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p)
    )
    MANAGED_TO = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    )
    TENSOR_FROM = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor)
    )
    WORK_STREAM = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
    )

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("managed_from", MANAGED_FROM),
        ("managed_to", MANAGED_TO),
        ("tensor_from", TENSOR_FROM),
        ("work_stream", WORK_STREAM),
    ]


def exchange_of(kind: type) -> Exchange:
    """The table of a type."""
    capsule = kind.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    return Exchange.from_address(get_pointer(capsule, b"dlpack_exchange_api"))


def delete(address: int) -> None:
    """Calls the deleter of a versioned tensor, without the GIL."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(Versioned.from_address(address).deleter)(
        address
    )
