# SPDX-License-Identifier: MIT
"""Copies and a memset that follow each other on a stream."""

import array
import random

from common import check, peer

COUNT = 100


def main() -> None:
    """Sends numbers, clears them on the device, and fetches zeros."""
    hip = peer().hip
    numbers = array.array("i", [random.randrange(1, 10) for _ in range(COUNT)])
    size = numbers.itemsize * len(numbers)
    memory = check(hip.hipMalloc(size))
    stream = check(hip.hipStreamCreate())
    kinds = hip.hipMemcpyKind
    there, back = kinds.hipMemcpyHostToDevice, kinds.hipMemcpyDeviceToHost
    check(hip.hipMemcpyAsync(memory, numbers, size, there, stream))
    check(hip.hipMemsetAsync(memory, 0, size, stream))
    check(hip.hipMemcpyAsync(numbers, memory, size, back, stream))
    check(hip.hipStreamSynchronize(stream))
    check(hip.hipStreamDestroy(stream))
    check(hip.hipFree(memory))
    for i, number in enumerate(numbers):
        if number != 0:
            raise SystemExit(f"element {i} is {number}, not 0")
    print("ok")


if __name__ == "__main__":
    main()
