# SPDX-License-Identifier: MIT
"""OpenCL runtimes for processors: PoCL of the distribution, and Intel's from PyPI.

The loader inside of pyopencl reads a folder of files, each with the path of a runtime.
It gets a folder of our own, so that both are found wherever they are, and nothing else.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .cpu_device import text
from .row import INTEL, POCL, Data, Launch, MissingError, Results, Row

VENDORS = Path("/etc/OpenCL/vendors")
PLATFORMS = {INTEL: "Intel(R) OpenCL", POCL: "Portable Computing Language"}
HOW_TO_GET = {
    INTEL: "pip install 'hipadapt[contenders]' (intel-opencl-rt)",
    POCL: "apt-get install pocl-opencl-icd",
}


def intel_library() -> str:
    """The runtime's file among those of the wheel; "" where it is not installed."""
    try:
        files = importlib.metadata.files("intel-opencl-rt") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for file in files:
        if file.name == "libintelocl.so":
            return str(Path(str(file.locate())).resolve())
    return ""


def pocl_library() -> str:
    """What the distribution's file of PoCL names; "" where there is none."""
    for file in sorted(VENDORS.glob("*pocl*.icd")):
        return file.read_text(encoding="utf-8").strip()
    return ""


def libraries() -> Mapping[str, str]:
    """The runtimes by name."""
    return {INTEL: intel_library(), POCL: pocl_library()}


class ReadyInOpenCL:
    """Buffers, kernels and their arguments."""

    def __init__(self, owner: OpenCL, row: Row, data: Data, program: Any) -> None:
        self.owner, self.row = owner, row
        cl = owner.cl
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.arrays = {k: v for k, v in data.items() if isinstance(v, np.ndarray)}
        self.buffers = {
            name: cl.Buffer(owner.context, flags, hostbuf=array)
            for name, array in self.arrays.items()
        }
        values = {**data, **self.buffers}
        self.steps = [self.step(program, one, values) for one in row.launches]
        self.steps *= row.repeat

    def step(self, program: Any, launch: Launch, values: Any) -> tuple[Any, ...]:
        """A kernel of its own, whose arguments stay."""
        kernel = self.owner.cl.Kernel(program, launch.kernel)
        kernel.set_args(*(values[name] for name in launch.arguments))
        both = zip(launch.grid, launch.block, strict=True)
        return (kernel, tuple(blocks * lanes for blocks, lanes in both), launch.block)

    def run(self) -> None:
        """Enqueue and wait."""
        queue, enqueue = self.owner.queue, self.owner.cl.enqueue_nd_range_kernel
        for step in self.steps:
            enqueue(queue, *step)
        queue.finish()

    def results(self) -> Results:
        """Copy from the buffers."""
        found = {}
        for name in self.row.outputs:
            found[name] = np.empty_like(self.arrays[name])
            self.owner.cl.enqueue_copy(
                self.owner.queue, found[name], self.buffers[name]
            )
        return found

    def close(self) -> None:
        """Free."""
        for buffer in self.buffers.values():
            buffer.release()


class OpenCL:
    """One runtime: a context, a queue that runs in order, a program for each file."""

    def __init__(self, name: str) -> None:
        if importlib.util.find_spec("pyopencl") is None:
            raise MissingError("pip install 'hipadapt[contenders]' (pyopencl)")
        found = {key: path for key, path in libraries().items() if path}
        if name not in found:
            raise MissingError(HOW_TO_GET[name])
        if "pyopencl" not in sys.modules:
            show_runtimes(found)
        import pyopencl

        self.cl: Any = pyopencl
        self.name = name
        self.device = device_of(pyopencl, name)
        self.context = pyopencl.Context([self.device])
        self.queue = pyopencl.CommandQueue(self.context)
        self.programs: dict[str, Any] = {}

    def ready(self, row: Row, data: Data) -> ReadyInOpenCL | None:
        """Compile where it is needed; rows of HIP alone have no form here."""
        if row.hip_only:
            return None
        if row.file not in self.programs:
            program = self.cl.Program(self.context, text("opencl", row.file))
            self.programs[row.file] = program.build(cache_dir=False)
        return ReadyInOpenCL(self, row, data, self.programs[row.file])


def show_runtimes(found: Mapping[str, str]) -> None:
    """Write the folder that the loader reads, before it is loaded."""
    folder = Path(tempfile.mkdtemp(prefix="hipadapt-bench-icd-"))
    for key, path in found.items():
        (folder / f"{key}.icd").write_text(path + "\n", encoding="utf-8")
    os.environ["OCL_ICD_VENDORS"] = str(folder)


def device_of(pyopencl: Any, name: str) -> Any:
    """The processor, as this runtime's device."""
    try:
        for platform in pyopencl.get_platforms():
            if platform.name == PLATFORMS[name]:
                return platform.get_devices()[0]
    except pyopencl.Error as error:
        raise MissingError(f"{HOW_TO_GET[name]}: {error}") from None
    raise MissingError(f"{HOW_TO_GET[name]}: the runtime is there and can't be loaded")
