# SPDX-License-Identifier: MIT
"""The few lines around a kernel that cases need: compile, copy, launch, read back.

Nothing here knows which device runs the kernel.  Every HIP call is checked; a call that
fails raises `HipFailure`, which carries the status.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hipadapt import hip, hiprtc

Extent = int | tuple[int, ...]


class HipFailure(RuntimeError):
    """A HIP or hiprtc call answered something else than success."""

    def __init__(self, call: str, status: Any, text: str = "") -> None:
        super().__init__(f"{call} answered {status!r}{': ' if text else ''}{text}")
        self.status = status
        self.text = text


@dataclass(frozen=True)
class In:
    """An array that the kernel reads."""

    array: np.ndarray
    offset: int = 0  # bytes between the start of the allocation and the array


@dataclass(frozen=True)
class InOut:
    """An array that the kernel writes; it starts with the given content."""

    array: np.ndarray
    offset: int = 0


def ok(result: tuple[Any, ...]) -> Any:
    """Split (status, value...): the value or values, or `HipFailure`."""
    status, *values = result
    if int(status) != 0:
        caller = sys._getframe(1).f_code.co_name
        raise HipFailure(caller, status)
    if len(values) == 1:
        return values[0]
    return tuple(values) if values else None


def extent(value: Extent) -> tuple[int, int, int]:
    """Fill up a grid or block size to three dimensions."""
    sizes = (value,) if isinstance(value, int) else tuple(value)
    return (*sizes, *(1,) * (3 - len(sizes)))  # type: ignore[return-value]


def typed(value: Any) -> Any:
    """An argument whose type says its size: addresses, and scalars of numpy."""
    if value is None or isinstance(value, int):
        return ctypes.c_void_p(value)
    kind = np.ctypeslib.as_ctypes_type(value.dtype)
    return kind(value.item())


def blocks(count: int, block: int) -> int:
    """How many blocks cover `count` threads."""
    return -(-count // block)


def compile_source(
    source: str,
    *,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    headers: dict[str, str] | None = None,
    file: str = "case.hip",
) -> tuple[bytearray, dict[str, bytes]]:
    """Source text to code object and the lowered name of each name expression."""
    headers = headers or {}
    program = ok(
        hiprtc.hiprtcCreateProgram(
            source.encode(),
            file.encode(),
            len(headers),
            [text.encode() for text in headers.values()],
            [name.encode() for name in headers],
        )
    )
    try:
        for name in names:
            ok(hiprtc.hiprtcAddNameExpression(program, name.encode()))
        encoded = [option.encode() for option in options]
        (status,) = hiprtc.hiprtcCompileProgram(program, len(encoded), encoded)
        if int(status) != 0:
            raise HipFailure("hiprtcCompileProgram", status, program_log(program))
        code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
        ok(hiprtc.hiprtcGetCode(program, code))
        lowered = {
            name: lowered_name(ok(hiprtc.hiprtcGetLoweredName(program, name.encode())))
            for name in names
        }
    finally:
        ok(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code, lowered


def lowered_name(value: Any) -> bytes:
    """bytes of a name that came back as bytes or as a CStr, copied."""
    return bytes(value)


def program_log(program: Any) -> str:
    """What the compiler said."""
    size = ok(hiprtc.hiprtcGetProgramLogSize(program))
    log = bytearray(size)
    ok(hiprtc.hiprtcGetProgramLog(program, log))
    return log.rstrip(b"\0").decode(errors="replace")


class Module:
    """A loaded code object; functions and variables by name or name expression."""

    def __init__(self, code: bytearray, lowered: dict[str, bytes]) -> None:
        self.handle = ok(hip.hipModuleLoadData(code))
        self.lowered = lowered

    def function(self, name: str) -> Any:
        symbol = self.lowered.get(name, name.encode())
        return ok(hip.hipModuleGetFunction(self.handle, symbol))

    def variable(self, name: str) -> tuple[int, int]:
        """Device address and size in bytes of a __device__ or __constant__ variable."""
        symbol = self.lowered.get(name, name.encode())
        address, size = ok(hip.hipModuleGetGlobal(self.handle, symbol))
        return int(address), size

    def unload(self) -> None:
        ok(hip.hipModuleUnload(self.handle))


class Gpu:
    """Device 0, with a record of what was allocated so that a case cleans up."""

    def __init__(self, output: Path | None = None, log: Path | None = None) -> None:
        self.output = output  # the file that this process's stdout goes to
        self.log = log
        self.seen = {"output": 0, "log": 0}
        self.allocations: list[Any] = []
        self.modules: list[Module] = []

    def most_blocks(self, function: Any, block: int, shared: int = 0) -> int:
        """How many blocks of a cooperative launch the device holds at once."""
        each = ok(
            hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                function, block, shared
            )
        )
        count = hip.hipDeviceAttribute_t.hipDeviceAttributeMultiprocessorCount
        return int(each) * int(ok(hip.hipDeviceGetAttribute(count, 0)))

    @property
    def warp_size(self) -> int:
        return ok(
            hip.hipDeviceGetAttribute(
                hip.hipDeviceAttribute_t.hipDeviceAttributeWarpSize, 0
            )
        )

    def build(self, source: str, **choices: Any) -> Module:
        """Compile and load; unloaded when the case ends."""
        module = Module(*compile_source(source, **choices))
        self.modules.append(module)
        return module

    def upload(self, array: np.ndarray, offset: int = 0) -> int:
        """Copy into new device memory, `offset` bytes after its start."""
        array = np.ascontiguousarray(array)
        memory = ok(hip.hipMalloc(max(1, array.nbytes + offset)))
        self.allocations.append(memory)
        address = int(memory) + offset
        if array.nbytes:
            kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
            ok(hip.hipMemcpy(address, array, array.nbytes, kind))
        return address

    def download(self, address: int, like: np.ndarray) -> np.ndarray:
        """Copy from device memory into a new array of the shape and type of `like`."""
        array = np.empty_like(like, order="C")
        if array.nbytes:
            kind = hip.hipMemcpyKind.hipMemcpyDeviceToHost
            ok(hip.hipMemcpy(array, address, array.nbytes, kind))
        return array

    def write(self, address: int, array: np.ndarray) -> None:
        """Copy into device memory that exists."""
        kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
        ok(hip.hipMemcpy(address, array, array.nbytes, kind))

    def launch(
        self,
        function: Any,
        grid: Extent,
        block: Extent,
        args: Sequence[Any],
        *,
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
    ) -> None:
        """Enqueue one kernel; `args` are device addresses and typed scalars."""
        if cooperative:
            ok(
                hip.hipModuleLaunchCooperativeKernel(
                    function,
                    *extent(grid),
                    *extent(block),
                    shared,
                    stream,
                    tuple(typed(arg) for arg in args),
                )
            )
            return
        ok(
            hip.hipModuleLaunchKernel(
                function,
                *extent(grid),
                *extent(block),
                sharedMemBytes=shared,
                stream=stream,
                kernelParams=None,
                extra=tuple(args),
            )
        )

    def wait(self) -> None:
        ok(hip.hipDeviceSynchronize())

    def call(
        self,
        module: Module,
        kernel: str,
        grid: Extent,
        block: Extent,
        *args: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> list[np.ndarray]:
        """Upload, launch, wait; the arrays of the InOut arguments as they are now."""
        actual: list[Any] = []
        outputs: list[tuple[int, np.ndarray]] = []
        for arg in args:
            if isinstance(arg, (In, InOut)):
                address = self.upload(arg.array, arg.offset)
                actual.append(address)
                if isinstance(arg, InOut):
                    outputs.append((address, arg.array))
            else:
                actual.append(arg)
        self.launch(
            module.function(kernel),
            grid,
            block,
            actual,
            shared=shared,
            cooperative=cooperative,
        )
        self.wait()
        return [self.download(address, like) for address, like in outputs]

    def run(
        self,
        source: str,
        kernel: str,
        grid: Extent,
        block: Extent,
        *args: Any,
        shared: int = 0,
        options: Sequence[str] = (),
        cooperative: bool = False,
    ) -> list[np.ndarray]:
        """Build a source with one kernel and call it once."""
        # A plain identifier is looked up as it is; anything else is an expression.
        names = () if kernel.isidentifier() else (kernel,)
        module = self.build(source, options=options, names=names)
        return self.call(
            module, kernel, grid, block, *args, shared=shared, cooperative=cooperative
        )

    def printed(self) -> str:
        """What kernels printed since the last look, after all work is done."""
        self.wait()
        return self._news("output", self.output)

    def logged(self) -> str:
        """What the device wrote to stderr since the last look."""
        return self._news("log", self.log)

    def _news(self, name: str, path: Path | None) -> str:
        if path is None:
            raise RuntimeError("this process's output is not kept in a file")
        sys.stdout.flush()
        with path.open("rb") as file:
            file.seek(self.seen[name])
            news = file.read()
        self.seen[name] += len(news)
        return news.decode(errors="replace")

    def reset(self) -> None:
        """Forget a sticky error, and with it everything that the device holds."""
        self.allocations.clear()
        self.modules.clear()
        ok(hip.hipDeviceReset())

    def close(self) -> None:
        """Give everything back; after a failed case as well as after a good one."""
        for memory in self.allocations:
            hip.hipFree(memory)
        for module in self.modules:
            hip.hipModuleUnload(module.handle)
        self.allocations.clear()
        self.modules.clear()
