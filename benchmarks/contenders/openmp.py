# SPDX-License-Identifier: MIT
"""Loops as a C programmer writes them for all cores, by the host's gcc."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.native import build

from .row import OPENMP, Array, Data, Loop, Results, Row

NUMBERS: dict[str, Any] = {"i": ctypes.c_int, "f": ctypes.c_float, "d": ctypes.c_double}


def argument(value: Any) -> Any:
    """An array's address, or a number of the C type that fits."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return NUMBERS[value.dtype.char](value.item())


class ReadyInC:
    """Arrays of its own, and a function with its arguments."""

    def __init__(self, row: Row, loop: Loop, data: Data, library: ctypes.CDLL) -> None:
        copies = {k: v.copy() for k, v in data.items()}
        self.arrays: dict[str, Array] = {
            k: v for k, v in copies.items() if isinstance(v, np.ndarray)
        }
        self.outputs = loop.outputs or row.outputs
        self.function: Callable[..., None] = getattr(library, loop.function)
        self.arguments = [argument(copies[name]) for name in loop.arguments]
        self.repeat = row.repeat

    def run(self) -> None:
        """Call it."""
        for _ in range(self.repeat):
            self.function(*self.arguments)

    def results(self) -> Results:
        """The arrays themselves."""
        return {name: self.arrays[name] for name in self.outputs}

    def close(self) -> None:
        """Let go of the arrays."""
        self.arrays.clear()


class OpenMP:
    """gcc -O3 -march=..., and a library for each file."""

    name = OPENMP

    def __init__(self, folder: Path, cpu: str) -> None:
        self.folder, self.flags = folder, ("-O3", f"-march={cpu}", "-fopenmp")
        self.libraries: dict[str, ctypes.CDLL] = {}

    def ready(self, row: Row, data: Data) -> ReadyInC | None:
        """Build where it is needed."""
        loop = row.openmp
        if loop is None:
            return None
        if loop.file not in self.libraries:
            source = f"contenders/loops/{loop.file}.c"
            path = self.folder / f"lib{loop.file}.so"
            if not path.exists():
                # The linker takes a library only behind what needs it.
                build(source, path, *self.flags, "-Wl,--no-as-needed", "-lm")
            self.libraries[loop.file] = ctypes.CDLL(str(path))
        return ReadyInC(row, loop, data, self.libraries[loop.file])
