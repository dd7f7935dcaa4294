# SPDX-License-Identifier: MIT
"""A kernel with arguments of several sizes, packed with the padding that C wants."""

import array
import ctypes
import math
import random

from common import check, load, peer

SOURCE = rb"""
extern "C" __global__ void scale_vector(float factor, int n, short a, int b, float c,
                                        float *x) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i == 0) printf("factor %f, n %d, a %d, b %d, c %f\n", factor, n, (int)a, b, c);
    if (i < n) x[i] *= factor;
}
"""
COUNT = 100
FACTOR = 1.23


def main() -> None:
    """Scales a vector and compares it with the host's own result."""
    p = peer()
    hip = p.hip
    module = load(p, SOURCE, b"scale_vector")
    kernel = check(hip.hipModuleGetFunction(module, b"scale_vector"))
    values = array.array("f", [random.random() for _ in range(COUNT)])
    expected = [FACTOR * value for value in values]
    size = values.itemsize * COUNT
    memory = check(hip.hipMalloc(size))
    kinds = hip.hipMemcpyKind
    check(hip.hipMemcpy(memory, values, size, kinds.hipMemcpyHostToDevice))
    block = hip.dim3(x=32)
    grid = hip.dim3(math.ceil(COUNT / block.x))
    check(
        hip.hipModuleLaunchKernel(
            kernel,
            *grid,
            *block,
            sharedMemBytes=0,
            stream=None,
            kernelParams=None,
            extra=(
                ctypes.c_float(FACTOR),
                ctypes.c_int(COUNT),
                ctypes.c_short(5),  # 2 bytes of padding follow
                ctypes.c_int(2),
                ctypes.c_float(5.6),  # 4 bytes of padding follow
                memory,
            ),
        )
    )
    check(hip.hipMemcpy(values, memory, size, kinds.hipMemcpyDeviceToHost))
    check(hip.hipFree(memory))
    check(hip.hipModuleUnload(module))
    for i, (value, wanted) in enumerate(zip(values, expected, strict=True)):
        if not math.isclose(value, wanted, rel_tol=1e-6):
            raise SystemExit(f"element {i} is {value}, not {wanted}")
    print("ok")


if __name__ == "__main__":
    main()
