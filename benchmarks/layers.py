# SPDX-License-Identifier: MIT
"""What the layers above the calls cost: raising functions, arrays that travel, kernels.

Run in a process of its own, `python -m benchmarks.layers FOLDER ROUNDS`, with
HIPADAPT_PROVIDER naming the library of `api_stub.py`, whose functions only return.
Prints one JSON object: {row: {contender: nanoseconds}}; where there is a contender
"below", it is the same work by the layer underneath.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from hipadapt import hip, raising

from .timing import best_of_statements

ADDRESS = 0x7770
# Offset, bytes and kind of each parameter: three arrays, int, float.
SIGNATURE = (
    *((8 * at, 8, "p") for at in range(3)),
    (24, 4, "i"),
    (28, 4, "f"),
)
LAUNCH = "launch(function, 4, 1, 1, 256, 1, 1, 0, stream, None, arguments)"
# Row: statement, statement of the layer below it or None.
ROWS: dict[str, tuple[str, str | None]] = {
    "raising.hip.hipStreamQuery(stream)": ("checked(stream)", "query(stream)"),
    "raising.hip.hipGetDevice()": ("checked_device()", "device()"),
    "kernel[grid, block, 0, stream](*args)": (
        "kernel[4, 256, 0, stream](memory, memory, memory, 7, 1.5)",
        LAUNCH,
    ),
    "config(*args)": ("config(memory, memory, memory, 7, 1.5)", LAUNCH),
    "__dlpack__()": ("export()", None),
    "__dlpack__(max_version=(1, 3))": ("export(max_version=(1, 3))", None),
    "from_dlpack(numpy)": ("from_dlpack(host)", None),
    "from_dlpack(DeviceArray)": ("from_dlpack(array)", None),
}


def names() -> dict[str, Any]:
    """What the statements use."""
    from hipadapt import _core

    stream = hip.hipStreamCreate()[1]
    memory = hip.hipMalloc(4096)[1]
    kernel = _core.Kernel(ADDRESS, "saxpy", SIGNATURE, None)
    array = _core.array_allocate((4, 4), "f4", memory="device")
    return {
        "kernel": kernel,
        "config": kernel[4, 256, 0, stream],
        "launch": hip.hipModuleLaunchKernel,
        "function": kernel.function,
        "arguments": (memory, memory, memory, np.int32(7), np.float32(1.5)),
        "stream": stream,
        "query": hip.hipStreamQuery,
        "checked": raising.hip.hipStreamQuery,
        "device": hip.hipGetDevice,
        "checked_device": raising.hip.hipGetDevice,
        "memory": memory,
        "array": array,
        "export": array.__dlpack__,
        "host": np.zeros((4, 4), np.float32),
        "from_dlpack": _core.from_dlpack,
    }


def main() -> int:
    """Measure all rows and print them."""
    rounds, used = int(sys.argv[2]), names()
    rows = {}
    for row, (statement, below) in ROWS.items():
        contenders = {"hipadapt": (statement, used)}
        if below is not None:
            contenders["below"] = (below, used)
        rows[row] = best_of_statements(contenders, rounds)
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
