# SPDX-License-Identifier: MIT
"""The CPU device, the way a program uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels import compile_source, download, ok, upload
from hipadapt import hip
from hipadapt._cli import demo

from .row import DEMO, OURS, Data, Launch, Results, Row

KERNELS = Path(__file__).resolve().parent / "kernels"


def text(dialect: str, file: str) -> str:
    """The kernels of a file in the words of a dialect; the demo's as they are."""
    if file == DEMO:
        tile = f"#define TILE_X {demo.TILE_X}\n#define TILE_Y {demo.TILE_Y}\n"
        return tile + demo.SOURCE
    names = (dialect, file)
    return "".join((KERNELS / f"{name}.inc").read_text("utf-8") for name in names)


class ReadyOnDevice:
    """Module, memory and arguments of a row."""

    def __init__(self, row: Row, data: Data, module: Any, stream: Any) -> None:
        self.row, self.stream = row, stream
        self.arrays = {k: v for k, v in data.items() if isinstance(v, np.ndarray)}
        self.memory = {name: upload(array) for name, array in self.arrays.items()}
        self.steps = [
            self.step(module, launch, {**data, **self.memory})
            for launch in row.launches
        ] * row.repeat

    def step(self, module: Any, launch: Launch, values: Any) -> tuple[Any, ...]:
        """All arguments of one launch."""
        function = ok(hip.hipModuleGetFunction(module, launch.kernel.encode()))
        grid = (*launch.grid, 1, 1)[:3]
        block = (*launch.block, 1, 1)[:3]
        arguments = tuple(values[name] for name in launch.arguments)
        shape = (function, *grid, *block, launch.shared_bytes, self.stream)
        if self.row.cooperative:
            return (*shape, arguments)
        return (*shape, None, arguments)

    def run(self) -> None:
        """Launch and wait."""
        launch = (
            hip.hipModuleLaunchCooperativeKernel
            if self.row.cooperative
            else hip.hipModuleLaunchKernel
        )
        for step in self.steps:
            ok(launch(*step))
        ok(hip.hipStreamSynchronize(self.stream))

    def results(self) -> Results:
        """Copy from the device."""
        return {
            name: download(self.memory[name], self.arrays[name])
            for name in self.row.outputs
        }

    def close(self) -> None:
        """Free."""
        for memory in self.memory.values():
            ok(hip.hipFree(memory))


class CpuDevice:
    """One stream; a module for each file."""

    name = OURS

    def __init__(self) -> None:
        self.stream = ok(hip.hipStreamCreate())
        self.modules: dict[str, Any] = {}

    def ready(self, row: Row, data: Data) -> ReadyOnDevice:
        """Compile where it is needed."""
        if row.file not in self.modules:
            code = compile_source(text("hip", row.file).encode())
            self.modules[row.file] = ok(hip.hipModuleLoadData(code))
        return ReadyOnDevice(row, data, self.modules[row.file], self.stream)
