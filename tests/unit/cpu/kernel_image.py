# SPDX-License-Identifier: MIT
"""A compiled kernel image, loaded by hand: csrc/cpu/base/image.h through ctypes.

Kernels are called without the device, so only those run here that ask nothing of it: no
barrier, no warp call, no printf.  Both forms of a kernel can be called side by side.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .rtc_library import SUCCESS, TRAILER_BYTES, Rtc

BLOCK, WARP, LANE, SHARED_DYNAMIC, WARPS = 1, 2, 4, 8, 64
VALUE, POINTER, RECORD, INTEGER, FLOAT = range(5)  # enum ha_arg_kind
REFUSED = 1  # the highest two bits of what a fast function returns
Shape = tuple[int, int, int]


class Grid(ctypes.Structure):
    _fields_ = [("block_dim", ctypes.c_uint32 * 3), ("grid_dim", ctypes.c_uint32 * 3)]


class Lane(ctypes.Structure):
    _fields_ = [
        ("thread_idx", ctypes.c_uint32 * 3),
        ("block_idx", ctypes.c_uint32 * 3),
        ("grid", ctypes.POINTER(Grid)),
        ("shared", ctypes.c_void_p),
        ("trip", ctypes.c_uint32 * 8),
    ]


class Argument(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("size", "align", "offset", "kind")]


class KernelRecord(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("reference", ctypes.c_void_p),
        ("fast", ctypes.c_void_p),
        ("args", ctypes.POINTER(Argument)),
        ("arg_count", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("shared_static", ctypes.c_uint32),
        ("max_threads", ctypes.c_uint32),
        ("gang_width", ctypes.c_uint32),
        ("gang_frame", ctypes.c_uint32),
        ("report", ctypes.c_char_p),
        ("proof", ctypes.c_void_p),
    ]


class VariableRecord(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("constant", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class ImageRecord(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("warp_size", ctypes.c_uint32),
        ("runtime", ctypes.c_void_p),
        ("kernels", ctypes.POINTER(KernelRecord)),
        ("variables", ctypes.POINTER(VariableRecord)),
        ("kernel_count", ctypes.c_uint32),
        ("variable_count", ctypes.c_uint32),
    ]


ReferenceFunction = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Lane)
)
FastFunction = ctypes.CFUNCTYPE(
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(Grid),
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


def block_place(block: int, grid: Shape) -> Shape:
    """Where the block of a linear number stands, x fastest."""
    return block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1]


@dataclass
class Kernel:
    """One kernel; arguments are numpy arrays (their address) and numpy scalars."""

    record: KernelRecord

    @property
    def name(self) -> str:
        return self.record.name.decode()

    @property
    def args(self) -> list[tuple[int, int, int, int]]:
        rows = (self.record.args[i] for i in range(self.record.arg_count))
        return [(row.size, row.align, row.offset, row.kind) for row in rows]

    @property
    def has_fast(self) -> bool:
        return self.record.fast is not None

    def frame_bytes(self, block: Shape) -> int:
        """Memory for the place, and for the gangs of a block."""
        width = self.record.gang_width or 1
        gangs = -(-block[0] // width) * block[1] * block[2]
        return 64 + gangs * self.record.gang_frame

    def run_fast(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Any],
        blocks: range | None = None,
        shared: np.ndarray | None = None,
    ) -> None:
        """Blocks of a range, all without one, in the fast form.

        What it refuses runs in the reference form.
        """
        whole = blocks or range(grid[0] * grid[1] * grid[2])
        with Packed(args) as packed:
            shape = Grid(block, grid)
            function = FastFunction(self.record.fast)
            room = ctypes.create_string_buffer(self.frame_bytes(block) + 64)
            frame = -(-ctypes.addressof(room) // 64) * 64
            memory = shared.ctypes.data if shared is not None else None
            first = whole.start
            while first < whole.stop:
                end = function(packed.pointers, shape, first, whole.stop, memory, frame)
                if end == whole.stop:
                    break
                assert end >> 62 == REFUSED
                refused = end % 2**62
                self.run_reference(grid, block, args, range(refused, refused + 1))
                first = refused + 1

    def run_reference(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Any],
        blocks: range | None = None,
    ) -> None:
        """The same, lane by lane in the reference form."""
        shape = Grid(block, grid)
        lane = Lane(grid=ctypes.pointer(shape))
        function = ReferenceFunction(self.record.reference)
        with Packed(args) as packed:
            for number in blocks or range(grid[0] * grid[1] * grid[2]):
                lane.block_idx[:] = block_place(number, grid)
                for z in range(block[2]):
                    for y in range(block[1]):
                        for x in range(block[0]):
                            lane.thread_idx[:] = (x, y, z)
                            function(packed.pointers, lane)


class Packed:
    """Arguments in memory: one address each, as the device keeps them."""

    def __init__(self, args: Sequence[Any]) -> None:
        values = [
            np.array([arg.ctypes.data], np.uint64)
            if isinstance(arg, np.ndarray) and arg.ndim > 0
            else np.atleast_1d(np.asarray(arg))
            for arg in args
        ]
        self.values = values
        self.pointers = (ctypes.c_void_p * max(1, len(values)))(
            *(value.ctypes.data for value in values)
        )

    def __enter__(self) -> Packed:
        return self

    def __exit__(self, *_: object) -> None:
        self.values = []


class Image:
    """Compiled and loaded; stays loaded until the process ends."""

    def __init__(
        self, rtc: Rtc, folder: Path, source: str, options: Sequence[str] = ()
    ) -> None:
        compiled = rtc.compile(source, options)
        assert compiled.result == SUCCESS, compiled.log + rtc.error_text()
        self.load(compiled.code, folder)

    @classmethod
    def of_code(cls, code: bytes, folder: Path) -> Image:
        """Of code that hiprtc made already."""
        image = cls.__new__(cls)
        image.load(code, folder)
        return image

    def load(self, code: bytes, folder: Path) -> None:
        """Fills the object."""
        path = folder / f"image{len(list(folder.iterdir()))}.so"
        path.write_bytes(code[:-TRAILER_BYTES])
        for library in ("libm.so.6", "libmvec.so.1"):
            # What is not on this machine is not used by the image either.
            with contextlib.suppress(OSError):
                ctypes.CDLL(library, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
        self.library = ctypes.CDLL(str(path))
        self.record = ImageRecord.in_dll(self.library, "__ha_image")
        rows = (self.record.kernels[i] for i in range(self.record.kernel_count))
        self.kernels = {row.name.decode(): Kernel(row) for row in rows}

    @property
    def variables(self) -> dict[str, VariableRecord]:
        rows = (self.record.variables[i] for i in range(self.record.variable_count))
        return {row.name.decode(): row for row in rows}


Load = Callable[[str], Image]
