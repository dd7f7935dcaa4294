# SPDX-License-Identifier: MIT
"""A line for each kernel with the device's own times, from a variable alone.

The program runs itself with HIPADAPT_VERBOSE=profile_exec, reads the lines that this
prints between its own, and compares them with what it knows of itself.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import hipadapt

SOURCE = """
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

template <typename T, int N>
__global__ void scale(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= N;
}
"""
COUNT, STEPS, SHAPE = 1 << 16, 20, (256, 256)


def work() -> None:
    """The program: it knows nothing of lines."""
    saxpy = hipadapt.compile_kernel(SOURCE, "saxpy")
    scale = hipadapt.compile_kernel(SOURCE, "scale<float, 3>")
    x = hipadapt.array(np.ones(COUNT, "float32"))
    y = hipadapt.array(np.zeros(COUNT, "float32"))
    for _ in range(STEPS):
        saxpy[SHAPE](y, x, 0.5, COUNT)
    scale[SHAPE](y, COUNT)
    print("result:", y.get()[0])


def verbose(path: Path, *options: str) -> str:
    """What `python -m hipadapt verbose` says of a file."""
    words = [sys.executable, "-m", "hipadapt", "verbose", str(path), *options]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def recorded(path: Path) -> None:
    """Runs the program with lines; its output goes to a file."""
    with path.open("w") as output:
        subprocess.run(
            [sys.executable, __file__, "work"],
            env={**os.environ, "HIPADAPT_VERBOSE": "profile_exec"},
            stdout=output,
            check=True,
        )


def main() -> None:
    """Run the program, and look at its lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output.txt"
        recorded(path)
        printed = path.read_text().splitlines()
        found = json.loads(verbose(path, "--json"))
        print(next(line for line in printed if ",kernel,saxpy," in line), end="\n\n")
        print(verbose(path), end="")

    counts = {row["implementation"]: row["count"] for row in found["exec"]}
    expected = {"saxpy": STEPS, "void scale<float, 3>(float*, int)": 1}
    ok = (
        f"result: {3 * 0.5 * STEPS}" in printed
        and counts == {**expected, "HtoD": 2, "DtoH": 1}
        and all(row["min_ns"] > 0 for row in found["exec"])
        and (found["lost"], found["damaged"], found["errors"]) == (0, 0, [])
    )
    print("ok" if ok else "wrong")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["work"] else main()
