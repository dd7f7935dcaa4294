# SPDX-License-Identifier: MIT
"""A profile shows what two streams do side by side, step by step."""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import hipadapt

SOURCE = """
extern "C" __global__ void blur(float *out, const float *in, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = 0.25f * in[i > 0 ? i - 1 : 0] + 0.5f * in[i]
               + 0.25f * in[i < n - 1 ? i + 1 : i];
}

extern "C" __global__ void scale(float *x, float factor, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        x[i] *= factor;
}
"""
COUNT, STEPS, LAUNCH = 1 << 20, 3, (64, 256)


def main() -> None:
    """Profile a few steps and look at the trace."""
    blur = hipadapt.compile_kernel(SOURCE, "blur")
    scale = hipadapt.compile_kernel(SOURCE, "scale")
    host = np.linspace(0, 1, COUNT, dtype="float32")
    streams = [hipadapt.Stream(), hipadapt.Stream()]
    pairs = [(hipadapt.empty_like(host), hipadapt.empty_like(host)) for _ in streams]

    def step() -> None:
        for stream, (x, y) in zip(streams, pairs, strict=True):
            x.copy_from(host, stream=stream)
            blur[(*LAUNCH, 0, stream)](y, x, COUNT)
            scale[(*LAUNCH, 0, stream)](y, 2, COUNT)
            blur[(*LAUNCH, 0, stream)](x, y, COUNT)
        for stream in streams:
            stream.synchronize()

    path = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "out.json"
    step()  # compiled and loaded; the trace begins behind that
    with hipadapt.profile(path):
        for number in range(STEPS):
            with hipadapt.annotate(f"step {number}"):
                step()

    events = json.loads(path.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    counts = Counter(event["name"] for event in kernels)
    print("kernels:", dict(sorted(counts.items())))
    print("streams:", len({event["tid"] for event in kernels}))
    print("trace:", path)
    inner = slice(2, -2)
    for x, _ in pairs:
        if not np.allclose(x.get()[inner], 2 * host[inner], rtol=1e-5):
            print("wrong")
            sys.exit(1)
    print("ok")


if __name__ == "__main__":
    main()
