# SPDX-License-Identifier: MIT
"""What the CPU device makes of two kernels that do the same."""

import sys

import numpy as np

import hipadapt

# Lane i owns particle i.  In the first kernel a particle is three numbers side by side,
# so the same number of the next particle is 12 bytes away; in the second one each of
# the three has an array of its own, in which neighbours are neighbours.
SOURCE = """
struct particle { float x, y, z; };

extern "C" __global__ void apart(particle *all, float step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        all[i].x += step;
        all[i].y -= step * all[i].x;
        all[i].z += step * all[i].y;
    }
}

extern "C" __global__ void beside(float *x, float *y, float *z, float step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += step;
        y[i] -= step * x[i];
        z[i] += step * y[i];
    }
}
"""
COUNT, STEP = 100_000, 0.25


def explain(kernel: hipadapt.Kernel) -> set[str]:
    """Prints all that is known of a kernel; what it does with memory is returned."""
    told = kernel.explain()
    print(told, end="\n\n")
    return {remark.text for remark in told.of("access")}


def main() -> int:
    """Exit status 0 if both kernels move the particles alike."""
    module = hipadapt.Program(SOURCE, name="particles.hip").compile()
    apart, beside = module.kernel("apart"), module.kernel("beside")
    start = np.random.default_rng(1).random((COUNT, 3)).astype("float32")
    records = hipadapt.array(start)
    arrays = [hipadapt.array(np.ascontiguousarray(start[:, k])) for k in range(3)]
    apart[COUNT // 256 + 1, 256](records, STEP, COUNT)
    beside[COUNT // 256 + 1, 256](*arrays, STEP, COUNT)
    moved = np.stack([array.get() for array in arrays], axis=1)
    if not np.array_equal(records.get(), moved):
        print("the kernels differ")
        return 1
    try:
        accesses = explain(apart), explain(beside)
    except NotImplementedError as error:  # an AMD GPU has nothing to tell
        print(f"{error}\nok")
        return 0
    if "loads 4 bytes a lane of 'all', 12 bytes apart" not in accesses[0]:
        return 1
    if not all(text.endswith("side by side") for text in accesses[1]):
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
