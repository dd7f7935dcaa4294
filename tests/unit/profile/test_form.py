# SPDX-License-Identifier: MIT
"""How the lanes of a launch ran, in traces and records."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Run

PROGRAM = """
import sys
import hipadapt
from hipadapt import rocprofiler
SOURCE = '''
extern "C" __global__ void plain(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void meet(int *x, unsigned first, unsigned n) {
    __shared__ int s[64];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x + first;
    s[threadIdx.x] = i < n ? x[i] : 7;
    __syncthreads();
    if (i < n) x[i] = s[63 - threadIdx.x];
}
extern "C" __global__ void vote(int *x) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    x[t] = __shfl_xor(t, 1);
}
'''
module = hipadapt.Program(SOURCE).compile()
x = hipadapt.zeros(1024, dtype="int32")
def run():
    module.kernel("plain")[2, 64](x)
    module.kernel("meet")[4, 64](x, 0, 64)
    module.kernel("meet")[4, 64](x, 2**32 - 100, 64)
    module.kernel("vote")[1, (32, 2)](x)
    module.kernel("vote")[1, (8, 8)](x)
    hipadapt.Device().synchronize()
"""


def test_trace_tells_the_form_of_each_kernel(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(PROGRAM + "with hipadapt.profile(sys.argv[1]): run()", str(out))
    trace = json.loads(out.read_text())

    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    kernels.sort(key=lambda event: event["ts"])
    found = [(e["name"], e["args"]["form"]) for e in kernels]
    assert found == [
        ("plain", "rows"),
        ("meet", "gang"),
        ("meet", "gang"),
        ("vote", "gang"),
        ("vote", "reference"),
    ]
    widths = [e["args"].get("vector width") for e in kernels]
    assert widths[0] is widths[4] is None
    assert widths[1] == widths[2] in (8, 16)
    assert widths[3] == 32
    # Of the third launch one block's index wraps, between its first and last lane.
    left = [e["args"].get("blocks in reference form") for e in kernels]
    assert left == [None, None, 1, None, None]
