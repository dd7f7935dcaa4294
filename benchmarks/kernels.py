# SPDX-License-Identifier: MIT
"""Kernels on the CPU device beside C loops with OpenMP; launch; compilation.

Run in a process of its own, `python -m benchmarks.kernels FOLDER ROUNDS`, with
HIPADAPT_PROVIDER=cpu and OMP_NUM_THREADS set to the device's number of threads.  Prints
one JSON object.  Every result is compared with the C loop's before it is timed.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from hipadapt import hip, hiprtc

from .timing import best_of_calls

SOURCE = b"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void stencil(const float *__restrict__ in,
                                   float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] +
                                 in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}
extern "C" __global__ void empty() {}
"""
SMALL = b"""
extern "C" __global__ void small(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = %d.0f * x[i] + 1.0f;
}
"""


def ok(result: tuple[Any, ...]) -> Any:
    """Take the status off a result."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def compile_source(source: bytes) -> bytearray:
    """Source to code object."""
    program = ok(hiprtc.hiprtcCreateProgram(source, b"bench.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code


def upload(array: np.ndarray) -> Any:
    """Copy to new device memory."""
    memory = ok(hip.hipMalloc(array.nbytes))
    kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
    ok(hip.hipMemcpy(memory, array, array.nbytes, kind))
    return memory


def download(memory: Any, like: np.ndarray) -> np.ndarray:
    """Copy from device memory."""
    array = np.empty_like(like)
    kind = hip.hipMemcpyKind.hipMemcpyDeviceToHost
    ok(hip.hipMemcpy(array, memory, array.nbytes, kind))
    return array


class Device:
    """Launch and wait, the way a program does it."""

    def __init__(self) -> None:
        """Load the kernels."""
        self.module = ok(hip.hipModuleLoadData(compile_source(SOURCE)))
        self.stream = ok(hip.hipStreamCreate())

    def function(self, name: bytes) -> Any:
        """One kernel."""
        return ok(hip.hipModuleGetFunction(self.module, name))

    def run(
        self, function: Any, grid: tuple[int, ...], block: tuple[int, ...], args: Any
    ) -> None:
        """Until the kernel has ended."""
        ok(
            hip.hipModuleLaunchKernel(
                function, *grid, *block, 0, self.stream, None, args
            )
        )
        ok(hip.hipStreamSynchronize(self.stream))


def load_reference(path: Path) -> ctypes.CDLL:
    """Open the OpenMP loops, with their argument types."""
    library = ctypes.CDLL(str(path))
    pointer, number = ctypes.c_void_p, ctypes.c_long
    library.saxpy.argtypes = (ctypes.c_float, pointer, pointer, number)
    library.stencil.argtypes = (pointer, pointer, number, number)
    library.saxpy.restype = library.stencil.restype = None
    return library


def saxpy_row(
    device: Device, reference: ctypes.CDLL, count: int, rounds: int
) -> dict[str, float]:
    """Seconds of y = 0.5 x + y."""
    x = np.linspace(0, 1, count, dtype=np.float32)
    y = np.ones(count, np.float32)
    dx, dy = upload(x), upload(y)
    function = device.function(b"saxpy")
    args = (np.float32(0.5), dx, dy, np.int32(count))

    def ours() -> None:
        device.run(function, (count // 256, 1, 1), (256, 1, 1), args)

    def theirs() -> None:
        reference.saxpy(0.5, x.ctypes.data, y.ctypes.data, count)

    ours()
    theirs()
    np.testing.assert_allclose(download(dy, y), y, rtol=1e-6)
    times = best_of_calls({"hipadapt": ours, "gcc OpenMP": theirs}, rounds)
    ok(hip.hipFree(dx))
    ok(hip.hipFree(dy))
    return times


def stencil_row(
    device: Device, reference: ctypes.CDLL, size: int, rounds: int
) -> dict[str, float]:
    """Seconds of one five-point step on a square field, in blocks of 32 x 8."""
    field = np.random.default_rng(1).random((size, size), np.float32)
    out = np.zeros_like(field)
    source, target = upload(field), upload(out)
    function = device.function(b"stencil")
    args = (source, target, np.int32(size), np.int32(size))

    def ours() -> None:
        device.run(function, (size // 32, size // 8, 1), (32, 8, 1), args)

    def theirs() -> None:
        reference.stencil(field.ctypes.data, out.ctypes.data, size, size)

    ours()
    theirs()
    np.testing.assert_allclose(download(target, out), out, rtol=1e-5)
    times = best_of_calls({"hipadapt": ours, "gcc OpenMP": theirs}, rounds)
    ok(hip.hipFree(source))
    ok(hip.hipFree(target))
    return times


def launch_row(device: Device, rounds: int) -> dict[str, float]:
    """Seconds of one empty kernel with the wait for it."""
    function = device.function(b"empty")

    def many() -> None:
        for _ in range(100):
            device.run(function, (1, 1, 1), (64, 1, 1), None)

    return {"hipadapt": best_of_calls({"hipadapt": many}, rounds)["hipadapt"] / 100}


def compile_rows(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds to code object: sources never seen before, and one from the disk cache.

    Both count from hiprtcCreateProgram to hiprtcDestroyProgram.
    The cache folder of this process is new and goes with it.
    """
    stamp = time.time_ns() % 1_000_000
    cold = []
    for number in range(max(3, rounds // 10)):
        begin = time.perf_counter()
        compile_source(SMALL % (stamp + number))
        cold.append(time.perf_counter() - begin)
    seen = SMALL % stamp
    cached = best_of_calls({"hipadapt": lambda: compile_source(seen)}, rounds)
    return {
        "hiprtc compile, small kernel": {"hipadapt": min(cold)},
        "the same from the cache": cached,
    }


def main() -> int:
    """Measure all rows and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="hipadapt-bench-cache-") as cache:
        os.environ["HIPADAPT_CACHE_DIR"] = cache
        device = Device()
        reference = load_reference(folder / "libreference.so")
        rows = {
            "saxpy 256 K": saxpy_row(device, reference, 1 << 18, rounds),
            "saxpy 16 M": saxpy_row(device, reference, 1 << 24, max(5, rounds // 4)),
            "2-D stencil 1024 x 1024": stencil_row(device, reference, 1024, rounds),
            "empty launch + wait": launch_row(device, rounds),
            **compile_rows(rounds),
        }
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
