# SPDX-License-Identifier: MIT
"""Programs and modules: templates, headers, variables, and code that is kept."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import hipadapt

HEADER = """
template <class T> struct Pair { T first, second; };
template <class T> __device__ T apply(Pair<T> pair, T x) {
    return pair.first * x + pair.second;
}
"""
SOURCE = """
#include "pair.h"
__device__ int calls;

template <class T> __global__ void line(T *x, Pair<T> pair)
{
    x[threadIdx.x] = apply(pair, x[threadIdx.x]);
    if (threadIdx.x == 0)
        atomicAdd(&calls, 1);
}
"""
TYPES = {"float": "float32", "double": "float64", "int": "int32"}


def main() -> int:
    """Exit status 0 if all instances have computed the same as numpy."""
    # Each name expression is an instance that the compiler makes.
    program = hipadapt.Program(
        SOURCE,
        ["-O3"],
        name="line.hip",
        headers={"pair.h": HEADER},
        name_expressions=[f"line<{name}>" for name in TYPES],
    )
    module = program.compile()

    # Code can be kept in a file; the names of the instances belong to it.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.bin"
        path.write_bytes(module.code)
        again = hipadapt.Module.from_code(path, lowered=module.lowered_names)

    right = True
    for name, dtype in TYPES.items():
        x = hipadapt.arange(8, dtype=dtype)
        # A struct goes by value: a ctypes.Structure, or one of numpy's.
        pair = np.array([(3, 1)], [("first", dtype), ("second", dtype)])[0]
        kernel = again.kernel(f"line<{name}>")
        kernel[1, x.size](x, pair)
        same = np.array_equal(x.get(), 3 * np.arange(8, dtype=dtype) + 1)
        right = right and same
        print(f"{kernel.name:<14}{'ok' if same else 'wrong'}")

    # A variable of the module is an array.
    calls = int(again.get_global("calls", "int32").get()[0])
    print(f"{calls} calls")
    right = right and calls == len(TYPES)

    # What the compiler has to say is in the exception.
    try:
        hipadapt.Program("__global__ void f(int *x) { *x = y; }").compile()
    except hipadapt.errors.HiprtcErrorCompilation as error:
        print(error.log.splitlines()[0])
    print("ok" if right else "wrong")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
