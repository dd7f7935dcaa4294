# SPDX-License-Identifier: MIT
"""Small calls of the CPU device's runtime, from C (`runtime.c`); compilation.

Run in a process of its own, `python -m benchmarks.runtime FOLDER ROUNDS`, with
HIPADAPT_PROVIDER=cpu.  Prints one JSON object: seconds, and for the row of the memory
megabytes.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .kernels import compile_source

LAUNCHES = 1_000_000
# What a program of some size is made of: loops, shared memory, barriers, atomics.
SEVEN = """
#define N %d
extern "C" __global__ void copy(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + N;
}
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void stencil(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        out[y * w + x] = 0.25f * (in[y * w + x - 1] + in[y * w + x + 1] +
                                  in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}
extern "C" __global__ void sum(const float *x, float *out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) part[t] += x[i];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}
extern "C" __global__ void histogram(const int *x, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i] & 255], 1);
}
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float all = 0;
    for (int k = 0; k < n; k++) all += a[row * n + k] * b[k * n + column];
    c[row * n + column] = all;
}
extern "C" __global__ void waves(float *y, int n, float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(t * i) + expf(-t) * sqrtf((float)i);
}
"""


def library(folder: Path) -> ctypes.CDLL:
    """Open the C half, which calls the library that hipadapt has loaded."""
    found = ctypes.CDLL(str(folder / "libruntime.so"))
    for name in ("start", "launch_and_wait", "launch_many", "graph", "copy"):
        getattr(found, name).restype = ctypes.c_double
    for name in ("allocate", "record_and_query"):
        getattr(found, name).restype = ctypes.c_double
    return found


def checked(function: Callable[..., float], *arguments: object) -> float:
    """Seconds, or an exception."""
    seconds = function(*arguments)
    if seconds < 0:
        raise RuntimeError(f"HIP code {-seconds:.0f}")
    return seconds


def many(runtime: ctypes.CDLL) -> tuple[float, float]:
    """Seconds of a launch among a million, and megabytes that they leave."""
    grown = ctypes.c_long()
    seconds = checked(runtime.launch_many, LAUNCHES, ctypes.byref(grown))
    return seconds, max(0.0, grown.value / 1e6)


def copy_row(runtime: ctypes.CDLL, to_host: bool, rounds: int) -> dict[str, float]:
    """Seconds of 64 MB, beside memcpy."""
    plain = ctypes.c_double()
    ours = checked(runtime.copy, max(10, rounds // 2), to_host, ctypes.byref(plain))
    return {"hipadapt": ours, "memcpy": plain.value}


def compile_cold(rounds: int) -> float:
    """Seconds from text never seen before to code object."""
    stamp = time.time_ns() % 1_000_000
    best = float("inf")
    for number in range(max(3, rounds // 10)):
        source = (SEVEN % (stamp + number)).encode()
        begin = time.perf_counter()
        compile_source(source)
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> int:
    """Measure all rows and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="hipadapt-bench-cache-") as cache:
        os.environ["HIPADAPT_CACHE_DIR"] = cache
        code = compile_source(b'extern "C" __global__ void empty() {}')
        runtime = library(folder)
        checked(runtime.start, (ctypes.c_char * len(code)).from_buffer(code))
        one_of_many, grown = many(runtime)
        rows = {
            "empty kernel, launch + wait": {
                "hipadapt": checked(runtime.launch_and_wait, rounds)
            },
            "one of 1,000,000 launches on 16 streams": {"hipadapt": one_of_many},
            "what they leave in memory": {"hipadapt": grown},
            "graph of 100 empty nodes, launch + wait": {
                "hipadapt": checked(runtime.graph, rounds, 0)
            },
            "graph of 100 empty kernels, launch + wait": {
                "hipadapt": checked(runtime.graph, rounds, 1)
            },
            "hipMemcpy 64 MB to the device": copy_row(runtime, False, rounds),
            "hipMemcpy 64 MB to the host": copy_row(runtime, True, rounds),
            "hipMalloc + hipFree, 4 KB": {
                "hipadapt": checked(runtime.allocate, rounds)
            },
            "event, record + query": {
                "hipadapt": checked(runtime.record_and_query, rounds)
            },
            "hiprtc compile, 7 kernels": {"hipadapt": compile_cold(rounds)},
        }
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
