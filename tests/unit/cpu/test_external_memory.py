# SPDX-License-Identifier: MIT
"""Files in memory as device memory, from Python; tests/c/cpu/memory/test_external.c has more."""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BYTES = 1 << 16


@pytest.fixture
def file() -> Iterator[int]:
    """A sealed file in memory."""
    made = os.memfd_create("test", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.truncate(made, BYTES)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    yield made
    os.close(made)


def described(cpu: ModuleType, file: int, size: int = BYTES) -> Any:
    kind = cpu.hipExternalMemoryHandleType_enum.hipExternalMemoryHandleTypeOpaqueFd
    desc = cpu.hipExternalMemoryHandleDesc(type=kind, size=size)
    desc.handle.fd = file
    return desc


def test_what_the_device_writes_is_in_the_file(cpu: ModuleType, file: int) -> None:
    status, memory = cpu.hipImportExternalMemory(described(cpu, file))
    assert status == 0
    part = cpu.hipExternalMemoryBufferDesc(offset=4096, size=4000)
    status, pointer = cpu.hipExternalMemoryGetMappedBuffer(memory, part)
    assert status == 0
    words = np.arange(1000, dtype=np.int32)

    assert cpu.hipMemcpy(pointer, words, 4000, cpu.hipMemcpyKind(1))[0] == 0

    with mmap.mmap(file, BYTES) as host:
        assert host[4096:8096] == words.tobytes()
        host[4096:4100] = b"\x07\0\0\0"
    assert cpu.hipMemcpy(words, pointer, 4000, cpu.hipMemcpyKind(2))[0] == 0
    assert words[0] == 7
    assert cpu.hipDestroyExternalMemory(memory)[0] == 0
    assert cpu.hipMemset(pointer, 0, 4000)[0] == 0
    assert cpu.hipFree(pointer)[0] == 0
    os.fstat(file)  # is still open: it stays the program's


def test_files_that_are_no_memory_are_refused(cpu: ModuleType, file: int) -> None:
    invalid = int(cpu.hipError_t.hipErrorInvalidValue)
    with open(os.devnull, "r+b", buffering=0) as null:
        for desc in (
            described(cpu, null.fileno(), 1),
            described(cpu, -1),
            described(cpu, file, BYTES + 1),
            described(cpu, file, 0),
        ):
            assert int(cpu.hipImportExternalMemory(desc)[0]) == invalid
    assert int(cpu.hipDestroyExternalMemory(0x5550)[0]) == invalid
