# SPDX-License-Identifier: MIT
"""What a module costs while many are loaded: `python -m benchmarks.modules`.

hipModuleLoadData and dlopen of a copy of the same image take turns, 50 loads each,
until 3,000 are alive.  Both grow with the number of shared objects of the process,
because the dynamic linker looks at all of them; the ratio says what is ours.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["HIPADAPT_PROVIDER"] = "cpu"

from hipadapt import hip, hiprtc

ALIVE = 3000
STEP = 50
SHOWN = 500
SOURCE = b'extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }'


def image() -> bytearray:
    """A compiled kernel."""
    program = hiprtc.hiprtcCreateProgram(SOURCE, b"one.hip", 0, [], [])[1]
    if hiprtc.hiprtcCompileProgram(program, 0, [])[0] != 0:
        sys.exit("benchmarks.modules: the kernel does not compile")
    code = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
    hiprtc.hiprtcGetCode(program, code)
    return code


def by_modules(code: bytearray) -> float:
    """Microseconds of one load."""
    begin = time.perf_counter()
    for _ in range(STEP):
        if hip.hipModuleLoadData(code)[0] != 0:
            sys.exit("benchmarks.modules: an image does not load")
    return (time.perf_counter() - begin) / STEP * 1e6


def by_dlopen(code: bytearray, folder: Path, first: int) -> float:
    """The same by the dynamic linker alone; the file is written meanwhile, too."""
    begin = time.perf_counter()
    for number in range(first, first + STEP):
        path = folder / str(number)
        path.write_bytes(code)
        ctypes.CDLL(str(path))
    return (time.perf_counter() - begin) / STEP * 1e6


def main() -> int:
    """Prints the table."""
    code = image()
    print(f"{'alive':>6} {'hipModuleLoadData':>18} {'dlopen':>10} {'ratio':>6}")
    ours: list[float] = []
    linkers: list[float] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for alive in range(0, ALIVE, 2 * STEP):
            ours.append(by_modules(code))
            linkers.append(by_dlopen(code, Path(folder), alive))
            if (alive + 2 * STEP) % SHOWN == 0:
                a, b = min(ours), min(linkers)
                print(f"{alive + 2 * STEP:6} {a:15.1f} us {b:7.1f} us {a / b:6.2f}")
                ours, linkers = [], []
    return 0


if __name__ == "__main__":
    sys.exit(main())
