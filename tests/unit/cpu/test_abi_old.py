# SPDX-License-Identifier: MIT
"""Functions that programs for HIP 5 call by names that mean other records today."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from types import ModuleType

import pytest

# Offsets in the properties of HIP 5, whose function has kept its name.
OLD_BYTES = 792
OLD_NUMBERS = {
    "totalGlobalMem": (256, "Q"),
    "sharedMemPerBlock": (264, "Q"),
    "regsPerBlock": (272, "i"),
    "warpSize": (276, "i"),
    "maxThreadsPerBlock": (280, "i"),
    "clockRate": (308, "i"),
    "totalConstMem": (320, "Q"),
    "multiProcessorCount": (336, "i"),
    "maxThreadsPerMultiProcessor": (344, "i"),
    "concurrentKernels": (360, "i"),
    "pciBusID": (368, "i"),
    "maxSharedMemoryPerMultiProcessor": (376, "Q"),
    "canMapHostMemory": (388, "i"),
    "integrated": (652, "i"),
    "maxTexture1DLinear": (664, "i"),
    "memPitch": (712, "Q"),
    "isLargeBar": (764, "i"),
    "managedMemory": (772, "i"),
    "pageableMemoryAccessUsesHostPageTables": (788, "i"),
}


def text_of(field: bytes) -> str:
    return field.partition(b"\0")[0].decode()


@pytest.mark.parametrize(
    "symbol", ["hipGetDeviceProperties", "hipGetDevicePropertiesR0000"]
)
def test_old_symbol_fills_the_old_record(
    cpu: ModuleType, library: Path, symbol: str
) -> None:
    loaded = ctypes.CDLL(str(library))
    last = cpu.hipGetDeviceCount()[1] - 1
    now = cpu.hipGetDeviceProperties(last)[1]
    memory = ctypes.create_string_buffer(b"\xa5" * (OLD_BYTES + 64), OLD_BYTES + 64)

    assert getattr(loaded, symbol)(memory, last) == 0

    data = memory.raw
    assert text_of(data[:256]) == now.name
    assert text_of(data[396:652]) == now.gcnArchName
    for name, (offset, form) in OLD_NUMBERS.items():
        assert struct.unpack_from(form, data, offset) == (getattr(now, name),), name
    assert struct.unpack_from("3i", data, 284) == tuple(now.maxThreadsDim)
    assert struct.unpack_from("3i", data, 680) == tuple(now.maxTexture3D)
    assert data[OLD_BYTES:] == b"\xa5" * 64


def test_old_symbols_refuse_what_is_no_device_and_no_place(library: Path) -> None:
    loaded = ctypes.CDLL(str(library))
    memory = ctypes.create_string_buffer(OLD_BYTES)
    chosen = ctypes.c_int(-1)

    assert loaded.hipGetDeviceProperties(None, 0) == 1
    assert loaded.hipGetDeviceProperties(memory, -1) == 101
    assert loaded.hipGetDeviceProperties(memory, 99) == 101
    assert loaded.hipChooseDevice(None, memory) == 1
    assert loaded.hipChooseDevice(ctypes.byref(chosen), None) == 1
    assert (chosen.value, memory.raw) == (-1, bytes(OLD_BYTES))
    assert loaded.hipChooseDevice(ctypes.byref(chosen), memory) == 0
    assert chosen.value == 0
