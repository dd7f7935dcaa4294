# SPDX-License-Identifier: MIT
"""Streams with asyncio: each task waits for its own work, and no thread waits."""

import asyncio
import sys

import numpy as np

import hipadapt

SOURCE = """
extern "C" __global__ void iterate(float *x, int n, int times)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i];
    for (int t = 0; t < times; t++)
        value = 0.5f * value + 1.0f;
    x[i] = value;
}
"""
COUNT = 100_000


async def work(kernel: hipadapt.Kernel, start: float, times: int) -> float:
    """One task: a stream of its own, and a number that comes out."""
    with hipadapt.Stream(nonblocking=True) as stream:
        # Allocated, filled and freed in the order of the stream.
        x = hipadapt.full(COUNT, start, "float32", stream=stream)
        begin = stream.record()
        # No stream is named: the current one is that of the `with` block.
        kernel[-(-COUNT // 256), 256](x, COUNT, times)
        end = stream.record()
        await end
        print(f"{times:>5} rounds from {start:g}: {begin.elapsed(end):.2f} ms")
        result = x.get(stream=stream)
        stream.call(print, f"{times:>5} rounds: the copy is done")
        await stream
    return float(result.max())


async def main() -> int:
    """Exit status 0 if all tasks have computed the same as Python."""
    kernel = hipadapt.compile_kernel(SOURCE, "iterate")
    jobs = [(8.0, 1), (8.0, 200), (0.0, 20)]
    results = await asyncio.gather(*(work(kernel, *job) for job in jobs))

    right = True
    for (value, times), result in zip(jobs, results, strict=True):
        want = np.float32(value)
        for _ in range(times):
            want = np.float32(0.5) * want + np.float32(1)
        right = right and abs(float(want) - result) < 1e-5
    print("ok" if right else "wrong")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
