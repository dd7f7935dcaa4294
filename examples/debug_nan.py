# SPDX-License-Identifier: MIT
"""The debug stream finds where in a kernel a NaN comes from."""

import sys

import numpy as np

import hipadapt

# A block normalises a row.  Of two rows the result is NaN, and from outside nobody sees
# why: what the kernel computes on its way is in shared memory and in registers.
SOURCE = """
#include <hipadapt/debug_tensor.h>

enum { COLUMNS = 32 };

extern "C" __global__ void normalise(float *x)
{
    __shared__ float row[COLUMNS];
    int me = threadIdx.x, at = blockIdx.x * COLUMNS + me;
    char name[] = "row 0";
    name[4] += blockIdx.x;

    float mean = 0, variance = 0;
    for (int i = 0; i < COLUMNS; i++)
        mean += x[blockIdx.x * COLUMNS + i] / COLUMNS;
    row[me] = x[at] - mean;
    __syncthreads();
    ha_debug_tensor_block(name, 1, row, COLUMNS);

    for (int i = 0; i < COLUMNS; i++)
        variance += row[i] * row[i] / COLUMNS;
    ha_debug_tensor_block(name, 2, &variance);
    x[at] = row[me] / sqrtf(variance);
}
"""
ROWS, COLUMNS = 6, 32


def main() -> int:
    """Exit status 0 if both rows are found, each with its reason."""
    values = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype("float32")
    values[2] = 7  # no variance
    values[4, 9] = np.inf  # no mean
    x = hipadapt.array(values)
    normalise = hipadapt.compile_kernel(SOURCE, "normalise")

    found = {}
    with hipadapt.DebugStream() as stream:
        normalise[ROWS, COLUMNS](x)
        hipadapt.Device().synchronize()
        for event in stream:
            array = event.array
            if event.pipe == 1 and not np.isfinite(array).all():
                count = np.isnan(array).sum() + np.isinf(array).sum()
                found[event.prefix] = f"{count} of {array.size} centred are not finite"
            elif event.pipe == 2 and array[0] == 0:
                found[event.prefix] = "the variance is 0"
        print("dropped:", stream.dropped)

    bad = [f"row {row}" for row in range(ROWS) if np.isnan(x.get()[row]).any()]
    for name in bad:
        print(f"{name}: {found.get(name, 'nobody knows why')}")
    if bad != ["row 2", "row 4"] or set(found) != set(bad):
        print("wrong")
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
