# SPDX-License-Identifier: MIT
"""Device arrays: memory on the device with a shape, a type and sub-arrays."""

import sys
from typing import Any

import numpy as np

from hipadapt import hip

ROWS, COLUMNS = 6, 5


def hip_check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if status != hip.hipError_t.hipSuccess:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def main() -> int:
    """Exit status 0 if every number is right."""
    table = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)

    # hipMalloc returns a DeviceArray of bytes.  configure says what the bytes are; it
    # changes no memory, and refuses a shape that needs another number of bytes.
    device = hip_check(hip.hipMalloc(table.nbytes))
    device.configure(typestr="float32", shape=(ROWS, COLUMNS))
    print(f"array: shape {device.shape}, type {device.typestr}, {device.size} elements")
    try:
        device.configure(typestr="float64", shape=(ROWS, COLUMNS))
    except ValueError as error:
        print(f"refused, as it should be: {error}")
    else:
        raise RuntimeError("twice as many bytes were accepted")

    # Indices and slices give sub-arrays: addresses into the same memory.
    to_device = hip.hipMemcpyKind.hipMemcpyHostToDevice
    to_host = hip.hipMemcpyKind.hipMemcpyDeviceToHost
    for row in range(ROWS):
        hip_check(hip.hipMemcpy(device[row], table[row], table[row].nbytes, to_device))
    middle = device[2:4]
    print(f"rows 2 and 3: shape {middle.shape}, {int(middle) - int(device)} bytes in")

    zeros = np.zeros((2, COLUMNS), np.float32)
    hip_check(hip.hipMemcpy(middle, zeros, zeros.nbytes, to_device))

    result = np.empty_like(table)
    hip_check(hip.hipMemcpy(result, device, result.nbytes, to_host))
    table[2:4] = 0

    # Libraries that know the CUDA array interface take the array without a copy.
    interface = device.__cuda_array_interface__
    print(f"interface: shape {interface['shape']}, type {interface['typestr']}")

    # The memory is yours: hipFree gives it back.
    hip_check(hip.hipFree(device))

    same = np.array_equal(result, table)
    print("ok" if same else f"wrong:\n{result}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
