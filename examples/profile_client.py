# SPDX-License-Identifier: MIT
"""A small library of operations takes part in profiles of the programs that use it."""

import itertools
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import hipadapt

SOURCE = """
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = a * x[i];
}

extern "C" __global__ void shift(float *x, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] + b;
}
"""
COUNT = 10_000
GRID = (-(-COUNT // 256), 256)


class Library:
    """Operations on arrays, each of one or two kernels."""

    def __init__(self) -> None:
        """Registers, so that profiles show its operations."""
        self._scale = hipadapt.compile_kernel(SOURCE, "scale")
        self._shift = hipadapt.compile_kernel(SOURCE, "shift")
        self._numbers = itertools.count(1)
        self._watched = self._shapes = False
        self._client = hipadapt.profile.register_client(self, name="small library")

    # The profiler calls these three, on a thread of its own.

    def prepare(self, setup: Any) -> None:
        """The profiler says what it would like to know."""
        self._shapes = "input_shapes" in setup.detail

    def start(self) -> None:
        """A trace begins."""
        self._watched = True

    def stop(self) -> None:
        """It ends."""
        self._watched = False

    # The program calls these.

    def double(self, x: hipadapt.DeviceArray) -> None:
        """x = 2 x"""
        self._run("double", x, [(self._scale, 2.0)])

    def affine(self, x: hipadapt.DeviceArray, a: float, b: float) -> None:
        """x = a x + b"""
        self._run("affine", x, [(self._scale, a), (self._shift, b)])

    def _run(
        self,
        name: str,
        x: hipadapt.DeviceArray,
        kernels: list[tuple[hipadapt.Kernel, float]],
    ) -> None:
        number = next(self._numbers)
        start = time.monotonic_ns()
        # What is launched here belongs to the operation of this number.
        with hipadapt.profile.operation(number):
            for kernel, factor in kernels:
                kernel[GRID](x, factor, COUNT)
        if self._watched:
            self._client.hand_over(
                name,
                start,
                time.monotonic_ns(),
                thread=threading.get_native_id(),
                external=number,
                args={"Input Dims": [list(x.shape)]} if self._shapes else None,
            )


def main() -> int:
    """Exit status 0 if the numbers and the arrows are right."""
    library = Library()
    x = hipadapt.full(COUNT, 1.0, "float32")
    path = Path(tempfile.mkdtemp()) / "trace.json"

    library.double(x)  # 2: in no trace
    with hipadapt.profile(path, detail=["input_shapes"]):
        library.double(x)  # 4
        library.affine(x, 3.0, 1.0)  # 13

    events = json.loads(path.read_text())["traceEvents"]
    for event in events:
        if event.get("cat") == "cpu_op":
            print(f"{event['name']}: {event['args']['Input Dims']}")
    arrows = [e for e in events if e.get("cat") == "op2g" and e["ph"] == "s"]
    print(f"{len(arrows)} arrows from operations to kernels")
    if len(arrows) != 3 or not np.all(x.get() == 13.0):
        print(f"wrong: {x.get()[:3]}")
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
