# SPDX-License-Identifier: MIT
"""A kernel in ten lines: objects instead of calls, exceptions instead of statuses."""

import sys

import numpy as np

import hipadapt

SOURCE = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def main() -> int:
    """Exit status 0 if the device has computed the same as numpy."""
    device = hipadapt.Device()
    print(f"{device.name}, {device.compute_units} compute units")

    saxpy = hipadapt.compile_kernel(SOURCE, "saxpy")
    print(saxpy)
    # Memory is freed with the last reference, or at the end of a `with` block.
    x = hipadapt.arange(10_000, dtype="float32")
    y = hipadapt.full(10_000, 1, "float32")

    # Numbers become what the kernel takes: 2 a float, 10_000 an int.
    block = 256
    saxpy[-(-x.size // block), block](2, x, y, x.size)

    # What does not fit is refused before anything is launched.
    for wrong in ((2, x, y), (2, x, y, 1.5), (x, 2, y, x.size), (2, x, y, 2**32)):
        try:
            saxpy[1, block](*wrong)
        except (TypeError, OverflowError) as error:
            print(f"refused: {error}")
        else:
            print("wrong: was taken")
            return 1

    same = np.array_equal(y.get(), 2 * np.arange(10_000, dtype="float32") + 1)
    print("ok" if same else "wrong")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
