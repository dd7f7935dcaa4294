# SPDX-License-Identifier: MIT
"""Rows of every width that the device copies in a way of its own, against a model."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import hip

# Each side of each step in width, and what is left to the C library.
WIDTHS = [*range(1, 36), 63, 64, 65, 200]
ON_DEVICE = hip.hipMemcpyKind.hipMemcpyDeviceToDevice
DEFAULT = hip.hipMemcpyKind.hipMemcpyDefault


@pytest.fixture(autouse=True)
def device(cpu: ModuleType) -> None:
    """Everything here is about the CPU device."""


def ok(result: tuple[Any, ...]) -> Any:
    assert result[0] == 0, (result, hipadapt.error_text())
    return result[1] if len(result) > 1 else None


class Memory:
    """Device memory with random bytes in it, and a model of it."""

    def __init__(self, size: int, seed: int) -> None:
        self.model = np.random.default_rng(seed).integers(0, 256, size, np.uint8)
        self.address = ok(hip.hipMalloc(size))
        ok(hip.hipMemcpy(self.address, self.model, size, 1))

    def check(self) -> None:
        got = np.empty_like(self.model)
        ok(hip.hipMemcpy(got, self.address, got.size, 2))
        assert got.tolist() == self.model.tolist()
        ok(hip.hipFree(self.address))


def at(memory: Memory, offset: int) -> Any:
    return int(memory.address) + offset


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_copied_and_nothing_beside_them(width: int) -> None:
    for rows in (1, 2, 3, 4, 5, 11):
        src = Memory(40 + rows * (width + 7), rows)
        dst = Memory(40 + rows * (width + 3), rows + 100)

        ok(
            hip.hipMemcpy2D(
                at(dst, 5), width + 3, at(src, 9), width + 7, width, rows, ON_DEVICE
            )
        )

        for row in range(rows):
            begin = 9 + row * (width + 7)
            to = 5 + row * (width + 3)
            dst.model[to : to + width] = src.model[begin : begin + width]
        src.check()
        dst.check()


@pytest.mark.parametrize("shift", [-9, -3, -1, 1, 2, 5, 16])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 13, 16, 21, 32, 40])
def test_rows_that_overlap_are_copied_one_after_the_other(
    width: int, shift: int
) -> None:
    rows, pitch = 13, width + 1
    memory = Memory(80 + rows * pitch, 3)

    ok(
        hip.hipMemcpy2D(
            at(memory, 30 + shift), pitch, at(memory, 30), pitch, width, rows, ON_DEVICE
        )
    )

    for row in range(rows):
        begin = 30 + row * pitch
        memory.model[begin + shift : begin + shift + width] = memory.model[
            begin : begin + width
        ].copy()
    memory.check()


@pytest.mark.parametrize("height", [1, 2, 7])
@pytest.mark.parametrize("width", [1, 3, 4, 8, 20, 50])
def test_slices_are_copied_and_nothing_between_them(width: int, height: int) -> None:
    depth, pitch, high = 5, width + 2, height + 3
    src = Memory(depth * high * pitch, 1)
    dst = Memory(depth * high * pitch, 2)
    record = hip.hipMemcpy3DParms(kind=ON_DEVICE)
    record.srcPtr = hip.hipPitchedPtr(src.address, pitch, width, high)
    record.dstPtr = hip.hipPitchedPtr(dst.address, pitch, width, high)
    record.extent = hip.hipExtent(width, height, depth)

    ok(hip.hipMemcpy3D(record))

    box = (depth, high, pitch)
    dst.model.reshape(box)[:, :height, :width] = src.model.reshape(box)[
        :, :height, :width
    ]
    dst.check()
    src.check()


@pytest.mark.parametrize("width", [1, 2, 5, 16])
def test_rows_of_pageable_memory_are_put_aside(width: int) -> None:
    rows, pitch = 9, width + 4
    host = np.arange(rows * pitch, dtype=np.uint8)
    dst = Memory(rows * width, 4)
    stream = ok(hip.hipStreamCreate())

    ok(
        hip.hipMemcpy2DAsync(
            dst.address, width, host, pitch, width, rows, DEFAULT, stream
        )
    )
    want = host.reshape(rows, pitch)[:, :width].copy()
    host[:] = 255
    ok(hip.hipStreamSynchronize(stream))

    dst.model[:] = want.ravel()
    dst.check()
    ok(hip.hipStreamDestroy(stream))


def test_many_rows_are_copied_by_several_threads() -> None:
    rows, pitch = 3_000_000, 8
    a = np.arange(rows * pitch, dtype=np.uint32).astype(np.uint8)
    src, dst = ok(hip.hipMalloc(a.size)), ok(hip.hipMalloc(a.size))
    ok(hip.hipMemcpy(src, a, a.size, 1))
    ok(hip.hipMemset(dst, 9, a.size))

    ok(hip.hipMemcpy2D(dst, pitch, src, pitch, 7, rows, ON_DEVICE))

    got = np.empty_like(a)
    ok(hip.hipMemcpy(got, dst, a.size, 2))
    want = a.reshape(rows, pitch).copy()
    want[:, 7] = 9
    assert (got.reshape(rows, pitch) == want).all()
    ok(hip.hipFree(src))
    ok(hip.hipFree(dst))


@pytest.mark.parametrize("width", [1, 2, 3, 16, 40])
def test_rows_are_filled_and_nothing_beside_them(width: int) -> None:
    rows, pitch = 6, width + 5
    dst = Memory(20 + rows * pitch, 5)

    ok(hip.hipMemset2D(at(dst, 11), pitch, 0x177, width, rows))

    for row in range(rows):
        begin = 11 + row * pitch
        dst.model[begin : begin + width] = 0x77
    dst.check()
